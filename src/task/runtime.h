/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_RUNTIME_H
#define SIMPLER_TASK_RUNTIME_H

/*
 * A runtime as the host layer sees it: one struct of functions.  Its device runs
 * one callable at a time; threads and memory are kept from run to run.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "simpler/worker.h"
#include "task/callable.h"

struct simpler_platform;

/* Bits of enable_profiling_flag, as the documents number them. */
#define SIMPLER_PROFILING_DUMP_ARGS   (1u << 0)
#define SIMPLER_PROFILING_SCOPE_STATS (1u << 4)

/* One run, every default already resolved and every limit already checked. */
struct simpler_device_run {
    uint32_t runtime; /* index in the registry of the host layer */
    const struct simpler_callable_copy *callable;
    const struct simpler_orch_args *args;
    uint32_t thread_count;
    uint32_t cluster_count;
    uint32_t hazards; /* enum simpler_hazards, never DEFAULT */
    uint32_t exec;    /* enum simpler_exec */
    bool check_hazards;
    uint64_t deadline_ns;           /* 0: none */
    uint64_t scheduler_timeout_ns;  /* time without progress after which the run is hung */
    uint32_t run_epoch;             /* number of the run on its worker, from 1 */
    uint32_t enable_profiling_flag; /* SIMPLER_PROFILING_* */
    uint64_t scope_stats_data_base; /* with that bit: the header that the host has made */
    uint32_t dump_args_level;       /* with its bit: 1 to 3, for the host */
    uint64_t dump_data_base;        /* with its bit */
    struct simpler_runtime_env env; /* no zeros */
    /* Set by who cancels before it calls cancel of the runtime; NULL: nobody can. */
    const atomic_bool *canceled;
    /* NULL, or called every progress_interval_ns and at the end by the thread that executes. */
    void (*progress)(void *user, uint64_t tasks_done);
    void *progress_user;
    uint64_t progress_interval_ns;
};

/* Lanes of diagnostics of such a run: each thread and core has one, the monitor the last. */
static inline uint32_t simpler_device_lanes(const struct simpler_device_run *run)
{
    return run->thread_count + (run->exec == SIMPLER_EXEC_THREADS ? 3 * run->cluster_count : 0) + 1;
}

/* How the thread of a lane ended: what may be read of what it has written. */
enum simpler_device_lane_end {
    SIMPLER_DEVICE_LANE_COMPLETE = 0, /* it has returned from its entry, or is none of a hung run */
    SIMPLER_DEVICE_LANE_STOPPED = 1,  /* revoked inside a kernel: it writes nothing any more */
    SIMPLER_DEVICE_LANE_UNPROVED = 2
};

/* @device is what open gave.  All members are required. */
struct simpler_runtime {
    const char *name;
    const char *description; /* one line for `simpler info` */
    bool samples_scopes;     /* false: scope stats have no producer, their file is metadata alone */
    /* SIMPLER_ENOMEM. */
    int (*open)(const struct simpler_platform *platform, void **device);
    /* Stops the threads; NULL is allowed. */
    void (*close)(void *device);
    /*
     * Runs to the end; fills @result and returns its status.  One caller at a
     * time (the host layer sees to it).  SIMPLER_ENOMEM when memory cannot be
     * mapped, SIMPLER_ETHREAD when threads cannot be started.
     */
    int (*execute)(void *device, const struct simpler_device_run *run,
                   struct simpler_run_result *result);
    /* Ends the current run with SIMPLER_ECANCELED.  Any thread.  One that comes as execute
     * begins may be lost, but never the flag of the run: execute looks at it after that. */
    void (*cancel)(void *device);
    /* Tasks done in the current or last run.  Any thread. */
    uint64_t (*progress)(const void *device);

    /* The rest may be NULL: runs of this runtime always end by themselves. */

    /* After execute has returned: how a lane of that run ended. */
    enum simpler_device_lane_end (*lane_end)(const void *device, uint32_t lane);
    /*
     * Waits until a device that is busy with a hung run is free.  SIMPLER_ETIMEDOUT;
     * *why then says in words what it is busy with, until the next call.  Between runs,
     * one caller at a time.  A busy device that is closed stays in memory.
     */
    int (*quiesce)(void *device, uint64_t timeout_ns, const char **why);
    /* A report of what runs and waits goes to the log, if something does.  Any thread, also
     * from a signal handler. */
    void (*report)(void *device);
};

/* Limits of simpler_runtime_env and its defaults, for config checks. */
#define SIMPLER_TASK_WINDOW_MIN     4u
#define SIMPLER_TASK_WINDOW_MAX     (1u << 25)
#define SIMPLER_HEAP_MIN            1024u
#define SIMPLER_HEAP_MAX            (1ull << 44) /* four of them fit an address space */
#define SIMPLER_HEAP_UNIT           1024u
#define SIMPLER_DEP_POOL_MIN        4u
#define SIMPLER_DEP_POOL_MAX        (1u << 28)
#define SIMPLER_TENSORMAP_MIN       16u
#define SIMPLER_TENSORMAP_MAX       (1u << 26)
#define SIMPLER_TASK_WINDOW_DEFAULT 16384u
#define SIMPLER_HEAP_DEFAULT        268435456u
#define SIMPLER_DEP_POOL_DEFAULT    16384u
#define SIMPLER_TENSORMAP_DEFAULT   65536u
#define SIMPLER_READY_QUEUE_MIN     4u
#define SIMPLER_READY_QUEUE_MAX     (1u << 25) /* as many as tasks: never full */

#endif
