/* SPDX-License-Identifier: Apache-2.0 */
/*
 * .live names the region; both go when everything else is done, .live first, so that a
 * region without it is known to be of no use.
 */
#include "simpler/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/logger.h"
#include "base/process.h"
#include "base/testpoint.h"
#include "collect/args_dump/args_dump_recover.h"
#include "collect/args_dump/args_dump_wire.h"
#include "collect/scope_stats/scope_stats_recover.h"
#include "host/config.h"
#include "host/live_file.h"
#include "host/stale_regions.h"

struct recovery {
    const char *directory;
    struct simpler_recover_result *out;
    struct simpler_live live;
    bool has_live;
    struct simpler_region_reader *reader; /* NULL: there is no region */
};

#define SAY(r, ...) (void)snprintf((r)->out->message, sizeof((r)->out->message), __VA_ARGS__)

/* ---- who wrote here ---- */

static int read_live(struct recovery *r)
{
    int rc = simpler_live_file_read(r->directory, &r->live);

    if (rc != 0) {
        if (rc != SIMPLER_ENOENT)
            SAY(r, SIMPLER_LIVE_NAME " is torn, or of another version: a region is not looked for");
        return 0;
    }
    r->has_live = true;
    r->out->pid = r->live.pid;
    (void)snprintf(r->out->region, sizeof(r->out->region), "%s", r->live.region);
    if (!simpler_process_is_alive(r->live.pid, r->live.start_time))
        return 0;
    SAY(r, "process %" PRId64 " still runs and writes here", r->live.pid);
    return SIMPLER_EBUSY;
}

/* A name that a worker gives: nothing else is opened, and removed later, because .live says so. */
static bool has_region_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');

    return slash != NULL && strncmp(slash + 1, "simpler-", 8) == 0 && dot > slash &&
           strcmp(dot, SIMPLER_REGION_SUFFIX) == 0;
}

/* The reader takes @fd. */
static int take_region(struct recovery *r, int fd)
{
    struct stat info;

    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid()) {
        SAY(r, "the region is no file of this user");
        (void)close(fd);
        return 0;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        SAY(r,
            "the region is in use: its process (%" PRId64 ") still ends, or another one "
            "recovers here",
            r->live.pid);
        (void)close(fd);
        return SIMPLER_EBUSY;
    }
    int rc = simpler_region_reader_open(fd, &r->reader);
    if (rc == 0 && (r->reader->header->pid != r->live.pid ||
                    r->reader->header->start_time != r->live.start_time)) {
        simpler_region_reader_close(r->reader);
        r->reader = NULL;
        rc = SIMPLER_EFORMAT;
    }
    if (rc != 0)
        SAY(r, "the region is not used: %s", simpler_status_text(rc));
    return rc == SIMPLER_ENOMEM ? rc : 0;
}

static int open_region(struct recovery *r)
{
    if (!r->has_live)
        return 0;
    if (!has_region_name(r->live.region)) {
        SAY(r, "what " SIMPLER_LIVE_NAME " names is no region");
        return 0;
    }
    int fd = open(r->live.region, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0)
        return take_region(r, fd);
    SAY(r, "the region is not there: %s", strerror(errno));
    return 0;
}

/* ---- the parts ---- */

/* The session of a collector; NULL: the region has none that can be used. */
static const struct simpler_region_session *session_of(struct recovery *r, uint32_t magic,
                                                       uint32_t record_bytes,
                                                       struct simpler_region_session *session)
{
    if (r->reader == NULL)
        return NULL;
    int rc =
        simpler_region_reader_session(r->reader, magic, record_bytes, r->live.run_epoch, session);
    if (rc != 0 && rc != SIMPLER_ENOENT)
        SAY(r, "a part of the region is not used: %s", simpler_status_text(rc));
    return rc == 0 ? session : NULL;
}

