/* SPDX-License-Identifier: Apache-2.0 */
/* simpler recover: what a run that was killed has left becomes readable. */
#include "simpler/recover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "commands.h"
#include "json_writer.h"
#include "misuse.h"
#include "report/dump_manifest.h"
#include "report/round_dirs.h"

#define NAME "recover"

#define PATH_BYTES 4096
#define MANIFEST   "/args_dump.json"

struct options {
    const char *directory;
    bool json;
};

static int parse(int argc, char **argv, struct options *out)
{
    static const char *const json_option = "--json";

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], json_option) == 0)
            out->json = true;
        else if (argv[i][0] == '-' && argv[i][1] != '\0')
            return simpler_misuse_option(NAME, argv[i], &json_option, 1);
        else if (out->directory != NULL)
            return simpler_misuse_error(NAME, "one directory at a time: '%s' or '%s'?",
                                        out->directory, argv[i]);
        else
            out->directory = argv[i];
    }
    return out->directory != NULL ? 0 : simpler_misuse_error(NAME, "which directory?");
}

/* ---- what was recovered before ---- */

struct earlier {
    bool is_recovered; /* the manifest that was there already */
    uint64_t cut;      /* its truncated_args */
};

/* Of the args dump of a directory that is complete; one that cannot be read tells nothing. */
static struct earlier find_earlier(const struct simpler_recover_result *r)
{
    struct simpler_dump_manifest *manifest = NULL;
    struct simpler_dump_entry entry;
    struct earlier e = {0};
    char path[sizeof(r->args_dump.path) + 32];
    int rc;

    if (r->args_dump.state != SIMPLER_RECOVER_COMPLETE)
        return e;
    (void)snprintf(path, sizeof(path), "%s" MANIFEST, r->args_dump.path);
    if (simpler_dump_manifest_open(path, &manifest) == 0) {
        while ((rc = simpler_dump_manifest_next(manifest, &entry)) > 0)
            ;
        const struct simpler_dump_header *header = simpler_dump_manifest_header(manifest);
        e.is_recovered = rc == 0 && header->is_recovered;
        e.cut = e.is_recovered ? header->count[SIMPLER_DUMP_COUNT_TRUNCATED] : 0;
    }
    if (manifest != NULL)
        simpler_dump_manifest_close(manifest);
    return e;
}

/* ---- text ---- */

static const char *const states[] = {"nothing", "complete", "renamed", "recovered", "failed"};

static bool is_made(const struct simpler_recover_part *part)
{
    return part->state == SIMPLER_RECOVER_RECOVERED || part->state == SIMPLER_RECOVER_RENAMED;
}

static void print_part(const char *name, const char *what, const char *file,
                       const struct simpler_recover_part *part)
{
    switch (part->state) {
    case SIMPLER_RECOVER_RECOVERED:
        (void)printf("%s: %" PRIu64 " %s in %s%s", name, part->records, what, part->path, file);
        if (part->from_region != 0)
            (void)printf(", %" PRIu64 " of them from the memory of the process", part->from_region);
        (void)putchar('\n');
        break;
    case SIMPLER_RECOVER_RENAMED:
        (void)printf("%s: %s%s was whole and has its name now\n", name, part->path, file);
        break;
    case SIMPLER_RECOVER_COMPLETE:
        (void)printf("%s: %s%s is complete\n", name, part->path, file);
        break;
    case SIMPLER_RECOVER_FAILED:
        (void)fprintf(stderr, "simpler " NAME ": %s: %s%s%s%s; nothing is lost, try again\n", name,
                      part->path, part->path[0] != '\0' ? file : "",
                      part->path[0] != '\0' ? ": " : "", part->message);
        break;
    default:
        if (part->message[0] != '\0')
            (void)printf("%s: %s.partial: %s\n", name, part->path, part->message);
        break;
    }
    if (part->torn_bytes != 0 && part->state != SIMPLER_RECOVER_FAILED)
        (void)printf("  %" PRIu64 " bytes of one that was being written are left out\n",
                     part->torn_bytes);
}

static void print_dump_losses(const struct simpler_recover_result *r)
{
    if (r->payloads_from_region != 0)
        (void)printf("  %" PRIu64 " payload%s from the memory of the process\n",
                     r->payloads_from_region, simpler_text_plural(r->payloads_from_region));
    if (r->payloads_lost != 0)
        (void)printf("  %" PRIu64 " payload%s not there as a whole: truncated in the manifest\n",
                     r->payloads_lost, simpler_text_plural(r->payloads_lost));
    if (r->payloads_unreadable != 0)
        (void)printf("  %" PRIu64
                     " of them because args.bin cannot be read there: each ends before "
                     "the first page that is lost\n",
                     r->payloads_unreadable);
    if (r->records_refused != 0)
        (void)printf("  %" PRIu64 " record%s left out for making no sense\n", r->records_refused,
                     simpler_text_plural(r->records_refused));
    if (r->unnamed_bytes != 0)
        (void)printf("args dump: %s/args.bin has %" PRIu64
                     " bytes of payload, but the records that name them died with the process\n",
                     r->args_dump.path, r->unnamed_bytes);
}

