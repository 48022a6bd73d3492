/* SPDX-License-Identifier: Apache-2.0 */
/* From what the user names, or does not, to a directory and a manifest. */
#include "report/dump_locate.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "report/crashed_run.h"
#include "report/round_dirs.h"
#include "simpler/status.h"

/* Rounds that a message names one by one. */
#define ROUNDS_NAMED 8

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
    if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
        return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
    return a->st_mtim.tv_nsec >= b->st_mtim.tv_nsec;
}

/* Through the link to one of the others. */
static bool is_latest(const char *path)
{
    static const char link[] = "outputs/latest/";
    return strncmp(path, link, sizeof(link) - 1) == 0;
}

/* The newest of those that are reached through the link, or of the others. */
static bool newest_of(const glob_t *found, bool latest, char *out, size_t capacity)
{
    struct stat best = {0};
    bool any = false;

    for (size_t i = 0; i < found->gl_pathc; i++) {
        const char *path = found->gl_pathv[i];
        struct stat st;
        if (is_latest(path) != latest || stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
            continue;
        if (any && !is_newer(&st, &best))
            continue;
        best = st;
        any = (size_t)snprintf(out, capacity, "%s", path) < capacity;
    }
    return any;
}

/* Of equal times the last name, which ends with the run's date; rounds after whole runs. */
static bool newest(char *out, size_t capacity)
{
    glob_t found = {0};

    int runs = glob("outputs/*/args_dump", GLOB_ERR, NULL, &found);
    int rounds =
        glob("outputs/*/round_*/args_dump", GLOB_ERR | (runs == 0 ? GLOB_APPEND : 0), NULL, &found);
    if (runs != 0 && rounds != 0)
        return false;
    bool any = newest_of(&found, false, out, capacity) || newest_of(&found, true, out, capacity);
    globfree(&found);
    return any;
}

static int set_file(const char *path, struct simpler_dump_place *out)
{
    const char *slash = strrchr(path, '/');

    (void)snprintf(out->manifest, sizeof(out->manifest), "%s", path);
    if (slash == NULL)
        (void)snprintf(out->directory, sizeof(out->directory), ".");
    else
        (void)snprintf(out->directory, sizeof(out->directory), "%.*s",
                       slash == path ? 1 : (int)(slash - path), path);
    return 0;
}

static bool has_manifest(const char *directory, const char *between, struct simpler_dump_place *out)
{
    struct stat st;

    if ((size_t)snprintf(out->directory, sizeof(out->directory), "%s%s", directory, between) >=
            sizeof(out->directory) ||
        (size_t)snprintf(out->manifest, sizeof(out->manifest), "%s%s/%s", directory, between,
                         SIMPLER_DUMP_MANIFEST_NAME) >= sizeof(out->manifest))
        return false;
    return stat(out->manifest, &st) == 0;
}

/* What a run writes before its manifest. */
static bool has_traces(const char *directory)
{
    static const char *const names[] = {"args.bin", ".spool", "args_dump/args.bin",
                                        "args_dump/.spool"};
    char path[4096 + 32];
    struct stat st;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        if (stat(path, &st) == 0)
            return true;
    }
    return false;
}

/* Of a run that died: how it becomes readable. */
static void name_remedy(const char *directory, char *error, size_t capacity)
{
    char prefix[SIMPLER_CRASHED_BYTES];
    size_t used = strlen(error);

    if (simpler_crashed_find(directory, prefix) && used < capacity)
        (void)snprintf(error + used, capacity - used, "; if it died, `simpler recover %s` helps",
                       prefix);
}

/* Whether @round of the run at @directory has a manifest; else *died: it has left unfinished files.
 */
static bool has_dump(const char *directory, const char *round, bool *died)
{
    char path[4096 + 256 + 32], prefix[SIMPLER_CRASHED_BYTES];
    struct stat st;

    (void)snprintf(path, sizeof(path), "%s/%s/args_dump/" SIMPLER_DUMP_MANIFEST_NAME, directory,
                   round);
    if (stat(path, &st) == 0)
        return true;
    *died |= simpler_crashed_find(path, prefix);
    return false;
}

