/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_DEVICE_H
#define SIMPLER_TMR_DEVICE_H

/*
 * The tensormap_and_ringbuffer runtime as the host layer sees it: a device that
 * runs one callable at a time.  Threads and memory are kept from run to run.
 */
#include <stdbool.h>
#include <stdint.h>

#include "platform/platform.h"
#include "simpler/worker.h"
#include "task/callable.h"

struct simpler_device;

/* Bits of enable_profiling_flag, as the documents number them. */
#define SIMPLER_PROFILING_DUMP_ARGS   (1u << 0)
#define SIMPLER_PROFILING_SCOPE_STATS (1u << 4)

/* One run, every default already resolved and every limit already checked. */
struct simpler_device_run {
    const struct simpler_callable_copy *callable;
    const struct simpler_orch_args *args;
    uint32_t thread_count;
    uint32_t cluster_count;
    uint32_t hazards; /* enum simpler_hazards, never DEFAULT */
    uint32_t exec;    /* enum simpler_exec */
    bool check_hazards;
    uint64_t deadline_ns;           /* 0: none */
    uint32_t run_epoch;             /* number of the run on its device, from 1 */
    uint32_t enable_profiling_flag; /* SIMPLER_PROFILING_* */
    uint64_t scope_stats_data_base; /* with that bit: the header that the host has made */
    uint32_t dump_args_level;       /* with its bit: 1 to 3, for the host */
    uint64_t dump_data_base;        /* with its bit */
    struct simpler_runtime_env env; /* no zeros */
};

/* Threads of such a run that may produce diagnostics; their lanes are 0 to this - 1. */
static inline uint32_t simpler_device_lanes(const struct simpler_device_run *run)
{
    return run->thread_count + (run->exec == SIMPLER_EXEC_THREADS ? 3 * run->cluster_count : 0);
}

/* SIMPLER_ENOMEM. */
int simpler_device_open(const struct simpler_platform *platform, struct simpler_device **out);
/* Stops the threads; NULL is allowed. */
void simpler_device_close(struct simpler_device *device);

/*
 * Runs to the end; fills @result and returns its status.  One caller at a time
 * (the host layer sees to it).  SIMPLER_ENOMEM when the arena cannot be mapped,
 * SIMPLER_ETHREAD when threads cannot be started.
 */
int simpler_device_execute(struct simpler_device *device, const struct simpler_device_run *run,
                           struct simpler_run_result *result);

/* Ends the current run with SIMPLER_ECANCELED.  Any thread. */
void simpler_device_cancel(struct simpler_device *device);

/* Tasks done in the current or last run.  Any thread. */
uint64_t simpler_device_progress(const struct simpler_device *device);

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

#endif
