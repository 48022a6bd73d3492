/* SPDX-License-Identifier: Apache-2.0 */
#include "host/diagnostics.h"

#include <inttypes.h>
#include <string.h>

#include "base/logger.h"
#include "collect/scope_stats/scope_stats_collector.h"
#include "platform/transport.h"

void simpler_diagnostics_fini(struct simpler_diagnostics *diagnostics)
{
    simpler_scope_stats_collector_close(diagnostics->scope_stats);
    diagnostics->scope_stats = NULL;
}

/* By value: what a later run is configured with does not show in this one's file. */
static struct scope_stats_capacities capacities_of(const struct simpler_runtime_env *env)
{
    struct scope_stats_capacities c = {.known = env->tensormap != 0, .tensormap = env->tensormap};

    for (int r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        c.task_window[r] = env->ring_task_window[r];
        c.heap[r] = env->ring_heap[r];
        c.dep_pool[r] = env->ring_dep_pool[r];
        c.known = c.known && c.task_window[r] != 0 && c.heap[r] != 0 && c.dep_pool[r] != 0;
    }
    return c;
}

static int admit_scope_stats(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                             struct simpler_device_run *run)
{
    struct scope_stats_collector_config config = {.transport = &simpler_transport_mapped};
    struct scope_stats_capacities capacities = capacities_of(&run->env);

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

int simpler_diagnostics_admit(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                              struct simpler_device_run *run, struct simpler_run_result *result)
{
    if ((run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) == 0)
        return 0;
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

void simpler_diagnostics_settle(struct simpler_diagnostics *diagnostics,
                                const struct simpler_device_run *run,
                                struct simpler_run_result *result)
{
    struct simpler_scope_stats_result *out = &result->scope_stats;
    struct scope_stats_outcome o;

    if ((run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) == 0)
        return;
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
