/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simpler dump-viewer: lists, filters, checks and exports an args dump.  The
 * manifest is read as a stream, at most twice: once to learn whether the wanted
 * numbers exist at all (it stops when all were met), once to show.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/directories.h"
#include "base/text.h"
#include "commands.h"
#include "dump_viewer_options.h"
#include "misuse.h"
#include "report/dump_check.h"
#include "report/dump_export.h"
#include "report/dump_list.h"
#include "report/dump_locate.h"
#include "report/dump_manifest.h"
#include "report/dump_payload.h"

#define NAME SIMPLER_DUMP_VIEWER_NAME

/* Faults that are told one by one; the rest is counted. */
enum { FAULTS_SHOWN = 20, CHECK_FAULTS_SHOWN = 100 };

struct viewer {
    struct simpler_dump_viewer_options options;
    struct simpler_dump_place place;
    struct simpler_dump_manifest *manifest; /* NULL until open */
    struct simpler_dump_payload payload;
    struct simpler_dump_exporter *exporter; /* NULL unless exporting */
    struct simpler_out_stream out;

    uint64_t total;
    uint64_t matched;
    uint64_t saved;
    uint64_t without_file; /* matched, but there is nothing to export */
    uint64_t faults;
    bool write_failed;

    bool shows_progress; /* a terminal watches that does not get the output itself */
    bool progress_shown;
    time_t progress_second; /* of the last line, first of the start */
};

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
    va_list args;

    (void)fputs("simpler " NAME ": ", stderr);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
}

/* At most a line a second, and none in the first. */
static void progress(struct viewer *v, uint64_t entries)
{
    struct timespec now;

    if (!v->shows_progress || (!v->options.wants_export && entries % 4096 != 0))
        return;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec <= v->progress_second + (v->progress_shown ? 0 : 1))
        return;
    v->progress_second = now.tv_sec;
    v->progress_shown = true;
    (void)fprintf(stderr, "\rentries read: %" PRIu64 ", saved: %" PRIu64 "\x1b[K", entries,
                  v->saved);
}

static void start_progress(struct viewer *v)
{
    struct timespec now;

    v->shows_progress = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    v->progress_second = now.tv_sec;
}

static void clear_progress(struct viewer *v)
{
    if (v->progress_shown)
        (void)fputs("\r\x1b[K", stderr);
    v->progress_shown = false;
}

static int open_dump(struct viewer *v)
{
    char error[2048];
    int rc = simpler_dump_locate(v->options.path, &v->place, error, sizeof(error));

    if (rc != 0) {
        complain("%s", error);
        return SIMPLER_EXIT_FAILED;
    }
    if (v->options.path == NULL && !v->options.wants_json)
        simpler_out_stream_format(&v->out, "Newest dump: %.900s\n", v->place.directory);
    if (simpler_dump_manifest_open(v->place.manifest, &v->manifest) != 0) {
        complain("%s", simpler_dump_manifest_error(v->manifest));
        return SIMPLER_EXIT_FAILED;
    }
    const char *bin = simpler_dump_manifest_header(v->manifest)->bin_file;
    rc = simpler_dump_payload_open(&v->payload, v->place.directory, bin);
    if (rc != 0) {
        complain("%s/%s: cannot be read: %s", v->place.directory, bin, simpler_status_text(rc));
        return SIMPLER_EXIT_FAILED;
    }
    return 0;
}

static int fail_manifest(struct viewer *v)
{
    complain("%s", simpler_dump_manifest_error(v->manifest));
    return SIMPLER_EXIT_FAILED;
}

/* Numbers that the dump does not have are a mistake of the user. */
static int learn(struct viewer *v)
{
    struct simpler_dump_entry e;
    char text[512];
    int rc = 1;

    if (!simpler_dump_filter_must_learn(&v->options.filter))
        return 0;
    while ((rc = simpler_dump_manifest_next(v->manifest, &e)) > 0) {
        progress(v, e.index + 1);
        if (simpler_dump_filter_learn(&v->options.filter, &e))
            break;
    }
    clear_progress(v);
    if (rc < 0)
        return fail_manifest(v);
    if (simpler_dump_filter_explain(&v->options.filter, text, sizeof(text)))
        return simpler_misuse_error(NAME, "%s", text);
    simpler_dump_manifest_rewind(v->manifest);
    return 0;
}

