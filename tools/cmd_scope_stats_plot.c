/* SPDX-License-Identifier: Apache-2.0 */
/* simpler scope-stats-plot: a scope_stats.jsonl to a page, to JSON or to a table. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/directories.h"
#include "commands.h"
#include "misuse.h"
#include "report/crashed_run.h"
#include "report/report_text.h"
#include "report/scope_json.h"
#include "report/scope_model.h"
#include "report/scope_page.h"

#define NAME "scope-stats-plot"
#define PAGE "scope_stats.html"

#define PATH_BYTES 4096

/* Values of the options, none of which has a letter. */
enum { OPT_OUT_DIR = 256, OPT_JSON, OPT_TOP };

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
    static const struct option longs[] = {{"out-dir", required_argument, NULL, OPT_OUT_DIR},
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"top", required_argument, NULL, OPT_TOP},
                                          {NULL, 0, NULL, 0}};
    int c, status;

    opterr = 0;
    optind = 1;
    while ((c = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
        if (c == OPT_OUT_DIR) {
            out->out_dir = optarg;
        } else if (c == OPT_JSON) {
            out->json = true;
        } else if (c == OPT_TOP) {
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

/* A directory in place of the file: where the file is. */
static bool is_directory(const char *file)
{
    static const char *const below[] = {"scope_stats.jsonl", "scope_stats/scope_stats.jsonl",
                                        "round_1/scope_stats/scope_stats.jsonl",
                                        "latest/scope_stats/scope_stats.jsonl",
                                        "latest/round_1/scope_stats/scope_stats.jsonl"};
    char path[PATH_BYTES];
    struct stat info;

    if (stat(file, &info) != 0 || !S_ISDIR(info.st_mode))
        return false;
    (void)fprintf(stderr, "simpler " NAME ": %s is a directory; FILE is a scope_stats.jsonl", file);
    for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
        int n = snprintf(path, sizeof(path), "%s/%s", file, below[i]);
        if (n > 0 && n < PATH_BYTES && access(path, F_OK) == 0)
            (void)fprintf(stderr, ": name %s", path);
    }
    (void)fputc('\n', stderr);
    return true;
}

/* A file that cannot be read: that, before anybody speaks of its page. */
static bool is_unreadable(const char *file)
{
    if (faccessat(AT_FDCWD, file, R_OK, AT_EACCESS) == 0)
        return false;
    /* Of what else the system answers (see simpler_directories_check) its reader will tell. */
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ELOOP &&
        errno != ENAMETOOLONG)
        return false;
    (void)fprintf(stderr, "simpler " NAME ": %s: cannot be read: %s\n", file, strerror(errno));
    return true;
}

/* The page lies in the working directory, which nobody has named. */
static bool is_here(const struct options *o)
{
    return o->out_dir == NULL && strchr(o->file, '/') == NULL;
}

/* The page's directory, in @out: --out-dir, or where the file is. */
static bool find_directory(const struct options *o, char *out)
{
    const char *slash = strrchr(o->file, '/');
    int bytes;

    if (o->out_dir != NULL)
        bytes = snprintf(out, PATH_BYTES, "%s", o->out_dir);
    else
        bytes = snprintf(out, PATH_BYTES, "%.*s",
                         slash == NULL      ? 1
                         : slash == o->file ? 1
                                            : (int)(slash - o->file),
                         slash == NULL ? "." : o->file);
    return bytes < PATH_BYTES - (int)sizeof(PAGE);
}

#define TOO_LONG \
    "simpler " NAME ": the page's directory has too long a name; name another --out-dir\n"

/* Whether the page can be written, as far as that can be told before; else it is said. */
static bool find_page(const struct options *o, char *directory, char *page)
{
    struct stat input, there;
    char why[320];

    if (!find_directory(o, directory)) {
        (void)fputs(TOO_LONG, stderr);
        return false;
    }
    if (!simpler_directories_check(directory, why, sizeof(why))) {
        (void)fprintf(stderr, "simpler " NAME ": %s%s; name %s directory with --out-dir\n",
                      o->out_dir != NULL ? "--out-dir: " : "", why,
                      o->out_dir != NULL ? "another" : "a");
        return false;
    }
    int length =
        snprintf(page, PATH_BYTES, "%s%s" PAGE, is_here(o) ? "" : directory, is_here(o) ? "" : "/");
    if (length >= PATH_BYTES) {
        (void)fputs(TOO_LONG, stderr);
        return false;
    }
    if (stat(page, &there) != 0)
        return true;
    bool is_input =
        stat(o->file, &input) == 0 && input.st_dev == there.st_dev && input.st_ino == there.st_ino;
    if (!is_input && !S_ISDIR(there.st_mode))
        return true;
    (void)fprintf(stderr, "simpler " NAME ": %s: %s; name another --out-dir\n", page,
                  is_input ? "the page would replace the file that it is about"
                           : "a directory is in the place of the page");
    return false;
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
    static char directory[PATH_BYTES], page[PATH_BYTES];
    struct options o = {0};
    struct simpler_scope_model *m;
    int status = parse(argc, argv, &o);

    if (status != SIMPLER_EXIT_OK)
        return status;
    if (is_of_crash(o.file) || is_directory(o.file) || is_unreadable(o.file) ||
        !find_page(&o, directory, page))
        return SIMPLER_EXIT_FAILED;
    if (read_model(o.file, &m) != 0)
        return SIMPLER_EXIT_FAILED;
    status = SIMPLER_EXIT_FAILED;
    if (simpler_directories_make(directory) != 0)
        (void)fprintf(stderr, "simpler " NAME ": %s: cannot be made: %s\n", directory,
                      strerror(errno));
    else if (simpler_scope_page_write(page, m) == 0)
        status = print_result(&o, m, page);
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
