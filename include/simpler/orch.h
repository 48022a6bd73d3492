/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_ORCH_H
#define SIMPLER_ORCH_H

/*
 * What an orchestration may call.  An orchestration is a function that submits
 * tasks; the runtime infers their order from the tensors.  Its thread alone may call
 * anything of this header, until it returns: on tensormap_and_ringbuffer the device's
 * orchestrator, on host_build_graph the thread that runs (the caller of simpler_worker_run,
 * or the worker's for a run that was submitted), before any task.  A kernel may not, on whatever
 * thread it runs: it fails by its status.
 *
 * After a fatal error (code 1 to 11, a cancel, a deadline) every call answers
 * with the run's status at once and does nothing; the orchestration should
 * return, but need not look.
 *
 * Without an orchestrator (orch is NULL) a call does nothing but log: it answers
 * SIMPLER_EINVAL, simpler_orch_is_fatal true, a count 0.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpler/kernel.h"
#include "simpler/task.h"

#ifdef __cplusplus
extern "C" {
#endif

struct simpler_orch;

/** Arguments of one run, as simpler_worker_run got them. */
struct simpler_orch_args {
    const struct simpler_tensor *tensor;
    uint32_t tensor_count;
    uint32_t scalar_count;
    const uint64_t *scalar;
    void *user; /**< what the caller passed, untouched */
};

/** The orchestration of a callable.  @args and what it refers to stay until it returns. */
typedef void (*simpler_orch_fn)(struct simpler_orch *orch, const struct simpler_orch_args *args);

/**
 * What a submit gives back: the task's id and its OUTPUT tensors in the order
 * of the adds.  The tensors may be used until the scope of the submit ends.
 */
struct simpler_task_outputs {
    struct simpler_task_id id;
    uint32_t count;
    struct simpler_tensor tensor[SIMPLER_MAX_TENSORS];
};

/** Kernel ids of a mixed task; -1: that lane has none. */
struct simpler_mixed_kernels {
    int32_t aic_kernel_id;
    int32_t aiv0_kernel_id;
    int32_t aiv1_kernel_id;
};

enum simpler_scope_mode {
    SIMPLER_SCOPE_AUTO = 0,  /**< dependencies are inferred */
    SIMPLER_SCOPE_MANUAL = 1 /**< explicit dependencies alone order tasks */
};

/**
 * Submit one task to an AIC or an AIV core (macros: they add file and line).
 *
 * It becomes ready when every earlier task that it depends on is done.
 *
 * @param orch     the run's orchestrator
 * @param func_id  kernel of the callable; its core type must fit
 * @param args     tensors and scalars; may be reset and reused after return
 * @param out      receives id and OUTPUT tensors; NULL if not wanted
 *
 * @retval 0               submitted
 * @retval -INVALID_ARGS   args have an error, no such kernel, wrong core type,
 *                         an id that names no task, a tensor of a type that the
 *                         platform does not have; latched as code 5
 * @retval -REQUIRE_SYNC_START_INVALID
 *                         sync_start with more blocks than can be resident at once; code 7
 * @retval -SCOPE_DEADLOCK, -HEAP_RING_DEADLOCK, -FLOW_CONTROL_DEADLOCK,
 *         -DEP_POOL_OVERFLOW, -TENSORMAP_OVERFLOW
 *                         a ring, the pool or the map is full and cannot drain;
 *                         latched, the report names a size that would do
 * @retval other           the status of a run that has failed already
 * On failure nothing was submitted; @out gets SIMPLER_TASK_ID_NONE and count 0.
 *
 * Blocks: while a ring, the pool or the map is full; it runs tasks meanwhile.
 */
#define simpler_orch_submit_aic(orch, func_id, args, out) \
    simpler_orch_submit_aic_inline(orch, func_id, args, out, __FILE__, __LINE__)
#define simpler_orch_submit_aiv(orch, func_id, args, out) \
    simpler_orch_submit_aiv_inline(orch, func_id, args, out, __FILE__, __LINE__)
/**
 * Submit a mixed task: an AIC kernel and up to two AIV kernels of one cluster, which see
 * the same arguments and are started together, block by block.  One kernel alone is a task
 * of its own core type (an AIV1 alone runs as AIV0).  Kernels of a block may wait for each
 * other, see kernel.h.
 *
 * @param kernels  struct simpler_mixed_kernels; read during the call
 * @retval -INVALID_ARGS  also: no kernel is given
 * Else as simpler_orch_submit_aic.
 */
