/* SPDX-License-Identifier: Apache-2.0 */
/* simpler scope-stats-plot: a scope_stats.jsonl to a page, to JSON or to a table. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "misuse.h"
#include "report/crashed_run.h"
#include "report/report_text.h"
#include "report/scope_json.h"
#include "report/scope_model.h"
#include "report/scope_page.h"

#define NAME "scope-stats-plot"

struct options {
    const char *file;
    const char *out_dir; /* NULL: beside the file */
    bool json;
    bool top;
    uint32_t rows;
};

static int parse_rows(const char *text, uint32_t *out)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != 0 || errno != 0 || value == 0 || value > 1000000)
        return simpler_misuse_error(NAME, "--top takes a number from 1, not '%s'", text);
    *out = (uint32_t)value;
    return SIMPLER_EXIT_OK;
}

static int parse(int argc, char **argv, struct options *out)
{
    static const struct option longs[] = {{"out-dir", required_argument, NULL, 'o'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"top", required_argument, NULL, 't'},
                                          {NULL, 0, NULL, 0}};
    int c, status;

    opterr = 0;
    optind = 1;
    while ((c = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
        if (c == 'o') {
            out->out_dir = optarg;
        } else if (c == 'j') {
            out->json = true;
        } else if (c == 't') {
            out->top = true;
            status = parse_rows(optarg, &out->rows);
            if (status != SIMPLER_EXIT_OK)
                return status;
        } else {
            return simpler_misuse_getopt(NAME, c, argv, longs);
        }
    }
    if (argc - optind != 1)
        return simpler_misuse_error(NAME, "takes one file, got %d", argc - optind);
    if (out->json && out->top)
        return simpler_misuse_error(NAME, "--json and --top exclude each other");
    out->file = argv[optind];
    return SIMPLER_EXIT_OK;
}

/* Creates a directory and those above it, like mkdir -p. */
static int make_directory(char *path)
{
    for (char *p = path + 1; *p != 0; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        (void)mkdir(path, 0777);
        *p = '/';
    }
    struct stat info;
    if (mkdir(path, 0777) == 0 || (stat(path, &info) == 0 && S_ISDIR(info.st_mode)))
        return 0;
    if (errno == EEXIST)
        errno = ENOTDIR;
    (void)fprintf(stderr, "simpler " NAME ": %s: cannot be created: %s\n", path, strerror(errno));
    return -1;
}

/* The page's path, owned by the caller; NULL when there is none, and said. */
static char *page_path(const struct options *o)
{
    static const char name[] = "scope_stats.html";
    const char *slash = strrchr(o->file, '/');
    const char *dir = o->out_dir != NULL ? o->out_dir : o->file;
    size_t bytes = o->out_dir != NULL ? strlen(dir) : slash != NULL ? (size_t)(slash - dir) : 0;
    char *path = calloc(bytes + sizeof(name) + 1, 1);

    if (path == NULL) {
        (void)fputs("simpler " NAME ": out of memory\n", stderr);
        return NULL;
    }
    memcpy(path, dir, bytes);
    if (o->out_dir != NULL && (bytes == 0 || make_directory(path) != 0)) {
        if (bytes == 0)
            (void)fputs("simpler " NAME ": --out-dir is empty\n", stderr);
        free(path);
        return NULL;
    }
    if (bytes > 0 || slash != NULL)
        path[bytes++] = '/';
    memcpy(path + bytes, name, sizeof(name));
    return path;
}

/* Whether writing the page would replace the file that was read. */
static bool is_input(const struct options *o, const char *path)
{
    struct stat input, page;
    if (stat(o->file, &input) != 0 || stat(path, &page) != 0 || input.st_dev != page.st_dev ||
        input.st_ino != page.st_ino)
        return false;
    (void)fprintf(stderr,
                  "simpler " NAME ": %s: the page would replace the file that it is about; "
                  "name another --out-dir\n",
                  path);
    return true;
}

static int print_result(const struct options *o, const struct simpler_scope_model *m,
                        const char *path)
{
    if (o->json) {
        simpler_scope_json(stdout, m, path);
    } else {
        simpler_scope_table(stdout, m, o->top ? o->rows : 0);
        (void)printf("%s%s\n", o->top ? "\n" : "", path);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        (void)fprintf(stderr, "simpler " NAME ": standard output: %s\n", strerror(errno));
        return SIMPLER_EXIT_FAILED;
    }
    return SIMPLER_EXIT_OK;
}

/* What a terminal is shown while a large file is read. */
struct progress {
    uint64_t total; /* bytes of the file; 0: not known */
    struct timespec started;
    bool shown;
};

static void show_progress(void *user, uint64_t bytes)
{
    struct progress *p = user;
    struct timespec now;
    char text[SIMPLER_TEXT_BYTES];

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - p->started.tv_sec < 2 && !p->shown)
        return;
    p->shown = true;
    (void)fprintf(stderr, "\rread %s", simpler_report_text_bytes(text, bytes));
    if (p->total > 0)
        (void)fprintf(stderr, " of %s", simpler_report_text_bytes(text, p->total));
    (void)fputs("\x1b[K", stderr);
}

