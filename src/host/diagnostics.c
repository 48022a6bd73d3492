/* SPDX-License-Identifier: Apache-2.0 */
#include "host/diagnostics.h"

#include <inttypes.h>
#include <string.h>

#include "base/logger.h"
#include "collect/args_dump/args_dump_collector.h"
#include "collect/scope_stats/scope_stats_collector.h"
#include "host/live_file.h"
#include "host/runtimes.h"

int simpler_diagnostics_init(struct simpler_diagnostics *diagnostics,
                             const struct simpler_worker_config *config)
{
    diagnostics->dump = config->dump;
    diagnostics->safety.wanted = config->crash_safe != 0;
    diagnostics->across_runs = config->collect_across_runs != 0;
    return diagnostics->across_runs ? simpler_exports_init(&diagnostics->exports) : 0;
}

static void close_collectors(struct simpler_diagnostics *diagnostics)
{
    simpler_scope_stats_collector_close(diagnostics->scope_stats);
    diagnostics->scope_stats = NULL;
    simpler_args_dump_collector_close(diagnostics->args_dump);
    diagnostics->args_dump = NULL;
    simpler_crash_safety_fini(&diagnostics->safety);
}

void simpler_diagnostics_fini(struct simpler_diagnostics *diagnostics)
{
    simpler_exports_fini(&diagnostics->exports);
    close_collectors(diagnostics);
}

int simpler_diagnostics_flush(struct simpler_diagnostics *diagnostics, uint64_t timeout_ns)
{
    if (!diagnostics->exports.ready)
        return 0;
    return simpler_background_flush(&diagnostics->exports.background, timeout_ns);
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
    return c;
}

/* ---- before a run is admitted ---- */

static bool is_held(_Atomic uint32_t *held, const char *what)
{
    uint32_t run_epoch = atomic_load_explicit(held, memory_order_relaxed);

    if (run_epoch != 0)
        SIMPLER_ERROR("a run with %s is refused: it is not proved that run %" PRIu32 " has ended",
                      what, run_epoch);
    return run_epoch != 0;
}

int simpler_diagnostics_claim(struct simpler_diagnostics *diagnostics,
                              const struct simpler_device_run *run, const char *output_prefix,
                              struct simpler_export **out, int *without)
{
    struct simpler_export_wish wish = {
        .scope_stats = (run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) != 0,
        .args_dump = (run->enable_profiling_flag & SIMPLER_PROFILING_DUMP_ARGS) != 0,
    };

    *out = NULL;
    *without = 0;
    /* A runtime without scopes behaves as it always has. */
    if (!diagnostics->across_runs || !simpler_runtimes[run->runtime]->samples_scopes ||
        (!wish.scope_stats && !wish.args_dump))
        return 0;
    if ((wish.scope_stats && is_held(&diagnostics->held_scope_stats, "scope stats")) ||
        (wish.args_dump && is_held(&diagnostics->held_args_dump, "args dump")))
        return SIMPLER_EBUSY;
    int rc = simpler_exports_claim(&diagnostics->exports, output_prefix, wish, out);
    if (rc == 0 || rc == SIMPLER_EEXIST)
        return rc;
    SIMPLER_ERROR("a run goes without its diagnostics: %s", simpler_status_text(rc));
    /* SIMPLER_ETIMEDOUT is flush's own. */
    *without = rc == SIMPLER_ETIMEDOUT ? SIMPLER_EPARTIAL : rc;
    simpler_background_note(&diagnostics->exports.background, *without);
    return 0;
}

/* ---- before a run ---- */

static int open_scope_stats(struct simpler_diagnostics *diagnostics)
{
    struct scope_stats_collector_config config = {
        .transport = diagnostics->transport,
        .backing = simpler_crash_safety_ensure(&diagnostics->safety),
    };
    int rc = simpler_scope_stats_collector_open(&config, &diagnostics->scope_stats);

    if (rc == SIMPLER_ENOMEM && config.backing != NULL) {
        simpler_crash_safety_refuse(&diagnostics->safety, "scope stats");
        config.backing = NULL;
        rc = simpler_scope_stats_collector_open(&config, &diagnostics->scope_stats);
    }
    diagnostics->scope_stats_backed = config.backing != NULL;
    return rc;
}

