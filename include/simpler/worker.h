/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_WORKER_H
#define SIMPLER_WORKER_H

/*
 * The worker: one device, the callables registered with it, run after run.
 *
 *     struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;
 *     struct simpler_worker *worker;
 *     simpler_worker_open(&config, &worker);
 *     simpler_worker_register(worker, &callable, &handle);
 *     simpler_worker_run(worker, handle, &args, NULL, NULL);
 *     simpler_worker_close(worker);
 *
 * A run can also be submitted and waited for later.  Two runs are admitted at a
 * time: one has the device, the next is checked and prepared meanwhile; they run
 * in the order of their admission, whoever submitted them.
 *
 * Threads: every call may come from any thread, but not from an orchestration, a
 * kernel or a callback of the same worker.
 */
#include <stddef.h>
#include <stdint.h>

#include "simpler/call_config.h"
#include "simpler/kernel.h"
#include "simpler/orch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct simpler_worker;

/** One orchestration and the kernels that it submits. */
struct simpler_callable {
    const char *name;            /**< for reports; NULL: "callable" */
    simpler_orch_fn orchestrate; /**< required */
    const char *file;            /**< where it is defined, for the root scope; may be NULL */
    int line;
    const struct simpler_kernel *kernels;
    uint32_t kernel_count;
    uint32_t expected_arg_count; /**< fewer tensors + scalars make the run fail; 0: any */
};

/**
 * Sizes of the args dump, each thread's own; 0 is the default.  A thread's arena
 * has the product of the three (128 MiB): a tensor that is larger is truncated.
 */
struct simpler_dump_config {
    uint32_t records_per_buffer; /**< 256 */
    uint32_t buffers_per_thread; /**< 8 */
    uint64_t avg_tensor_bytes;   /**< 64 KiB */
    /** 16; a power of two.  Full buffers that wait for the host: beyond it a thread waits. */
    uint32_t ready_queue_depth;
};

struct simpler_worker_config {
    const char *platform; /**< NULL: "cpu" */
    int device_id;        /**< 0 */
    struct simpler_dump_config dump;
    uint32_t level; /**< 2 (or 0): one chip; 3: a host worker with one chip */
    /**
     * 1 (level 3 alone): a run's diagnostics are drained at its end, but rendered and
     * written in the background, so that the next run need not wait.  A run returns
     * before its files are there; simpler_worker_flush_diagnostics is the barrier.
     * No file is replaced: a run whose file is there already is refused.  The samples of
     * runs that are not written yet take at most 256 MiB; what does not fit is lost,
     * and the file says so.
     */
    uint32_t collect_across_runs;
    /**
     * 1: diagnostic memory is a file on tmpfs (/dev/shm), which outlives the process: after
     * a crash or SIGKILL `simpler recover` finds every record that was made.  The memory is
     * claimed whole when it is first used, for an args dump an arena (see dump) a thread.
     * Where it does not fit it is anonymous, with a warning; crash_safe of a result tells.
     * The file goes with the worker.  Not with collect_across_runs.
     */
    uint32_t crash_safe;
};
#define SIMPLER_WORKER_CONFIG_INIT     \
    {                                  \
        NULL, 0, {0, 0, 0, 0}, 0, 0, 0 \
    }

/** High-water marks of one ring. */
struct simpler_ring_stats {
    uint64_t tasks;            /**< submitted on this ring */
    uint64_t task_window_max;  /**< capacity */
    uint64_t task_window_peak; /**< slots in use as a submit ended, its own among them */
    uint64_t heap_max;         /**< bytes */
    uint64_t heap_peak;
    uint64_t dep_pool_max;
    uint64_t dep_pool_peak;
};

/** What a run did. */
struct simpler_run_stats {
    uint64_t tasks;            /**< all submitted, dummies and allocations included */
    uint64_t tasks_run;        /**< kernels that ran to their end */
    uint64_t tasks_failed;     /**< kernels that returned a status */
    uint64_t tasks_poisoned;   /**< not run, since something before them failed */
    uint64_t tasks_skipped;    /**< not run, since their predicate did not hold */
    uint64_t blocks_run;       /**< calls of kernels of tasks with blocks or lanes */
    uint64_t edges;            /**< dependencies on tasks that were not done yet */
    uint64_t wall_ns;          /**< from the start of the orchestration to the last task */
    uint64_t orchestration_ns; /**< until the orchestration returned */
    uint64_t tensormap_max;
    uint64_t tensormap_peak;
    uint64_t unordered_pairs; /**< found by check_hazards */
    struct simpler_ring_stats ring[CHIP_MAX_RING_DEPTH];
};

