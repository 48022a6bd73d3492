/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/args_dump/args_dump_salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/testpoint.h"
#include "collect/args_dump/args_dump_ending.h"
#include "simpler/dtype.h"
#include "simpler/status.h"

#define BUFFER_BYTES ((size_t)1 << 20)
#define WAIT_NS      20000000
#define MAX_WAITS    50u
#define PAGE         ((uint64_t)4096) /* what a disk loses at once, or a multiple */

int simpler_args_dump_salvage_init(struct args_dump_salvage *s, int directory,
                                   const struct simpler_region_reader *reader)
{
    struct stat info = {0};

    memset(s, 0, sizeof(*s));
    s->reader = reader;
    s->directory = directory;
    s->bin = openat(directory, ARGS_DUMP_BIN, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (s->bin < 0 && errno != ENOENT)
        return SIMPLER_EIO;
    if (s->bin >= 0 && (fstat(s->bin, &info) != 0 || !S_ISREG(info.st_mode)))
        return SIMPLER_EIO;
    s->bin_bytes = s->limit = (uint64_t)info.st_size;
    for (uint32_t i = 0; reader != NULL && i < SIMPLER_REGION_PARTS; i++) {
        const struct simpler_region_part *p = &reader->header->parts[i];
        /* What waits to be written lies in an arena. */
        if (p->role == SIMPLER_REGION_ARENA && p->bytes <= reader->bytes)
            s->limit += p->bytes;
    }
    s->buffer = simpler_alloc_zeroed(BUFFER_BYTES, 1);
    return s->buffer != NULL ? 0 : SIMPLER_ENOMEM;
}

void simpler_args_dump_salvage_fini(struct args_dump_salvage *s)
{
    simpler_alloc_free(s->buffer);
    if (s->bin >= 0)
        (void)close(s->bin);
    s->buffer = NULL;
    s->bin = -1;
}

/* Whether the payload's place is one that a run can have given. */
static bool has_possible_place(const struct args_dump_salvage *s, const struct args_dump_record *r)
{
    return r->payload_size <= s->limit && r->payload_offset <= s->limit - r->payload_size;
}

void simpler_args_dump_salvage_note(struct args_dump_salvage *s, const struct args_dump_record *r)
{
    if (r->payload_size != 0 && has_possible_place(s, r) &&
        r->payload_offset + r->payload_size > s->end)
        s->end = r->payload_offset + r->payload_size;
}

/* ---- bytes ---- */

static bool fail(struct args_dump_salvage *s, int error, const char *what)
{
    s->error = error;
    s->what = what;
    return false;
}

/* What a medium answers that has lost what it held, or holds something else. */
static bool is_lost(int error)
{
    return error == EIO || error == ENODATA || error == EBADMSG || error == EUCLEAN ||
           error == EILSEQ;
}

/*
 * Before a page is read for the second time.  A second in all, however many pages are lost: by then
 * a disk that only hesitates is back.
 */
static void wait_a_little(struct args_dump_salvage *s)
{
    const struct timespec pause = {.tv_nsec = WAIT_NS};

    if (s->waits < MAX_WAITS)
        (void)nanosleep(&pause, NULL);
    s->waits += s->waits < MAX_WAITS;
}

/* Whether a test makes the read fail. */
static bool must_fail(const struct args_dump_salvage *s)
{
    if (s->again)
        return SIMPLER_FAILPOINT(DUMP_BIN_READ_AGAIN);
    return SIMPLER_FAILPOINT(DUMP_BIN_READ);
}

/* Bytes at @at of args.bin; false: it ends before, has lost them (@unreadable), or (an error)
 * cannot be read now. */
static bool get_of_bin(struct args_dump_salvage *s, uint64_t at, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = -1;
        errno = EIO;
        if (!must_fail(s))
            n = pread(s->bin, s->buffer + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        s->unreadable = n < 0 && is_lost(errno);
        if (n < 0 && !s->unreadable)
            return fail(s, errno, "read " ARGS_DUMP_BIN);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static bool get(struct args_dump_salvage *s, bool from_region, uint64_t at, size_t bytes)
{
    if (!from_region)
        return get_of_bin(s, at, bytes);
    return simpler_region_reader_read(s->reader, at, s->buffer, bytes) == 0 ||
           fail(s, errno, "read the region");
}

static bool put(struct args_dump_salvage *s, uint64_t at, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pwrite(s->bin, s->buffer + done, bytes - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(s, n == 0 ? EIO : errno, "write " ARGS_DUMP_BIN);
        done += (size_t)n;
    }
    return true;
}

static size_t smaller(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

/*
 * False with an error: nobody knows.  Where a block of args.bin is unreadable its pages are
 * tried, each twice, so that s->readable bytes of the payload are before the first that is lost.
 */
static bool is_whole(struct args_dump_salvage *s, const struct args_dump_record *r,
                     bool from_region, uint64_t at)
{
    uint64_t done = 0;
    uint32_t crc = 0;
    bool by_page = false;

    s->unreadable = s->again = false;
    while (done < r->payload_size) {
        uint64_t most = by_page ? PAGE - (at + done) % PAGE : BUFFER_BYTES;
        size_t n = smaller(r->payload_size - done, most);
        if (get(s, from_region, at + done, n)) {
            crc = simpler_crc32c(crc, s->buffer, n);
            done += n;
            s->again = false;
        } else if (s->unreadable && !by_page) {
            by_page = true;
        } else if (s->unreadable && !s->again) {
            s->again = true;
            wait_a_little(s);
        } else {
            s->readable = done;
            return false;
        }
    }
    return crc == r->crc32c;
}

static bool copy(struct args_dump_salvage *s, const struct args_dump_record *r, uint64_t from)
{
    if (s->bin < 0)
        s->bin = openat(s->directory, ARGS_DUMP_BIN,
                        O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (s->bin < 0)
        return fail(s, errno, "open " ARGS_DUMP_BIN);
    for (uint64_t done = 0; done < r->payload_size;) {
        size_t n = smaller(r->payload_size - done, BUFFER_BYTES);
        if (!get(s, true, from + done, n) || !put(s, r->payload_offset + done, n))
            return false;
        SIMPLER_TESTPOINT(RECOVER_STEP);
        done += n;
    }
    s->from_arena++;
    return true;
}

/* ---- a record ---- */

/* Where in the region the payload would be; false: in none of its arenas. */
static bool find_in_arena(const struct args_dump_salvage *s, const struct args_dump_record *r,
                          uint32_t lane, uint64_t arena_offset, uint64_t *at)
{
    const struct simpler_region_part *arena =
        s->reader != NULL
            ? simpler_region_reader_part(s->reader, SIMPLER_REGION_ARENA, ARGS_DUMP_MAGIC, lane)
            : NULL;

    if (arena == NULL)
        return false;
    uint64_t within = arena_offset % arena->bytes;
    *at = arena->offset + within;
    return r->payload_size <= arena->bytes - within;
}

/* What args.bin has of it, in whole elements. */
static void cut(struct args_dump_salvage *s, struct args_dump_record *r, bool has_place,
                bool unreadable)
{
    uint64_t there = 0;
    uint32_t shift = simpler_dtype_shift(r->dtype);

    if (unreadable)
        there = s->readable;
    else if (has_place && r->payload_offset < s->bin_bytes)
        there = s->bin_bytes - r->payload_offset;
    /* All of it is there, but it is something else. */
    if (there >= r->payload_size)
        there = 0;
    r->payload_size = there >> shift << shift;
    r->truncated = 1;
    s->lost++;
    s->lost_unreadable += unreadable;
}

bool simpler_args_dump_salvage_take(struct args_dump_salvage *s, struct args_dump_record *r,
                                    bool has_place, bool has_arena, uint32_t lane,
                                    uint64_t arena_offset)
{
    uint64_t at;

    if (r->payload_size == 0)
        return true;
    if (has_place && !has_possible_place(s, r)) {
        has_place = false;
        r->payload_offset = UINT64_MAX;
    }
    if (has_place && s->bin >= 0 && is_whole(s, r, false, r->payload_offset))
        return true;
    bool unreadable = has_place && s->bin >= 0 && s->unreadable;
    bool found = s->error == 0 && has_arena && find_in_arena(s, r, lane, arena_offset, &at) &&
                 is_whole(s, r, true, at);
    if (s->error != 0)
        return false;
    if (!found) {
        cut(s, r, has_place, unreadable);
        return true;
    }
    /* A place that is full of something else is not written over: that may be whole.  Nor is a
     * page that cannot be read, which a write of a part of it would read. */
    if (unreadable)
        s->end = (s->end + PAGE - 1) / PAGE * PAGE;
    if (!has_place || unreadable || r->payload_offset + r->payload_size <= s->bin_bytes) {
        r->payload_offset = s->end;
        s->end += r->payload_size;
    }
    return copy(s, r, at);
}
