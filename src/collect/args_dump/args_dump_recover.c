/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record is in its buffer until it is in the spool; for a moment in both, and a spool
 * that was being written holds the first records of a buffer alone.  Records of the spool
 * say which buffer they came in, so what the region has beyond them is known.
 *
 * The spool is read and not touched: what is exported is sorted in a file of its own.
 */
#include "collect/args_dump/args_dump_recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/directories.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "collect/args_dump/args_dump_export.h"
#include "collect/args_dump/args_dump_salvage.h"
#include "simpler/dtype.h"
#include "simpler/status.h"

#define RECORD_BYTES sizeof(struct args_dump_record)
#define CHUNK        4096u /* records read at once */
#define NONE         SIZE_MAX

struct recovery {
    const struct simpler_region_reader *reader;
    const struct simpler_region_session *session;
    struct args_dump_recovered *out;
    int directory;
    int spool;      /* -1: there is none */
    uint64_t count; /* records of it */
    struct args_dump_salvage salvage;
    struct args_dump_store store;
    uint32_t *written; /* a buffer of the session: its records in the spool */
    uint32_t last_lane, last_seq;
    size_t last_buffer; /* that those are; NONE: none of the session's */
};

typedef int see_fn(struct recovery *r, struct args_dump_record *record);

static int fail(struct recovery *r, int rc, const char *what)
{
    (void)snprintf(r->out->why, sizeof(r->out->why), "%.60s: %.80s", what,
                   rc == SIMPLER_EIO ? strerror(errno) : simpler_status_text(rc));
    return rc;
}

/* Whether every field is within what a run writes; what is printed depends on nothing else. */
static bool is_sane(const struct args_dump_record *r)
{
    return r->kind <= ARGS_DUMP_SCALAR && r->role <= ARGS_DUMP_INOUT &&
           r->stage <= ARGS_DUMP_AFTER && r->ndims <= ARGS_DUMP_MAX_DIMS &&
           r->dtype < SIMPLER_DTYPE_NUM && r->func_count <= ARGS_DUMP_MAX_FUNCS &&
           (r->kind == ARGS_DUMP_TENSOR || r->payload_size == 0);
}

/* ---- the spool ---- */

