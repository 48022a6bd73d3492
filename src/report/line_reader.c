/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One buffer with the unread bytes in [at, filled).  A line that does not fit
 * is handed out cut and the rest of it skipped; NULs at the start of a line
 * are dropped as they are read, so that a hole of any size costs no memory.
 */
#include "report/line_reader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "report/regular_file.h"
#include "simpler/status.h"

#define BUFFER_BYTES (4 * SIMPLER_LINE_MAX_BYTES)

struct simpler_line_reader {
    int fd; /* -1: the bytes are in memory */
    const char *memory;
    size_t memory_left;
    size_t at, filled;
    uint64_t offset; /* of buffer[at] in the file */
    uint64_t lines;
    simpler_line_watch_fn watch; /* NULL: nobody does */
    void *watch_user;
    bool ended;
    bool skipping; /* inside the rest of a line that was too long */
    char buffer[BUFFER_BYTES];
};

static int create(struct simpler_line_reader **out)
{
    struct simpler_line_reader *r = simpler_alloc_zeroed(1, sizeof(*r));
    if (r == NULL)
        return SIMPLER_ENOMEM;
    r->fd = -1;
    *out = r;
    return 0;
}

int simpler_line_reader_open(const char *path, struct simpler_line_reader **out)
{
    struct simpler_line_reader *r;
    int fd = simpler_regular_file_open(path);
    if (fd < 0)
        return errno == ENOENT ? SIMPLER_ENOENT : SIMPLER_EIO;
    int rc = create(&r);
    if (rc != 0) {
        (void)close(fd);
        return rc;
    }
    r->fd = fd;
    *out = r;
    return 0;
}

int simpler_line_reader_open_bytes(const char *bytes, size_t count,
                                   struct simpler_line_reader **out)
{
    int rc = create(out);
    if (rc != 0)
        return rc;
    (*out)->memory = bytes;
    (*out)->memory_left = count;
    return 0;
}

void simpler_line_reader_close(struct simpler_line_reader *r)
{
    if (r == NULL)
        return;
    if (r->fd >= 0)
        (void)close(r->fd);
    simpler_alloc_free(r);
}

void simpler_line_reader_watch(struct simpler_line_reader *r, simpler_line_watch_fn fn, void *user)
{
    r->watch = fn;
    r->watch_user = user;
}

uint64_t simpler_line_reader_offset(const struct simpler_line_reader *r)
{
    return r->offset;
}

static ssize_t read_some(struct simpler_line_reader *r, char *to, size_t room)
{
    if (r->fd >= 0) {
        ssize_t n;
        do
            n = read(r->fd, to, room);
        while (n < 0 && errno == EINTR);
        return n;
    }
    size_t n = r->memory_left < room ? r->memory_left : room;
    if (n > 0)
        memcpy(to, r->memory, n);
    r->memory += n;
    r->memory_left -= n;
    return (ssize_t)n;
}

/* More bytes behind those that are there; sets ended at the end of the file. */
static int refill(struct simpler_line_reader *r)
{
    memmove(r->buffer, r->buffer + r->at, r->filled - r->at);
    r->filled -= r->at;
    r->at = 0;
    ssize_t n = read_some(r, r->buffer + r->filled, BUFFER_BYTES - r->filled);
    if (n < 0)
        return SIMPLER_EIO;
    r->ended = n == 0;
    r->filled += (size_t)n;
    if (r->watch != NULL)
        r->watch(r->watch_user, r->offset + r->filled);
    return 0;
}

static void consume(struct simpler_line_reader *r, size_t bytes)
{
    r->at += bytes;
    r->offset += bytes;
}

/* Drops the rest of a line that was handed out cut. */
static int finish_skipping(struct simpler_line_reader *r)
{
    while (r->skipping) {
        char *newline = memchr(r->buffer + r->at, '\n', r->filled - r->at);
        if (newline != NULL) {
            consume(r, (size_t)(newline + 1 - (r->buffer + r->at)));
            r->skipping = false;
        } else {
            consume(r, r->filled - r->at);
            if (r->ended)
                return 0;
            int rc = refill(r);
            if (rc != 0)
                return rc;
        }
    }
    return 0;
}

static int drop_hole(struct simpler_line_reader *r, uint64_t *hole)
{
    for (;;) {
        size_t n = 0;
        while (r->at + n < r->filled && r->buffer[r->at + n] == 0)
            n++;
        *hole += n;
        consume(r, n);
        if (r->at < r->filled || r->ended)
            return 0;
        int rc = refill(r);
        if (rc != 0)
            return rc;
    }
}

static void hand_out(struct simpler_line_reader *r, size_t bytes, bool newline,
                     struct simpler_line *out)
{
    out->text = r->buffer + r->at;
    out->too_long = bytes > SIMPLER_LINE_MAX_BYTES;
    out->bytes = out->too_long ? SIMPLER_LINE_MAX_BYTES : bytes;
    out->torn = !newline && !out->too_long;
    if (out->bytes > 0 && newline && !out->too_long && out->text[out->bytes - 1] == '\r')
        out->bytes--;
    r->skipping = !newline && out->too_long;
    consume(r, bytes + (newline ? 1 : 0));
}

int simpler_line_reader_next(struct simpler_line_reader *r, struct simpler_line *out)
{
    int rc = finish_skipping(r);
    if (rc != 0)
        return rc;
    *out = (struct simpler_line){.number = r->lines + 1, .offset = r->offset};
    rc = drop_hole(r, &out->hole_bytes);
    if (rc != 0)
        return rc;
    for (;;) {
        size_t here = r->filled - r->at;
        char *newline = memchr(r->buffer + r->at, '\n', here);
        if (newline != NULL || here > SIMPLER_LINE_MAX_BYTES || r->ended) {
            if (newline == NULL && here == 0 && out->hole_bytes == 0)
                return 0;
            size_t bytes = newline != NULL ? (size_t)(newline - (r->buffer + r->at)) : here;
            r->lines++;
            hand_out(r, bytes, newline != NULL, out);
            return 1;
        }
        rc = refill(r);
        if (rc != 0)
            return rc;
    }
}
