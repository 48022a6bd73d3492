/* SPDX-License-Identifier: Apache-2.0 */
#include "tmr/passing.h"

#include <stddef.h>

#include "tmr/kernel_word.h"
#include "tmr/orch_functions.h"
#include "tmr/scheduler.h"
#include "tmr/scope_sample.h"
#include "tmr/solo.h"
#include "tmr/submit_slot.h"

static void go_on(struct simpler_orch *orch);

/* ---- the calls while a stretch lasts ---- */

/*
 * 0: neither an error, nor extras, nor OUTPUTs, nor explicit dependencies.  Word by word: they have
 * just been written, and a load of two words that were stored apart waits for both stores.
 */
SIMPLER_INLINE uint32_t odd_words(const struct simpler_task_args *args)
{
    return args->error | args->extra | args->output_count | args->dependency_count;
}

/* Why the run is to stop, or 0.  Its device is around the orchestrator. */
SIMPLER_INLINE int32_t stop_of(const struct simpler_orch *orch)
{
    const struct simpler_device *device =
        (const void *)((const char *)orch - offsetof(struct simpler_device, orch));
    return atomic_load_explicit(&device->stop, memory_order_relaxed);
}

/*
 * Tensors and scalars go to the kernel's array; false: the slow way has to look at them.  The map
 * must have room for a task that is kept: what it cannot hold is refused here as anywhere.
 */
SIMPLER_INLINE bool take_args(struct simpler_orch *orch, const struct simpler_task_args *args)
{
    if (SIMPLER_UNLIKELY(!simpler_submit_counts_fit(args) || orch->map_credit < args->tensor_count))
        return false;
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (SIMPLER_UNLIKELY(!simpler_submit_is_known(orch, args->tensor[i])) &&
            !simpler_submit_takes(orch, args->tensor[i]))
            return false;
    }
    simpler_solo_lend_args(orch->thread, args, NULL);
    return true;
}

/* The task has failed, or is not done yet: later tasks learn of it from its slot. */
SIMPLER_COLD static int keep(struct simpler_orch *orch, enum simpler_shape shape, int status)
{
    const struct simpler_passing *p = &orch->passing;
    struct simpler_submit_request q = {.shape = shape,
                                       .func_id = p->func_id,
                                       .args = p->args,
                                       .out = p->out,
                                       .file = orch->solo_file,
                                       .line = orch->solo_line};

    simpler_passing_end(orch);
    orch->map_credit = 0; /* a stretch takes none: the map is asked again */
    return simpler_submit_keep(orch, &q, status);
}

/*
 * What a failure needs is put down, for keeping it in registers over the call costs more; the
 * caller is answered.
 */
SIMPLER_INLINE void note(struct simpler_orch *orch, uint32_t func_id,
                         const struct simpler_task_args *args, struct simpler_task_outputs *out,
                         const char *file, int line)
{
    orch->passing.func_id = func_id;
    orch->passing.args = args;
    orch->passing.out = out;
    orch->solo_file = file;
    orch->solo_line = line;
    if (SIMPLER_UNLIKELY(out != NULL)) {
        out->id.raw = simpler_passing_id(orch, simpler_passing_passed(orch));
        out->count = 0;
    }
}

static void check_next(struct simpler_passing *passing, uint64_t completed)
{
    passing->until = completed + SIMPLER_STRETCH_FIRST;
    if (passing->until > passing->last)
        passing->until = passing->last;
}

/* Time for a check: the stretch goes on, or is over and followed by another one. */
static SIMPLER_NOINLINE int check(struct simpler_orch *orch, uint64_t completed)
{
    uint32_t submitted = orch->submit_seq + simpler_passing_passed(orch);

    if (completed != orch->passing.last &&
        !simpler_handover_took_long(orch, simpler_clock_ticks(), submitted)) {
        check_next(&orch->passing, completed);
        return 0;
    }
    simpler_passing_end(orch);
    simpler_submit_look_around(orch);
    go_on(orch);
    return 0;
}

SIMPLER_INLINE int passed(struct simpler_orch *orch, struct simpler_thread *thread)
{
    uint64_t completed = simpler_scheduler_count_completed(thread);
    return SIMPLER_UNLIKELY(completed == orch->passing.until) ? check(orch, completed) : 0;
}

/*
 * The thread was asked, or the task has failed or is not done yet.  A revocation has ended the
 * stretch: what is counted from here on, this task, is added when the orchestration returns.
 */
SIMPLER_COLD static int end_oddly(struct simpler_orch *orch, enum simpler_shape shape, int status,
                                  uint32_t asked)
{
    if (asked != SIMPLER_REVOKE_NOT)
        simpler_kernel_asked(orch->thread);
    if (((uint32_t)status | orch->thread->deferred) != 0)
        return keep(orch, shape, status);
    if (orch->passing.until == 0) {
        orch->passing.from = simpler_passing_completed(orch);
        orch->passing.until = UINT64_MAX;
    }
    return passed(orch, orch->thread);
}

