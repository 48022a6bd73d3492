/* SPDX-License-Identifier: Apache-2.0 */
#include "host/exports.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "simpler/status.h"

#define DUMP_BUDGET_BYTES (256u << 20)

int simpler_exports_init(struct simpler_exports *exports)
{
    int rc = simpler_scope_stats_file_init(&exports->scope_stats_file);

    if (rc != 0)
        return rc;
    simpler_background_init(&exports->background);
    (void)pthread_mutex_init(&exports->lock, NULL);
    exports->in_flight = NULL;
    exports->dump_budget.bytes = DUMP_BUDGET_BYTES;
    exports->ready = true;
    return 0;
}

void simpler_exports_fini(struct simpler_exports *exports)
{
    if (!exports->ready)
        return;
    simpler_background_fini(&exports->background);
    (void)pthread_mutex_destroy(&exports->lock);
    simpler_scope_stats_file_fini(&exports->scope_stats_file);
    exports->ready = false;
}

/* ---- destinations ---- */

static bool is_taken(const char *prefix, const char *name)
{
    char path[SCOPE_STATS_PATH_BYTES];
    struct stat info;

    (void)snprintf(path, sizeof(path), "%s/%s", prefix, name);
    if (lstat(path, &info) != 0)
        return false;
    SIMPLER_ERROR("%s exists already; a worker that collects across runs replaces no file", path);
    return true;
}

static bool is_free(const char *prefix, struct simpler_export_wish wish)
{
    return !(wish.scope_stats && is_taken(prefix, "scope_stats/scope_stats.jsonl")) &&
           !(wish.args_dump && (is_taken(prefix, "args_dump/args_dump.json") ||
                                is_taken(prefix, "args_dump/args.bin")));
}

/* Puts it among those in flight unless one has the same prefix. */
static bool try_enter(struct simpler_export *e)
{
    struct simpler_exports *exports = e->exports;
    bool is_alone = true;

    (void)pthread_mutex_lock(&exports->lock);
    for (struct simpler_export *other = exports->in_flight; other != NULL; other = other->next)
        is_alone = is_alone && strcmp(other->prefix, e->prefix) != 0;
    if (is_alone) {
        e->next = exports->in_flight;
        exports->in_flight = e;
    }
    (void)pthread_mutex_unlock(&exports->lock);
    if (!is_alone)
        SIMPLER_ERROR("%s is the output prefix of a run whose files are not written yet",
                      e->prefix);
    return is_alone;
}

static void leave(struct simpler_export *e)
{
    struct simpler_exports *exports = e->exports;
    struct simpler_export **at = &exports->in_flight;

    (void)pthread_mutex_lock(&exports->lock);
    while (*at != NULL && *at != e)
        at = &(*at)->next;
    if (*at == e)
        *at = e->next;
    (void)pthread_mutex_unlock(&exports->lock);
}

/* ---- an export's way ---- */

static void free_export(struct simpler_export *e)
{
    simpler_scope_stats_retained_close(e->scope_stats);
    simpler_args_dump_retained_close(e->args_dump);
    simpler_alloc_free(e->prefix);
    simpler_alloc_free(e);
}

/* On the writer's thread. */
static int write_files(struct simpler_background_job *job)
{
    struct simpler_export *e = (struct simpler_export *)job;
    int rc = 0, dump_rc = 0;

    if (e->scope_stats != NULL)
        rc = simpler_scope_stats_retained_write(e->scope_stats, &e->exports->scope_stats_file);
    if (e->args_dump != NULL)
        dump_rc = simpler_args_dump_retained_write(e->args_dump);
    rc = rc != 0 ? rc : dump_rc;
    leave(e);
    free_export(e);
    return rc;
}

static int make(struct simpler_exports *exports, const char *prefix, struct simpler_export **out)
{
    struct simpler_export *e = simpler_alloc_zeroed(1, sizeof(*e));

    if (e == NULL)
        return SIMPLER_ENOMEM;
    e->exports = exports;
    e->job.run = write_files;
    e->prefix = simpler_alloc_string(prefix);
    if (e->prefix == NULL) {
        free_export(e);
        return SIMPLER_ENOMEM;
    }
    *out = e;
    return 0;
}

/* A place for one that is made. */
static int take_place(struct simpler_export *e, struct simpler_export_wish wish)
{
    struct simpler_background *background = &e->exports->background;
    int rc = simpler_background_start(background);

    if (rc != 0)
        return rc;
    if (!is_free(e->prefix, wish))
        return SIMPLER_EEXIST;
    rc = simpler_background_reserve(background);
    if (rc != 0) {
        SIMPLER_ERROR(
            "the background writer has written nothing for a while; runs that wait for it: %u",
            SIMPLER_BACKGROUND_PLACES);
        return rc;
    }
    if (try_enter(e))
        return 0;
    simpler_background_release(background);
    return SIMPLER_EEXIST;
}

int simpler_exports_claim(struct simpler_exports *exports, const char *prefix,
                          struct simpler_export_wish wish, struct simpler_export **out)
{
    struct simpler_export *e = NULL;
    int rc = make(exports, prefix, &e);

    if (rc != 0) {
        SIMPLER_ERROR("no memory for what a run is to write");
        return rc;
    }
    rc = take_place(e, wish);
    if (rc == 0)
        *out = e;
    else
        free_export(e);
    return rc;
}

void simpler_exports_hand_over(struct simpler_export *export_of_run)
{
    struct simpler_export *e = export_of_run;

    if (e == NULL)
        return;
    struct simpler_background *background = &e->exports->background;
    if (e->scope_stats != NULL || e->args_dump != NULL) {
        simpler_background_post(background, &e->job);
        return;
    }
    leave(e);
    free_export(e);
    simpler_background_release(background);
}
