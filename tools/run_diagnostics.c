/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics of a round: the page, the top peaks, the dump, and what is missing by cause. */
#include "run_diagnostics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/scope_json.h"
#include "report/scope_page.h"
#include "base/text.h"

/* Rows of Top Peaks in the summary. */
#define PEAK_ROWS 8

static void write_page(struct simpler_run_diagnostics *d, const char *file)
{
    static const char suffix[] = "jsonl";
    size_t stem = strlen(file) - (sizeof(suffix) - 1);

    (void)snprintf(d->page, sizeof(d->page), "%.*shtml", (int)stem, file);
    if (simpler_scope_page_write(d->page, d->scope_stats) == 0)
        return;
    (void)fprintf(stderr, "simpler run: warning: no report: %s could not be written\n", d->page);
    d->page[0] = '\0';
}

static void read_scope_stats(struct simpler_run_diagnostics *d, const char *path)
{
    if (simpler_scope_model_read(path, NULL, NULL, &d->scope_stats) == 0)
        write_page(d, path);
    else
        (void)fprintf(stderr, "simpler run: warning: no report: %s could not be read\n", path);
}

void simpler_run_diagnostics_make(struct simpler_run_diagnostics *d,
                                  const struct simpler_run_result *result)
{
    memset(d, 0, sizeof(*d));
    if (result->scope_stats.has_file)
        read_scope_stats(d, result->scope_stats.path);
}

/* What was to be written in the background, and is there now or not. */
static void note_scope_stats(const struct simpler_run_diagnostics *d,
                             struct simpler_scope_stats_result *s)
{
    if (!s->pending)
        return;
    s->pending = 0;
    s->has_file = d->scope_stats != NULL;
    if (s->status == 0 && !s->has_file)
        s->status = SIMPLER_EIO;
    else if (s->status == 0 && d->scope_stats->chip != SIMPLER_SCOPE_CHIP_HEALTHY)
        s->status = SIMPLER_EPARTIAL;
}

static void note_args_dump(struct simpler_args_dump_result *a)
{
    char path[sizeof(a->path) + 32];

    if (!a->pending)
        return;
    (void)snprintf(path, sizeof(path), "%s/args_dump.json", a->path);
    a->pending = 0;
    a->has_manifest = access(path, F_OK) == 0;
    if (a->status == 0 && !a->has_manifest)
        a->status = SIMPLER_EIO;
}

bool simpler_run_diagnostics_collect(struct simpler_run_diagnostics *d, const char *prefix,
                                     const struct simpler_call_config *config,
                                     struct simpler_run_result *result)
{
    char path[sizeof(d->page)];

    memset(d, 0, sizeof(*d));
    (void)snprintf(path, sizeof(path), "%s/scope_stats/scope_stats.jsonl", prefix);
    if (config->enable_scope_stats != 0)
        read_scope_stats(d, path);
    if (result != NULL) {
        note_scope_stats(d, &result->scope_stats);
        note_args_dump(&result->args_dump);
    }
    return config->enable_scope_stats == 0 ||
           (d->scope_stats != NULL && d->scope_stats->chip == SIMPLER_SCOPE_CHIP_HEALTHY);
}

void simpler_run_diagnostics_fini(struct simpler_run_diagnostics *d)
{
    if (d->scope_stats != NULL)
        simpler_scope_model_close(d->scope_stats);
    memset(d, 0, sizeof(*d));
}

/* There, or about to be. */
static bool is_whole(const struct simpler_scope_stats_result *s)
{
    return s->status == 0 && (s->has_file || s->pending);
}

/* Why there is no file. */
static const char *why_missing(const struct simpler_scope_stats_result *s)
{
    if (s->status != 0)
        return simpler_status_text(s->status);
    return s->pending ? "it is still to be written" : "the run ended before it had begun";
}

bool simpler_run_diagnostics_incomplete(const struct simpler_run_result *result)
{
    return (result->scope_stats.enabled && !is_whole(&result->scope_stats)) ||
           (result->args_dump.level != 0 && result->args_dump.status != 0);
}

static void print_loss(FILE *out, uint64_t count, const char *what, const char *cause)
{
    if (count != 0)
        (void)fprintf(out, "    %" PRIu64 " %s%s lost: %s\n", count, what,
                      simpler_text_plural(count), cause);
}