#define simpler_orch_submit_mixed(orch, kernels, args, out) \
    simpler_orch_submit_mixed_at(orch, kernels, args, out, __FILE__, __LINE__)
/** A task without a kernel: it takes part in dependencies and allocates its outputs. */
#define simpler_orch_submit_dummy(orch, args, out) \
    simpler_orch_submit_dummy_at(orch, args, out, __FILE__, __LINE__)

SIMPLER_API int simpler_orch_submit_aic_at(struct simpler_orch *orch, uint32_t func_id,
                                           const struct simpler_task_args *args,
                                           struct simpler_task_outputs *out, const char *file,
                                           int line);
SIMPLER_API int simpler_orch_submit_aiv_at(struct simpler_orch *orch, uint32_t func_id,
                                           const struct simpler_task_args *args,
                                           struct simpler_task_outputs *out, const char *file,
                                           int line);

/*
 * How the submits that are made most reach the runtime: every orchestrator begins with a head.
 * For the functions below alone; binary interface, append only.
 */
typedef int (*simpler_orch_submit_fn)(struct simpler_orch *orch, uint32_t func_id,
                                      const struct simpler_task_args *args,
                                      struct simpler_task_outputs *out, const char *file, int line);
struct simpler_orch_submits {
    simpler_orch_submit_fn aic, aiv;
};
struct simpler_orch_head {
    const struct simpler_orch_submits *submits;
};

/* Whether there is none; compilers are told to lay out the code for one. */
static inline bool simpler_orch_is_none(const struct simpler_orch *orch)
{
#if defined(__has_builtin)
#if __has_builtin(__builtin_expect_with_probability)
    return __builtin_expect_with_probability(orch == NULL, 0, 1.0);
#endif
#endif
    return orch == NULL;
}

static inline const struct simpler_orch_submits *
simpler_orch_submits_of(const struct simpler_orch *orch)
{
    return ((const struct simpler_orch_head *)(const void *)orch)->submits;
}

/** simpler_orch_submit_aic_at, without the way through a function of the library. */
static inline int simpler_orch_submit_aic_inline(struct simpler_orch *orch, uint32_t func_id,
                                                 const struct simpler_task_args *args,
                                                 struct simpler_task_outputs *out, const char *file,
                                                 int line)
{
    if (simpler_orch_is_none(orch))
        return simpler_orch_submit_aic_at(orch, func_id, args, out, file, line);
    return simpler_orch_submits_of(orch)->aic(orch, func_id, args, out, file, line);
}

/** simpler_orch_submit_aiv_at, without the way through a function of the library. */
static inline int simpler_orch_submit_aiv_inline(struct simpler_orch *orch, uint32_t func_id,
                                                 const struct simpler_task_args *args,
                                                 struct simpler_task_outputs *out, const char *file,
                                                 int line)
{
    if (simpler_orch_is_none(orch))
        return simpler_orch_submit_aiv_at(orch, func_id, args, out, file, line);
    return simpler_orch_submits_of(orch)->aiv(orch, func_id, args, out, file, line);
}

SIMPLER_API int simpler_orch_submit_mixed_at(struct simpler_orch *orch,
                                             const struct simpler_mixed_kernels *kernels,
                                             const struct simpler_task_args *args,
                                             struct simpler_task_outputs *out, const char *file,
                                             int line);
SIMPLER_API int simpler_orch_submit_dummy_at(struct simpler_orch *orch,
                                             const struct simpler_task_args *args,
                                             struct simpler_task_outputs *out, const char *file,
                                             int line);

/**
 * Allocate tensors without a task that writes them; they are ready at once.
 *
 * @param infos  @count create-infos, 1 to 32
 * @param out    required
 * @retval as a submit
 */
#define simpler_orch_alloc_tensors(orch, infos, count, out) \
    simpler_orch_alloc_tensors_at(orch, infos, count, out, __FILE__, __LINE__)
SIMPLER_API int simpler_orch_alloc_tensors_at(struct simpler_orch *orch,
                                              const struct simpler_create_info *infos,
                                              uint32_t count, struct simpler_task_outputs *out,
                                              const char *file, int line);

/**
 * Geometry of a task's tensors, given beside the task.  It is never required, for it
 * travels with the arguments: what is given is compared with them (element type,
 * shape, strides, offset) and a difference is said in one warning; the run goes on.
 *
 * @param info   one descriptor for each tensor argument, in order; addresses do not count
 * @param count  at most the task's tensors
 * @retval SIMPLER_EINVAL  something differs, or the task has no such argument.
 *                         tensormap_and_ringbuffer, where a task may be over already, answers 0
 */
