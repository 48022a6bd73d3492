/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every buffer of the pools is looked at, wherever it was on its way: one that the host
 * had taken and not given back has its records still, and one that waits to be used
 * again is recognised by its number.
 */
#include "prof/region_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/testpoint.h"
#include "simpler/status.h"

#define MAX_SESSION_BYTES ((uint64_t)64 << 20)
#define MAX_BUFFERS       ((uint64_t)1 << 22)
#define MAX_LANES         4096u

/* ---- the file ---- */

/* errno is for who says why. */
static int fail(int error)
{
    errno = error;
    return SIMPLER_EIO;
}

int simpler_region_reader_read(const struct simpler_region_reader *reader, uint64_t at, void *to,
                               size_t bytes)
{
    uint8_t *p = to;

    if (at > reader->bytes || bytes > reader->bytes - at || SIMPLER_FAILPOINT(REGION_READ))
        return fail(EIO);
    while (bytes != 0) {
        ssize_t n = pread(reader->fd, p, bytes, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(n < 0 ? errno : EIO);
        p += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}

static int open_checked(struct simpler_region_reader *r)
{
    struct stat info;

    if (fstat(r->fd, &info) != 0)
        return SIMPLER_EIO;
    if (!S_ISREG(info.st_mode) || info.st_size < (off_t)sizeof(*r->header))
        return SIMPLER_EFORMAT;
    r->bytes = (uint64_t)info.st_size;
    r->header = simpler_alloc_zeroed(1, sizeof(*r->header));
    if (r->header == NULL)
        return SIMPLER_ENOMEM;
    int rc = simpler_region_reader_read(r, 0, r->header, sizeof(*r->header));
    if (rc == 0 &&
        (r->header->magic != SIMPLER_REGION_MAGIC || r->header->version != SIMPLER_REGION_VERSION))
        rc = SIMPLER_EFORMAT;
    r->header->prefix[SIMPLER_REGION_PREFIX - 1] = '\0';
    return rc;
}

int simpler_region_reader_open(int fd, struct simpler_region_reader **out)
{
    struct simpler_region_reader *r = simpler_alloc_zeroed(1, sizeof(*r));

    if (r == NULL) {
        (void)close(fd);
        return SIMPLER_ENOMEM;
    }
    r->fd = fd;
    int rc = open_checked(r);
    if (rc != 0)
        simpler_region_reader_close(r);
    else
        *out = r;
    return rc;
}

void simpler_region_reader_close(struct simpler_region_reader *reader)
{
    if (reader == NULL)
        return;
    (void)close(reader->fd);
    simpler_alloc_free(reader->header);
    simpler_alloc_free(reader);
}

static bool is_in_file(const struct simpler_region_reader *r, const struct simpler_region_part *p)
{
    return p->bytes != 0 && p->offset >= SIMPLER_REGION_HEADER_BYTES && p->offset <= r->bytes &&
           p->bytes <= r->bytes - p->offset;
}

const struct simpler_region_part *
simpler_region_reader_part(const struct simpler_region_reader *reader, uint32_t role,
                           uint32_t client, uint32_t index)
{
    for (uint32_t i = 0; i < SIMPLER_REGION_PARTS; i++) {
        const struct simpler_region_part *p = &reader->header->parts[i];
        if (p->role == role && p->client == client && p->index == index)
            return is_in_file(reader, p) ? p : NULL;
    }
    return NULL;
}

/* ---- a session ---- */

/* Whether @count things of @each bytes lie at @offset. */
static bool fits(const struct simpler_region_session *s, uint64_t offset, uint64_t count,
                 uint64_t each)
{
    return offset % SIMPLER_CACHE_LINE == 0 && offset <= s->size &&
           count <= (s->size - offset) / each;
}

static bool is_sane(const struct simpler_region_session *s, uint32_t magic, uint32_t record_bytes)
{
    const struct simpler_prof_header *h = &s->header;

    return h->magic == magic && h->lane_count != 0 && h->lane_count <= MAX_LANES &&
           h->kind_count == 1 && h->kind[0].record_bytes == record_bytes &&
           h->kind[0].records_per_buffer != 0 &&
           fits(s, h->states_offset, h->lane_count, sizeof(struct simpler_prof_state)) &&
           h->client_offset % SIMPLER_CACHE_LINE == 0 && h->client_offset <= s->size;
}

static int load(const struct simpler_region_reader *reader, uint32_t magic,
                struct simpler_region_session *s)
{
    const struct simpler_region_part *part =
        simpler_region_reader_part(reader, SIMPLER_REGION_SESSION, magic, 0);

    if (part == NULL)
        return SIMPLER_ENOENT;
    if (part->bytes < sizeof(s->header) || part->bytes > MAX_SESSION_BYTES)
        return SIMPLER_EFORMAT;
    s->size = (size_t)part->bytes;
    s->bytes = simpler_alloc_aligned(1, s->size);
    if (s->bytes == NULL)
        return SIMPLER_ENOMEM;
    int rc = simpler_region_reader_read(reader, part->offset, s->bytes, s->size);
    memcpy(&s->header, s->bytes, sizeof(s->header));
    return rc;
}

static const struct simpler_prof_state *state_of(const struct simpler_region_session *s,
                                                 uint32_t lane)
{
    return (const struct simpler_prof_state *)(const void *)(s->bytes + s->header.states_offset) +
           lane;
}

/* ---- buffers ---- */

/* The buffer at @at, if it has records of the run; its lane's producer is beyond its number. */
static bool look_at(const struct simpler_region_session *s,
                    const struct simpler_prof_buffer *buffer, uint32_t run_epoch, uint64_t at,
                    struct simpler_region_buffer *out)
{
    uint32_t count = atomic_load_explicit(&buffer->count, memory_order_relaxed);

    if (count == 0 || count > s->header.kind[0].records_per_buffer ||
        buffer->run_epoch != run_epoch || buffer->lane >= s->header.lane_count)
        return false;
    uint32_t current =
        atomic_load_explicit(&state_of(s, buffer->lane)->current_seq, memory_order_relaxed);
    *out = (struct simpler_region_buffer){.lane = buffer->lane,
                                          .seq = buffer->local_seq,
                                          .age = current - buffer->local_seq,
                                          .count = count,
                                          .at = at + sizeof(*buffer)};
    return out->age <= INT32_MAX;
}

/* Buffers of a pool; 0: it makes no sense. */
static uint64_t count_of(const struct simpler_region_session *s,
                         const struct simpler_region_part *p)
{
    uint64_t needed =
        sizeof(struct simpler_prof_buffer) +
        (uint64_t)s->header.kind[0].record_bytes * s->header.kind[0].records_per_buffer;

    return p->stride >= needed && p->stride % 8 == 0 ? p->bytes / p->stride : 0;
}

static int add_pool(const struct simpler_region_reader *reader, const struct simpler_region_part *p,
                    uint32_t run_epoch, struct simpler_region_session *s)
{
    uint64_t count = count_of(s, p);
    struct simpler_prof_buffer buffer;
    int rc = 0;

    if (count == 0 || count + s->buffer_count > MAX_BUFFERS)
        return SIMPLER_EFORMAT;
    void *larger =
        simpler_alloc_resize(s->buffers, (size_t)(s->buffer_count + count), sizeof(*s->buffers));
    if (larger == NULL)
        return SIMPLER_ENOMEM;
    s->buffers = larger;
    for (uint64_t i = 0; rc == 0 && i < count; i++) {
        uint64_t at = p->offset + i * p->stride;
        rc = simpler_region_reader_read(reader, at, &buffer, sizeof(buffer));
        if (rc == 0 && look_at(s, &buffer, run_epoch, at, &s->buffers[s->buffer_count]))
            s->buffer_count++;
    }
    return rc;
}

static int by_lane_and_age(const void *a, const void *b)
{
    const struct simpler_region_buffer *x = a, *y = b;

    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->age != y->age)
        return x->age > y->age ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void drop_doubles(struct simpler_region_session *s)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->buffer_count; i++) {
        const struct simpler_region_buffer *last = kept != 0 ? &s->buffers[kept - 1] : NULL;
        if (last == NULL || last->lane != s->buffers[i].lane || last->age != s->buffers[i].age)
            s->buffers[kept++] = s->buffers[i];
    }
    s->buffer_count = kept;
}