/**
 * What scope stats of a run came to.  The run's own status does not depend on it.
 * Counts of losses are of samples, by cause; they are 0 when counts_known is 0.
 */
struct simpler_scope_stats_result {
    int enabled;      /**< 1: it was asked for */
    int status;       /**< 0: whole; SIMPLER_EPARTIAL or why there is no file */
    int has_file;     /**< 1: the file is at @path */
    int pending;      /**< 1: it is written in the background; the rest is what is known by now */
    int counts_known; /**< 0: what the device dropped is not known */
    uint64_t records; /**< samples in the file */
    uint64_t dropped_no_free;
    uint64_t dropped_ready_full;
    uint64_t dropped_too_deep; /**< of scopes deeper than 63 */
    uint64_t write_failed;     /**< the disk did not take them */
    uint64_t refused_epoch;    /**< of another run, found in this run's buffers; not in the file */
    char path[1088];
};

/**
 * What the args dump of a run came to.  The run's own status does not depend on it.
 * Counts of losses are of records, by cause; they are 0 when counts_known is 0.
 */
struct simpler_args_dump_result {
    int level;        /**< that was asked for; 0: off */
    int status;       /**< 0: whole; SIMPLER_EPARTIAL or why there is no manifest */
    int has_manifest; /**< 1: args_dump.json is in @path; 0 with status 0: no record was made */
    int pending;      /**< 1: it is written in the background; the rest is what is known by now */
    int counts_known;
    uint64_t records;
    uint64_t payload_bytes; /**< of args.bin */
    uint64_t capture_ns;    /**< time that capture took, summed over the threads */
    uint64_t truncated;
    uint64_t dropped_no_free;
    uint64_t dropped_ready_full;
    uint64_t dropped_arena;
    uint64_t write_failed; /**< the disk did not take them */
    uint64_t refused_epoch;
    char path[1088]; /**< the directory args_dump */
};

/** What the tasks of one timing slot took, in nanoseconds since the run's start. */
struct simpler_task_timing {
    uint64_t tasks;    /**< that ended with this slot; 0: nothing was measured */
    uint64_t start_ns; /**< when the first of them was dispatched */
    uint64_t end_ns;   /**< when the last of them was done */
    uint64_t busy_ns;  /**< dispatch to end, summed over them */
};

/** How a run ended; @message is empty when it passed. */
struct simpler_run_result {
    int status; /**< 0, minus a device code, or SIMPLER_E* */
    int orch_error_code;
    int sched_error_code;
    int crash_safe; /**< 1: a crash would have lost nothing of its diagnostics */
    struct simpler_run_stats stats;
    char message[2048]; /**< lines for machine, human and remedy, newline-separated */
    struct simpler_scope_stats_result scope_stats;
    struct simpler_args_dump_result args_dump;
    struct simpler_task_timing timing[SIMPLER_TIMING_SLOTS];
};

/**
 * Open a worker and its device; threads are started at the first run.
 *
 * @param config  NULL for the defaults; strings are copied
 * @param out     the worker, owned by the caller until simpler_worker_close; NULL on failure
 * @retval SIMPLER_EINVAL   out is NULL, the device id is none of the platform's, sizes of
 *                          the dump that make an arena of more than 2^44 bytes, no such
 *                          level, collect_across_runs at level 2 or with crash_safe
 * @retval SIMPLER_ENOENT   no such platform (the log lists the names)
 * @retval SIMPLER_ENOSYS   a platform that this host does not have; level 4
 * @retval SIMPLER_ENOMEM   out of memory
 */
SIMPLER_API int simpler_worker_open(const struct simpler_worker_config *config,
                                    struct simpler_worker **out);

/**
 * Stop the threads and free everything; NULL is allowed.
 *
 * Runs that are admitted are canceled first, and close waits for their end and
 * for every call that is inside the worker: a run ends with SIMPLER_ECANCELED, and so
 * does a submit or a run that was still waiting to be admitted.  Handles of runs
 * stay valid until they are released.
 *
 * Files that are still to be written are written first.
 *
 * @retval 0      closed
 * @retval other  closed all the same; what simpler_worker_flush_diagnostics would have answered
 *
 * Blocks: until running kernels have returned and the files are written.
 * Threads: once; no call on the worker may begin after it.
 */
SIMPLER_API int simpler_worker_close(struct simpler_worker *worker);

