/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Millions of lines a second: literals are copied with their length known,
 * numbers are written two digits at a time, and what repeats (a site, the epoch
 * and number of a buffer) is formatted once.
 */
#include "collect/scope_stats/scope_stats_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/directories.h"
#include "base/logger.h"
#include "base/rename_new.h"
#include "base/testpoint.h"

#define BUFFER_BYTES (256u * 1024)
#define PAGE_BYTES   4096u
#define DIRECTORY    "/scope_stats"
#define NAME         "/scope_stats.jsonl"
#define PARTIAL      ".partial"
_Static_assert(SCOPE_STATS_PATH_BYTES + sizeof(PARTIAL) <= SCOPE_STATS_PARTIAL_BYTES, "it fits");

/* ---- metadata ---- */

static int put_list(char *to, size_t bytes, const char *key, bool known, const uint64_t *values)
{
    if (!known)
        return snprintf(to, bytes, "\"%s\": null, ", key);
    return snprintf(to, bytes, "\"%s\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "], ",
                    key, values[0], values[1], values[2], values[3]);
}

static int put_count(char *to, size_t bytes, const char *key, bool known, uint64_t value)
{
    return known ? snprintf(to, bytes, "\"%s\": %" PRIu64, key, value)
                 : snprintf(to, bytes, "\"%s\": null", key);
}

/* The line without its newline; returns its length. */
static size_t format_metadata(const struct scope_stats_metadata *m, char *text, size_t bytes)
{
    const struct scope_stats_capacities *c = &m->capacities;
    int n = snprintf(text, bytes, "{\"fatal\": %s, ",
                     !m->fatal_known ? "null"
                     : m->fatal      ? "true"
                                     : "false");
    n += put_count(text + n, bytes - (size_t)n, "dropped", m->counts_known, m->dropped);
    n += snprintf(text + n, bytes - (size_t)n, ", ");
    n += put_count(text + n, bytes - (size_t)n, "total", m->counts_known, m->total);
    n += snprintf(text + n, bytes - (size_t)n, ", ");
    n += put_list(text + n, bytes - (size_t)n, "task_window_max", c->known, c->task_window);
    n += put_list(text + n, bytes - (size_t)n, "heap_max", c->known, c->heap);
    n += put_list(text + n, bytes - (size_t)n, "dep_pool_max", c->known, c->dep_pool);
    n += put_count(text + n, bytes - (size_t)n, "tensormap_max", c->known, c->tensormap);
    if (m->verdict != NULL)
        n += snprintf(text + n, bytes - (size_t)n,
                      ", \"collection_verdict\": \"%s\", \"counts_unknown\": %s, "
                      "\"host_received_records\": %" PRIu64 ", \"host_retained_records\": %" PRIu64,
                      m->verdict, m->counts_unknown ? "true" : "false", m->host_received,
                      m->host_retained);
    if (m->recovered)
        n += snprintf(text + n, bytes - (size_t)n, ", \"recovered\": true");
    n += snprintf(text + n, bytes - (size_t)n, "}");
    return (size_t)n;
}

/* Bytes of the longest metadata with its newline. */
static size_t reserved_bytes(char *text, size_t bytes)
{
    struct scope_stats_metadata longest = {
        .fatal_known = true,
        .counts_known = true,
        .dropped = UINT64_MAX,
        .total = UINT64_MAX,
        .capacities = {.known = true, .tensormap = UINT64_MAX},
        .verdict = "partial_cut_unknown",
        .host_received = UINT64_MAX,
        .host_retained = UINT64_MAX,
    };
    memset(longest.capacities.task_window, 0xff, sizeof(longest.capacities.task_window));
    memset(longest.capacities.heap, 0xff, sizeof(longest.capacities.heap));
    memset(longest.capacities.dep_pool, 0xff, sizeof(longest.capacities.dep_pool));
    return format_metadata(&longest, text, bytes) + 1;
}

/* ---- bytes ---- */

static int fail(struct scope_stats_file *file, const char *what)
{
    SIMPLER_ERROR("scope stats: %s: %s failed: %s (errno %d)", file->path, what, strerror(errno),
                  errno);
    file->status = SIMPLER_EIO;
    return SIMPLER_EIO;
}