static int read_model(const char *file, struct simpler_scope_model **out)
{
    struct progress progress = {0};
    struct stat info;
    const bool terminal = isatty(STDERR_FILENO) != 0;

    if (stat(file, &info) == 0 && S_ISREG(info.st_mode))
        progress.total = (uint64_t)info.st_size;
    (void)clock_gettime(CLOCK_MONOTONIC, &progress.started);
    int rc = simpler_scope_model_read(file, terminal ? show_progress : NULL, &progress, out);
    if (progress.shown)
        (void)fputs("\r\x1b[K", stderr);
    return rc;
}

/*
 * What a run left that was killed: says how its file is made.  True: there is nothing to
 * report; a .partial still gives a report that says what it lacks.
 */
static bool is_of_crash(const char *file)
{
    char prefix[SIMPLER_CRASHED_BYTES];
    size_t bytes = strlen(file), tail = sizeof(".partial") - 1;
    bool is_partial = bytes > tail && strcmp(file + bytes - tail, ".partial") == 0;
    struct stat info;
    bool is_there = stat(file, &info) == 0;

    if (is_there && !is_partial && !S_ISDIR(info.st_mode))
        return false;
    if (!simpler_crashed_find(file, prefix))
        return false;
    bool is_empty = simpler_crashed_has_no_sample(prefix);
    if (is_empty)
        (void)fprintf(stderr,
                      "simpler " NAME
                      ": %s: its run has not ended, or died before any sample had reached the "
                      "disk: then there is nothing to show (run with --crash-safe to keep "
                      "them), and `simpler recover %s` removes what is left\n",
                      file, prefix);
    else
        (void)fprintf(stderr,
                      "simpler " NAME
                      ": %s: its run has not ended, or died: `simpler recover %s` makes "
                      "the file of one that died\n",
                      file, prefix);
    return is_empty || !is_there || !is_partial;
}

static int run(int argc, char **argv)
{
    struct options o = {0};
    struct simpler_scope_model *m;
    int status = parse(argc, argv, &o);

    if (status != SIMPLER_EXIT_OK)
        return status;
    if (is_of_crash(o.file))
        return SIMPLER_EXIT_FAILED;
    if (read_model(o.file, &m) != 0)
        return SIMPLER_EXIT_FAILED;
    char *path = page_path(&o);
    status = SIMPLER_EXIT_FAILED;
    if (path != NULL && !is_input(&o, path) && simpler_scope_page_write(path, m) == 0)
        status = print_result(&o, m, path);
    free(path);
    simpler_scope_model_close(m);
    return status;
}

const struct simpler_command simpler_cmd_scope_stats_plot = {
    .name = NAME,
    .purpose = "makes a report of a scope_stats.jsonl",
    .help = "usage: simpler scope-stats-plot FILE [--out-dir DIR] [--json | --top N]\n"
            "\n"
            "Writes scope_stats.html, one page that opens offline: whether the statistics\n"
            "are complete, the peak of each resource and the scope that drove it, and a\n"
            "chart for each resource and ring_depth.\n"
            "\n"
            "  --out-dir DIR  where the page goes (default: beside FILE); it is created\n"
            "  --json         prints the same facts as one JSON object\n"
            "  --top N        prints the N peaks with the highest use as a table\n"
            "\n"
            "Exit status: 0 written, also when the page has to say that something is\n"
            "missing; 1 FILE has nothing to show or the page cannot be written; 2 usage.\n",
    .run = run,
};
