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

    if (rc == SIMPLER_EFORMAT)
        SAY(r, SIMPLER_LIVE_NAME " is torn, or of another version: a region is not looked for");
    if (rc == SIMPLER_EFORMAT || rc == SIMPLER_ENOENT)
        return 0;
    if (rc != 0) {
        SAY(r, SIMPLER_LIVE_NAME " cannot be read: %s", strerror(errno));
        return rc;
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
    struct stat info = {0};

    /* What only cannot be read now is not given up. */
    if (fstat(fd, &info) != 0 || info.st_uid != geteuid()) {
        SAY(r, "the region belongs to user %lu: recover as that one", (unsigned long)info.st_uid);
        (void)close(fd);
        return SIMPLER_EIO;
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
    return rc == SIMPLER_EFORMAT ? 0 : rc;
}

static int open_region(struct recovery *r)
{
    if (!r->has_live)
        return 0;
    if (!has_region_name(r->live.region)) {
        SAY(r, "what " SIMPLER_LIVE_NAME " names is no region");
        return 0;
    }
    int fd = -1;
    errno = EACCES;
    if (!SIMPLER_FAILPOINT(REGION_OPEN))
        fd = open(r->live.region, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0)
        return take_region(r, fd);
    int error = errno;
    SAY(r, "the region %s: %s", error == ENOENT ? "is not there" : "cannot be opened",
        strerror(error));
    return error == ENOENT || error == ELOOP ? 0 : SIMPLER_EIO;
}

/* ---- the parts ---- */

/*
 * The session of a collector; *found NULL: the region has none that can be used.  Not 0: it
 * cannot be read now, and the part fails before anything of it is touched.
 */
static int find_session(struct recovery *r, bool wanted, uint32_t magic, uint32_t record_bytes,
                        struct simpler_region_session *session,
                        const struct simpler_region_session **found)
{
    *found = NULL;
    if (r->reader == NULL || !wanted)
        return 0;
    int rc =
        simpler_region_reader_session(r->reader, magic, record_bytes, r->live.run_epoch, session);
    if (rc == 0)
        *found = session;
    if (rc == 0 || rc == SIMPLER_ENOENT)
        return 0;
    SAY(r, "a part of the region is not used: %s", simpler_status_text(rc));
    r->out->has_region = 0;
    return rc == SIMPLER_EFORMAT ? 0 : rc;
}

/* False: the part is told as failed. */
static bool has_begun(struct simpler_recover_part *part, int rc)
{
    if (rc == 0)
        return true;
    part->state = SIMPLER_RECOVER_FAILED;
    part->status = rc;
    (void)snprintf(part->message, sizeof(part->message), "the memory of the process: %s",
                   simpler_status_text(rc));
    return false;
}

static void recover_scope_stats(struct recovery *r)
{
    struct simpler_recover_part *part = &r->out->scope_stats;
    struct simpler_region_session session = {0};
    struct scope_stats_recovered o;
    const struct simpler_region_session *found;

    if (!has_begun(part, find_session(r, r->live.scope_stats, SCOPE_STATS_MAGIC,
                                      sizeof(struct scope_stats_record), &session, &found)))
        return;
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
    const struct simpler_region_session *found;

    if (!has_begun(part, find_session(r, r->live.args_dump != 0, ARGS_DUMP_MAGIC,
                                      sizeof(struct args_dump_record), &session, &found)))
        return;
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
    r->out->payloads_unreadable = o.lost_unreadable;
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
        SAY(&r, access(directory, F_OK) == 0 ? "is a file, not a directory" : "no such directory");
        return SIMPLER_ENOENT;
    }
    int rc = recover(&r);
    simpler_region_reader_close(r.reader);
    /* Of a process that was killed before its first run nobody else would hear. */
    simpler_stale_regions_remove(simpler_config_region_directory());
    return rc;
}