SIMPLER_INLINE int pass(struct simpler_orch *orch, enum simpler_shape shape, uint32_t func_id)
{
    struct simpler_thread *thread = orch->thread;

    simpler_kernel_set_contexts(thread);
    simpler_kernel_enter(thread, func_id);
    int status = orch->passing.fn[shape][func_id % SIMPLER_PASSING_KERNELS](thread->args);
    thread = orch->thread; /* to keep it over the call costs more */
    uint32_t asked = simpler_kernel_leave_asked(thread);
    if (SIMPLER_UNLIKELY((asked | thread->deferred | (uint32_t)status) != 0))
        return end_oddly(orch, shape, status, asked);
    return passed(orch, thread);
}

/* The run is not to stop, the kernel is short, and the submit wants nothing else. */
SIMPLER_INLINE bool may_pass(const struct simpler_orch *orch, enum simpler_shape shape,
                             uint32_t func_id, const struct simpler_task_args *args)
{
    uint32_t known = orch->passing.known[shape][func_id % SIMPLER_PASSING_KERNELS];

    return SIMPLER_LIKELY(known == func_id && args != NULL &&
                          (odd_words(args) | (uint32_t)stop_of(orch)) == 0);
}

SIMPLER_INLINE bool has_args(const struct simpler_task_args *args)
{
    return (args->tensor_count | args->scalar_count) != 0;
}

static SIMPLER_NOINLINE int submit_aic_slowly(struct simpler_orch *orch, uint32_t func_id,
                                              const struct simpler_task_args *args,
                                              struct simpler_task_outputs *out, const char *file,
                                              int line)
{
    simpler_passing_end(orch);
    return simpler_tmr_submit_aic(orch, func_id, args, out, file, line);
}

static SIMPLER_NOINLINE int submit_aiv_slowly(struct simpler_orch *orch, uint32_t func_id,
                                              const struct simpler_task_args *args,
                                              struct simpler_task_outputs *out, const char *file,
                                              int line)
{
    simpler_passing_end(orch);
    return simpler_tmr_submit_aiv(orch, func_id, args, out, file, line);
}

/* With tensors or scalars. */
static SIMPLER_NOINLINE int pass_aic_args(struct simpler_orch *orch, uint32_t func_id,
                                          const struct simpler_task_args *args,
                                          struct simpler_task_outputs *out, const char *file,
                                          int line)
{
    if (SIMPLER_UNLIKELY(!take_args(orch, args)))
        return submit_aic_slowly(orch, func_id, args, out, file, line);
    note(orch, func_id, args, out, file, line);
    return pass(orch, SIMPLER_SHAPE_AIC, func_id);
}

static int pass_aic(struct simpler_orch *orch, uint32_t func_id,
                    const struct simpler_task_args *args, struct simpler_task_outputs *out,
                    const char *file, int line)
{
    if (SIMPLER_UNLIKELY(!may_pass(orch, SIMPLER_SHAPE_AIC, func_id, args)))
        return submit_aic_slowly(orch, func_id, args, out, file, line);
    if (has_args(args))
        return pass_aic_args(orch, func_id, args, out, file, line);
    note(orch, func_id, args, out, file, line);
    return pass(orch, SIMPLER_SHAPE_AIC, func_id);
}

/* With tensors or scalars. */
static SIMPLER_NOINLINE int pass_aiv_args(struct simpler_orch *orch, uint32_t func_id,
                                          const struct simpler_task_args *args,
                                          struct simpler_task_outputs *out, const char *file,
                                          int line)
{
    if (SIMPLER_UNLIKELY(!take_args(orch, args)))
        return submit_aiv_slowly(orch, func_id, args, out, file, line);
    note(orch, func_id, args, out, file, line);
    return pass(orch, SIMPLER_SHAPE_AIV, func_id);
}

static int pass_aiv(struct simpler_orch *orch, uint32_t func_id,
                    const struct simpler_task_args *args, struct simpler_task_outputs *out,
                    const char *file, int line)
{
    if (SIMPLER_UNLIKELY(!may_pass(orch, SIMPLER_SHAPE_AIV, func_id, args)))
        return submit_aiv_slowly(orch, func_id, args, out, file, line);
    if (has_args(args))
        return pass_aiv_args(orch, func_id, args, out, file, line);
    note(orch, func_id, args, out, file, line);
    return pass(orch, SIMPLER_SHAPE_AIV, func_id);
}

static int submit_mixed(struct simpler_orch *orch, const struct simpler_mixed_kernels *kernels,
                        const struct simpler_task_args *args, struct simpler_task_outputs *out,
                        const char *file, int line)
{
    simpler_passing_end(orch);
    return simpler_tmr_submit_mixed(orch, kernels, args, out, file, line);
}

static int submit_dummy(struct simpler_orch *orch, const struct simpler_task_args *args,
                        struct simpler_task_outputs *out, const char *file, int line)
{
    simpler_passing_end(orch);
    return simpler_tmr_submit_dummy(orch, args, out, file, line);
}

static int alloc_tensors(struct simpler_orch *orch, const struct simpler_create_info *infos,
                         uint32_t count, struct simpler_task_outputs *out, const char *file,
                         int line)
{
    simpler_passing_end(orch);
    return simpler_tmr_alloc_tensors(orch, infos, count, out, file, line);
}