static void print_losses(FILE *out, const struct simpler_scope_stats_result *s)
{
    print_loss(out, s->dropped_no_free, "sample", "no free buffer");
    print_loss(out, s->dropped_ready_full, "sample", "ready queue full");
    print_loss(out, s->dropped_too_deep, "sample", "scopes deeper than 63");
    print_loss(out, s->write_failed, "sample", "the file could not be written; the log says why");
    if (s->has_file && !s->counts_known)
        (void)fputs("    how many the device dropped is not known\n", out);
    if (s->refused_epoch != 0)
        (void)fprintf(out, "    %" PRIu64 " sample%s of another run refused\n", s->refused_epoch,
                      simpler_text_plural(s->refused_epoch));
}

/* The report's table, indented. */
static void print_peaks(FILE *out, const struct simpler_scope_model *m)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);

    if (memory == NULL)
        return;
    simpler_scope_table(memory, m, PEAK_ROWS);
    (void)fclose(memory);
    for (char *line = text; line != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        (void)fprintf(out, "%s%.*s\n", length != 0 ? "  " : "", (int)length, line);
        line += length + (line[length] == '\n');
    }
    free(text);
}

static uint64_t dropped(const struct simpler_args_dump_result *a)
{
    return a->dropped_no_free + a->dropped_ready_full + a->dropped_arena + a->write_failed;
}

static const char *amount(uint64_t bytes, char text[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int unit = 0;

    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit++;
    }
    (void)snprintf(text, 32, "%.*f %s", unit == 0 ? 0 : 1, value, units[unit]);
    return text;
}

static void print_args_dump(FILE *out, const struct simpler_args_dump_result *a)
{
    char bytes[32];

    if (a->has_manifest)
        (void)fprintf(out,
                      "  args dump %s: %" PRIu64 " record%s, %s of payload, capture took %.3f ms, "
                      "%" PRIu64 " dropped, %" PRIu64 " truncated, in %s\n",
                      a->status == 0 ? "complete" : "INCOMPLETE", a->records,
                      simpler_text_plural(a->records), amount(a->payload_bytes, bytes),
                      (double)a->capture_ns / 1e6, dropped(a), a->truncated, a->path);
    else if (a->status != 0)
        (void)fprintf(out, "  args dump MISSING: %s%s%s\n", simpler_status_text(a->status),
                      a->path[0] != '\0' ? ": nothing whole in " : "", a->path);
    else if (a->level == 1)
        (void)fputs("  args dump: nothing was asked for: no task that ran has an argument marked "
                    "by simpler_task_args_dump; --dump-args 2 dumps every task\n",
                    out);
    else
        (void)fputs("  args dump: no task with an argument ran, so there is nothing to dump\n",
                    out);
    print_loss(out, a->dropped_no_free, "record", "no free buffer");
    print_loss(out, a->dropped_ready_full, "record", "ready queue full");
    print_loss(out, a->dropped_arena, "record", "the host did not take the payload");
    print_loss(out, a->write_failed, "record", "their file could not be written; the log says why");
    if (a->has_manifest && !a->counts_known)
        (void)fputs("    how many the device dropped is not known\n", out);
    if (a->refused_epoch != 0)
        (void)fprintf(out, "    %" PRIu64 " record%s of another run refused\n", a->refused_epoch,
                      simpler_text_plural(a->refused_epoch));
}

static void print_scope_stats(FILE *out, const struct simpler_run_diagnostics *d,
                              const struct simpler_scope_stats_result *s, bool peaks)
{
    if (s->has_file)
        (void)fprintf(out, "  scope stats %s: %" PRIu64 " sample%s in %s\n",
                      s->status == 0 ? "complete" : "INCOMPLETE", s->records,
                      simpler_text_plural(s->records), s->path);
    else
        (void)fprintf(out, "  scope stats MISSING: %s%s%s\n", why_missing(s),
                      s->path[0] != '\0' ? ": no " : "", s->path);
    print_losses(out, s);
    if (d->page[0] != '\0')
        (void)fprintf(out, "  report in %s\n", d->page);
    if (peaks && d->scope_stats != NULL)
        print_peaks(out, d->scope_stats);
}

void simpler_run_diagnostics_text(FILE *out, const struct simpler_run_diagnostics *d,
                                  const struct simpler_run_result *result, bool peaks)
{
    if (result->scope_stats.enabled)
        print_scope_stats(out, d, &result->scope_stats, peaks);
    if (result->args_dump.level != 0)
        print_args_dump(out, &result->args_dump);
}