/* Writes all of it; else how much reached the file, errno says why not the rest. */
static size_t write_all(int fd, const char *from, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        if (SIMPLER_FAILPOINT(SCOPE_FILE_WRITE)) {
            errno = EIO;
            break;
        }
        ssize_t n = write(fd, from + done, bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

static uint64_t count_lines(const char *text, size_t bytes)
{
    uint64_t lines = 0;
    const char *end = text + bytes;

    while ((text = memchr(text, '\n', (size_t)(end - text))) != NULL) {
        lines++;
        text++;
    }
    return lines;
}

/* Bytes of the buffer up to its last newline within @bytes. */
static size_t whole_lines(const struct scope_stats_file *file, size_t bytes)
{
    const char *last = memrchr(file->buffer, '\n', bytes);
    return last == NULL ? 0 : (size_t)(last - file->buffer) + 1;
}

/* The first @bytes of the buffer, which end @lines lines, are in the file. */
static void note_written(struct scope_stats_file *file, size_t bytes, uint64_t lines)
{
    size_t whole = whole_lines(file, bytes);

    if (whole != 0)
        file->whole_bytes = file->bytes + whole;
    file->bytes += bytes;
    file->lines += lines;
    file->lines_buffered -= lines;
}

/* A write failed after @done bytes of the buffer: the file keeps whole lines. */
static void cut_torn_line(struct scope_stats_file *file, size_t done)
{
    (void)fail(file, "write");
    note_written(file, done, count_lines(file->buffer, done));
    file->lines_refused += file->lines_buffered;
    file->lines_buffered = 0;
    file->filled = 0;
    file->bytes = file->whole_bytes;
    if (ftruncate(file->fd, (off_t)file->bytes) != 0)
        (void)fail(file, "truncate");
}

/* Writes @bytes of the buffer and keeps the rest. */
static void write_buffer(struct scope_stats_file *file, size_t bytes)
{
    size_t rest = file->filled - bytes;
    size_t done = write_all(file->fd, file->buffer, bytes);

    if (done != bytes) {
        cut_torn_line(file, done);
        return;
    }
    /* The rest is short: its lines are counted, not those that were written. */
    note_written(file, bytes, file->lines_buffered - count_lines(file->buffer + bytes, rest));
    memmove(file->buffer, file->buffer + bytes, rest);
    file->filled = rest;
}

void simpler_scope_stats_file_flush(struct scope_stats_file *file)
{
    if (file->filled != 0)
        write_buffer(file, file->filled);
}

void simpler_scope_stats_file_append(struct scope_stats_file *file,
                                     const struct scope_stats_record *records, uint32_t count,
                                     uint32_t run_epoch, uint32_t buffer_seq)
{
    simpler_scope_stats_line_buffer(&file->format, run_epoch, buffer_seq);
    for (uint32_t i = 0; i < count; i++) {
        /* Whole pages: a write that ends inside one costs a third more. */
        if (SIMPLER_UNLIKELY(BUFFER_BYTES - file->filled < SCOPE_STATS_LINE_MAX))
            write_buffer(file, file->filled - (file->bytes + file->filled) % PAGE_BYTES);
        if (SIMPLER_UNLIKELY(file->status != 0)) {
            file->lines_refused += count - i;
            return;
        }
        file->filled +=
            simpler_scope_stats_line(file->buffer + file->filled, &records[i], &file->format);
        file->lines_buffered++;
    }
}

/* ---- open and close ---- */

void simpler_scope_stats_file_partial_path(const struct scope_stats_file *file,
                                           char path[SCOPE_STATS_PARTIAL_BYTES])
{
    (void)snprintf(path, SCOPE_STATS_PARTIAL_BYTES, "%s" PARTIAL, file->path);
}

/* Creates file->path's directory and those above it. */
static int make_directories(struct scope_stats_file *file)
{
    char path[SCOPE_STATS_PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s", file->path);
    *strrchr(path, '/') = '\0';
    if (simpler_directories_make(path) == 0)
        return 0;
    return fail(file, "making its directory");
}

int simpler_scope_stats_file_reserve(struct scope_stats_file *file)
{
    char line[SCOPE_STATS_LINE_MAX];
    size_t bytes = reserved_bytes(line, sizeof(line));

    memset(line, ' ', bytes);
    line[bytes - 1] = '\n';
    file->bytes = file->whole_bytes = file->reserved = bytes;
    return write_all(file->fd, line, bytes) == bytes ? 0 : fail(file, "write");
}

int simpler_scope_stats_file_init(struct scope_stats_file *file)
{
    memset(file, 0, sizeof(*file));
    file->fd = -1;
    file->buffer = simpler_alloc_zeroed(BUFFER_BYTES, 1);
    return file->buffer == NULL ? SIMPLER_ENOMEM : 0;
}

void simpler_scope_stats_file_fini(struct scope_stats_file *file)
{
    if (file->buffer == NULL)
        return;
    if (file->fd >= 0)
        (void)close(file->fd);
    simpler_alloc_free(file->buffer);
    memset(file, 0, sizeof(*file));
    file->fd = -1;
}

/* Whether the path still names the open file. */
static bool is_at(const char *path, int fd)
{
    struct stat named, opened;
    return stat(path, &named) == 0 && fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/* An empty file for this run alone: EBUSY while another run writes there.  Nobody is waited
 * for: what a user may have put there is a FIFO, too. */
static int create(const char *path)
{
    for (;;) {
        int fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
        if (fd < 0)
            return -1;
        int rc = flock(fd, LOCK_EX | LOCK_NB);
        if (rc == 0 && is_at(path, fd) && ftruncate(fd, 0) == 0)
            return fd;
        int error = rc != 0 ? EBUSY : errno;
        bool moved = rc == 0 && !is_at(path, fd);
        (void)close(fd);
        errno = error;
        if (!moved)
            return -1;
    }
}

bool simpler_scope_stats_file_path(const char *prefix, char path[SCOPE_STATS_PATH_BYTES])
{
    return snprintf(path, SCOPE_STATS_PATH_BYTES, "%s" DIRECTORY NAME, prefix) <
           (int)SCOPE_STATS_PATH_BYTES;
}

static int open_file(struct scope_stats_file *file, const char *prefix, bool is_new)
{
    char path[SCOPE_STATS_PARTIAL_BYTES];

    file->is_new = is_new;
    file->taken = false;
    file->status = 0;
    file->filled = 0;
    simpler_scope_stats_line_run(&file->format);
    file->lines = file->lines_buffered = file->lines_refused = 0;
    if (!simpler_scope_stats_file_path(prefix, file->path)) {
        SIMPLER_ERROR("scope stats: the path of %.64s... is too long", prefix);
        file->path[0] = '\0';
        return file->status = SIMPLER_EOVERFLOW;
    }
    simpler_scope_stats_file_partial_path(file, path);
    file->fd = create(path);
    if (file->fd < 0 && errno == ENOENT) {
        if (make_directories(file) != 0)
            return file->status;
        file->fd = create(path);
    }
    file->taken = file->fd < 0 && errno == EBUSY;
    if (file->fd < 0)
        return fail(file, "open");
    /* Before the run, so that nothing is left that could be taken for its file; and
     * a rename onto a file waits for the disk. */
    if (!is_new)
        (void)unlink(file->path);
    return simpler_scope_stats_file_reserve(file);
}

int simpler_scope_stats_file_open(struct scope_stats_file *file, const char *prefix)
{
    return open_file(file, prefix, false);
}

int simpler_scope_stats_file_open_new(struct scope_stats_file *file, const char *prefix)
{
    return open_file(file, prefix, true);
}

/* The partial file goes. */
static void drop_partial(struct scope_stats_file *file)
{
    char path[SCOPE_STATS_PARTIAL_BYTES];

    if (file->fd < 0)
        return;
    (void)close(file->fd);
    file->fd = -1;
    simpler_scope_stats_file_partial_path(file, path);
    (void)unlink(path);
}

int simpler_scope_stats_file_describe(struct scope_stats_file *file,
                                      const struct scope_stats_metadata *metadata)
{
    char line[SCOPE_STATS_LINE_MAX];
    size_t bytes = file->reserved;
    size_t length = format_metadata(metadata, line, sizeof(line));

    if (length >= bytes) {
        errno = EOVERFLOW;
        return fail(file, "writing the metadata");
    }
    memset(line + length, ' ', bytes - length);
    line[bytes - 1] = '\n';
    if (lseek(file->fd, 0, SEEK_SET) != 0 || write_all(file->fd, line, bytes) != bytes)
        return fail(file, "writing the metadata");
    return 0;
}

static int publish(const struct scope_stats_file *file, const char *partial)
{
    SIMPLER_TESTPOINT(SCOPE_FILE_BEFORE_PUBLISH);
    return file->is_new ? simpler_rename_new(AT_FDCWD, partial, file->path)
                        : rename(partial, file->path);
}

int simpler_scope_stats_file_close(struct scope_stats_file *file,
                                   const struct scope_stats_metadata *metadata)
{
    char path[SCOPE_STATS_PARTIAL_BYTES];

    SIMPLER_ASSERT(file->filled == 0);
    if (file->fd < 0 || simpler_scope_stats_file_describe(file, metadata) != 0) {
        (void)simpler_scope_stats_file_discard(file);
        return SIMPLER_EIO;
    }
    simpler_scope_stats_file_partial_path(file, path);
    int fd = file->fd;
    file->fd = -1;
    /* A network file system reports at close what it could not write. */
    if (close(fd) == 0 && publish(file, path) == 0)
        return 0;
    int rc = file->is_new && errno == EEXIST ? SIMPLER_EEXIST : SIMPLER_EIO;
    (void)fail(file, "close or rename");
    (void)unlink(path);
    return rc;
}

int simpler_scope_stats_file_discard(struct scope_stats_file *file)
{
    drop_partial(file);
    file->filled = 0;
    if (file->is_new || file->taken || file->path[0] == '\0' || unlink(file->path) == 0 ||
        errno == ENOENT || errno == ENOTDIR)
        return 0;
    return fail(file, "removing the file of an earlier run");
}
