/* SPDX-License-Identifier: Apache-2.0 */
/* One round is prepare, run, check, finish; the first failed one of a case is kept. */
#include "run_rounds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run_output.h"
#include "run_watch.h"

/* What one round leaves; a record takes it over or not. */
struct round_outcome {
    struct simpler_run_result result;
    struct simpler_run_diagnostics diagnostics;
    enum simpler_run_golden golden;
    char golden_message[1024];
    char prepare_message[1024];
    bool left_behind; /* the run hung: its arguments must stay */
};

/* A result that says no more than the status says so in words. */
static void complete_message(struct simpler_run_result *result, int status)
{
    result->status = status;
    if (status != 0 && result->message[0] == '\0')
        (void)snprintf(result->message, sizeof(result->message), "%s: %s",
                       simpler_status_name(status), simpler_status_text(status));
}

static bool check_golden(const struct simpler_run_summary *s, struct simpler_scene_run *run,
                         const char *label, struct round_outcome *out)
{
    out->golden = SIMPLER_GOLDEN_SKIPPED;
    if (s->options->skip_golden || s->scene->check == NULL)
        return true;
    simpler_run_watch_begin(label, SIMPLER_PHASE_CHECK);
    int rc = s->scene->check(run, out->golden_message, sizeof(out->golden_message));
    out->golden_message[sizeof(out->golden_message) - 1] = '\0';
    simpler_run_watch_end();
    out->golden = rc == 0   ? SIMPLER_GOLDEN_RIGHT
                  : rc == 1 ? SIMPLER_GOLDEN_WRONG
                            : SIMPLER_GOLDEN_FAILED;
    if (rc != 0 && rc != 1 && out->golden_message[0] == '\0')
        (void)snprintf(out->golden_message, sizeof(out->golden_message), "%s",
                       simpler_status_text(rc));
    return rc == 0;
}

/* A run that had to fail. */
static bool is_expected(int expected, int status, struct round_outcome *out)
{
    const bool met = status == expected;

    out->golden = met           ? SIMPLER_GOLDEN_SKIPPED
                  : status == 0 ? SIMPLER_GOLDEN_WRONG
                                : SIMPLER_GOLDEN_NOT_REACHED;
    (void)snprintf(out->golden_message, sizeof(out->golden_message), "the run must end with %s%s",
                   simpler_status_name(expected), met ? " and did" : "");
    return met;
}

/* Returns whether the round passed. */
static bool run_prepared(const struct simpler_run_summary *s, struct simpler_scene_run *run,
                         uint32_t handle, const struct simpler_call_config *config,
                         const char *label, struct round_outcome *out)
{
    if (simpler_run_watch_interrupted()) {
        complete_message(&out->result, SIMPLER_ECANCELED);
        return false;
    }
    simpler_run_watch_begin(label, SIMPLER_PHASE_RUN);
    int rc = simpler_worker_run(run->worker, handle, &run->args, config, &out->result);
    simpler_run_watch_end();
    complete_message(&out->result, rc);
    simpler_run_diagnostics_make(&out->diagnostics, &out->result);
    out->left_behind = rc != 0 && simpler_worker_quiesce(run->worker, 0) == SIMPLER_ETIMEDOUT;
    if (run->scene_case->expected_status != 0)
        return is_expected(run->scene_case->expected_status, rc, out);
    if (rc != 0)
        return false;
    return check_golden(s, run, label, out) && out->result.stats.unordered_pairs == 0;
}

static bool run_round(const struct simpler_run_summary *s, struct simpler_worker *worker,
                      uint32_t handle, const struct simpler_run_case *c,
                      const struct simpler_call_config *config, const char *label,
                      struct round_outcome *out)
{
    struct simpler_scene_run run = {
        .scene = s->scene, .scene_case = c->scene_case, .param = c->params, .worker = worker};
    bool passed = false;
    int rc = 0;

    memset(out, 0, sizeof(*out));
    if (s->scene->prepare != NULL) {
        simpler_run_watch_begin(label, SIMPLER_PHASE_PREPARE);
        rc = s->scene->prepare(&run, out->prepare_message, sizeof(out->prepare_message));
        out->prepare_message[sizeof(out->prepare_message) - 1] = '\0';
        simpler_run_watch_end();
    }
    if (rc == 0) {
        out->prepare_message[0] = '\0';
        passed = run_prepared(s, &run, handle, config, label, out);
    } else {
        out->result.status = rc;
        if (out->prepare_message[0] == '\0')
            (void)snprintf(out->prepare_message, sizeof(out->prepare_message), "%s",
                           simpler_status_text(rc));
    }
    if (s->scene->finish != NULL && !out->left_behind)
        s->scene->finish(&run);
    return passed;
}