static void recover_scope_stats(struct recovery *r)
{
    struct simpler_recover_part *part = &r->out->scope_stats;
    struct simpler_region_session session = {0};
    struct scope_stats_recovered o;
    const struct simpler_region_session *found =
        r->live.scope_stats
            ? session_of(r, SCOPE_STATS_MAGIC, sizeof(struct scope_stats_record), &session)
            : NULL;

    part->status = simpler_scope_stats_recover(r->directory, found != NULL ? r->reader : NULL,
                                               found, r->live.run_epoch, &o);
    simpler_region_session_fini(&session);
    part->records = o.records;
    part->from_region = o.from_region;
    part->torn_bytes = o.torn_bytes;
    memcpy(part->path, o.path, sizeof(part->path));
    memcpy(part->message, o.why, sizeof(part->message));
    if (part->status != 0)
        part->state = SIMPLER_RECOVER_FAILED;
    else if (o.has_file)
        part->state = o.was_whole ? SIMPLER_RECOVER_RENAMED : SIMPLER_RECOVER_RECOVERED;
    else if (o.is_done && access(o.path, F_OK) == 0)
        part->state = SIMPLER_RECOVER_COMPLETE;
}

/* What nobody can name any more. */
static uint64_t unnamed_bytes(const char *directory)
{
    char path[ARGS_DUMP_PATH_BYTES + 16];
    struct stat info;

    (void)snprintf(path, sizeof(path), "%s/" ARGS_DUMP_BIN, directory);
    return stat(path, &info) == 0 && info.st_size > 0 ? (uint64_t)info.st_size : 0;
}

static bool has_manifest(const char *directory)
{
    char path[ARGS_DUMP_PATH_BYTES + 16];

    (void)snprintf(path, sizeof(path), "%s/args_dump.json", directory);
    return access(path, F_OK) == 0;
}

static void recover_args_dump(struct recovery *r)
{
    struct simpler_recover_part *part = &r->out->args_dump;
    struct simpler_region_session session = {0};
    struct args_dump_recovered o;
    const struct simpler_region_session *found =
        r->live.args_dump != 0
            ? session_of(r, ARGS_DUMP_MAGIC, sizeof(struct args_dump_record), &session)
            : NULL;

    part->status = simpler_args_dump_recover(r->directory, found != NULL ? r->reader : NULL, found,
                                             r->live.args_dump, &o);
    simpler_region_session_fini(&session);
    part->records = o.records;
    part->from_region = o.from_region;
    part->torn_bytes = o.torn_bytes;
    memcpy(part->path, o.path, sizeof(part->path));
    memcpy(part->message, o.why, sizeof(part->message));
    r->out->payloads_from_region = o.payloads_from_arena;
    r->out->payloads_lost = o.lost;
    r->out->records_refused = o.refused;
    if (part->status != 0)
        part->state = SIMPLER_RECOVER_FAILED;
    else if (o.has_manifest)
        part->state = SIMPLER_RECOVER_RECOVERED;
    else if (has_manifest(o.path))
        part->state = SIMPLER_RECOVER_COMPLETE;
    else
        r->out->unnamed_bytes = unnamed_bytes(o.path);
}

static void finish(struct recovery *r)
{
    simpler_live_file_remove_fresh(r->directory);
    if (!r->has_live)
        return;
    SIMPLER_TESTPOINT(RECOVER_STEP);
    simpler_live_file_remove(r->directory);
    SIMPLER_TESTPOINT(RECOVER_STEP);
    if (r->reader != NULL)
        (void)unlink(r->live.region);
}

static int recover(struct recovery *r)
{
    int rc = read_live(r);

    if (rc == 0)
        rc = open_region(r);
    if (rc != 0)
        return rc;
    r->out->has_region = r->reader != NULL;
    recover_scope_stats(r);
    recover_args_dump(r);
    rc = r->out->scope_stats.status != 0 ? r->out->scope_stats.status : r->out->args_dump.status;
    if (rc == 0)
        finish(r);
    return rc;
}

int simpler_recover(const char *directory, struct simpler_recover_result *out)
{
    struct recovery r = {.directory = directory, .out = out};
    struct stat info;

    if (directory == NULL || out == NULL) {
        SIMPLER_ERROR("recover: %s is NULL", out == NULL ? "out" : "directory");
        return SIMPLER_EINVAL;
    }
    memset(out, 0, sizeof(*out));
    if (stat(directory, &info) != 0 || !S_ISDIR(info.st_mode)) {
        SAY(&r, "no such directory");
        return SIMPLER_ENOENT;
    }
    int rc = recover(&r);
    simpler_region_reader_close(r.reader);
    /* Of a process that was killed before its first run nobody else would hear. */
    simpler_stale_regions_remove(simpler_config_region_directory());
    return rc;
}