static int read_spool(struct recovery *r, uint64_t first, struct args_dump_record *to, size_t count)
{
    size_t bytes = count * RECORD_BYTES, done = 0;

    while (done < bytes) {
        ssize_t n = pread(r->spool, (uint8_t *)to + done, bytes - done,
                          (off_t)(first * RECORD_BYTES + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n == 0 ? EIO : errno;
            return fail(r, SIMPLER_EIO, "read .spool");
        }
        done += (size_t)n;
    }
    return 0;
}

static int walk_spool(struct recovery *r, see_fn *see)
{
    struct args_dump_record *chunk = simpler_alloc_aligned(CHUNK, RECORD_BYTES);
    int rc = chunk != NULL ? 0 : fail(r, SIMPLER_ENOMEM, "read .spool");

    for (uint64_t at = 0; rc == 0 && at < r->count; at += CHUNK) {
        size_t n = r->count - at < CHUNK ? (size_t)(r->count - at) : CHUNK;
        rc = read_spool(r, at, chunk, n);
        for (size_t i = 0; rc == 0 && i < n; i++)
            rc = see(r, &chunk[i]);
    }
    simpler_alloc_free(chunk);
    return rc;
}

/* The session's buffer that a marked record came in; the same one for many in turn. */
static size_t buffer_of(struct recovery *r, uint32_t lane, uint32_t seq)
{
    if (r->session == NULL || (lane == r->last_lane && seq == r->last_seq))
        return r->last_buffer;
    r->last_lane = lane;
    r->last_seq = seq;
    r->last_buffer = NONE;
    for (size_t i = 0; i < r->session->buffer_count; i++) {
        const struct simpler_region_buffer *b = &r->session->buffers[i];
        if (b->lane == lane && (b->seq & ARGS_DUMP_MARK_SEQ_MASK) == seq)
            r->last_buffer = i;
    }
    return r->last_buffer;
}

static int note_record(struct recovery *r, struct args_dump_record *record)
{
    if ((record->flags & ARGS_DUMP_MARKED) != 0) {
        size_t buffer =
            buffer_of(r, simpler_args_dump_mark_lane(record), simpler_args_dump_mark_seq(record));
        if (buffer != NONE)
            r->written[buffer]++;
    }
    if (is_sane(record))
        simpler_args_dump_salvage_note(&r->salvage, record);
    return 0;
}

/* ---- records to the new store ---- */

static int keep(struct recovery *r, const struct args_dump_record *record)
{
    struct args_dump_record *to = simpler_args_dump_store_append(&r->store, 0);

    if (to == NULL)
        return fail(r, SIMPLER_ENOMEM, "sort");
    *to = *record;
    if (atomic_load_explicit(&r->store.lost, memory_order_relaxed) == 0)
        return 0;
    errno = atomic_load_explicit(&r->store.error, memory_order_relaxed);
    return fail(r, SIMPLER_EIO, "write " ARGS_DUMP_RECOVERED);
}

static int keep_salvaged(struct recovery *r, struct args_dump_record *record, bool has_place,
                         bool has_arena, uint32_t lane, uint64_t arena_offset)
{
    if (!is_sane(record)) {
        r->out->refused++;
        return 0;
    }
    if (!simpler_args_dump_salvage_take(&r->salvage, record, has_place, has_arena, lane,
                                        arena_offset)) {
        errno = r->salvage.error;
        return fail(r, SIMPLER_EIO, r->salvage.what);
    }
    return keep(r, record);
}

static int take_spooled(struct recovery *r, struct args_dump_record *record)
{
    bool marked = (record->flags & ARGS_DUMP_MARKED) != 0;

    return keep_salvaged(r, record, true, marked, simpler_args_dump_mark_lane(record),
                         record->scalar_value);
}

static int take_buffer(struct recovery *r, size_t index, struct args_dump_record *records)
{
    const struct simpler_region_buffer *b = &r->session->buffers[index];
    uint32_t first = r->written[index] < b->count ? r->written[index] : b->count;
    int rc = simpler_region_reader_read(r->reader, b->at + first * RECORD_BYTES, records,
                                        (b->count - first) * RECORD_BYTES);

    if (rc != 0)
        return fail(r, rc, "read the region");
    for (uint32_t i = 0; rc == 0 && i < b->count - first; i++) {
        uint64_t arena_offset = records[i].payload_offset;
        records[i].payload_offset = 0;
        rc = keep_salvaged(r, &records[i], false, true, b->lane, arena_offset);
    }
    r->out->from_region += b->count - first;
    return rc;
}

static int take_region(struct recovery *r)
{
    const struct simpler_region_session *s = r->session;
    int rc = 0;

    if (s == NULL || s->buffer_count == 0)
        return 0;
    struct args_dump_record *records =
        simpler_alloc_aligned(s->header.kind[0].records_per_buffer, RECORD_BYTES);
    if (records == NULL)
        return fail(r, SIMPLER_ENOMEM, "read the region");
    for (size_t i = 0; rc == 0 && i < s->buffer_count; i++)
        rc = take_buffer(r, i, records);
    simpler_alloc_free(records);
    return rc;
}

/* ---- the manifest ---- */

/* Behind the last payload lies what was being written, and blocks that were reserved. */
static void drop_tail(const struct recovery *r)
{
    struct stat info;

    if (r->salvage.bin < 0 || fstat(r->salvage.bin, &info) != 0)
        return;
    off_t end = (off_t)r->salvage.end < info.st_size ? (off_t)r->salvage.end : info.st_size;
    if (ftruncate(r->salvage.bin, end) != 0)
        SIMPLER_WARN("args dump: %s/" ARGS_DUMP_BIN " could not be shortened (errno %d)",
                     r->out->path, errno);
}

static int export_manifest(struct recovery *r, uint32_t level)
{
    struct simpler_region_counts counts = {0};
    if (r->session != NULL)
        counts = simpler_region_session_counts(r->session);
    struct args_dump_export e = {
        .directory = r->directory,
        .level = level,
        .has_bin = r->salvage.bin >= 0,
        .bin_bytes = UINT64_MAX,
        .dropped_records = counts.dropped,
        .recovered = true,
        .level_unknown = level == 0,
        .dropped_unknown = !counts.known,
    };

    simpler_args_dump_store_finish(&r->store);
    drop_tail(r);
    SIMPLER_TESTPOINT(RECOVER_STEP);
    int rc = simpler_args_dump_export(&e, &r->store);
    errno = e.error;
    if (rc != 0)
        return fail(r, rc, "write " ARGS_DUMP_MANIFEST);
    SIMPLER_TESTPOINT(RECOVER_STEP);
    r->out->has_manifest = true;
    r->out->records = e.entries;
    r->out->truncated = e.truncated;
    r->out->payloads_from_arena = r->salvage.from_arena;
    r->out->lost = r->salvage.lost;
    r->out->lost_unreadable = r->salvage.lost_unreadable;
    return 0;
}

static void remove_traces(const struct recovery *r)
{
    (void)unlinkat(r->directory, ARGS_DUMP_RECOVERED, 0);
    (void)unlinkat(r->directory, ARGS_DUMP_SORTED, 0);
    (void)unlinkat(r->directory, ARGS_DUMP_MANIFEST ".partial", 0);
    (void)unlinkat(r->directory, ARGS_DUMP_SPOOL, 0);
}

static int merge(struct recovery *r, uint32_t level)
{
    size_t buffers = r->session != NULL ? r->session->buffer_count : 0;

    r->written = simpler_alloc_zeroed(buffers + 1, sizeof(*r->written));
    if (r->written == NULL)
        return fail(r, SIMPLER_ENOMEM, "sort");
    simpler_args_dump_store_start(&r->store, r->directory);
    int rc = simpler_args_dump_salvage_init(&r->salvage, r->directory, r->reader);
    if (rc != 0)
        return fail(r, rc, "read " ARGS_DUMP_BIN);
    rc = walk_spool(r, note_record);
    if (rc == 0)
        rc = walk_spool(r, take_spooled);
    if (rc == 0)
        rc = take_region(r);
    return rc == 0 ? export_manifest(r, level) : rc;
}

/* ---- the directory ---- */

static bool has_records(const struct recovery *r)
{
    return r->count != 0 || (r->session != NULL && r->session->buffer_count != 0);
}

static int open_directory(struct recovery *r)
{
    const char *path = r->out->path;
    bool makes = r->session != NULL && r->session->buffer_count != 0;

    if (makes && simpler_directories_make(path) != 0)
        return fail(r, SIMPLER_EIO, path);
    r->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->directory < 0)
        return errno == ENOENT || errno == ENOTDIR ? SIMPLER_ENOENT : fail(r, SIMPLER_EIO, path);
    return flock(r->directory, LOCK_EX | LOCK_NB) == 0
               ? 0
               : fail(r, SIMPLER_EBUSY, "a process writes there");
}

