/* SPDX-License-Identifier: Apache-2.0 */
#include "tmr/passing.h"

#include <string.h>

#include "tmr/kernel_word.h"
#include "tmr/orch_functions.h"
#include "tmr/scheduler.h"
#include "tmr/scope_sample.h"
#include "tmr/solo.h"
#include "tmr/submit_slot.h"

/* ---- the calls while a stretch lasts ---- */

/*
 * Neither an error, nor extras, nor OUTPUTs, nor explicit dependencies.  Word by word: they have
 * just been written, and a load of two words that were stored apart waits for both stores.
 */
SIMPLER_INLINE bool is_plain(const struct simpler_task_args *args)
{
    return (args->error | args->extra | args->output_count | args->dependency_count) == 0;
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
    if (out != NULL) {
        out->id.raw = simpler_passing_next_id(orch);
        out->count = 0;
    }
}

SIMPLER_INLINE const struct simpler_passing_kernel *
kernel_of(const struct simpler_orch *orch, enum simpler_shape shape, uint32_t func_id)
{
    return &orch->passing.kernel[shape][func_id % SIMPLER_PASSING_KERNELS];
}

SIMPLER_INLINE int pass(struct simpler_orch *orch, enum simpler_shape shape, uint32_t func_id)
{
    simpler_kernel_set_contexts(orch->thread);
    simpler_kernel_enter(orch->thread, func_id);
    int status = kernel_of(orch, shape, func_id)->fn(orch->thread->args);
    status = simpler_kernel_leave(orch->thread, status);
    if (SIMPLER_UNLIKELY(((uint32_t)status | orch->thread->deferred) != 0))
        return keep(orch, shape, status);
    /* Behind a revocation, which has ended the stretch: one below 0, a count of one. */
    orch->passing.left--;
    simpler_scheduler_count_completed(orch->thread);
    return 0;
}

/* The stretch goes on, the kernel is short, and the submit wants nothing else. */
SIMPLER_INLINE bool may_pass(const struct simpler_orch *orch, enum simpler_shape shape,
                             uint32_t func_id, const struct simpler_task_args *args)
{
    const struct simpler_passing_kernel *kernel = kernel_of(orch, shape, func_id);

    return SIMPLER_LIKELY(orch->passing.left != 0 && kernel->fn != NULL &&
                          kernel->func_id == func_id && args != NULL && is_plain(args) &&
                          atomic_load_explicit(&orch->device->stop, memory_order_relaxed) == 0);
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
    return simpler_tmr_scope_begin(orch, mode, file, line);
}

static int scope_end(struct simpler_orch *orch)
{
    simpler_passing_end(orch);
    return simpler_tmr_scope_end(orch);
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
    simpler_passing_end(orch);
    simpler_tmr_report_fatal(orch, code, text);
}

static const struct simpler_orch_ops passing_ops = {
    .submit_aic = pass_aic,
    .submit_aiv = pass_aiv,
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

void simpler_passing_begin(struct simpler_orch *orch, const struct simpler_submit_request *q,
                           uint32_t most)
{
    struct simpler_passing *passing = &orch->passing;
    /* Ids that the ring has left; the next run of a kernel that is timed takes the slow way. */
    uint32_t ids = SIMPLER_MAX_TASK_ID - orch->ring[orch->current].next;
    uint32_t timing = orch->thread->timing;

    if (most > ids)
        most = ids;
    if (most > timing)
        most = timing;
    if (most == 0)
        return;
    struct simpler_passing_kernel *kernel =
        &passing->kernel[q->shape][q->func_id % SIMPLER_PASSING_KERNELS];
    kernel->func_id = q->func_id;
    kernel->fn = orch->device->kernels[q->func_id]->fn;
    passing->granted = passing->left = most;
    orch->head.ops = &passing_ops;
}

void simpler_passing_end(struct simpler_orch *orch)
{
    struct simpler_ring *ring = &orch->ring[orch->current];
    struct simpler_thread *thread = orch->thread;
    uint32_t count = simpler_passing_count(orch);

    orch->passing.granted = orch->passing.left = 0;
    orch->head.ops = &simpler_tmr_ops;
    if (count == 0)
        return;
    ring->done_from = ring->next += count;
    orch->device->alive[orch->current] = ring->next;
    orch->submitted += count;
    orch->submit_seq += count; /* never past a look around, which comes before it wraps */
    thread->timing -= count;
    simpler_scheduler_count_many(&thread->counts.run, count);
    simpler_scope_sample_wired(orch, ring);
}

void simpler_passing_forget(struct simpler_orch *orch)
{
    memset(orch->passing.kernel, 0, sizeof(orch->passing.kernel));
}