static int admit_scope_stats(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                             const struct simpler_export *claimed, struct simpler_device_run *run)
{
    struct scope_stats_capacities capacities = capacities_of(run);

    if (diagnostics->scope_stats == NULL) {
        int rc = open_scope_stats(diagnostics);
        if (rc != 0)
            return rc;
    }
    int rc = claimed != NULL
                 ? simpler_scope_stats_collector_admit_retained(
                       diagnostics->scope_stats, run->run_epoch, output_prefix, &capacities)
                 : simpler_scope_stats_collector_admit(diagnostics->scope_stats, run->run_epoch,
                                                       output_prefix, &capacities);
    if (rc == 0)
        run->scope_stats_data_base =
            simpler_scope_stats_collector_device_base(diagnostics->scope_stats);
    return rc;
}

static void report_scope_stats(const struct scope_stats_outcome *o,
                               struct simpler_scope_stats_result *out)
{
    out->status = o->status;
    out->has_file = o->has_file;
    out->pending = o->is_retained;
    out->counts_known = o->counts_known;
    out->records = o->records;
    out->dropped_no_free = o->dropped_no_free;
    out->dropped_ready_full = o->dropped_ready_full;
    out->dropped_too_deep = o->dropped_too_deep;
    out->write_failed = o->write_failed;
    out->refused_epoch = o->refused_epoch;
    _Static_assert(sizeof(out->path) == sizeof(o->path), "one path");
    memcpy(out->path, o->path, sizeof(out->path));
}

/* One that cannot be had is taken out of the run. */
static int try_scope_stats(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                           const struct simpler_export *claimed, struct simpler_device_run *run,
                           struct simpler_run_result *result)
{
    result->scope_stats.enabled = 1;
    if (!simpler_runtimes[run->runtime]->samples_scopes) {
        run->enable_profiling_flag &= ~SIMPLER_PROFILING_SCOPE_STATS;
        /* Its file is written when the run has ended; until then there is none of an earlier one.
         */
        simpler_scope_stats_collector_forget(output_prefix);
        return 0;
    }
    int rc = admit_scope_stats(diagnostics, output_prefix, claimed, run);
    result->scope_stats.status = rc;
    if (rc == 0 || rc == SIMPLER_EINVAL)
        return rc;
    SIMPLER_ERROR("run %" PRIu32 " goes without scope stats: %s", run->run_epoch,
                  simpler_status_text(rc));
    if (claimed != NULL)
        simpler_background_note(&diagnostics->exports.background, rc);
    else
        simpler_scope_stats_collector_forget(output_prefix);
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
        .ready_depth = dump->ready_queue_depth,
        .budget = &diagnostics->exports.dump_budget,
    };

    int rc;

    if (lanes > SIMPLER_DIAGNOSTICS_LANES)
        return SIMPLER_EOVERFLOW;
    if (diagnostics->args_dump != NULL &&
        simpler_args_dump_collector_lanes(diagnostics->args_dump) >= lanes)
        return 0;
    simpler_args_dump_collector_close(diagnostics->args_dump);
    diagnostics->args_dump = NULL;
    config.backing = simpler_crash_safety_ensure(&diagnostics->safety);
    rc = simpler_args_dump_collector_open(&config, &diagnostics->args_dump);
    if (rc == SIMPLER_ENOMEM && config.backing != NULL) {
        simpler_crash_safety_refuse(&diagnostics->safety, "the args dump");
        config.backing = NULL;
        rc = simpler_args_dump_collector_open(&config, &diagnostics->args_dump);
    }
    diagnostics->args_dump_backed = config.backing != NULL;
    return rc;
}

static int admit_args_dump(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                           const struct simpler_export *claimed,
                           const struct simpler_device_run *run)
{
    int rc = ensure_args_dump(diagnostics, simpler_device_lanes(run));

    if (rc != 0)
        return rc;
    return claimed != NULL
               ? simpler_args_dump_collector_admit_retained(diagnostics->args_dump, run->run_epoch,
                                                            output_prefix, run->dump_args_level)
               : simpler_args_dump_collector_admit(diagnostics->args_dump, run->run_epoch,
                                                   output_prefix, run->dump_args_level);
}

static void try_args_dump(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                          const struct simpler_export *claimed, struct simpler_device_run *run,
                          struct simpler_run_result *result)
{
    result->args_dump.level = (int)run->dump_args_level;
    int rc = admit_args_dump(diagnostics, output_prefix, claimed, run);
    if (rc == 0) {
        run->dump_data_base = simpler_args_dump_collector_device_base(diagnostics->args_dump);
        return;
    }
    SIMPLER_ERROR("run %" PRIu32 " goes without args dump: %s", run->run_epoch,
                  simpler_status_text(rc));
    result->args_dump.status = rc;
    if (claimed != NULL)
        simpler_background_note(&diagnostics->exports.background, rc);
    else
        simpler_args_dump_collector_forget(output_prefix);
    run->enable_profiling_flag &= ~SIMPLER_PROFILING_DUMP_ARGS;
}

