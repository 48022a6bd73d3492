/* SPDX-License-Identifier: Apache-2.0 */
/* The args dump's hooks in this runtime; what is recorded is args_dump_task's matter. */
#include "tmr/arg_capture.h"

#include <string.h>

#include "base/testpoint.h"
#include "tmr/hang.h"
#include "tmr/kernel_word.h"
#include "tmr/core_pool.h"
#include "tmr/launch.h"
#include "tmr/scheduler.h"
#include "tmr/solo_capture.h"
#include "tmr/tensor_pack.h"

#if SIMPLER_DFX

static struct dump_args_run run_of(const struct simpler_device *device)
{
    return (struct dump_args_run){device->run->dump_data_base, device->run->run_epoch};
}

/* Each thread and core has a copy of the flags; it is written before the run's first task is
 * published, and read by whoever has taken one. */
static void copy_flags(struct simpler_device *device, uint32_t flags)
{
    if (SIMPLER_FAILPOINT(DUMP_CLEAR_HANDSHAKE))
        flags = 0;
    if (SIMPLER_LIKELY(device->threads[0].handshake == flags))
        return;
    for (uint32_t i = 0; i < device->thread_count; i++)
        device->threads[i].handshake = flags;
    simpler_core_pool_set_handshake(device->cores, flags);
}

void simpler_arg_capture_start(struct simpler_orch *orch)
{
    struct simpler_device *device = orch->device;
    const struct simpler_device_run *run = device->run;

    copy_flags(device, run->enable_profiling_flag);
    set_dump_args_enabled((run->enable_profiling_flag & SIMPLER_PROFILING_DUMP_ARGS) != 0);
    set_platform_dump_base(run->dump_data_base);
    device->dump_level = orch->dump_level = (uint8_t)dump_args_init(run->run_epoch);
}

void simpler_arg_capture_finish(struct simpler_orch *orch)
{
    struct dump_args_run run = run_of(orch->device);

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

/* The task; @args: as its kernel gets them, looked at when it is captured. */
static struct dump_args_view view_of(const struct simpler_device *device, uint32_t number,
                                     const int64_t *args)
{
    const struct simpler_task_slot *slot = &device->table.slot[number];
    const struct simpler_kernel *kernel = device->kernels[slot->func_id];
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
        .args = args,
    };

    if (slot->shape == SIMPLER_SHAPE_LAUNCH)
        take_lanes(device, &device->table.launch[number], &view);
    return view;
}

void simpler_arg_capture_own(struct simpler_thread *thread, const struct dump_args_view *view,
                             uint8_t stage)
{
    struct dump_args_run run = run_of(thread->device);

    atomic_store_explicit(&thread->counts.in_diagnostic, 1, memory_order_relaxed);
    dump_args_task_capture(&run, thread->lane, view, stage);
    atomic_store_explicit(&thread->counts.in_diagnostic, 0, memory_order_relaxed);
}

void simpler_arg_capture_before(struct simpler_thread *thread, uint32_t number)
{
    struct dump_args_view view = view_of(thread->device, number, thread->args);

    simpler_arg_capture_own(thread, &view, DUMP_ARGS_STAGE_BEFORE);
}

void simpler_arg_capture_after(struct simpler_thread *thread, uint32_t number)
{
    /* Of a revoked thread the monitor has written what there was. */
    if (simpler_kernel_is_revoked(thread))
        return;
    struct dump_args_view view = view_of(thread->device, number, thread->args);
    if (!dump_args_has_outputs(&view))
        return;
    /* The kernel may have written its array and its descriptors. */
    simpler_scheduler_unpack(thread, number);
    simpler_arg_capture_own(thread, &view, DUMP_ARGS_STAGE_AFTER);
}

static uint32_t monitor_lane(const struct simpler_device *device)
{
    return simpler_device_lanes(device->run) - 1;
}

/* The tensors of the task in a slot. */
static struct dump_args_view unpack_running(const struct simpler_device *device,
                                            struct simpler_kernel_task task,
                                            struct simpler_tensor *tensors, int64_t *args)
{
    uint32_t number = simpler_ring_slot(&device->orch.ring[task.ring], task.id);
    struct simpler_line_cursor cursor = simpler_line_cursor_init(&device->table, number);

    for (uint32_t i = 0; i < device->table.slot[number].tensor_count; i++) {
        simpler_unpack_tensor(&cursor, &device->table, number, &tensors[i]);
        args[i] = (int64_t)(uintptr_t)&tensors[i];
    }
    return view_of(device, number, args);
}

/* The kernel may still write: such an entry may be torn. */
static void capture_running(struct simpler_device *device, const struct simpler_thread *thread)
{
    struct simpler_tensor tensors[SIMPLER_MAX_TENSORS];
    int64_t args[SIMPLER_MAX_TENSORS];
    struct dump_args_run run = run_of(device);
    const struct simpler_orch *orch = &device->orch;
    struct dump_args_view view;

    if (thread == orch->thread && orch->solo_capture != NULL)
        view = simpler_solo_capture_view(orch->solo_capture, tensors, args);
    else
        view = unpack_running(device, simpler_kernel_word_task(thread->verdict.revoked_of), tensors,
                              args);
    dump_args_task_capture(&run, monitor_lane(device), &view, DUMP_ARGS_STAGE_AFTER);
}

/* Whether thread @l is the first of those that stand inside the same task, one a lane or block. */
static bool is_first_of(struct simpler_device *device, uint32_t l)
{
    struct simpler_kernel_task task =
        simpler_kernel_word_task(simpler_hang_thread(device, l)->verdict.revoked_of);

    for (uint32_t i = 0; i < l; i++) {
        const struct simpler_thread *other = simpler_hang_thread(device, i);
        if (other == NULL || other->verdict.end != SIMPLER_DEVICE_LANE_STOPPED)
            continue;
        struct simpler_kernel_task its = simpler_kernel_word_task(other->verdict.revoked_of);
        if (its.ring == task.ring && its.id == task.id)
            return false;
    }
    return true;
}

void simpler_arg_capture_partial(struct simpler_device *device)
{
    /* The level that is latched may be read behind a revoked thread's word alone. */
    if ((device->run->enable_profiling_flag & SIMPLER_PROFILING_DUMP_ARGS) == 0)
        return;
    SIMPLER_TESTPOINT(PARTIAL_BEFORE_CAPTURE);
    for (uint32_t l = 0; l < simpler_hang_threads(device); l++) {
        const struct simpler_thread *thread = simpler_hang_thread(device, l);
        if (thread != NULL && thread->verdict.end == SIMPLER_DEVICE_LANE_STOPPED &&
            device->dump_level != 0 && is_first_of(device, l))
            capture_running(device, thread);
    }
    struct dump_args_run run = run_of(device);
    dump_args_flush(&run, monitor_lane(device));
}

#endif