static int submit_graph(struct simpler_orch *orch, simpler_graph_fn fn,
                        const struct simpler_task_args *args, const void *config,
                        size_t config_bytes, const char *file, int line)
{
    simpler_passing_end(orch);
    return simpler_tmr_submit_graph(orch, fn, args, config, config_bytes, file, line);
}

static int scope_begin(struct simpler_orch *orch, enum simpler_scope_mode mode, const char *file,
                       int line)
{
    simpler_passing_end(orch);
    int status = simpler_tmr_scope_begin(orch, mode, file, line);
    go_on(orch);
    return status;
}

static int scope_end(struct simpler_orch *orch)
{
    simpler_passing_end(orch);
    int status = simpler_tmr_scope_end(orch);
    go_on(orch);
    return status;
}

static int get_tensor_data(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                           const uint32_t *index, void *value)
{
    simpler_passing_end(orch);
    return simpler_tmr_get_tensor_data(orch, tensor, index, value);
}

static int set_tensor_data(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                           const uint32_t *index, const void *value)
{
    simpler_passing_end(orch);
    return simpler_tmr_set_tensor_data(orch, tensor, index, value);
}

static void report_fatal(struct simpler_orch *orch, enum simpler_device_code code, const char *text)
{
    /* A kernel of the stretch may call it; the stretch goes on until it has returned. */
    if (atomic_load_explicit(&orch->thread->counts.guard.kernel, memory_order_relaxed) ==
        SIMPLER_NO_KERNEL)
        simpler_passing_end(orch);
    simpler_tmr_report_fatal(orch, code, text);
}

static const struct simpler_orch_ops passing_ops = {
    .submit = {.aic = pass_aic, .aiv = pass_aiv},
    .submit_mixed = submit_mixed,
    .submit_dummy = submit_dummy,
    .alloc_tensors = alloc_tensors,
    .submit_graph = submit_graph,
    .scope_begin = scope_begin,
    .scope_end = scope_end,
    .get_tensor_data = get_tensor_data,
    .set_tensor_data = set_tensor_data,
    .report_fatal = report_fatal,
    .is_fatal = simpler_tmr_is_fatal,
    .cluster_count = simpler_tmr_cluster_count,
};

/* ---- begin and end ---- */

/* To the next look around, or a later one: while nothing is unfinished it finds nothing. */
static uint32_t rest_of_stretch(const struct simpler_orch *orch)
{
    uint32_t most = simpler_handover_stretch(orch);
    return most - orch->submit_seq % most;
}

static void begin(struct simpler_orch *orch)
{
    /* Ids that the ring has left; the next run of a kernel that is timed takes the slow way. */
    uint32_t ids = SIMPLER_MAX_TASK_ID - orch->ring[orch->current].next;
    uint32_t timing = orch->thread->timing, most = rest_of_stretch(orch);

    if (most > ids)
        most = ids;
    if (most > timing)
        most = timing;
    if (most == 0)
        return;
    orch->passing.from = simpler_passing_completed(orch);
    orch->passing.last = orch->passing.from + most;
    check_next(&orch->passing, orch->passing.from);
    orch->head.submits = &passing_ops.submit;
}

/*
 * After a look or a scope's boundary that has ended a stretch: another one, unless the ring, which
 * may be another one, has tasks that are held.  None was submitted meanwhile, so all are done.
 */
static void go_on(struct simpler_orch *orch)
{
    if (simpler_ring_live(orch, orch->current) == 0)
        begin(orch);
}

void simpler_passing_begin(struct simpler_orch *orch, const struct simpler_submit_request *q)
{
    uint32_t at = q->func_id % SIMPLER_PASSING_KERNELS;

    orch->passing.known[q->shape][at] = q->func_id;
    orch->passing.fn[q->shape][at] = orch->device->kernels[q->func_id]->fn;
    begin(orch);
}

void simpler_passing_end(struct simpler_orch *orch)
{
    struct simpler_ring *ring = &orch->ring[orch->current];
    struct simpler_thread *thread = orch->thread;
    uint32_t count = simpler_passing_count(orch);

    orch->passing.until = 0;
    orch->head.submits = &simpler_tmr_ops.submit;
    if (count == 0)
        return;
    ring->done_from = ring->next += count;
    if (ring->window_peak == 0)
        ring->window_peak = 1;
    orch->device->alive[orch->current] = ring->next;
    orch->submitted += count;
    orch->submit_seq += count;
    if (SIMPLER_UNLIKELY(orch->submit_seq == 0)) /* a stretch ends where it wraps */
        simpler_linking_renumber(orch);
    thread->timing -= count;
    simpler_scheduler_count_many(&thread->counts.run, count);
    simpler_scope_sample_wired(orch, ring);
}

void simpler_passing_forget(struct simpler_orch *orch)
{
    for (uint32_t func_id = 0; func_id < SIMPLER_PASSING_KERNELS; func_id++)
        simpler_passing_drop(orch, func_id);
}
