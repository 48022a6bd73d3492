/* SPDX-License-Identifier: Apache-2.0 */
#include "host/diagnostics.h"

#include <inttypes.h>
#include <string.h>

#include "base/logger.h"
#include "collect/args_dump/args_dump_collector.h"
#include "collect/scope_stats/scope_stats_collector.h"
#include "host/runtimes.h"

/* 256 device threads and 108 cores fit. */
#define MAX_LANES 512u

void simpler_diagnostics_fini(struct simpler_diagnostics *diagnostics)
{
    simpler_scope_stats_collector_close(diagnostics->scope_stats);
    diagnostics->scope_stats = NULL;
    simpler_args_dump_collector_close(diagnostics->args_dump);
    diagnostics->args_dump = NULL;
}

/* By value: what a later run is configured with does not show in this one's file. */
static struct scope_stats_capacities capacities_of(const struct simpler_device_run *run)
{
    const struct simpler_runtime_env *env = &run->env;
    struct scope_stats_capacities c = {.known = env->tensormap != 0, .tensormap = env->tensormap};

    for (int r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        c.task_window[r] = env->ring_task_window[r];
        c.heap[r] = env->ring_heap[r];
        c.dep_pool[r] = env->ring_dep_pool[r];
        c.known = c.known && c.task_window[r] != 0 && c.heap[r] != 0 && c.dep_pool[r] != 0;
    }
    c.known = c.known && simpler_runtimes[run->runtime]->samples_scopes;
    return c;
}

static int admit_scope_stats(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                             struct simpler_device_run *run)
{
    struct scope_stats_collector_config config = {.transport = diagnostics->transport};
    struct scope_stats_capacities capacities = capacities_of(run);

    if (diagnostics->scope_stats == NULL) {
        int rc = simpler_scope_stats_collector_open(&config, &diagnostics->scope_stats);
        if (rc != 0)
            return rc;
    }
    int rc = simpler_scope_stats_collector_admit(diagnostics->scope_stats, run->run_epoch,
                                                 output_prefix, &capacities);
    if (rc == 0)
        run->scope_stats_data_base =
            simpler_scope_stats_collector_device_base(diagnostics->scope_stats);
    return rc;
}

/* One that cannot be had is taken out of the run. */
static int try_scope_stats(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                           struct simpler_device_run *run, struct simpler_run_result *result)
{
    result->scope_stats.enabled = 1;
    int rc = admit_scope_stats(diagnostics, output_prefix, run);
    if (rc == 0 || rc == SIMPLER_EINVAL)
        return rc;
    SIMPLER_ERROR("run %" PRIu32 " goes without scope stats: %s", run->run_epoch,
                  simpler_status_text(rc));
    result->scope_stats.status = rc;
    run->enable_profiling_flag &= ~SIMPLER_PROFILING_SCOPE_STATS;
    return 0;
}

/* A collector with a lane for each thread of the run. */
static int ensure_args_dump(struct simpler_diagnostics *diagnostics, uint32_t lanes)
{
    const struct simpler_dump_config *dump = &diagnostics->dump;
    struct args_dump_collector_config config = {
        .transport = diagnostics->transport,
        .lanes = lanes,
        .records_per_buffer = dump->records_per_buffer,
        .buffers = dump->buffers_per_thread,
        .avg_bytes = dump->avg_tensor_bytes,
    };

    if (lanes > MAX_LANES)
        return SIMPLER_EOVERFLOW;
    if (diagnostics->args_dump != NULL &&
        simpler_args_dump_collector_lanes(diagnostics->args_dump) >= lanes)
        return 0;
    simpler_args_dump_collector_close(diagnostics->args_dump);
    diagnostics->args_dump = NULL;
    return simpler_args_dump_collector_open(&config, &diagnostics->args_dump);
}

static void try_args_dump(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                          struct simpler_device_run *run, struct simpler_run_result *result)
{
    result->args_dump.level = (int)run->dump_args_level;
    int rc = ensure_args_dump(diagnostics, simpler_device_lanes(run));
    if (rc == 0)
        rc = simpler_args_dump_collector_admit(diagnostics->args_dump, run->run_epoch,
                                               output_prefix, run->dump_args_level);
    if (rc == 0) {
        run->dump_data_base = simpler_args_dump_collector_device_base(diagnostics->args_dump);
        return;
    }
    SIMPLER_ERROR("run %" PRIu32 " goes without args dump: %s", run->run_epoch,
                  simpler_status_text(rc));
    result->args_dump.status = rc;
    run->enable_profiling_flag &= ~SIMPLER_PROFILING_DUMP_ARGS;
}

int simpler_diagnostics_admit(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                              struct simpler_device_run *run, struct simpler_run_result *result)
{
    int rc = 0;

    if ((run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) != 0)
        rc = try_scope_stats(diagnostics, output_prefix, run, result);
    if (rc == 0 && (run->enable_profiling_flag & SIMPLER_PROFILING_DUMP_ARGS) != 0)
        try_args_dump(diagnostics, output_prefix, run, result);
    return rc;
}

static void settle_scope_stats(struct simpler_diagnostics *diagnostics,
                               struct simpler_scope_stats_result *out)
{
    struct scope_stats_outcome o;

    /* simpler_device_execute returns when the orchestrator has left its entry. */
    (void)simpler_scope_stats_collector_settle(diagnostics->scope_stats, SIMPLER_LANE_COMPLETE, &o);
    out->status = o.status;
    out->has_file = o.has_file;
    out->counts_known = o.counts_known;
    out->records = o.records;
    out->dropped_no_free = o.dropped_no_free;
    out->dropped_ready_full = o.dropped_ready_full;
    out->dropped_too_deep = o.dropped_too_deep;
    out->write_failed = o.write_failed;
    out->refused_epoch = o.refused_epoch;
    _Static_assert(sizeof(out->path) == sizeof(o.path), "one path");
    memcpy(out->path, o.path, sizeof(out->path));
}

/*
 * When simpler_device_execute returns, every task of the run is done or the
 * threads are joined: nobody captures any more, every lane is complete.
 */
static void settle_args_dump(struct simpler_diagnostics *diagnostics,
                             struct simpler_args_dump_result *out)
{
    static const enum simpler_lane_end complete[MAX_LANES]; /* zero is SIMPLER_LANE_COMPLETE */
    struct args_dump_outcome o;

    _Static_assert(SIMPLER_LANE_COMPLETE == 0, "zeroed is complete");
    (void)simpler_args_dump_collector_settle(diagnostics->args_dump, complete, &o);
    out->status = o.status;
    out->has_manifest = o.has_manifest;
    out->counts_known = o.counts_known;
    out->records = o.records;
    out->payload_bytes = o.payload_bytes;
    out->capture_ns = o.capture_ns;
    out->truncated = o.truncated;
    out->dropped_no_free = o.dropped_no_free;
    out->dropped_ready_full = o.dropped_ready_full;
    out->dropped_arena = o.dropped_arena;
    out->write_failed = o.write_failed;
    out->refused_epoch = o.refused_epoch;
    _Static_assert(sizeof(out->path) == sizeof(o.path), "one path");
    memcpy(out->path, o.path, sizeof(out->path));
}

void simpler_diagnostics_settle(struct simpler_diagnostics *diagnostics,
                                const struct simpler_device_run *run,
                                struct simpler_run_result *result)
{
    if ((run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) != 0)
        settle_scope_stats(diagnostics, &result->scope_stats);
    if ((run->enable_profiling_flag & SIMPLER_PROFILING_DUMP_ARGS) != 0)
        settle_args_dump(diagnostics, &result->args_dump);
}