/**
 * Make a callable known, for the worker's life.  Structs and strings are copied, the functions
 * must stay loaded.  The same content again gives the same handle.
 *
 * @param out  the handle
 * @retval SIMPLER_EINVAL     no orchestration, a kernel without function, a func_id
 *                            given twice or above 1023, a tensor direction after SCALAR
 * @retval SIMPLER_EOVERFLOW  more than 64 callables
 * @retval SIMPLER_ENOMEM     out of memory
 */
SIMPLER_API int simpler_worker_register(struct simpler_worker *worker,
                                        const struct simpler_callable *callable, uint32_t *out);

/**
 * Run a callable to its end.
 *
 * @param handle  from simpler_worker_register
 * @param args    at most 256 tensors and 128 scalars; must stay valid during the call
 * @param config  NULL for the defaults
 * @param out     how it ended, filled once the run was admitted (never with EINVAL); NULL if
 *                not wanted
 * @retval 0                  every task ran
 * @retval minus a code       the device latched it, see status.h
 * @retval SIMPLER_EKERNEL    a kernel returned a status
 * @retval SIMPLER_ECANCELED, SIMPLER_ETIMEDOUT  canceled or the worker closes; the deadline passed
 * @retval SIMPLER_EINVAL     bad handle, arguments or config (the log says which)
 * @retval SIMPLER_EEXIST     (collect_across_runs) a file of its diagnostics is there already, or
 *                            an earlier run is about to write it
 * @retval SIMPLER_EBUSY      (collect_across_runs) with scope stats, while the end of an earlier
 *                            run with scope stats is not proved
 * @retval SIMPLER_EBUSY      an earlier run hung and has left a kernel behind, see
 *                            simpler_worker_quiesce
 * @retval SIMPLER_ENOMEM, SIMPLER_ETHREAD
 *
 * Blocks: until the run has ended, and before it those that were admitted earlier.
 */
SIMPLER_API int simpler_worker_run(struct simpler_worker *worker, uint32_t handle,
                                   const struct simpler_orch_args *args,
                                   const struct simpler_call_config *config,
                                   struct simpler_run_result *out);

/** A run that was submitted. */
struct simpler_run;

/**
 * Submit a run: it is checked, prepared, and runs when those before it have ended.
 *
 * @param args, config  as simpler_worker_run; both are copied, the memory that
 *                      tensors point to must stay until the run has ended
 * @param out           the run's handle, the caller's until simpler_run_release
 * @retval 0                  admitted
 * @retval SIMPLER_EINVAL, SIMPLER_EEXIST, SIMPLER_EBUSY  as simpler_worker_run; out is NULL
 * @retval SIMPLER_ECANCELED  the worker closes
 * @retval SIMPLER_ENOMEM, SIMPLER_ETHREAD
 *
 * Blocks: while two runs are admitted.
 */
SIMPLER_API int simpler_worker_submit(struct simpler_worker *worker, uint32_t handle,
                                      const struct simpler_orch_args *args,
                                      const struct simpler_call_config *config,
                                      struct simpler_run **out);

/**
 * Wait for a run's end.
 *
 * @param timeout_ns  0 looks only; UINT64_MAX: no limit
 * @retval 0                  it has ended, see simpler_run_get_result
 * @retval SIMPLER_ETIMEDOUT  not yet
 * @retval SIMPLER_EINVAL     run is NULL
 *
 * Blocks: for @timeout_ns at most.
 */
SIMPLER_API int simpler_run_wait(struct simpler_run *run, uint64_t timeout_ns);

/** 1: the run has ended; 0: not yet.  Does not block. */
SIMPLER_API int simpler_run_poll(struct simpler_run *run);

/**
 * How a run ended: out->status is what simpler_worker_run would have returned.
 *
 * @param timeout_ns  as simpler_run_wait
 * @retval 0                  @out is filled
 * @retval SIMPLER_ETIMEDOUT  it has not ended
 * @retval SIMPLER_EINVAL     a pointer is NULL
 *
 * Blocks: for @timeout_ns at most.
 */
SIMPLER_API int simpler_run_get_result(struct simpler_run *run, uint64_t timeout_ns,
                                       struct simpler_run_result *out);

/** Ends this run with SIMPLER_ECANCELED, begun or not; running kernels finish.  One that has
 *  ended stays as it is.  Does not wait for its end. */
SIMPLER_API void simpler_run_cancel(struct simpler_run *run);

/** Gives the handle up, once; the run goes on, and its arguments must stay until it has ended.
 *  NULL is allowed. */
SIMPLER_API void simpler_run_release(struct simpler_run *run);

