/* SPDX-License-Identifier: Apache-2.0 */
/* The text summary: a head line a case, counts, verdict, peaks, times, messages. */
#include "run_report.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

/* 1234567 as "1,234,567". */
static const char *grouped(uint64_t value, char text[32])
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
    char *to = text;

    for (int i = 0; i < n; i++) {
        if (i != 0 && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

/* A time with the unit that suits it. */
static const char *duration(uint64_t ns, char text[32])
{
    if (ns < 10000)
        (void)snprintf(text, 32, "%" PRIu64 " ns", ns);
    else if (ns < 10000000)
        (void)snprintf(text, 32, "%.1f us", (double)ns / 1e3);
    else if (ns < 10000000000u)
        (void)snprintf(text, 32, "%.1f ms", (double)ns / 1e6);
    else
        (void)snprintf(text, 32, "%.2f s", (double)ns / 1e9);
    return text;
}

/* Each line of @text with an indent of its own. */
static void print_indented(FILE *out, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        (void)fprintf(out, "  %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* Nothing of a runtime that does without it. */
static void print_peak(FILE *out, const char *what, uint64_t peak, uint64_t max)
{
    char a[32], b[32];

    if (max != 0)
        (void)fprintf(out, "  %-22s %16s %16s %8.1f %%\n", what, grouped(peak, a), grouped(max, b),
                      100.0 * (double)peak / (double)max);
}

/* A ring that had tasks; of a run without any, whose first one may have been too large, the first.
 */
static bool has_peaks(const struct simpler_run_stats *stats, int i)
{
    return stats->ring[i].tasks != 0 || (i == 0 && stats->tasks == 0);
}

static void print_peaks(FILE *out, const struct simpler_run_stats *stats)
{
    char what[32];

    (void)fprintf(out, "  %-22s %16s %16s %10s\n", "peak of", "used", "capacity", "use");
    for (int i = 0; i < CHIP_MAX_RING_DEPTH; i++) {
        const struct simpler_ring_stats *ring = &stats->ring[i];
        if (!has_peaks(stats, i))
            continue;
        (void)snprintf(what, sizeof(what), "ring %d task window", i);
        print_peak(out, what, ring->task_window_peak, ring->task_window_max);
        (void)snprintf(what, sizeof(what), "ring %d heap (bytes)", i);
        print_peak(out, what, ring->heap_peak, ring->heap_max);
        (void)snprintf(what, sizeof(what), "ring %d dep pool", i);
        print_peak(out, what, ring->dep_pool_peak, ring->dep_pool_max);
    }
    print_peak(out, "tensormap", stats->tensormap_peak, stats->tensormap_max);
}

/* Of a run that passed those without a kernel too, of another those that began and ended. */
static uint64_t tasks_that_ran(const struct simpler_run_result *result)
{
    const struct simpler_run_stats *stats = &result->stats;

    return result->status == 0 ? stats->tasks - stats->tasks_skipped
                               : stats->tasks_run + stats->tasks_failed;
}

static void print_counts(FILE *out, const struct simpler_run_result *result)
{
    const struct simpler_run_stats *stats = &result->stats;
    char tasks[32], edges[32], wall[32], number[32];
    double seconds = (double)stats->wall_ns / 1e9;
    uint64_t ran = tasks_that_ran(result);

    (void)fputs("  ", out);
    if (ran != stats->tasks)
        (void)fprintf(out, "%s of ", grouped(ran, number));
    (void)fprintf(out, "%s task%s%s, %s edge%s, %s", grouped(stats->tasks, tasks),
                  simpler_text_plural(stats->tasks), ran != stats->tasks ? " ran" : "",
                  grouped(stats->edges, edges), simpler_text_plural(stats->edges),
                  duration(stats->wall_ns, wall));
    if (stats->wall_ns != 0 && ran != 0)
        (void)fprintf(out, ", %s tasks/s", grouped((uint64_t)((double)ran / seconds), number));
    if (stats->tasks_failed != 0 || stats->tasks_poisoned != 0)
        (void)fprintf(out, "; %" PRIu64 " failed, %" PRIu64 " not run because of that",
                      stats->tasks_failed, stats->tasks_poisoned);
    if (stats->tasks_skipped != 0)
        (void)fprintf(out, "; %" PRIu64 " switched off by their predicate", stats->tasks_skipped);
    (void)fputc('\n', out);
}

static bool is_default_runtime(const struct simpler_call_config *c)
{
    struct simpler_runtime_info first;

    return simpler_info_runtime(0, &first) == 0 && strcmp(first.name, c->runtime) == 0;
}

static void print_head(FILE *out, const struct simpler_run_summary *s,
                       const struct simpler_run_record *r)
{
    const struct simpler_call_config *c = &r->plan->resolved;

    (void)fprintf(
        out,
        "%s %s: %s on %s device %" PRIu32 ", %" PRIu32 " thread%s, %" PRIu32
        " cluster%s, hazards %s%s%s%s\n",
        s->scene->name, r->plan->scene_case->name, r->failed_count == 0 ? "passed" : "FAILED",
        s->options->platform.name, s->options->device_id, c->aicpu_thread_num,
        simpler_text_plural(c->aicpu_thread_num), c->cluster_count,
        simpler_text_plural(c->cluster_count), c->hazards == SIMPLER_HAZARDS_ALL ? "all" : "raw",
        c->exec == SIMPLER_EXEC_THREADS ? ", kernels on threads" : "",
        is_default_runtime(c) ? "" : ", ", is_default_runtime(c) ? "" : c->runtime);
}

static void print_params(FILE *out, const struct simpler_run_summary *s,
                         const struct simpler_run_case *c)
{
    for (uint32_t i = 0; i < s->plan->param_count; i++)
        (void)fprintf(out, "%s%s=%" PRId64, i == 0 ? "  " : ", ", s->scene->params[i].name,
                      c->params[i]);
    if (s->plan->param_count != 0)
        (void)fputc('\n', out);
}

/* Also that there is none, and that nobody looked. */
static void print_pairs(FILE *out, const struct simpler_run_record *r)
{
    const struct simpler_call_config *c = &r->plan->resolved;

    if (c->check_hazards == 0)
        return;
    if (c->hazards == SIMPLER_HAZARDS_RAW)
        (void)fprintf(out, "  unordered pairs of accesses: %" PRIu64 "\n",
                      r->result.stats.unordered_pairs);
    else
        (void)fputs("  --check-hazards looks at nothing unless --hazards is raw\n", out);
}

static void print_rounds(FILE *out, const struct simpler_run_record *r)
{
    uint64_t median, min, max;
    char a[32], b[32], c[32];

    (void)fprintf(out, "  %" PRIu32 " round%s, %" PRIu32 " failed\n", r->round_count,
                  simpler_text_plural(r->round_count), r->failed_count);
    if (!simpler_run_record_times(r, &median, &min, &max))
        return;
    (void)fprintf(out, "  %-10s %14s %14s %14s\n", "", "median", "min", "max");
    (void)fprintf(out, "  %-10s %14s %14s %14s\n", "wall time", duration(median, a),
                  duration(min, b), duration(max, c));
}

static void print_case(FILE *out, const struct simpler_run_summary *s,
                       const struct simpler_run_record *r)
{
    const struct simpler_run_stats *stats = &r->result.stats;

    print_head(out, s, r);
    print_params(out, s, r->plan);
    if (r->prepare_message[0] != '\0') {
        (void)fprintf(out, "  prepare failed: %s\n", r->prepare_message);
        return;
    }
    print_indented(out, r->result.message);
    if (r->result.status == SIMPLER_ETIMEDOUT && r->plan->resolved.deadline_ns != 0)
        (void)fprintf(out, "  the deadline of %g s has passed\n",
                      (double)r->plan->resolved.deadline_ns / 1e9);
    print_pairs(out, r);
    print_counts(out, &r->result);
    (void)fprintf(out, "  golden %s%s%s\n", simpler_run_record_golden(r->golden),
                  r->golden_message[0] != '\0' ? ": " : "", r->golden_message);
    if (!s->options->quiet) {
        print_peaks(out, stats);
        if (s->options->rounds > 1) {
            print_rounds(out, r);
            simpler_run_peaks_text(out, &r->peaks);
        }
    }
    simpler_run_diagnostics_text(out, &r->diagnostics, &r->result, !s->options->quiet);
    if (s->options->crash_safe && !r->result.crash_safe &&
        (r->result.scope_stats.enabled || r->result.args_dump.level != 0))
        (void)fputs("  not crash-safe: a crash would have lost what was not written yet\n", out);
}

void simpler_run_report_text(const struct simpler_run_summary *s, FILE *out)
{
    uint32_t passed = simpler_run_record_passed(s);

    for (uint32_t i = 0; i < s->record_count; i++) {
        if (!s->options->quiet || s->records[i].failed_count != 0 ||
            s->records[i].incomplete_count != 0)
            print_case(out, s, &s->records[i]);
    }
    if (s->options->quiet && passed == s->plan->count)
        return;
    if (s->plan->count > 1 || s->record_count < s->plan->count)
        (void)fprintf(out, "%" PRIu32 " of %" PRIu32 " case%s passed, %" PRIu32 " not run\n",
                      passed, s->plan->count, simpler_text_plural(s->plan->count),
                      s->plan->count - s->record_count);
    if (s->interrupted)
        (void)fputs("interrupted\n", out);
}