static void print_args_dump(const struct simpler_recover_result *r, const struct earlier *e)
{
    if (!e->is_recovered)
        print_part("args dump", "records", MANIFEST, &r->args_dump);
    else
        (void)printf("args dump: %s" MANIFEST " was recovered already\n", r->args_dump.path);
    if (e->cut != 0)
        (void)printf("  %" PRIu64 " payload%s truncated in it\n", e->cut,
                     simpler_text_by_count(e->cut, " is", "s are"));
    print_dump_losses(r);
}

static void print_every_record(const struct simpler_recover_result *r)
{
    (void)printf("Every record that process %" PRId64 " had made is there", r->pid);
    if (r->payloads_lost != 0)
        (void)printf("; %" PRIu64 " of their payloads %s cut", r->payloads_lost,
                     simpler_text_by_count(r->payloads_lost, "is", "are"));
    (void)puts(".");
}

static void print_text(const struct simpler_recover_result *r, int rc, const char *directory)
{
    bool any = is_made(&r->scope_stats) || is_made(&r->args_dump);
    struct earlier earlier = find_earlier(r);

    if (r->message[0] != '\0')
        (void)fprintf(stderr, "simpler " NAME ": %s: %s\n", directory, r->message);
    print_part("scope stats", "samples", "", &r->scope_stats);
    print_args_dump(r, &earlier);
    if (any && r->has_region && r->records_refused == 0)
        print_every_record(r);
    else if (any && !r->has_region && rc == 0)
        (void)puts("The run was not crash-safe, or its memory is gone: what had not reached the "
                   "disk is lost,\nand how much that is cannot be known.");
    else if (rc == 0 && r->scope_stats.message[0] == '\0')
        (void)printf("%s: there is nothing to do\n", directory);
}

/* ---- JSON ---- */

static void write_part(struct simpler_json_writer *w, const char *key,
                       const struct simpler_recover_part *part)
{
    simpler_json_writer_open(w, key, '{');
    simpler_json_writer_string(w, "state", states[part->state]);
    simpler_json_writer_string(w, "status_name", simpler_status_name(part->status));
    simpler_json_writer_string(w, "path", part->path);
    simpler_json_writer_u64(w, "records", part->records);
    simpler_json_writer_u64(w, "from_region", part->from_region);
    simpler_json_writer_u64(w, "torn_bytes", part->torn_bytes);
    simpler_json_writer_string(w, "message", part->message[0] != '\0' ? part->message : NULL);
    simpler_json_writer_close(w, '}');
}

/* Into an object that is open. */
static void write_result(struct simpler_json_writer *w, const struct simpler_recover_result *r,
                         int rc, const char *directory)
{
    simpler_json_writer_string(w, "directory", directory);
    simpler_json_writer_string(w, "status_name", simpler_status_name(rc));
    simpler_json_writer_i64(w, "pid", r->pid);
    simpler_json_writer_string(w, "region", r->region[0] != '\0' ? r->region : NULL);
    simpler_json_writer_bool(w, "has_region", r->has_region != 0);
    simpler_json_writer_string(w, "message", r->message[0] != '\0' ? r->message : NULL);
    write_part(w, "scope_stats", &r->scope_stats);
    write_part(w, "args_dump", &r->args_dump);
    struct earlier earlier = find_earlier(r);
    simpler_json_writer_bool(w, "recovered_before", earlier.is_recovered);
    simpler_json_writer_u64(w, "truncated_before", earlier.cut);
    simpler_json_writer_u64(w, "payloads_from_region", r->payloads_from_region);
    simpler_json_writer_u64(w, "payloads_lost", r->payloads_lost);
    simpler_json_writer_u64(w, "payloads_unreadable", r->payloads_unreadable);
    simpler_json_writer_u64(w, "records_refused", r->records_refused);
    simpler_json_writer_u64(w, "unnamed_bytes", r->unnamed_bytes);
}

/* ---- the directory and its rounds ---- */

struct recovery {
    const struct options *o;
    struct simpler_json_writer json;
};

static void tell(struct recovery *r, const struct simpler_recover_result *result, int rc,
                 const char *directory)
{
    if (r->o->json)
        write_result(&r->json, result, rc, directory);
    else
        print_text(result, rc, directory);
}

/* Whether a run with this output prefix was there. */
static bool is_prefix(const char *directory)
{
    static const char *const names[] = {"scope_stats", "args_dump", ".live"};
    char path[PATH_BYTES];
    struct stat info;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int n = snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        if (n < 0 || (size_t)n >= sizeof(path) || lstat(path, &info) == 0 || errno != ENOENT)
            return true; /* or the recovery says what is wrong */
    }
    return false;
}