/**
 * Wait until no run that is admitted now is left, and nothing that one has left behind.
 *
 * A run that makes no progress for the scheduler's budget (SIMPLER_SCHEDULER_TIMEOUT_MS,
 * 20 s) ends with minus SIMPLER_CODE_SCHEDULER_TIMEOUT even if a kernel never returns.  Such
 * a kernel keeps its thread, and the device is busy: a run answers SIMPLER_EBUSY, and
 * the caller keeps the hung run's arguments and tensors until this function returns 0 or
 * the process ends.  A worker that is closed before keeps its memory.
 *
 * @param timeout_ns  0 looks only; UINT64_MAX: no limit
 * @retval 0                  they have all ended, the device is free
 * @retval SIMPLER_ETIMEDOUT  not yet: a run, a kernel or an orchestration has not come back
 * @retval SIMPLER_ECANCELED  the worker closes
 * @retval SIMPLER_EINVAL     worker is NULL
 *
 * Blocks: for @timeout_ns at most.
 */
SIMPLER_API int simpler_worker_quiesce(struct simpler_worker *worker, uint64_t timeout_ns);

/**
 * Wait until the files of every run that was admitted before this call are there.
 *
 * Without collect_across_runs they are when the runs have ended, and each result tells
 * what became of them.
 *
 * @param timeout_ns  UINT64_MAX: no limit
 * @retval 0                  all files of the worker's life are published and whole
 * @retval SIMPLER_ETIMEDOUT  not yet
 * @retval SIMPLER_ECANCELED  the worker closes
 * @retval SIMPLER_EPARTIAL   of some run, samples or records were lost or refused by the host,
 *                            a device code was latched, counts are unknown, or its end is
 *                            not proved
 * @retval SIMPLER_EEXIST     a file came to be where a run was to publish its own
 * @retval SIMPLER_EIO, SIMPLER_ENOMEM, SIMPLER_ETHREAD  a file could not be made
 *
 * The first failure is kept: every later flush, and close, answers with it.  The log has
 * each of them.
 *
 * Blocks: for @timeout_ns at most.
 */
SIMPLER_API int simpler_worker_flush_diagnostics(struct simpler_worker *worker,
                                                 uint64_t timeout_ns);

/**
 * Writes to the log what the current run is doing: the kernels that run, the oldest
 * unfinished task.  The run goes on.  Also from a signal handler.  Nothing is written for
 * a NULL worker or without a run; of a run of host_build_graph once its orchestration has returned.
 */
SIMPLER_API void simpler_worker_report(struct simpler_worker *worker);

/**
 * Ends the run whose turn it is with SIMPLER_ECANCELED; running kernels finish.
 * One that lets the run wait for more than 5 s, or the scheduler's budget, is left
 * behind as in a hang.  Without an admitted run it does nothing.  Does not wait for the end.
 */
SIMPLER_API void simpler_worker_cancel(struct simpler_worker *worker);

/**
 * Handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT, for the whole process: one line
 * on standard error says which kernel of which task crashed, and where it was submitted;
 * then the signal goes to whoever had it before.  Without this call the library installs
 * none.  Before the first run, so that its threads have alternate stacks.
 *
 * @retval SIMPLER_ENOSYS  they cannot be set
 */
SIMPLER_API int simpler_worker_handle_crashes(void);

/** Tasks done in the current or last run; 0 for NULL.  For progress display. */
SIMPLER_API uint64_t simpler_worker_progress(const struct simpler_worker *worker);

/**
 * Device memory.  On the simulated devices it is host memory, zeroed, aligned
 * to 64 bytes; it stays between runs and is freed with the worker at the latest.
 * A copy is not ordered with tasks: no run may use those bytes meanwhile.
 *
 * @param bytes  0 is allowed
 * @param out    its address, the caller's until simpler_worker_free
 * @retval SIMPLER_ENOMEM  out of memory
 * @retval SIMPLER_EINVAL  a pointer is NULL; (free) no block begins there; (copies) the bytes are
 *                         not all within one block of this worker
 */
SIMPLER_API int simpler_worker_malloc(struct simpler_worker *worker, size_t bytes, uint64_t *out);
SIMPLER_API int simpler_worker_free(struct simpler_worker *worker, uint64_t addr);
SIMPLER_API int simpler_worker_copy_to(struct simpler_worker *worker, uint64_t to, const void *from,
                                       size_t bytes);
SIMPLER_API int simpler_worker_copy_from(struct simpler_worker *worker, void *to, uint64_t from,
                                         size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