/* Every diagnostic of the run is ready; the device has not begun. */
static void begin_crash_safety(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                               const struct simpler_device_run *run,
                               struct simpler_run_result *result)
{
    bool stats = (run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) != 0;
    bool dump = (run->enable_profiling_flag & SIMPLER_PROFILING_DUMP_ARGS) != 0;
    bool any =
        (stats && diagnostics->scope_stats_backed) || (dump && diagnostics->args_dump_backed);
    bool all =
        (!stats || diagnostics->scope_stats_backed) && (!dump || diagnostics->args_dump_backed);
    struct simpler_live live = {
        .run_epoch = run->run_epoch,
        .scope_stats = stats,
        .args_dump = dump ? run->dump_args_level : 0,
    };

    if (any && simpler_crash_safety_begin(&diagnostics->safety, output_prefix, &live))
        result->crash_safe = all;
    else if (stats || dump)
        simpler_crash_safety_forget_dead(output_prefix); /* its files are this run's now */
}

/* Nobody would write what the run's diagnostics collect. */
static void go_without(int why, struct simpler_device_run *run, struct simpler_run_result *result)
{
    if ((run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) != 0) {
        result->scope_stats.enabled = 1;
        result->scope_stats.status = why;
    }
    if ((run->enable_profiling_flag & SIMPLER_PROFILING_DUMP_ARGS) != 0) {
        result->args_dump.level = (int)run->dump_args_level;
        result->args_dump.status = why;
    }
    run->enable_profiling_flag = 0;
}

int simpler_diagnostics_admit(struct simpler_diagnostics *diagnostics, const char *output_prefix,
                              const struct simpler_export *claimed, int without,
                              struct simpler_device_run *run, struct simpler_run_result *result)
{
    int rc = 0;

    if (without != 0)
        go_without(without, run, result);
    /* A run before has left a thread inside, which has come back: the file is gone. */
    if (diagnostics->safety.unlinked)
        close_collectors(diagnostics);
    if ((run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) != 0)
        rc = try_scope_stats(diagnostics, output_prefix, claimed, run, result);
    if (rc == 0 && (run->enable_profiling_flag & SIMPLER_PROFILING_DUMP_ARGS) != 0)
        try_args_dump(diagnostics, output_prefix, claimed, run, result);
    if (rc == 0)
        begin_crash_safety(diagnostics, output_prefix, run, result);
    return rc;
}

/* ---- after it ---- */

/* What is for the writer goes into the export; a run without samples for it is a failure. */
static void retain_scope_stats(struct simpler_diagnostics *diagnostics, enum simpler_lane_end end,
                               uint32_t run_epoch, const struct scope_stats_outcome *outcome,
                               struct simpler_export *claimed)
{
    claimed->scope_stats = simpler_scope_stats_collector_take(diagnostics->scope_stats);
    if (claimed->scope_stats != NULL)
        return;
    simpler_background_note(&diagnostics->exports.background, outcome->status);
    if (!simpler_prof_decide(&end, 1).may_read)
        atomic_store_explicit(&diagnostics->held_scope_stats, run_epoch, memory_order_relaxed);
}

_Static_assert((int)SIMPLER_DEVICE_LANE_COMPLETE == (int)SIMPLER_LANE_COMPLETE &&
                   (int)SIMPLER_DEVICE_LANE_STOPPED == (int)SIMPLER_LANE_STOPPED &&
                   (int)SIMPLER_DEVICE_LANE_UNPROVED == (int)SIMPLER_LANE_UNPROVED,
               "a runtime's ends are the framework's");

/* @end: of the orchestrator's lane. */
static void settle_scope_stats(struct simpler_diagnostics *diagnostics, enum simpler_lane_end end,
                               uint32_t run_epoch, struct simpler_export *claimed,
                               struct simpler_scope_stats_result *out)
{
    struct scope_stats_outcome o;

    (void)simpler_scope_stats_collector_settle(diagnostics->scope_stats, end, &o);
    if (claimed != NULL)
        retain_scope_stats(diagnostics, end, run_epoch, &o, claimed);
    report_scope_stats(&o, out);
    if (simpler_scope_stats_collector_is_lost(diagnostics->scope_stats))
        diagnostics->scope_stats = NULL; /* the next run makes another */
}

