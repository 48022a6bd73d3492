/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One lane, buffers in order, each in the file before the device has it again: so the
 * file holds the beginning of what was sampled, and the buffers of the region what
 * follows.  The last buffer of the file may be there in part.
 */
#include "collect/scope_stats/scope_stats_recover.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "base/text.h"
#include "collect/scope_stats/scope_stats_scan.h"
#include "simpler/status.h"

struct recovery {
    const struct simpler_region_reader *reader;
    const struct simpler_region_session *session;
    uint32_t run_epoch;
    struct scope_stats_file file;
    struct scope_stats_scan scan;
    struct scope_stats_recovered *out;
};

static int fail(struct recovery *r, int rc, const char *what)
{
    (void)snprintf(r->out->why, sizeof(r->out->why), "%.60s: %.80s", what,
                   rc == SIMPLER_EIO ? strerror(errno) : simpler_status_text(rc));
    return rc;
}

/* ---- the partial file ---- */

static int open_partial(struct recovery *r)
{
    char path[SCOPE_STATS_PARTIAL_BYTES];
    struct stat info;

    simpler_scope_stats_file_partial_path(&r->file, path);
    r->file.fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (r->file.fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? SIMPLER_ENOENT : fail(r, SIMPLER_EIO, "open");
    if (flock(r->file.fd, LOCK_EX | LOCK_NB) != 0)
        return fail(r, SIMPLER_EBUSY, "a process writes it");
    if (fstat(r->file.fd, &info) != 0 || !S_ISREG(info.st_mode))
        return fail(r, SIMPLER_EFORMAT, "it is no file");
    int rc = simpler_scope_stats_scan(r->file.fd, &r->scan);
    if (rc == SIMPLER_EFORMAT)
        (void)snprintf(r->out->why, sizeof(r->out->why),
                       "line %" PRIu64 " of .partial is none that a run writes", r->scan.bad_line);
    else if (rc != 0)
        return fail(r, rc, "read");
    return rc;
}

/* What is torn goes; the next line is written behind what is whole. */
static int resume(struct recovery *r)
{
    struct scope_stats_file *file = &r->file;
    const struct scope_stats_scan *scan = &r->scan;

    if (ftruncate(file->fd, (off_t)scan->whole_bytes) != 0 ||
        lseek(file->fd, (off_t)scan->whole_bytes, SEEK_SET) < 0)
        return fail(r, SIMPLER_EIO, "truncate");
    r->out->torn_bytes = scan->torn_bytes;
    if (scan->first_bytes == 0)
        return simpler_scope_stats_file_reserve(file) == 0 ? 0 : fail(r, SIMPLER_EIO, "write");
    file->bytes = file->whole_bytes = scan->whole_bytes;
    file->reserved = scan->first_bytes;
    file->lines = scan->lines;
    memcpy(file->format.pool_head, scan->pool_head, sizeof(scan->pool_head));
    return 0;
}

/* ---- the region ---- */

/* How many of the buffer's samples the file has. */
static uint32_t count_written(const struct recovery *r, const struct simpler_region_buffer *b)
{
    uint32_t behind = b->seq - r->scan.buffer_seq;

    if (r->scan.lines == 0)
        return 0;
    if (behind == 0)
        return r->scan.of_buffer < b->count ? r->scan.of_buffer : b->count;
    return behind <= INT32_MAX ? 0 : b->count;
}

/*
 * Samples up to the first that no producer makes.  What is behind it is not believed either: a
 * recovery that is cut and done again counts lines, and stops at the same one.
 */
static uint32_t count_sane(const struct scope_stats_record *records, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (records[i].ring < 0 || records[i].ring >= SCOPE_STATS_MAX_RING_DEPTH ||
            records[i].depth < 0 || records[i].phase < 0 || records[i].phase > 1)
            return i;
    }
    return count;
}

static int append_buffer(struct recovery *r, const struct simpler_region_buffer *b,
                         struct scope_stats_record *records)
{
    uint32_t first = count_written(r, b), count = b->count - first;

    if (count == 0)
        return 0;
    int rc = simpler_region_reader_read(r->reader, b->at + first * sizeof(*records), records,
                                        count * sizeof(*records));
    if (rc != 0)
        return fail(r, rc, "read the region");
    uint32_t sane = count_sane(records, count);
    if (sane != count)
        SIMPLER_WARN("scope stats: %" PRIu32 " sample%s of buffer %" PRIu32 " %s no sense",
                     count - sane, simpler_text_plural(count - sane), b->seq,
                     simpler_text_by_count(count - sane, "makes", "make"));
    count = sane;
    simpler_scope_stats_file_append(&r->file, records, count, r->run_epoch, b->seq);
    simpler_scope_stats_file_flush(&r->file);
    SIMPLER_TESTPOINT(RECOVER_STEP);
    if (r->file.status != 0)
        return fail(r, SIMPLER_EIO, "write");
    r->out->from_region += count;
    return 0;
}