/* Of a directory that a run makes in its prefix: the prefix, which the caller frees; or NULL. */
static char *find_run(const char *directory)
{
    char *path = realpath(directory, NULL);
    char *slash = path != NULL ? strrchr(path, '/') : NULL;

    if (slash != NULL && slash != path &&
        (strcmp(slash, "/scope_stats") == 0 || strcmp(slash, "/args_dump") == 0)) {
        *slash = '\0';
        return path;
    }
    free(path);
    return NULL;
}

static int refuse(const char *directory, struct simpler_recover_result *out)
{
    char *run = find_run(directory);
    int n = snprintf(out->message, sizeof(out->message),
                     "no run has written here: there is no scope_stats, args_dump, .live or "
                     "round_<i>");

    /* A path that is cut would be no help. */
    if (run != NULL && (size_t)n + strlen(run) + sizeof("; name the run: ") < sizeof(out->message))
        (void)snprintf(out->message + n, sizeof(out->message) - (size_t)n, "; name the run: %s",
                       run);
    free(run);
    return SIMPLER_ENOENT;
}

/* Each of them; the first failure. */
static int recover_rounds(struct recovery *r, const struct simpler_round_dirs *rounds)
{
    static struct simpler_recover_result result;
    char path[PATH_BYTES];
    int first = 0;

    if (r->o->json)
        simpler_json_writer_open(&r->json, "rounds", '[');
    for (int i = 0; i < rounds->count; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", r->o->directory, rounds->entry[i]->d_name);
        int rc = simpler_recover(path, &result);
        if (r->o->json)
            simpler_json_writer_open(&r->json, NULL, '{');
        tell(r, &result, rc, path);
        if (r->o->json)
            simpler_json_writer_close(&r->json, '}');
        first = first != 0 ? first : rc;
    }
    if (r->o->json)
        simpler_json_writer_close(&r->json, ']');
    return first;
}

static int recover(struct recovery *r, const struct simpler_round_dirs *rounds)
{
    static struct simpler_recover_result result;
    const char *directory = r->o->directory;
    bool is_run = is_prefix(directory);
    int rc = rounds->count != 0 ? recover_rounds(r, rounds) : 0;

    if (is_run || rounds->count == 0) {
        /* Where no run was, regions of dead processes are still removed. */
        int own = simpler_recover(directory, &result);
        if (own == 0 && !is_run)
            own = refuse(directory, &result);
        rc = rc != 0 ? rc : own;
    }
    if (r->o->json || is_run || rounds->count == 0)
        tell(r, &result, rc, directory);
    return rc;
}

static int run_recover(int argc, char **argv)
{
    struct options o = {0};
    struct recovery r = {.o = &o};
    struct simpler_round_dirs rounds;
    int status = parse(argc, argv, &o);

    if (status != 0)
        return status;
    if (simpler_round_dirs_list(o.directory, &rounds) != 0 && errno != ENOENT && errno != ENOTDIR) {
        (void)fprintf(stderr, "simpler " NAME ": %s: %s\n", o.directory, strerror(errno));
        return SIMPLER_EXIT_FAILED;
    }
    if (o.json) {
        simpler_json_writer_init(&r.json, stdout);
        simpler_json_writer_open(&r.json, NULL, '{');
    }
    int rc = recover(&r, &rounds);
    if (o.json)
        simpler_json_writer_close(&r.json, '}');
    simpler_round_dirs_fini(&rounds);
    return rc == 0 ? SIMPLER_EXIT_OK : SIMPLER_EXIT_FAILED;
}

const struct simpler_command simpler_cmd_recover = {
    .name = NAME,
    .purpose = "completes the diagnostics of a run that was killed",
    .help = "usage: simpler recover DIR [--json]\n"
            "\n"
            "DIR is the output prefix of the run, which holds scope_stats and args_dump, or with\n"
            "--rounds every round_<i>: each is recovered.  scope_stats.jsonl and args_dump.json\n"
            "are made of what the run had written and, if it was run with --crash-safe, of its\n"
            "diagnostic memory: then every record that was made is there.  Both files say that\n"
            "they are recovered, and call unknown what is not known.  Payloads that cannot be\n"
            "had as a whole are cut, and their entries say truncated.  Scope stats of which no\n"
            "sample had reached the disk are removed, and that is said.\n"
            "\n"
            "A run that still lasts is left alone, and its process is named.  The command may\n"
            "be given again, also after it was killed itself.\n"
            "\n"
            "  --json  the same facts as one JSON object; each round's in its \"rounds\"\n"
            "\n"
            "Exit status: 0 done, or there was nothing to do; 1 something failed, or no run has\n"
            "written in DIR; 2 usage.\n",
    .run = run_recover,
};
