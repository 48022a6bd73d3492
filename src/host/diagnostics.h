/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_DIAGNOSTICS_H
#define SIMPLER_HOST_DIAGNOSTICS_H

/*
 * The collectors of one device, each opened by the first run that asks for it
 * and kept.  What a diagnostic comes to never changes how a run ends.
 *
 * Threads: the one that runs.
 */
#include "simpler/worker.h"
#include "task/runtime.h"

struct simpler_scope_stats_collector;
struct simpler_args_dump_collector;

struct simpler_diagnostics {
    struct simpler_scope_stats_collector *scope_stats; /* NULL until a run asks for it */
    struct simpler_args_dump_collector *args_dump;     /* likewise; remade for more threads */
    struct simpler_dump_config dump;                   /* its sizes, from the worker's config */
    const struct simpler_transport_ops *transport;     /* the platform's */
};

/* Zeroed is allowed.  The device is closed already. */
void simpler_diagnostics_fini(struct simpler_diagnostics *diagnostics);

/*
 * Before a run: puts into @run what its diagnostics need.  One that cannot be had
 * is taken out of @run and noted in @result.  SIMPLER_EINVAL: the run is refused.
 */
int simpler_diagnostics_admit(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                              struct simpler_device_run *run, struct simpler_run_result *result);

/* After it: collects, finishes the files, fills @result. */
void simpler_diagnostics_settle(struct simpler_diagnostics *diagnostics,
                                const struct simpler_device_run *run,
                                struct simpler_run_result *result);

#endif