/* The first failure stays; until then the latest round does. */
static void keep(struct simpler_run_record *record, struct round_outcome *out, bool passed)
{
    struct simpler_run_round *round = &record->rounds[record->round_count++];

    round->wall_ns = out->result.stats.wall_ns;
    round->status = out->result.status;
    round->passed = passed;
    record->incomplete_count += simpler_run_diagnostics_incomplete(&out->result);
    if (out->diagnostics.scope_stats != NULL)
        simpler_run_peaks_add(&record->peaks, out->diagnostics.scope_stats, record->round_count);
    if (record->failed_count == 0) {
        record->shown = record->round_count - 1;
        record->result = out->result;
        simpler_run_diagnostics_fini(&record->diagnostics);
        record->diagnostics = out->diagnostics;
        record->golden = out->golden;
        memcpy(record->golden_message, out->golden_message, sizeof(record->golden_message));
        memcpy(record->prepare_message, out->prepare_message, sizeof(record->prepare_message));
    } else {
        simpler_run_diagnostics_fini(&out->diagnostics);
    }
    record->failed_count += !passed;
}

/* Rounds of a case, each with a prefix of its own; returns whether to go on. */
static bool run_case(struct simpler_run_summary *s, struct simpler_worker *worker, uint32_t handle,
                     const char *prefix, struct simpler_run_record *record)
{
    struct simpler_call_config config = record->plan->config;
    char round_prefix[SIMPLER_RUN_PREFIX_BYTES];
    static struct round_outcome out; /* some kilobytes, of this thread alone */
    char label[256];

    for (uint32_t i = 0; i < s->options->rounds; i++) {
        if (simpler_run_watch_interrupted())
            return false;
        int length = snprintf(label, sizeof(label), "%.100s %.100s", s->scene->name,
                              record->plan->scene_case->name);
        if (s->options->rounds > 1)
            (void)snprintf(label + length, sizeof(label) - (size_t)length,
                           " round %" PRIu32 "/%" PRIu32, i + 1, s->options->rounds);
        simpler_run_output_round(s->options, prefix, i, round_prefix);
        config.output_prefix = round_prefix;
        bool passed = run_round(s, worker, handle, record->plan, &config, label, &out);
        keep(record, &out, passed);
        s->left_behind = out.left_behind;
        if (s->left_behind || (!passed && s->options->exit_first))
            return false;
    }
    return true;
}

/* What one round's files say, now that they are there; false: something is missing. */
static bool collect_round(struct simpler_run_record *record, uint32_t round, const char *prefix)
{
    bool is_shown = round == record->shown;
    struct simpler_run_diagnostics diagnostics;
    bool whole = simpler_run_diagnostics_collect(&diagnostics, prefix, &record->plan->config,
                                                 is_shown ? &record->result : NULL);

    if (diagnostics.scope_stats != NULL)
        simpler_run_peaks_add(&record->peaks, diagnostics.scope_stats, round + 1);
    if (is_shown) {
        simpler_run_diagnostics_fini(&record->diagnostics);
        record->diagnostics = diagnostics;
    } else {
        simpler_run_diagnostics_fini(&diagnostics);
    }
    return whole;
}

/* Across runs: the barrier, then what there is to read. */
static void collect(const struct simpler_run_summary *s, struct simpler_worker *worker,
                    const char *prefix, struct simpler_run_record *record)
{
    char round_prefix[SIMPLER_RUN_PREFIX_BYTES];
    bool whole = simpler_worker_flush_diagnostics(worker, UINT64_MAX) == 0;

    for (uint32_t i = 0; i < record->round_count; i++) {
        simpler_run_output_round(s->options, prefix, i, round_prefix);
        whole &= collect_round(record, i, round_prefix);
    }
    if (!whole && record->incomplete_count == 0)
        record->incomplete_count = 1;
}

int simpler_run_rounds(struct simpler_run_summary *summary, struct simpler_worker *worker,
                       uint32_t handle)
{
    char prefix[SIMPLER_RUN_PREFIX_BYTES] = "";
    bool go_on = true;

    for (uint32_t i = 0; go_on && i < summary->plan->count; i++) {
        struct simpler_run_record *record = &summary->records[i];
        record->plan = &summary->plan->cases[i];
        if (record->plan->config.enable_scope_stats != 0 ||
            record->plan->config.enable_dump_args != 0) {
            int rc = simpler_run_output_make(summary->options, summary->scene->name,
                                             record->plan->scene_case->name, prefix);
            if (rc != 0)
                return rc;
        }
        go_on = run_case(summary, worker, handle, prefix, record);
        if (summary->options->across_runs && prefix[0] != '\0')
            collect(summary, worker, prefix, record);
        if (record->round_count != 0)
            summary->record_count = i + 1;
    }
    summary->interrupted = simpler_run_watch_interrupted();
    return 0;
}