SIMPLER_API int simpler_orch_set_tensor_info_to_task(struct simpler_orch *orch,
                                                     struct simpler_task_id task,
                                                     const struct simpler_tensor *info,
                                                     uint32_t count);

/**
 * A submit to a core of @core_type (enum simpler_core_type) with such a comparison before it.
 * Another core type is -INVALID_ARGS.
 */
#define simpler_orch_add_task_with_tensor_info(orch, core_type, func_id, args, info, count, out) \
    simpler_orch_add_task_with_tensor_info_at(orch, core_type, func_id, args, info, count, out,  \
                                              __FILE__, __LINE__)
SIMPLER_API int simpler_orch_add_task_with_tensor_info_at(
    struct simpler_orch *orch, uint32_t core_type, uint32_t func_id,
    const struct simpler_task_args *args, const struct simpler_tensor *info, uint32_t count,
    struct simpler_task_outputs *out, const char *file, int line);

/** What a graph's function is given: the arguments of this call of the graph. */
struct simpler_graph_args {
    const struct simpler_tensor *tensor; /**< for tasks as they are, or views of them */
    const uint64_t
        *scalar; /**< for tasks by address: simpler_task_args_add_scalar(a, &scalar[i], t) */
    uint32_t tensor_count;
    uint32_t scalar_count;
    const void *config;
};

/**
 * Submits the tasks of a graph.  It must submit the same tasks whenever the
 * configuration and the arguments' shapes are the same: host_build_graph calls it
 * once and replays what it has submitted.
 */
typedef void (*simpler_graph_fn)(struct simpler_orch *orch, const struct simpler_graph_args *args);

/**
 * Submit a graph: many tasks at once, with these tensors and scalars.
 *
 * host_build_graph records the graph at the first call and keeps it, across runs
 * of one worker, by function, configuration, hazards and all of the arguments but
 * where the tensors lie and what the scalars are; later calls replay it.  Tasks
 * before and after are ordered with the graph as a whole, by its tensors.
 * tensormap_and_ringbuffer calls the function each time.
 *
 * In the function: a task's tensors are the arguments, views of them, or made in
 * it; a scalar is bound to the call when it is added from its address in
 * @args, any other value is part of the recording.  It may dump arguments, open
 * scopes and depend on tasks of its own; it may not write to an input, read or
 * write a tensor's data, submit another graph or end with other scopes open than
 * it began with.  host_build_graph alone sees to that: tensormap_and_ringbuffer
 * takes the function's calls as the orchestration's own.  A graph that is to run
 * on both keeps to it.
 *
 * @param args          inputs, inouts and existing outputs; scalars.  It and its tensors are
 *                      read before the function is called, which may fill them anew
 * @param config        goes to the function; compared byte by byte, as it was before the call
 * @param config_bytes  0: none
 * @retval as a submit; -INVALID_ARGS also: a created tensor, add_no_dep or an explicit
 *         dependency in @args; on host_build_graph also: what the function may not do, a
 *         tensor in it that is none of the above, tensors in @args that overlap in a way
 *         that cannot be recorded
 */
#define simpler_orch_submit_graph(orch, fn, args, config, config_bytes) \
    simpler_orch_submit_graph_at(orch, fn, args, config, config_bytes, __FILE__, __LINE__)
SIMPLER_API int simpler_orch_submit_graph_at(struct simpler_orch *orch, simpler_graph_fn fn,
                                             const struct simpler_task_args *args,
                                             const void *config, size_t config_bytes,
                                             const char *file, int line);

/**
 * Open and close a scope by hand.  A scope's depth d, from 1, picks the ring
 * min(d, 3); tensors created in it may be freed when it ends.  Scopes may nest
 * without limit.  MANUAL inside MANUAL is allowed.
 *
 * @param file, line  where it is, for scope stats and reports; the string stays as long as
 *                    the worker (a literal); NULL: not known
 * @retval -INVALID_ARGS         AUTO inside MANUAL, no such mode; an end without an open scope;
 *                               code 5
 * @retval SIMPLER_ENOMEM        there is no memory for it; the run ends
 * @retval other                 the status of a run that has failed already; an end ends the
 *                               scope all the same
 */
