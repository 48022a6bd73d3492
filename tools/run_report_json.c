/* SPDX-License-Identifier: Apache-2.0 */
/* The summary as one JSON document; everything of the text and all numbers behind it. */
#include "json_writer.h"
#include "run_report.h"
#include "simpler/version.h"

static void write_config(struct simpler_json_writer *w, const struct simpler_call_config *c)
{
    const struct simpler_runtime_env *env = &c->runtime_env;

    simpler_json_writer_open(w, "config", '{');
    simpler_json_writer_string(w, "runtime", c->runtime);
    simpler_json_writer_u64(w, "aicpu_thread_num", c->aicpu_thread_num);
    simpler_json_writer_u64(w, "cluster_count", c->cluster_count);
    simpler_json_writer_string(w, "hazards", c->hazards == SIMPLER_HAZARDS_ALL ? "all" : "raw");
    simpler_json_writer_string(w, "exec", c->exec == SIMPLER_EXEC_THREADS ? "threads" : "inline");
    simpler_json_writer_bool(w, "check_hazards", c->check_hazards != 0);
    simpler_json_writer_u64(w, "deadline_ns", c->deadline_ns);
    simpler_json_writer_bool(w, "enable_scope_stats", c->enable_scope_stats != 0);
    simpler_json_writer_u64(w, "enable_dump_args", c->enable_dump_args);
    simpler_json_writer_list(w, "ring_task_window", env->ring_task_window, CHIP_MAX_RING_DEPTH);
    simpler_json_writer_list(w, "ring_heap", env->ring_heap, CHIP_MAX_RING_DEPTH);
    simpler_json_writer_list(w, "ring_dep_pool", env->ring_dep_pool, CHIP_MAX_RING_DEPTH);
    simpler_json_writer_u64(w, "tensormap", env->tensormap);
    simpler_json_writer_u64(w, "ready_queue", env->ready_queue);
    simpler_json_writer_close(w, '}');
}

static void write_params(struct simpler_json_writer *w, const struct simpler_run_summary *s,
                         const struct simpler_run_case *c)
{
    simpler_json_writer_open(w, "params", '{');
    for (uint32_t i = 0; i < s->plan->param_count; i++)
        simpler_json_writer_i64(w, s->scene->params[i].name, c->params[i]);
    simpler_json_writer_close(w, '}');
}

static void write_ring(struct simpler_json_writer *w, const struct simpler_ring_stats *ring)
{
    simpler_json_writer_open(w, NULL, '{');
    simpler_json_writer_u64(w, "tasks", ring->tasks);
    simpler_json_writer_u64(w, "task_window_max", ring->task_window_max);
    simpler_json_writer_u64(w, "task_window_peak", ring->task_window_peak);
    simpler_json_writer_u64(w, "heap_max", ring->heap_max);
    simpler_json_writer_u64(w, "heap_peak", ring->heap_peak);
    simpler_json_writer_u64(w, "dep_pool_max", ring->dep_pool_max);
    simpler_json_writer_u64(w, "dep_pool_peak", ring->dep_pool_peak);
    simpler_json_writer_close(w, '}');
}

static void write_stats(struct simpler_json_writer *w, const struct simpler_run_stats *stats)
{
    simpler_json_writer_open(w, "stats", '{');
    simpler_json_writer_u64(w, "tasks", stats->tasks);
    simpler_json_writer_u64(w, "tasks_run", stats->tasks_run);
    simpler_json_writer_u64(w, "tasks_failed", stats->tasks_failed);
    simpler_json_writer_u64(w, "tasks_poisoned", stats->tasks_poisoned);
    simpler_json_writer_u64(w, "tasks_skipped", stats->tasks_skipped);
    simpler_json_writer_u64(w, "blocks_run", stats->blocks_run);
    simpler_json_writer_u64(w, "edges", stats->edges);
    simpler_json_writer_u64(w, "wall_ns", stats->wall_ns);
    simpler_json_writer_u64(w, "orchestration_ns", stats->orchestration_ns);
    simpler_json_writer_u64(w, "tensormap_max", stats->tensormap_max);
    simpler_json_writer_u64(w, "tensormap_peak", stats->tensormap_peak);
    simpler_json_writer_u64(w, "unordered_pairs", stats->unordered_pairs);
    simpler_json_writer_open(w, "rings", '[');
    for (int i = 0; i < CHIP_MAX_RING_DEPTH; i++)
        write_ring(w, &stats->ring[i]);
    simpler_json_writer_close(w, ']');
    simpler_json_writer_close(w, '}');
}

