/* SPDX-License-Identifier: Apache-2.0 */
/* The args dump's hooks in this runtime; what is recorded is args_dump_task's matter. */
#include "tmr/arg_capture.h"

#include "tmr/launch.h"

#if SIMPLER_DFX

void simpler_arg_capture_start(struct simpler_orch *orch)
{
    struct simpler_device *device = orch->device;
    const struct simpler_device_run *run = device->run;

    set_dump_args_enabled((run->enable_profiling_flag & SIMPLER_PROFILING_DUMP_ARGS) != 0);
    set_platform_dump_base(run->dump_data_base);
    device->dump_level = orch->dump_level = (uint8_t)dump_args_init(run->run_epoch);
}

void simpler_arg_capture_finish(struct simpler_orch *orch)
{
    struct dump_args_run run = {orch->device->run->dump_data_base, orch->device->run->run_epoch};

    if (orch->dump_level != 0)
        dump_args_flush(&run, orch->thread->lane);
}

void simpler_arg_capture_note_submit(struct simpler_orch *orch,
                                     const struct simpler_task_args *args, uint32_t number)
{
    dump_args_submit_fill(&orch->device->table.dump[number].submit, args,
                          (uint32_t)orch->submitted);
}

static uint32_t tensors_of(const struct simpler_kernel *kernel)
{
    uint32_t n = 0;
    while (n < kernel->signature_count && kernel->signature[n] != SIMPLER_DIR_SCALAR)
        n++;
    return n;
}

/* Every kernel of a task by lane; the one whose signature reaches furthest gives directions. */
static void take_lanes(const struct simpler_device *device,
                       const struct simpler_task_launch *launch, struct dump_args_view *view)
{
    const struct simpler_kernel *widest = NULL;

    view->func_count = 0;
    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
        if ((launch->lanes >> lane & 1) == 0)
            continue;
        const struct simpler_kernel *kernel = device->kernels[launch->func_id[lane]];
        view->func_ids[view->func_count++] = launch->func_id[lane];
        if (widest == NULL || tensors_of(kernel) > tensors_of(widest))
            widest = kernel;
    }
    if (widest == NULL)
        return;
    view->func_id = (uint16_t)widest->func_id;
    view->signature = widest->signature;
    view->signature_count = widest->signature_count;
}

static void capture(struct simpler_thread *thread, uint32_t number, uint8_t stage)
{
    const struct simpler_device *device = thread->device;
    const struct simpler_task_slot *slot = &device->table.slot[number];
    const struct simpler_kernel *kernel = device->kernels[slot->func_id];
    struct dump_args_run run = {device->run->dump_data_base, device->run->run_epoch};
    struct dump_args_view view = {
        .task_id = simpler_task_id_of(slot),
        .func_id = slot->func_id,
        .func_count = 1,
        .func_ids = {slot->func_id, UINT16_MAX, UINT16_MAX},
        .level = device->dump_level,
        .tensor_count = slot->tensor_count,
        .scalar_count = slot->scalar_count,
        .signature = kernel->signature,
        .signature_count = kernel->signature_count,
        .submit = &device->table.dump[number].submit,
        .args = thread->args,
    };

    if (slot->shape == SIMPLER_SHAPE_LAUNCH)
        take_lanes(device, &device->table.launch[number], &view);
    dump_args_task_capture(&run, thread->lane, &view, stage);
}

void simpler_arg_capture_before(struct simpler_thread *thread, uint32_t number)
{
    capture(thread, number, DUMP_ARGS_STAGE_BEFORE);
}

void simpler_arg_capture_after(struct simpler_thread *thread, uint32_t number)
{
    capture(thread, number, DUMP_ARGS_STAGE_AFTER);
}

#endif