/* A runtime without scopes: the file says how the run ended, and that there are no samples. */
static void settle_without_samples(const char *output_prefix, struct simpler_run_result *result)
{
    bool fatal = result->orch_error_code != 0 || result->sched_error_code != 0;
    struct scope_stats_outcome o;

    (void)simpler_scope_stats_collector_write_empty(output_prefix, fatal, &o);
    report_scope_stats(&o, &result->scope_stats);
}

static void retain_args_dump(struct simpler_diagnostics *diagnostics,
                             const enum simpler_lane_end *ends, uint32_t run_epoch,
                             const struct args_dump_outcome *outcome,
                             struct simpler_export *claimed)
{
    uint32_t lanes = simpler_args_dump_collector_lanes(diagnostics->args_dump);

    claimed->args_dump = simpler_args_dump_collector_take(diagnostics->args_dump);
    if (claimed->args_dump != NULL)
        return;
    simpler_background_note(&diagnostics->exports.background, outcome->status);
    if (!simpler_prof_decide(ends, lanes).may_read)
        atomic_store_explicit(&diagnostics->held_args_dump, run_epoch, memory_order_relaxed);
}

static void settle_args_dump(struct simpler_diagnostics *diagnostics,
                             const enum simpler_device_lane_end *device_ends, uint32_t run_epoch,
                             struct simpler_export *claimed, struct simpler_args_dump_result *out)
{
    enum simpler_lane_end ends[SIMPLER_DIAGNOSTICS_LANES];
    struct args_dump_outcome o;

    for (uint32_t l = 0; l < SIMPLER_DIAGNOSTICS_LANES; l++)
        ends[l] = (enum simpler_lane_end)device_ends[l];
    (void)simpler_args_dump_collector_settle(diagnostics->args_dump, ends, &o);
    if (claimed != NULL)
        retain_args_dump(diagnostics, ends, run_epoch, &o, claimed);
    out->status = o.status;
    out->has_manifest = o.has_manifest;
    out->pending = o.is_retained;
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
    if (simpler_args_dump_collector_is_lost(diagnostics->args_dump))
        diagnostics->args_dump = NULL;
}

/* The files are as complete as they get; a thread that may not come back keeps its memory, and
 * the program may leave without closing the worker. */
static void end_crash_safety(struct simpler_diagnostics *diagnostics,
                             const struct simpler_device_run *run,
                             const enum simpler_device_lane_end *ends)
{
    uint32_t lanes = simpler_device_lanes(run);

    simpler_crash_safety_end(&diagnostics->safety);
    /* A collection that stopped keeps its parts of the file: the next run needs another one. */
    if (((run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) != 0 &&
         diagnostics->scope_stats == NULL) ||
        ((run->enable_profiling_flag & SIMPLER_PROFILING_DUMP_ARGS) != 0 &&
         diagnostics->args_dump == NULL)) {
        simpler_crash_safety_abandon(&diagnostics->safety);
        return;
    }
    for (uint32_t l = 0; l < lanes && l < SIMPLER_DIAGNOSTICS_LANES; l++) {
        if (ends[l] != SIMPLER_DEVICE_LANE_COMPLETE) {
            simpler_crash_safety_abandon(&diagnostics->safety);
            return;
        }
    }
}

void simpler_diagnostics_settle(struct simpler_diagnostics *diagnostics,
                                const struct simpler_device_run *run, const char *output_prefix,
                                const enum simpler_device_lane_end *ends,
                                struct simpler_export *claimed, struct simpler_run_result *result)
{
    if (!simpler_runtimes[run->runtime]->samples_scopes && result->scope_stats.enabled)
        settle_without_samples(output_prefix, result);
    if ((run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) != 0)
        settle_scope_stats(diagnostics, (enum simpler_lane_end)ends[run->thread_count - 1],
                           run->run_epoch, claimed, &result->scope_stats);
    if ((run->enable_profiling_flag & SIMPLER_PROFILING_DUMP_ARGS) != 0)
        settle_args_dump(diagnostics, ends, run->run_epoch, claimed, &result->args_dump);
    end_crash_safety(diagnostics, run, ends);
    simpler_exports_hand_over(claimed);
}

void simpler_diagnostics_prove_late(struct simpler_diagnostics *diagnostics)
{
    if (diagnostics->scope_stats != NULL)
        simpler_scope_stats_collector_prove_late(diagnostics->scope_stats);
    if (diagnostics->args_dump != NULL)
        simpler_args_dump_collector_prove_late(diagnostics->args_dump);
    atomic_store_explicit(&diagnostics->held_scope_stats, 0, memory_order_relaxed);
    atomic_store_explicit(&diagnostics->held_args_dump, 0, memory_order_relaxed);
}