static void tell_fault(struct viewer *v, const struct simpler_dump_entry *e, const char *note)
{
    static const char prefix[] = "FAULT: ";

    if (strncmp(note, prefix, sizeof(prefix) - 1) == 0)
        note += sizeof(prefix) - 1;
    v->faults++;
    if (v->faults <= FAULTS_SHOWN)
        complain("%s: entry %" PRIu64 ": %s", v->place.manifest, e->index, note);
}

/* Statistics of what an entry has; false when it has nothing to compute from. */
static int compute_stats(struct viewer *v, const struct simpler_dump_entry *e,
                         enum simpler_dump_state state, struct simpler_tensor_stats *s, bool *any)
{
    uint64_t bits;

    *any = false;
    if (state >= SIMPLER_DUMP_FAULTS || state == SIMPLER_DUMP_NOT_CAPTURED ||
        e->dtype >= SIMPLER_DTYPE_NUM)
        return 0;
    if (state == SIMPLER_DUMP_IS_SCALAR && !simpler_dump_entry_scalar_bits(e, &bits))
        return 0;
    int rc = simpler_tensor_stats_init(s, e->dtype, e->bin_size);
    if (rc != 0)
        return rc;
    if (state == SIMPLER_DUMP_IS_SCALAR)
        simpler_tensor_stats_add_bits(s, bits);
    else
        rc = simpler_dump_payload_stats(&v->payload, e, s);
    simpler_tensor_stats_finish(s);
    *any = rc == 0;
    return rc;
}

static void show_stats(struct viewer *v, const struct simpler_dump_entry *e,
                       enum simpler_dump_state state, const char *note)
{
    struct simpler_tensor_stats s = {0};
    bool any;
    int rc = compute_stats(v, e, state, &s, &any);

    if (rc != 0)
        tell_fault(v, e, rc == SIMPLER_ENOMEM ? "out of memory" : "its payload cannot be read");
    if (!v->options.wants_json) {
        simpler_dump_list_stats_row(&v->out, e, any ? &s : NULL, note);
    } else if (any) {
        simpler_out_stream_text(&v->out, ", ");
        simpler_dump_list_json_stats(&v->out, &s);
    } else {
        simpler_out_stream_text(&v->out, ", \"stats\": null");
    }
    simpler_tensor_stats_fini(&s);
}

static void show_saved(struct viewer *v, const struct simpler_dump_exported *saved, int rc)
{
    if (v->options.wants_json) {
        simpler_out_stream_text(&v->out, ", \"file\": ");
        if (rc == 1)
            simpler_out_stream_json(&v->out, saved->path);
        else
            simpler_out_stream_text(&v->out, "null");
        return;
    }
    if (rc == 1) {
        simpler_out_stream_text(&v->out, "Saved: ");
        simpler_out_stream_text(&v->out, saved->path);
        if (saved->note[0] != '\0')
            simpler_out_stream_format(&v->out, " (%s)", saved->note);
        simpler_out_stream_char(&v->out, '\n');
    }
}

/* False when going on makes no sense: the disk is full, the folder cannot be made. */
static bool export_entry(struct viewer *v, const struct simpler_dump_entry *e)
{
    struct simpler_dump_exported saved;
    int rc = simpler_dump_exporter_write(v->exporter, e, &saved);

    show_saved(v, &saved, rc);
    if (rc == 1) {
        v->saved++;
        return true;
    }
    if (rc == 0) {
        v->without_file++;
        if (!v->options.wants_json)
            simpler_out_stream_format(&v->out, "No file for entry %" PRIu64 ": %s\n", e->index,
                                      saved.note);
        return true;
    }
    if (rc == SIMPLER_EFORMAT) {
        tell_fault(v, e, saved.note);
        return true;
    }
    complain("entry %" PRIu64 ": %s", e->index, saved.note);
    v->write_failed = true;
    return false;
}

