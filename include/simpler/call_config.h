/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_CALL_CONFIG_H
#define SIMPLER_CALL_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "simpler/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Rings of the runtime; a scope of depth d uses ring min(d, 3). */
#define CHIP_MAX_RING_DEPTH 4

/**
 * Sizes of what bounds a run, one entry a ring; 0 is unset.  An entry set here
 * goes before the environment (SIMPLER_RING_TASK_WINDOW, SIMPLER_RING_HEAP,
 * SIMPLER_RING_DEP_POOL, SIMPLER_TENSORMAP) as it was when the worker was
 * opened, which goes before the default.
 */
struct simpler_runtime_env {
    uint64_t ring_task_window[CHIP_MAX_RING_DEPTH]; /**< slots, a power of two, 4 to 2^25 */
    uint64_t ring_heap[CHIP_MAX_RING_DEPTH];        /**< bytes, a multiple of 1024 up to 2^44 */
    uint64_t ring_dep_pool[CHIP_MAX_RING_DEPTH];    /**< entries, 4 to 2^28 */
    uint64_t tensormap;                             /**< entries, 16 to 2^26 */
    /** Entries of a thread's ready queue, 4 to 2^25 (the default); host_build_graph alone: a
     * graph with more tasks ready at once fails with code 104. */
    uint64_t ready_queue;
};

/** Which orders are inferred. */
enum simpler_hazards {
    SIMPLER_HAZARDS_DEFAULT = 0, /**< the scene's, else the platform's */
    SIMPLER_HAZARDS_ALL = 1,     /**< read after write, write after read, write after write */
    SIMPLER_HAZARDS_RAW = 2      /**< what the SIMPLER documents' sources expect */
};

/** Where kernels run. */
enum simpler_exec {
    SIMPLER_EXEC_INLINE = 0, /**< on the scheduler's own stack */
    SIMPLER_EXEC_THREADS = 1 /**< on one thread a core */
};

/** How one run is done; zeros are defaults (SIMPLER_CALL_CONFIG_INIT). */
struct simpler_call_config {
    const char *runtime;         /**< its name, see simpler_info_runtime; NULL: the first */
    uint32_t aicpu_thread_num;   /**< device threads; 0: the CPUs that may be used, at least 2 */
    uint32_t cluster_count;      /**< clusters of 1 AIC and 2 AIV; 0: 8 */
    uint32_t hazards;            /**< enum simpler_hazards */
    uint32_t exec;               /**< enum simpler_exec */
    uint32_t check_hazards;      /**< 1: with raw, report every unordered pair */
    uint32_t enable_scope_stats; /**< 1: resource peaks of each scope, see output_prefix */
    /**
     * Args dump: 0 off; 1 what simpler_task_args_dump has selected; 2 every tensor and
     * scalar of every task; 3 as 2, with the bytes of selected tensors alone.
     */
    uint32_t enable_dump_args;
    /** The run is canceled (SIMPLER_ETIMEDOUT) when it has had the device so long; 0: never. */
    uint64_t deadline_ns;
    struct simpler_runtime_env runtime_env;
    /**
     * Directory for what diagnostics write, created when missing; required when
     * one is on, at most 1023 bytes.  Scope stats write scope_stats/scope_stats.jsonl
     * there, a dump args_dump/args_dump.json and args_dump/args.bin.  A run is refused
     * (SIMPLER_EINVAL) when these directories cannot be made or written into: a file is in
     * the way, the file system is read-only, the user may not.  Must stay valid during the run.
     */
    const char *output_prefix;
    /**
     * NULL, or called with the tasks done so far: every progress_interval_ns while the run
     * lasts, and when it has ended.  By the thread that runs it (the caller of
     * simpler_worker_run, or one of the worker's own), which does nothing else meanwhile;
     * may cancel the run, must not start or wait for one.
     */
    void (*progress)(void *user, uint64_t tasks_done);
    void *progress_user;
    uint64_t progress_interval_ns; /**< 0: 250 ms */
};
#define SIMPLER_CALL_CONFIG_INIT                                                              \
    {                                                                                         \
        NULL, 0, 0, 0, 0, 0, 0, 0, 0, {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, 0, 0}, NULL, \
            NULL, NULL, 0                                                                     \
    }

#ifdef __cplusplus
}
#endif
#endif