/* Of a run of rounds: which of them have a dump, as many as there is room for. */
static void name_rounds(const char *directory, char *error, size_t capacity)
{
    struct simpler_round_dirs rounds;
    size_t start = strlen(error), used = start;
    int named = 0, left_out = 0;
    bool died = false;

    if (simpler_round_dirs_list(directory, &rounds) != 0 || rounds.count == 0)
        return;
    for (int i = 0; i < rounds.count; i++) {
        const char *round = rounds.entry[i]->d_name;
        if (!has_dump(directory, round, &died))
            continue;
        if (named == ROUNDS_NAMED || used + strlen(directory) + strlen(round) + 96 > capacity) {
            left_out++;
            continue;
        }
        used += (size_t)snprintf(error + used, capacity - used, "%s%s/%s",
                                 named++ == 0 ? "; it is a run of rounds, name one: " : ", ",
                                 directory, round);
    }
    if (left_out != 0 && used < capacity)
        used += (size_t)snprintf(error + used, capacity - used, "%s %d%s",
                                 named != 0 ? " and" : "; it is a run of rounds with a dump in",
                                 left_out, named != 0 ? " more" : " of them");
    if (used == start && used < capacity)
        used += (size_t)snprintf(error + used, capacity - used,
                                 ", nor in its %d round%s (round_<i>/args_dump)", rounds.count,
                                 simpler_text_plural((uint64_t)rounds.count));
    if (died && used < capacity)
        (void)snprintf(error + used, capacity - used, "; if it died, `simpler recover %s` helps",
                       directory);
    simpler_round_dirs_fini(&rounds);
}

/* Of a directory of runs: the run that its link names. */
static void name_latest(const char *directory, char *error, size_t capacity)
{
    struct stat st;
    char path[4096 + 32];
    size_t used = strlen(error);

    (void)snprintf(path, sizeof(path), "%s/latest", directory);
    if (used < capacity && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        (void)snprintf(error + used, capacity - used, "; it holds runs, name one: %.512s", path);
}

int simpler_dump_locate(const char *path, struct simpler_dump_place *out, char *error,
                        size_t capacity)
{
    char found[4096];
    struct stat st;

    if (path == NULL) {
        if (!newest(found, sizeof(found))) {
            (void)snprintf(error, capacity,
                           "no outputs/*/args_dump directory found, nor one of a round "
                           "(outputs/*/round_*/args_dump)");
            return SIMPLER_ENOENT;
        }
        path = found;
    }
    if (strlen(path) >= sizeof(out->directory) - 32 || stat(path, &st) != 0) {
        (void)snprintf(error, capacity, "%.512s: %s", path,
                       strlen(path) >= sizeof(out->directory) - 32 ? "the name is too long"
                                                                   : strerror(errno));
        name_remedy(path, error, capacity);
        return SIMPLER_ENOENT;
    }
    if (!is_directory(path))
        return set_file(path, out);
    char clean[4096];
    (void)snprintf(clean, sizeof(clean), "%s", path);
    for (size_t n = strlen(clean); n > 1 && clean[n - 1] == '/'; n--)
        clean[n - 1] = '\0';
    if (has_manifest(clean, "", out) || has_manifest(clean, "/args_dump", out))
        return 0;
    (void)snprintf(error, capacity, "%.512s: no %s in it%s", clean, SIMPLER_DUMP_MANIFEST_NAME,
                   has_traces(clean) ? ", but payload or a spool: its run has not ended, or died "
                                       "before the manifest was written"
                                     : "");
    name_remedy(clean, error, capacity);
    name_rounds(clean, error, capacity);
    name_latest(clean, error, capacity);
    return SIMPLER_ENOENT;
}
