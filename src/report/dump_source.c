/* SPDX-License-Identifier: Apache-2.0 */
/* The sliding window: what is unread moves to the front, the rest is read anew. */
#include "report/dump_source.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "report/regular_file.h"
#include "simpler/status.h"

/* No larger than the whole needs. */
static int open_window(struct simpler_dump_source *s, size_t capacity)
{
    if (s->total < capacity)
        capacity = (size_t)s->total + 1;
    s->window = simpler_alloc_zeroed(capacity, 1);
    s->capacity = capacity;
    return s->window == NULL ? SIMPLER_ENOMEM : 0;
}

static int open_regular(struct simpler_dump_source *s, const char *path)
{
    struct stat st;

    s->fd = simpler_regular_file_open(path);
    s->has_file = s->fd >= 0;
    if (!s->has_file)
        return errno == ENOENT ? SIMPLER_ENOENT : SIMPLER_EIO;
    if (fstat(s->fd, &st) != 0)
        return SIMPLER_EIO;
    s->total = (uint64_t)st.st_size;
    return 0;
}

int simpler_dump_source_open(struct simpler_dump_source *s, const char *path, size_t capacity)
{
    memset(s, 0, sizeof(*s));
    int rc = open_regular(s, path);
    if (rc == 0)
        rc = open_window(s, capacity);
    if (rc != 0)
        simpler_dump_source_close(s);
    return rc;
}

int simpler_dump_source_open_bytes(struct simpler_dump_source *s, const void *bytes, size_t count,
                                   size_t capacity)
{
    memset(s, 0, sizeof(*s));
    s->bytes = bytes;
    s->total = count;
    return open_window(s, capacity);
}

/* Bytes at an offset of the whole; 0 at its end, negative on failure. */
static ssize_t read_at(const struct simpler_dump_source *s, uint64_t offset, char *out, size_t n)
{
    if (!s->has_file) {
        if (offset >= s->total)
            return 0;
        size_t rest = (size_t)(s->total - offset);
        n = n < rest ? n : rest;
        memcpy(out, s->bytes + offset, n);
        return (ssize_t)n;
    }
    ssize_t got;
    do
        got = pread(s->fd, out, n, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got;
}

int simpler_dump_source_fill(struct simpler_dump_source *s)
{
    if (s->at > 0) {
        memmove(s->window, s->window + s->at, s->filled - s->at);
        s->offset += s->at;
        s->filled -= s->at;
        s->at = 0;
    }
    while (s->filled < s->capacity) {
        ssize_t got =
            read_at(s, s->offset + s->filled, s->window + s->filled, s->capacity - s->filled);
        if (got < 0)
            return SIMPLER_EIO;
        if (got == 0) {
            s->total = s->offset + s->filled; /* the file may have shrunk */
            break;
        }
        s->filled += (size_t)got;
    }
    return 0;
}

void simpler_dump_source_seek(struct simpler_dump_source *s, uint64_t offset)
{
    s->offset = offset;
    s->at = 0;
    s->filled = 0;
}

bool simpler_dump_source_is_last(const struct simpler_dump_source *s)
{
    return s->offset + s->filled >= s->total;
}

void simpler_dump_source_place(struct simpler_dump_source *s, uint64_t offset, uint64_t *line,
                               uint64_t *column)
{
    char piece[16384];
    uint64_t at = 0;

    *line = 1;
    *column = 1;
    while (at < offset) {
        uint64_t want = offset - at < sizeof(piece) ? offset - at : sizeof(piece);
        ssize_t got = read_at(s, at, piece, (size_t)want);
        if (got <= 0)
            return;
        for (ssize_t i = 0; i < got; i++) {
            bool newline = piece[i] == '\n';
            *line += newline;
            *column = newline ? 1 : *column + 1;
        }
        at += (uint64_t)got;
    }
}

void simpler_dump_source_close(struct simpler_dump_source *s)
{
    if (s->has_file)
        (void)close(s->fd);
    simpler_alloc_free(s->window);
    memset(s, 0, sizeof(*s));
}