SIMPLER_API int simpler_orch_scope_begin(struct simpler_orch *orch, enum simpler_scope_mode mode);
SIMPLER_API int simpler_orch_scope_begin_at(struct simpler_orch *orch, enum simpler_scope_mode mode,
                                            const char *file, int line);
SIMPLER_API int simpler_orch_scope_end(struct simpler_orch *orch);

/* The state of one SIMPLER_SCOPE block; not for direct use. */
struct simpler_scope_guard {
    struct simpler_orch *orch; /* NULL: the begin was refused, there is nothing to end */
    int once;
};

static inline struct simpler_scope_guard simpler_scope_guard_begin(struct simpler_orch *orch,
                                                                   enum simpler_scope_mode mode,
                                                                   const char *file, int line)
{
    struct simpler_scope_guard guard = {NULL, 1};
    if (simpler_orch_scope_begin_at(orch, mode, file, line) == 0)
        guard.orch = orch;
    return guard;
}

static inline void simpler_scope_guard_end(struct simpler_scope_guard *guard)
{
    if (guard != NULL && guard->orch != NULL)
        (void)simpler_orch_scope_end(guard->orch);
}

#define SIMPLER_SCOPE_NAME_(line) simpler_scope_guard_##line
#define SIMPLER_SCOPE_NAME(line)  SIMPLER_SCOPE_NAME_(line)
/**
 * `SIMPLER_SCOPE(orch) { ... }`: a scope for the block.  It ends also when the
 * block is left by return, break, continue or goto (GCC and Clang).
 */
#define SIMPLER_SCOPE(orch) SIMPLER_SCOPE_MODE(orch, SIMPLER_SCOPE_AUTO)
#define SIMPLER_SCOPE_MODE(orch, mode)                                      \
    for (struct simpler_scope_guard SIMPLER_SCOPE_NAME(__LINE__)            \
             __attribute__((cleanup(simpler_scope_guard_end))) =            \
                 simpler_scope_guard_begin(orch, mode, __FILE__, __LINE__); \
         SIMPLER_SCOPE_NAME(__LINE__).once; SIMPLER_SCOPE_NAME(__LINE__).once = 0)

/**
 * Reads one element of a tensor, waiting for the tasks that write it.
 *
 * @param index  ndims indices
 * @param value  receives the element, simpler_dtype_bytes(dtype) bytes
 * @retval SIMPLER_EINVAL        an index beyond the shape, a tensor without a buffer, NULL
 * @retval SIMPLER_EKERNEL       a task that writes it has failed; the run ends
 * @retval -TENSOR_WAIT_TIMEOUT  nothing ran for 15 s and the producer is not done; code 8
 * @retval -INVALID_ARGS         host_build_graph, where no task runs before the orchestration
 *                               has returned: a submitted task writes it, or this is a recorded
 *                               graph; code 5
 * @retval other                 the status of a run that has failed already
 *
 * Blocks: until the producers are done; it runs tasks meanwhile.  Not on host_build_graph.
 */
SIMPLER_API int simpler_orch_get_tensor_data(struct simpler_orch *orch,
                                             const struct simpler_tensor *tensor,
                                             const uint32_t *index, void *value);

/**
 * Writes one element; it waits also for the tasks that read what is there (with hazards raw, or
 * in a MANUAL scope, for all tasks).  On host_build_graph no submitted task may use the tensor.
 * Else as simpler_orch_get_tensor_data.
 */
SIMPLER_API int simpler_orch_set_tensor_data(struct simpler_orch *orch,
                                             const struct simpler_tensor *tensor,
                                             const uint32_t *index, const void *value);

/**
 * Latches a fatal error: the run ends with minus @code (enum simpler_device_code), usually
 * SIMPLER_CODE_EXPLICIT_ORCH_FATAL, and the text.  Of several the first counts.
 */
SIMPLER_API void simpler_orch_report_fatal(struct simpler_orch *orch, int code, const char *format,
                                           ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/** Whether the run has failed already, or was canceled. */
SIMPLER_API bool simpler_orch_is_fatal(const struct simpler_orch *orch);

/** Geometry of this run's device: its clusters (one AIC core each), and its AIV cores. */
SIMPLER_API uint32_t simpler_orch_available_cluster_count(const struct simpler_orch *orch);
SIMPLER_API uint32_t simpler_orch_available_aiv_count(const struct simpler_orch *orch);

#ifdef __cplusplus
}
#endif
#endif