static void write_rounds(struct simpler_json_writer *w, const struct simpler_run_record *r)
{
    uint64_t median, min, max;

    if (simpler_run_record_times(r, &median, &min, &max)) {
        simpler_json_writer_open(w, "wall_ns", '{');
        simpler_json_writer_u64(w, "median", median);
        simpler_json_writer_u64(w, "min", min);
        simpler_json_writer_u64(w, "max", max);
        simpler_json_writer_close(w, '}');
    }
    simpler_json_writer_open(w, "rounds", '[');
    for (uint32_t i = 0; i < r->round_count; i++) {
        simpler_json_writer_open(w, NULL, '{');
        simpler_json_writer_bool(w, "passed", r->rounds[i].passed);
        simpler_json_writer_i64(w, "status", r->rounds[i].status);
        simpler_json_writer_u64(w, "wall_ns", r->rounds[i].wall_ns);
        simpler_json_writer_close(w, '}');
    }
    simpler_json_writer_close(w, ']');
}

static void write_case(struct simpler_json_writer *w, const struct simpler_run_summary *s,
                       const struct simpler_run_record *r)
{
    const char *message = r->prepare_message[0] != '\0' ? r->prepare_message : r->result.message;

    simpler_json_writer_open(w, NULL, '{');
    simpler_json_writer_string(w, "name", r->plan->scene_case->name);
    simpler_json_writer_bool(w, "passed", r->failed_count == 0);
    simpler_json_writer_i64(w, "status", r->result.status);
    simpler_json_writer_string(w, "status_name", simpler_status_name(r->result.status));
    simpler_json_writer_i64(w, "orch_error_code", r->result.orch_error_code);
    simpler_json_writer_i64(w, "sched_error_code", r->result.sched_error_code);
    simpler_json_writer_string(w, "message", message);
    simpler_json_writer_string(w, "golden", simpler_run_record_golden(r->golden));
    simpler_json_writer_string(w, "golden_message", r->golden_message);
    write_params(w, s, r->plan);
    write_config(w, &r->plan->resolved);
    write_stats(w, &r->result.stats);
    simpler_run_diagnostics_json(w, &r->diagnostics, &r->result);
    if (r->plan->resolved.enable_scope_stats != 0 || r->plan->resolved.enable_dump_args != 0)
        simpler_json_writer_bool(w, "crash_safe", r->result.crash_safe != 0);
    write_rounds(w, r);
    if (r->plan->config.enable_scope_stats != 0)
        simpler_run_peaks_json(w, &r->peaks);
    simpler_json_writer_close(w, '}');
}

void simpler_run_report_json(const struct simpler_run_summary *s, FILE *out)
{
    uint32_t passed = simpler_run_record_passed(s);
    struct simpler_json_writer w;

    simpler_json_writer_init(&w, out);
    simpler_json_writer_open(&w, NULL, '{');
    simpler_json_writer_string(&w, "version", SIMPLER_VERSION);
    simpler_json_writer_string(&w, "scene", s->scene->name);
    simpler_json_writer_string(&w, "path", s->path);
    simpler_json_writer_string(&w, "platform", s->options->platform.name);
    simpler_json_writer_u64(&w, "device", s->options->device_id);
    simpler_json_writer_bool(&w, "passed", passed == s->plan->count && !s->interrupted);
    simpler_json_writer_bool(&w, "interrupted", s->interrupted);
    simpler_json_writer_u64(&w, "cases_passed", passed);
    simpler_json_writer_u64(&w, "cases_failed", s->record_count - passed);
    simpler_json_writer_u64(&w, "cases_not_run", s->plan->count - s->record_count);
    simpler_json_writer_open(&w, "cases", '[');
    for (uint32_t i = 0; i < s->record_count; i++)
        write_case(&w, s, &s->records[i]);
    simpler_json_writer_close(&w, ']');
    simpler_json_writer_close(&w, '}');
}