static bool show_entry(struct viewer *v, const struct simpler_dump_entry *e)
{
    enum simpler_dump_state state = simpler_dump_entry_state(e, &v->payload.info);
    char note[256];
    bool go_on = true;

    simpler_dump_entry_note(e, &v->payload.info, note, sizeof(note));
    if (v->options.wants_json) {
        simpler_out_stream_text(&v->out, v->matched == 0 ? "\n  {" : ",\n  {");
        simpler_dump_list_json_entry(&v->out, e, state, note);
    } else if (!v->options.wants_stats && !v->options.wants_export) {
        simpler_dump_list_row(&v->out, e, note);
    }
    v->matched++;
    if (state >= SIMPLER_DUMP_FAULTS && !v->options.wants_export)
        tell_fault(v, e, note);
    if (v->options.wants_stats)
        show_stats(v, e, state, note);
    if (v->options.wants_export)
        go_on = export_entry(v, e);
    if (v->options.wants_json)
        simpler_out_stream_char(&v->out, '}');
    return go_on;
}

static void json_text_member(struct viewer *v, const char *key, const char *text)
{
    simpler_out_stream_format(&v->out, "\"%s\": ", key);
    simpler_out_stream_json(&v->out, text);
    simpler_out_stream_text(&v->out, ", ");
}

static void json_begin(struct viewer *v)
{
    simpler_out_stream_text(&v->out, "{");
    json_text_member(v, "directory", v->place.directory);
    json_text_member(v, "manifest", v->place.manifest);
    simpler_out_stream_text(&v->out, "\"header\": {");
    simpler_dump_list_json_header(&v->out, simpler_dump_manifest_header(v->manifest));
    simpler_out_stream_text(&v->out, "}, \"bin_bytes\": ");
    if (v->payload.info.is_there)
        simpler_out_stream_u64(&v->out, v->payload.info.bytes);
    else
        simpler_out_stream_text(&v->out, "null");
    simpler_out_stream_text(&v->out, ",\n \"");
}

static void begin_output(struct viewer *v)
{
    if (v->options.wants_json) {
        json_begin(v);
        simpler_out_stream_text(&v->out, "args\": [");
    } else if (v->options.wants_stats) {
        simpler_dump_list_stats_head(&v->out);
    } else if (!v->options.wants_export) {
        simpler_dump_list_head(&v->out);
    }
}

static void print_counts(struct viewer *v)
{
    bool filtered = v->matched != v->total;

    if (v->options.wants_export) {
        simpler_out_stream_format(&v->out, "Saved %" PRIu64 " of %" PRIu64 " arg%s", v->saved,
                                  v->matched, simpler_text_plural(v->matched));
        if (v->without_file > 0)
            simpler_out_stream_format(&v->out, ", %" PRIu64 " without data (not captured)",
                                      v->without_file);
        simpler_out_stream_char(&v->out, '\n');
    } else if (simpler_dump_filter_is_set(&v->options.filter) || filtered) {
        simpler_out_stream_format(&v->out, "Filtered: %" PRIu64 "/%" PRIu64 " arg%s%s\n",
                                  v->matched, v->total, simpler_text_plural(v->total),
                                  v->options.wants_stats ? "" : "; --export saves them");
    } else {
        simpler_out_stream_format(&v->out, "Total: %" PRIu64 " arg%s\n", v->total,
                                  simpler_text_plural(v->total));
    }
}

static void end_output(struct viewer *v, const char *error)
{
    if (!v->options.wants_json) {
        if (error == NULL && v->matched > 0)
            print_counts(v);
        return;
    }
    simpler_out_stream_format(&v->out,
                              "\n ],\n \"matched\": %" PRIu64 ", \"total\": %" PRIu64
                              ", \"saved\": %" PRIu64 ", \"faults\": %" PRIu64 ", \"error\": ",
                              v->matched, v->total, v->saved, v->faults);
    if (error != NULL)
        simpler_out_stream_json(&v->out, error);
    else
        simpler_out_stream_text(&v->out, "null");
    simpler_out_stream_text(&v->out, "}\n");
}