static void write_peak(struct simpler_json_writer *w, const struct simpler_scope_model *m,
                       const struct simpler_scope_peak *p)
{
    simpler_json_writer_open(w, NULL, '{');
    simpler_json_writer_string(w, "resource", simpler_scope_model_resource_key(p->resource));
    simpler_json_writer_u64(w, "ring_depth", p->ring);
    simpler_json_writer_string(w, "metric", simpler_scope_model_metric_key(p->metric));
    simpler_json_writer_u64(w, "peak", p->point.value);
    if (p->capacity.known)
        simpler_json_writer_u64(w, "capacity", p->capacity.value);
    else
        simpler_json_writer_string(w, "capacity", NULL);
    simpler_json_writer_string(w, "site", m->sites.texts[p->point.site]);
    simpler_json_writer_u64(w, "scope_index", p->point.index);
    simpler_json_writer_close(w, '}');
}

static void write_peaks(struct simpler_json_writer *w, const struct simpler_scope_model *m)
{
    struct simpler_scope_peak peak;

    simpler_json_writer_string(w, "sampling_status", simpler_scope_model_chip_key(m->chip));
    simpler_json_writer_open(w, "peaks", '[');
    for (uint32_t i = 0; simpler_scope_model_peak(m, i, &peak); i++)
        write_peak(w, m, &peak);
    simpler_json_writer_close(w, ']');
}

static void write_scope_stats(struct simpler_json_writer *w,
                              const struct simpler_run_diagnostics *d,
                              const struct simpler_scope_stats_result *s)
{
    simpler_json_writer_open(w, "scope_stats", '{');
    simpler_json_writer_bool(w, "complete", s->status == 0 && s->has_file);
    simpler_json_writer_string(w, "status_name", simpler_status_name(s->status));
    simpler_json_writer_string(w, "file", s->has_file ? s->path : NULL);
    simpler_json_writer_string(w, "report", d->page[0] != '\0' ? d->page : NULL);
    simpler_json_writer_u64(w, "records", s->records);
    simpler_json_writer_bool(w, "counts_known", s->counts_known != 0);
    simpler_json_writer_u64(w, "dropped_no_free", s->dropped_no_free);
    simpler_json_writer_u64(w, "dropped_ready_full", s->dropped_ready_full);
    simpler_json_writer_u64(w, "dropped_too_deep", s->dropped_too_deep);
    simpler_json_writer_u64(w, "write_failed", s->write_failed);
    simpler_json_writer_u64(w, "refused_epoch", s->refused_epoch);
    if (d->scope_stats != NULL)
        write_peaks(w, d->scope_stats);
    simpler_json_writer_close(w, '}');
}

static void write_args_dump(struct simpler_json_writer *w, const struct simpler_args_dump_result *a)
{
    simpler_json_writer_open(w, "args_dump", '{');
    simpler_json_writer_u64(w, "level", (uint64_t)a->level);
    simpler_json_writer_bool(w, "complete", a->status == 0);
    simpler_json_writer_string(w, "status_name", simpler_status_name(a->status));
    simpler_json_writer_string(w, "directory", a->has_manifest ? a->path : NULL);
    simpler_json_writer_u64(w, "records", a->records);
    simpler_json_writer_u64(w, "payload_bytes", a->payload_bytes);
    simpler_json_writer_u64(w, "capture_ns", a->capture_ns);
    simpler_json_writer_u64(w, "truncated", a->truncated);
    simpler_json_writer_bool(w, "counts_known", a->counts_known != 0);
    simpler_json_writer_u64(w, "dropped_no_free", a->dropped_no_free);
    simpler_json_writer_u64(w, "dropped_ready_full", a->dropped_ready_full);
    simpler_json_writer_u64(w, "dropped_arena", a->dropped_arena);
    simpler_json_writer_u64(w, "write_failed", a->write_failed);
    simpler_json_writer_u64(w, "refused_epoch", a->refused_epoch);
    simpler_json_writer_close(w, '}');
}

void simpler_run_diagnostics_json(struct simpler_json_writer *w,
                                  const struct simpler_run_diagnostics *d,
                                  const struct simpler_run_result *result)
{
    if (result->scope_stats.enabled)
        write_scope_stats(w, d, &result->scope_stats);
    if (result->args_dump.level != 0)
        write_args_dump(w, &result->args_dump);
}