static int open_spool(struct recovery *r)
{
    struct stat info;

    r->spool =
        openat(r->directory, ARGS_DUMP_SPOOL, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (r->spool < 0)
        return errno == ENOENT ? 0 : fail(r, SIMPLER_EIO, "open .spool");
    if (fstat(r->spool, &info) != 0 || !S_ISREG(info.st_mode))
        return fail(r, SIMPLER_EFORMAT, ".spool is no file");
    r->count = (uint64_t)info.st_size / RECORD_BYTES;
    r->out->torn_bytes = (uint64_t)info.st_size % RECORD_BYTES;
    return 0;
}

static int recover(struct recovery *r, uint32_t level)
{
    int rc = open_directory(r);

    if (rc == SIMPLER_ENOENT) {
        r->out->is_done = true;
        return 0;
    }
    if (rc != 0)
        return rc;
    if (faccessat(r->directory, ARGS_DUMP_MANIFEST, F_OK, 0) == 0) {
        r->out->is_done = true;
        remove_traces(r);
        return 0;
    }
    rc = open_spool(r);
    if (rc == 0 && !has_records(r)) {
        r->out->is_done = true;
        return 0;
    }
    if (rc == 0)
        rc = merge(r, level);
    if (rc == 0)
        remove_traces(r);
    else
        (void)unlinkat(r->directory, ARGS_DUMP_RECOVERED,
                       0); /* it may be what the disk has no room for */
    return rc;
}

int simpler_args_dump_recover(const char *prefix, const struct simpler_region_reader *reader,
                              const struct simpler_region_session *session, uint32_t level,
                              struct args_dump_recovered *out)
{
    struct recovery r = {.reader = reader,
                         .session = session,
                         .out = out,
                         .directory = -1,
                         .spool = -1,
                         .salvage = {.bin = -1},
                         .last_lane = UINT32_MAX,
                         .last_buffer = NONE};

    memset(out, 0, sizeof(*out));
    int n = snprintf(out->path, sizeof(out->path), "%s/args_dump", prefix);
    if (n < 0 || (size_t)n >= sizeof(out->path))
        return fail(&r, SIMPLER_EOVERFLOW, "the path is too long");
    simpler_args_dump_store_init(&r.store);
    r.store.spool_name = ARGS_DUMP_RECOVERED;
    int rc = recover(&r, level);
    simpler_args_dump_salvage_fini(&r.salvage);
    simpler_args_dump_store_fini(&r.store);
    simpler_alloc_free(r.written);
    if (r.spool >= 0)
        (void)close(r.spool);
    if (r.directory >= 0)
        (void)close(r.directory);
    return rc;
}
