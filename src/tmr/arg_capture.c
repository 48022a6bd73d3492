/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which arguments of a task are told to the args dump, when and as what.
 *
 * The kernel's signature gives each tensor its direction, by position; a kernel
 * without one is taken at its submit's word.  Inputs and scalars are captured
 * before the kernel runs, outputs after it and before anybody learns that it is
 * done, both on the thread that runs it.
 */
#include "tmr/arg_capture.h"

#include <string.h>

#if SIMPLER_DFX

#include "collect/args_dump/args_dump_aicpu.h"

enum { LEVEL_PARTIAL = 1, LEVEL_FULL = 2 };
enum { ROLE_INPUT, ROLE_OUTPUT, ROLE_INOUT, ROLE_NONE };
enum { STAGE_BEFORE, STAGE_AFTER };

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
    struct simpler_task_dump *dump = &orch->device->table.dump[number];

    dump->mask = args->dump_mask;
    dump->ambiguous = orch->dump_level == LEVEL_FULL ? 0 : (uint16_t)args->dump_ambiguous;
    dump->submit_seq = (uint32_t)orch->submitted;
    memcpy(dump->use, args->use, args->tensor_count);
    memcpy(dump->scalar_dtype, args->scalar_dtype, args->scalar_count);
}

/* What a direction, or a use, says; ROLE_NONE: not dumped. */
static uint32_t role_of_direction(uint32_t direction)
{
    return direction == SIMPLER_DIR_IN      ? ROLE_INPUT
           : direction == SIMPLER_DIR_OUT   ? ROLE_OUTPUT
           : direction == SIMPLER_DIR_INOUT ? ROLE_INOUT
                                            : ROLE_NONE;
}

static uint32_t role_of_use(uint32_t use)
{
    static const uint8_t roles[] = {
        [SIMPLER_USE_INPUT] = ROLE_INPUT,  [SIMPLER_USE_OUTPUT] = ROLE_OUTPUT,
        [SIMPLER_USE_INOUT] = ROLE_INOUT,  [SIMPLER_USE_OUTPUT_EXISTING] = ROLE_OUTPUT,
        [SIMPLER_USE_NO_DEP] = ROLE_INOUT, /* may be either */
    };
    return roles[use];
}

/* One task on its way to the dump. */
struct capture {
    const struct simpler_task_slot *slot;
    const struct simpler_task_dump *dump;
    const struct simpler_kernel *kernel;
    uint32_t level;
    struct dump_args_task task;
};

static uint32_t role_of(const struct capture *c, uint32_t i)
{
    uint32_t by_use = role_of_use(c->dump->use[i]);
    uint64_t id = c->task.task_id;

    if (c->kernel->signature == NULL)
        return by_use;
    /* Scalars stand behind the tensors: they reach none. */
    if (i >= c->kernel->signature_count || c->kernel->signature[i] == SIMPLER_DIR_SCALAR) {
        dump_args_note(DUMP_ARGS_NOTE_UNREACHED, id, c->slot->func_id, i, 0, 0);
        return ROLE_NONE;
    }
    uint32_t direction = c->kernel->signature[i];
    uint32_t role = role_of_direction(direction);
    if (SIMPLER_UNLIKELY(role != by_use) && c->dump->use[i] != SIMPLER_USE_NO_DEP)
        dump_args_note(DUMP_ARGS_NOTE_DISAGREES, id, c->slot->func_id, i, c->dump->use[i],
                       direction);
    return role;
}

static bool is_selected(const struct capture *c, uint32_t arg)
{
    return (c->dump->mask >> arg & 1) != 0;
}

static void capture_tensor(const struct capture *c, const struct simpler_tensor *t, uint32_t i)
{
    uint32_t role = role_of(c, i);
    bool wanted = c->task.stage == STAGE_BEFORE ? role == ROLE_INPUT || role == ROLE_INOUT
                                                : role == ROLE_OUTPUT || role == ROLE_INOUT;
    uint32_t ones[SIMPLER_MAX_DIMS] = {1, 1, 1, 1, 1};

    if (!wanted || (c->level == LEVEL_PARTIAL && !is_selected(c, i)))
        return;
    struct dump_args_info info = {
        .buffer_addr = t->addr,
        .start_offset = t->start_offset,
        .ndims = t->ndims,
        .dtype = t->dtype,
        .is_contiguous = t->is_contiguous,
        .shape = t->shape,
        /* Those of an empty tensor are not kept: 1 each, as one is made. */
        .stride = t->extent == 0 && t->is_contiguous ? ones : t->stride,
    };
    dump_arg_record(&c->task, &info, (uint8_t)role, i, c->level <= LEVEL_FULL || is_selected(c, i));
}

static void capture_scalars(const struct capture *c, const int64_t *values)
{
    uint32_t first = c->slot->tensor_count;

    for (uint32_t k = 0; k < c->slot->scalar_count; k++) {
        if (c->level == LEVEL_PARTIAL && !is_selected(c, first + k))
            continue;
        dump_args_scalar(&c->task, first + k, c->dump->scalar_dtype[k], (uint64_t)values[first + k],
                         (c->dump->ambiguous >> k & 1) != 0);
    }
}

/* Whether the descriptors can be followed; else the task is skipped. */
static bool is_sane(const struct capture *c, const struct simpler_tensor *tensors)
{
    for (uint32_t i = 0; i < c->slot->tensor_count; i++) {
        const struct simpler_tensor *t = &tensors[i];
        if (t->ndims - 1 < SIMPLER_MAX_DIMS && t->dtype < SIMPLER_DTYPE_NUM &&
            c->dump->use[i] <= SIMPLER_USE_NO_DEP)
            continue;
        dump_args_note(DUMP_ARGS_NOTE_MISMATCH, c->task.task_id, c->slot->func_id, i, 0, 0);
        return false;
    }
    return true;
}

static void capture(struct simpler_thread *thread, uint32_t number, uint8_t stage)
{
    const struct simpler_device *device = thread->device;
    const struct simpler_task_slot *slot = &device->table.slot[number];
    struct dump_args_run run = {device->run->dump_data_base, device->run->run_epoch};
    struct capture c = {
        .slot = slot,
        .dump = &device->table.dump[number],
        .kernel = device->kernels[slot->func_id],
        .level = device->dump_level,
        .task = {.task_id = simpler_task_id_of(slot),
                 .submit_seq = device->table.dump[number].submit_seq,
                 .stage = stage,
                 .func_count = 1,
                 .func_ids = {slot->func_id, UINT16_MAX, UINT16_MAX}},
    };

    if (c.level == LEVEL_PARTIAL && c.dump->mask == 0)
        return;
    dump_args_begin(&run, thread->lane);
    if (is_sane(&c, thread->scratch)) {
        for (uint32_t i = 0; i < slot->tensor_count; i++)
            capture_tensor(&c, &thread->scratch[i], i);
        if (stage == STAGE_BEFORE)
            capture_scalars(&c, thread->args);
    }
    dump_args_end();
}

void simpler_arg_capture_before(struct simpler_thread *thread, uint32_t number)
{
    capture(thread, number, STAGE_BEFORE);
}

void simpler_arg_capture_after(struct simpler_thread *thread, uint32_t number)
{
    capture(thread, number, STAGE_AFTER);
}

#endif