static int append_region(struct recovery *r)
{
    const struct simpler_region_session *s = r->session;
    int rc = 0;

    if (s == NULL || s->buffer_count == 0)
        return 0;
    struct scope_stats_record *records =
        simpler_alloc_zeroed(s->header.kind[0].records_per_buffer, sizeof(*records));
    if (records == NULL)
        return fail(r, SIMPLER_ENOMEM, "read the region");
    for (size_t i = 0; rc == 0 && i < s->buffer_count; i++)
        rc = append_buffer(r, &s->buffers[i], records);
    simpler_alloc_free(records);
    return rc;
}

/* What the device ran with, if that is in the region. */
static struct scope_stats_capacities capacities_of(const struct recovery *r)
{
    const struct scope_stats_block *block =
        r->session != NULL && r->session->begun
            ? simpler_region_session_block(r->session, sizeof(*block))
            : NULL;
    struct scope_stats_capacities c = {0};

    if (block == NULL)
        return c;
    c.tensormap = (uint32_t)block->tensormap_cap;
    c.known = c.tensormap != 0;
    for (int ring = 0; ring < SCOPE_STATS_MAX_RING_DEPTH; ring++) {
        c.task_window[ring] = (uint32_t)block->window_cap[ring];
        c.heap[ring] = block->heap_cap[ring];
        c.dep_pool[ring] = (uint32_t)block->dep_pool_cap[ring];
        c.known = c.known && c.task_window[ring] != 0 && c.heap[ring] != 0 && c.dep_pool[ring] != 0;
    }
    return c;
}

/* ---- both ---- */

static int publish(struct recovery *r)
{
    struct scope_stats_metadata metadata = {
        .capacities = capacities_of(r),
        .verdict = "partial_cut_unknown",
        .counts_unknown = true,
        .host_received = r->file.lines,
        .host_retained = r->file.lines,
        .recovered = true,
    };
    char path[SCOPE_STATS_PARTIAL_BYTES];

    r->out->records = r->file.lines;
    if (r->file.lines == 0) {
        r->file.is_new = true; /* what else is there is not ours */
        if (r->out->has_partial)
            (void)snprintf(r->out->why, sizeof(r->out->why), "%s; removed",
                           r->session != NULL
                               ? "no sample in it, nor in the memory of the process"
                               : "no sample had reached the disk, and there is no memory of the "
                                 "process (--crash-safe keeps it)");
        return simpler_scope_stats_file_discard(&r->file);
    }
    r->out->was_whole = r->scan.has_metadata && r->out->from_region == 0 && r->scan.torn_bytes == 0;
    if (!r->out->was_whole && simpler_scope_stats_file_describe(&r->file, &metadata) != 0)
        return fail(r, SIMPLER_EIO, "write");
    SIMPLER_TESTPOINT(RECOVER_STEP);
    simpler_scope_stats_file_partial_path(&r->file, path);
    if (rename(path, r->out->path) != 0)
        return fail(r, SIMPLER_EIO, "rename");
    r->out->has_file = true;
    return 0;
}

static int recover(struct recovery *r)
{
    bool has_samples = r->session != NULL && r->session->buffer_count != 0;
    int rc = open_partial(r);

    r->out->has_partial = rc != SIMPLER_ENOENT;
    if (rc == SIMPLER_ENOENT) {
        r->out->is_done = access(r->out->path, F_OK) == 0 || !has_samples;
        if (r->out->is_done)
            return 0;
        /* The run could not make it; now there may be room. */
        simpler_scope_stats_file_fini(&r->file);
        rc = simpler_scope_stats_file_init(&r->file);
        return rc != 0 ? rc : SIMPLER_ENOENT;
    }
    return rc == 0 ? resume(r) : rc;
}

int simpler_scope_stats_recover(const char *prefix, const struct simpler_region_reader *reader,
                                const struct simpler_region_session *session, uint32_t run_epoch,
                                struct scope_stats_recovered *out)
{
    struct recovery r = {.reader = reader, .session = session, .run_epoch = run_epoch, .out = out};

    memset(out, 0, sizeof(*out));
    int rc = simpler_scope_stats_file_init(&r.file);
    if (rc == 0 && !simpler_scope_stats_file_path(prefix, r.file.path))
        rc = fail(&r, SIMPLER_EOVERFLOW, "the path is too long");
    memcpy(out->path, r.file.path, sizeof(out->path));
    if (rc == 0)
        rc = recover(&r);
    if (rc == SIMPLER_ENOENT)
        rc = simpler_scope_stats_file_open(&r.file, prefix);
    /* The file is of another run than the memory is. */
    if (r.scan.lines != 0 && r.scan.run_epoch != run_epoch)
        r.session = NULL;
    if (rc == 0 && !out->is_done)
        rc = append_region(&r);
    if (rc == 0 && !out->is_done)
        rc = publish(&r);
    simpler_scope_stats_file_fini(&r.file);
    return rc;
}