/* Losses that the dump itself admits are said, whatever was asked for. */
static void warn_of_losses(const struct viewer *v)
{
    const struct simpler_dump_header *header = simpler_dump_manifest_header(v->manifest);

    if (header->count[SIMPLER_DUMP_COUNT_DROPPED] > 0)
        complain("warning: dropped_records is %" PRIu64 ": that many arguments are missing",
                 header->count[SIMPLER_DUMP_COUNT_DROPPED]);
    if (header->is_unknown[SIMPLER_DUMP_COUNT_DROPPED])
        complain("warning: dropped_records is null: how many arguments are missing is not known");
    if (header->count[SIMPLER_DUMP_COUNT_TRUNCATED] > 0)
        complain("warning: truncated_args is %" PRIu64 ": so many payloads are not whole",
                 header->count[SIMPLER_DUMP_COUNT_TRUNCATED]);
    if (!v->write_failed && header->has_count[SIMPLER_DUMP_COUNT_TOTAL] &&
        header->count[SIMPLER_DUMP_COUNT_TOTAL] != v->total)
        complain("warning: %s: total_args is %" PRIu64 ", but the manifest has %" PRIu64 " %s",
                 v->place.manifest, header->count[SIMPLER_DUMP_COUNT_TOTAL], v->total,
                 simpler_text_by_count(v->total, "entry", "entries"));
}

static int conclude(struct viewer *v)
{
    if (simpler_out_stream_flush(&v->out) != 0) {
        complain("standard output: %s", strerror(v->out.error));
        return SIMPLER_EXIT_FAILED;
    }
    warn_of_losses(v);
    if (v->faults > FAULTS_SHOWN)
        complain("%s: %" PRIu64 " more %s at fault; --check tells all", v->place.manifest,
                 v->faults - FAULTS_SHOWN,
                 simpler_text_by_count(v->faults - FAULTS_SHOWN, "entry is", "entries are"));
    if (v->matched == 0) {
        complain(v->total == 0 ? "%s: the manifest has no entries" : "%s: no entry matches",
                 v->place.manifest);
        return SIMPLER_EXIT_FAILED;
    }
    if (v->options.wants_export && v->saved == 0 && v->faults == 0 && !v->write_failed)
        complain("%s: nothing to export: no data was captured", v->place.manifest);
    if (v->faults > 0 || v->write_failed || (v->options.wants_export && v->saved == 0))
        return SIMPLER_EXIT_FAILED;
    return SIMPLER_EXIT_OK;
}

static int show(struct viewer *v)
{
    struct simpler_dump_entry e;
    int rc;
    bool go_on = true;

    begin_output(v);
    while (go_on && (rc = simpler_dump_manifest_next(v->manifest, &e)) > 0) {
        progress(v, ++v->total);
        if (simpler_dump_filter_matches(&v->options.filter, &e))
            go_on = show_entry(v, &e);
    }
    clear_progress(v);
    if (go_on && rc < 0) {
        end_output(v, simpler_dump_manifest_error(v->manifest));
        (void)simpler_out_stream_flush(&v->out);
        return fail_manifest(v);
    }
    end_output(v, NULL);
    return conclude(v);
}

/* The folder of the files can be had; else it is said. */
static bool check_folder(const struct viewer *v)
{
    char folder[sizeof(v->place.directory) + 16], why[320];

    (void)snprintf(folder, sizeof(folder), "%s/%s", v->place.directory,
                   simpler_dump_format_name(v->options.format));
    if (simpler_directories_check(folder, why, sizeof(why)))
        return true;
    complain("--export: %s; files go to %s/%s, beside the manifest: copy the dump elsewhere", why,
             v->place.directory, simpler_dump_format_name(v->options.format));
    return false;
}

static int export_or_list(struct viewer *v)
{
    int rc = learn(v);

    if (rc != 0)
        return rc;
    if (v->options.wants_export && !check_folder(v))
        return SIMPLER_EXIT_FAILED;
    if (v->options.wants_export && simpler_dump_exporter_open(v->place.directory, v->options.format,
                                                              &v->payload, &v->exporter) != 0) {
        complain("out of memory");
        return SIMPLER_EXIT_FAILED;
    }
    return show(v);
}

static void check_fault(void *user, uint64_t index, const char *text)
{
    struct viewer *v = user;

    v->faults++;
    if (v->options.wants_json) {
        if (v->faults > CHECK_FAULTS_SHOWN)
            return;
        simpler_out_stream_text(&v->out, v->faults == 1 ? "\n  {" : ",\n  {");
        if (index != SIMPLER_DUMP_NO_INDEX)
            simpler_out_stream_format(&v->out, "\"index\": %" PRIu64 ", ", index);
        simpler_out_stream_text(&v->out, "\"fault\": ");
        simpler_out_stream_json(&v->out, text);
        simpler_out_stream_char(&v->out, '}');
        return;
    }
    if (v->faults > CHECK_FAULTS_SHOWN)
        return;
    if (index == SIMPLER_DUMP_NO_INDEX)
        complain("%s: %s", v->place.manifest, text);
    else
        complain("%s: entry %" PRIu64 ": %s", v->place.manifest, index, text);
}

