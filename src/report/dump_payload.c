/* SPDX-License-Identifier: Apache-2.0 */
/* pread of pieces; copies stay in the kernel, holes are skipped. */
#include "report/dump_payload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "report/regular_file.h"

static int open_file(struct simpler_dump_payload *p, const char *directory, const char *name)
{
    char path[4096];
    struct stat st;

    (void)snprintf(p->info.name, sizeof(p->info.name), "%s", name);
    if (name[0] == '\0')
        return 0;
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
        return SIMPLER_EIO;
    p->fd = simpler_regular_file_open(path);
    if (p->fd < 0)
        return errno == ENOENT ? 0 : SIMPLER_EIO;
    p->is_open = true;
    if (fstat(p->fd, &st) != 0)
        return SIMPLER_EIO;
    p->info.is_there = true;
    p->info.bytes = (uint64_t)st.st_size;
    return 0;
}

int simpler_dump_payload_open(struct simpler_dump_payload *p, const char *directory,
                              const char *name)
{
    memset(p, 0, sizeof(*p));
    p->piece = simpler_alloc_zeroed(SIMPLER_DUMP_PIECE_BYTES, 1);
    int rc = p->piece == NULL ? SIMPLER_ENOMEM : open_file(p, directory, name);
    if (rc != 0)
        simpler_dump_payload_close(p);
    return rc;
}

void simpler_dump_payload_close(struct simpler_dump_payload *p)
{
    if (p->is_open)
        (void)close(p->fd);
    simpler_alloc_free(p->piece);
    memset(p, 0, sizeof(*p));
}

int simpler_dump_payload_read(struct simpler_dump_payload *p, uint64_t offset, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(p->fd, p->piece + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return SIMPLER_EIO;
        done += (size_t)got;
    }
    return 0;
}

/* Bytes from @offset on that are a hole, at most n and whole elements. */
static uint64_t hole_at(const struct simpler_dump_payload *p, uint64_t offset, uint64_t n,
                        size_t element)
{
    off_t data = lseek(p->fd, (off_t)offset, SEEK_DATA);
    uint64_t hole = n;

    if (data < 0 && errno != ENXIO) /* ENXIO: nothing but a hole up to the end */
        return 0;
    if (data >= 0 && (uint64_t)data - offset < n)
        hole = (uint64_t)data - offset;
    return hole - hole % element;
}

int simpler_dump_payload_stats(struct simpler_dump_payload *p, const struct simpler_dump_entry *e,
                               struct simpler_tensor_stats *s)
{
    size_t element = simpler_dtype_bytes(e->dtype);
    uint64_t offset = e->bin_offset;
    uint64_t left = e->bin_size - e->bin_size % element;

    while (left > 0) {
        uint64_t hole = hole_at(p, offset, left, element);
        simpler_tensor_stats_add_zeros(s, hole);
        offset += hole;
        left -= hole;
        size_t n = left < SIMPLER_DUMP_PIECE_BYTES ? (size_t)left : SIMPLER_DUMP_PIECE_BYTES;
        int rc = simpler_dump_payload_read(p, offset, n);
        if (rc != 0)
            return rc;
        simpler_tensor_stats_add(s, p->piece, n);
        offset += n;
        left -= n;
    }
    return 0;
}

static int write_piece(const struct simpler_dump_payload *p, size_t n, int to)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = write(to, p->piece + done, n - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return SIMPLER_EIO;
        done += (size_t)put;
    }
    return 0;
}

int simpler_dump_payload_copy(struct simpler_dump_payload *p, uint64_t offset, uint64_t n, int to)
{
    off64_t at = (off64_t)offset;
    bool in_kernel = n > SIMPLER_DUMP_PIECE_BYTES / 16;

    while (n > 0) {
        size_t want = n < ((uint64_t)1 << 30) ? (size_t)n : (size_t)1 << 30;
        ssize_t done = in_kernel ? copy_file_range(p->fd, &at, to, NULL, want, 0) : 0;
        if (done > 0) {
            n -= (uint64_t)done;
            continue;
        }
        /* Other file systems, old kernels, small payloads: by hand. */
        in_kernel = false;
        want = n < SIMPLER_DUMP_PIECE_BYTES ? (size_t)n : SIMPLER_DUMP_PIECE_BYTES;
        int rc = simpler_dump_payload_read(p, (uint64_t)at, want);
        if (rc == 0)
            rc = write_piece(p, want, to);
        if (rc != 0)
            return rc;
        at += (off64_t)want;
        n -= want;
    }
    return 0;
}