static int find_buffers(const struct simpler_region_reader *reader, uint32_t magic,
                        uint32_t run_epoch, struct simpler_region_session *s)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < SIMPLER_REGION_PARTS; i++) {
        const struct simpler_region_part *p = &reader->header->parts[i];
        if (p->role == SIMPLER_REGION_POOL && p->client == magic && is_in_file(reader, p))
            rc = add_pool(reader, p, run_epoch, s);
    }
    if (rc != 0 || s->buffer_count == 0)
        return rc;
    qsort(s->buffers, s->buffer_count, sizeof(*s->buffers), by_lane_and_age);
    drop_doubles(s);
    return 0;
}

int simpler_region_reader_session(const struct simpler_region_reader *reader, uint32_t magic,
                                  uint32_t record_bytes, uint32_t run_epoch,
                                  struct simpler_region_session *out)
{
    memset(out, 0, sizeof(*out));
    int rc = load(reader, magic, out);
    if (rc == 0 && !is_sane(out, magic, record_bytes))
        rc = SIMPLER_EFORMAT;
    if (rc == 0)
        rc = find_buffers(reader, magic, run_epoch, out);
    if (rc != 0) {
        simpler_region_session_fini(out);
        return rc;
    }
    out->begun = run_epoch != 0 && atomic_load_explicit(&out->header.accounting_epoch,
                                                        memory_order_relaxed) == run_epoch;
    return 0;
}

void simpler_region_session_fini(struct simpler_region_session *session)
{
    simpler_alloc_free(session->bytes);
    simpler_alloc_free(session->buffers);
    memset(session, 0, sizeof(*session));
}

const void *simpler_region_session_block(const struct simpler_region_session *session, size_t bytes)
{
    const struct simpler_prof_header *h = &session->header;

    return session->bytes != NULL && bytes <= session->size - h->client_offset
               ? session->bytes + h->client_offset
               : NULL;
}

/* Adds a counter; false when it is saturated. */
static bool add(uint64_t *sum, const _Atomic uint32_t *counter)
{
    uint32_t value = atomic_load_explicit(counter, memory_order_relaxed);

    *sum += value;
    return value != UINT32_MAX;
}

struct simpler_region_counts
simpler_region_session_counts(const struct simpler_region_session *session)
{
    struct simpler_region_counts counts = {.known = session->begun};

    for (uint32_t lane = 0; session->bytes != NULL && lane < session->header.lane_count; lane++) {
        const struct simpler_prof_state *state = state_of(session, lane);
        counts.known &= add(&counts.attempted, &state->total);
        counts.known &= add(&counts.dropped, &state->dropped_no_free);
        counts.known &= add(&counts.dropped, &state->dropped_ready_full);
        counts.known &= add(&counts.dropped, &state->dropped_other);
    }
    return counts;
}