static void print_checked(struct viewer *v, const struct simpler_dump_checked *c)
{
    if (v->options.wants_json) {
        simpler_out_stream_format(&v->out,
                                  "\n ],\n \"fault_count\": %" PRIu64 ", \"entries\": %" PRIu64
                                  ", \"named_bytes\": %" PRIu64 ", \"unnamed_bytes\": %" PRIu64
                                  ", \"error\": null}\n",
                                  c->faults, c->entries, c->named_bytes, c->unnamed_bytes);
        return;
    }
    simpler_out_stream_format(
        &v->out, "Checked %" PRIu64 " %s, %" PRIu64 " fault%s; %" PRIu64 " bytes of payload",
        c->entries, simpler_text_by_count(c->entries, "entry", "entries"), c->faults,
        simpler_text_plural(c->faults), c->named_bytes);
    if (c->unnamed_bytes > 0)
        simpler_out_stream_format(&v->out, ", %" PRIu64 " bytes that no entry names",
                                  c->unnamed_bytes);
    simpler_out_stream_char(&v->out, '\n');
}

static int fail_check(struct viewer *v, int rc)
{
    const char *error = simpler_dump_manifest_error(v->manifest);

    if (error[0] == '\0')
        error = rc == SIMPLER_ENOMEM ? "out of memory" : "the temporary file of the sort failed";
    if (v->options.wants_json) {
        simpler_out_stream_format(&v->out,
                                  "\n ],\n \"fault_count\": %" PRIu64 ", \"error\": ", v->faults);
        simpler_out_stream_json(&v->out, error);
        simpler_out_stream_text(&v->out, "}\n");
    }
    (void)simpler_out_stream_flush(&v->out);
    complain("%s", error);
    return SIMPLER_EXIT_FAILED;
}

static int check(struct viewer *v)
{
    struct simpler_dump_checked checked;

    if (v->options.wants_json) {
        json_begin(v);
        simpler_out_stream_text(&v->out, "faults\": [");
    }
    int rc = simpler_dump_check_run(v->manifest, &v->payload, check_fault, v, &checked);
    if (rc != 0)
        return fail_check(v, rc);
    print_checked(v, &checked);
    if (simpler_out_stream_flush(&v->out) != 0) {
        complain("standard output: %s", strerror(v->out.error));
        return SIMPLER_EXIT_FAILED;
    }
    v->total = checked.entries;
    if (v->faults > CHECK_FAULTS_SHOWN)
        complain("%s: %" PRIu64 " fault%s more", v->place.manifest, v->faults - CHECK_FAULTS_SHOWN,
                 simpler_text_plural(v->faults - CHECK_FAULTS_SHOWN));
    warn_of_losses(v);
    return v->faults > 0 ? SIMPLER_EXIT_FAILED : SIMPLER_EXIT_OK;
}

static int run_opened(struct viewer *v)
{
    int rc = open_dump(v);

    if (rc != 0)
        return rc;
    return v->options.wants_check ? check(v) : export_or_list(v);
}

static int run_dump_viewer(int argc, char **argv)
{
    struct viewer *v = simpler_alloc_zeroed(1, sizeof(*v));

    if (v == NULL) {
        complain("out of memory");
        return SIMPLER_EXIT_FAILED;
    }
    simpler_out_stream_init(&v->out, STDOUT_FILENO);
    start_progress(v);
    int rc = simpler_dump_viewer_options_parse(&v->options, argc, argv);
    if (rc == 0)
        rc = run_opened(v);
    (void)simpler_out_stream_flush(&v->out);
    simpler_dump_exporter_close(v->exporter);
    simpler_dump_payload_close(&v->payload);
    simpler_dump_manifest_close(v->manifest);
    simpler_dump_filter_fini(&v->options.filter);
    simpler_alloc_free(v);
    return rc;
}

const struct simpler_command simpler_cmd_dump_viewer = {
    .name = NAME,
    .purpose = "lists, filters, checks and exports an args dump",
    .help = simpler_dump_viewer_options_help,
    .run = run_dump_viewer,
};
