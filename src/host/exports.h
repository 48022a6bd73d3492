/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_EXPORTS_H
#define SIMPLER_HOST_EXPORTS_H

/*
 * What runs leave for the background writer when a worker collects across runs.
 * A run that wants diagnostics makes an export before it is admitted: the
 * destination is claimed there, so that nothing is written over and no two runs
 * meet; after the run's boundary the writer makes the files of it.
 *
 * Any thread may call.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect/args_dump/args_dump_ending.h"
#include "collect/scope_stats/scope_stats_retained.h"
#include "host/background.h"

struct simpler_exports;

struct simpler_export {
    struct simpler_background_job job; /* first */
    struct simpler_exports *exports;
    struct simpler_export *next; /* of those in flight; guarded by the lock of exports */
    char *prefix;
    /* Filled at the boundary by the thread whose turn it is; NULL: nothing to write. */
    struct scope_stats_retained *scope_stats;
    struct args_dump_retained *args_dump;
};

struct simpler_exports {
    struct simpler_background background;
    pthread_mutex_t lock; /* guards in_flight */
    struct simpler_export *in_flight;
    struct scope_stats_file scope_stats_file; /* of the writer */
    struct args_dump_budget dump_budget;      /* outlives the collectors */
    bool ready;
};

/* SIMPLER_ENOMEM. */
int simpler_exports_init(struct simpler_exports *exports);
/* Everything is written first; zeroed is allowed. */
void simpler_exports_fini(struct simpler_exports *exports);

/* What a run is about to write under its prefix. */
struct simpler_export_wish {
    bool scope_stats, args_dump;
};

/*
 * Claims @prefix and a place in the writer's queue; waits for one.  SIMPLER_EEXIST: a file is
 * there, or an earlier run of this worker is about to write it; SIMPLER_ETIMEDOUT: the
 * writer stands still; SIMPLER_ENOMEM, SIMPLER_ETHREAD.  Logged.
 */
int simpler_exports_claim(struct simpler_exports *exports, const char *prefix,
                          struct simpler_export_wish wish, struct simpler_export **out);
/* After the boundary: to the writer, or (nothing to write) to nobody.  NULL is allowed. */
void simpler_exports_hand_over(struct simpler_export *export_of_run);

#endif
