/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_DIAGNOSTICS_H
#define SIMPLER_HOST_DIAGNOSTICS_H

/*
 * The collectors of one device, each opened by the first run that asks for it
 * and kept.  What a diagnostic comes to never changes how a run ends.
 *
 * A worker that collects across runs leaves the rendering and writing to its
 * exports: claim before the run is admitted, settle hands over.
 *
 * Threads: the one whose turn it is, but where it says otherwise.
 */
#include "host/crash_safety.h"
#include "host/exports.h"
#include "simpler/worker.h"
#include "task/runtime.h"

struct simpler_scope_stats_collector;
struct simpler_args_dump_collector;

struct simpler_diagnostics {
    struct simpler_scope_stats_collector *scope_stats; /* NULL until a run asks for it */
    struct simpler_args_dump_collector *args_dump;     /* likewise; remade for more threads */
    struct simpler_dump_config dump;                   /* its sizes, from the worker's config */
    const struct simpler_transport_ops *transport;     /* the platform's */
    struct simpler_crash_safety safety;                /* what is behind their memory */
    bool scope_stats_backed, args_dump_backed;         /* that it is */
    bool across_runs;                                  /* from the worker's config */
    struct simpler_exports exports;                    /* with it */
    /* The run whose end is not proved, by collector, 0 none: written by the thread whose turn
     * it is, read by those that claim. */
    _Atomic uint32_t held_scope_stats, held_args_dump;
};

/* SIMPLER_ENOMEM. */
int simpler_diagnostics_init(struct simpler_diagnostics *diagnostics,
                             const struct simpler_worker_config *config);

/* Zeroed is allowed.  The device is closed already; what is left to write is written. */
void simpler_diagnostics_fini(struct simpler_diagnostics *diagnostics);

/*
 * Any thread, before a run is admitted: *out is its export, NULL when it needs none.
 * SIMPLER_EEXIST, SIMPLER_EBUSY: the run is refused, logged.  When the writer stands still or
 * cannot be had the run goes without its diagnostics: *without is why, else 0; flush tells.
 */
int simpler_diagnostics_claim(struct simpler_diagnostics *diagnostics,
                              const struct simpler_device_run *run, const char *output_prefix,
                              struct simpler_export **out, int *without);

/* Any thread: waits for the files of the runs that have ended; the first failure of all. */
int simpler_diagnostics_flush(struct simpler_diagnostics *diagnostics, uint64_t timeout_ns);

/*
 * Before a run: puts into @run what its diagnostics need.  One that cannot be had
 * is taken out of @run and noted in @result.  SIMPLER_EINVAL: the run is refused.
 * @claimed, @without: what claim gave.
 */
int simpler_diagnostics_admit(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                              const struct simpler_export *claimed, int without,
                              struct simpler_device_run *run, struct simpler_run_result *result);

/* 256 device threads, 108 cores and the monitor fit. */
#define SIMPLER_DIAGNOSTICS_LANES 512u

/* After it: collects, finishes the files, fills @result, which says how the run ended.  @ends: one
 * a lane of the run, the rest complete. */
void simpler_diagnostics_settle(struct simpler_diagnostics *diagnostics,
                                const struct simpler_device_run *run, const char *output_prefix,
                                const enum simpler_device_lane_end *ends,
                                struct simpler_export *claimed, struct simpler_run_result *result);

/* Every thread of the last, hung run has come back after all. */
void simpler_diagnostics_prove_late(struct simpler_diagnostics *diagnostics);

#endif
