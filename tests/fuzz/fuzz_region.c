/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a dead process may have left: a region file with words changed and its end cut, then
 * read as `simpler recover` does, up to the payload of each record; and any bytes as the
 * file .live and as a scope_stats.jsonl.partial.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/args_dump/args_dump_wire.h"
#include "collect/scope_stats/scope_stats_line.h"
#include "collect/scope_stats/scope_stats_scan.h"
#include "host/live_file.h"
#include "prof/region_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RECORDS     4u
#define BUFFERS     3u
#define EPOCH       7u
#define STRIDE      (64u + RECORDS * 128u)
#define PART        4096u
#define PREFIX_WORD (offsetof(struct simpler_region_header, prefix) / 8)
#define PARTS_WORD  (offsetof(struct simpler_region_header, parts) / 8)
#define FILE_BYTES  (SIMPLER_REGION_HEADER_BYTES + 5 * PART)

#define CHECK(x)     \
    do {             \
        if (!(x))    \
            abort(); \
    } while (0)

static _Alignas(64) uint64_t image[FILE_BYTES / 8];

static void *part(struct simpler_region_header *h, uint32_t place, uint32_t role, uint32_t client)
{
    h->parts[place] =
        (struct simpler_region_part){.role = role,
                                     .client = client,
                                     .offset = SIMPLER_REGION_HEADER_BYTES + (uint64_t)place * PART,
                                     .bytes = PART,
                                     .device = 0x10000u * (place + 1),
                                     .stride = STRIDE};
    return (uint8_t *)image + h->parts[place].offset;
}

static void make_session(struct simpler_region_header *h, uint32_t place, uint32_t magic,
                         uint32_t record_bytes)
{
    struct simpler_prof_header *p = part(h, place, SIMPLER_REGION_SESSION, magic);
    uint8_t *pool = part(h, place + 1, SIMPLER_REGION_POOL, magic);

    p->magic = magic;
    p->lane_count = p->kind_count = 1;
    p->states_offset = 192;
    p->client_offset = 448;
    p->kind[0] = (struct simpler_prof_kind){record_bytes, RECORDS};
    atomic_store(&p->accounting_epoch, EPOCH);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        struct simpler_prof_buffer *b = (void *)(pool + i * STRIDE);
        atomic_store(&b->count, RECORDS - i);
        b->run_epoch = EPOCH;
        b->local_seq = 0u - i;
    }
}

/* A small one that is right. */
static void make_image(void)
{
    struct simpler_region_header *h = (void *)image;

    memset(image, 0, sizeof(image));
    h->magic = SIMPLER_REGION_MAGIC;
    h->version = SIMPLER_REGION_VERSION;
    make_session(h, 0, SCOPE_STATS_MAGIC, sizeof(struct scope_stats_record));
    make_session(h, 2, ARGS_DUMP_MAGIC, sizeof(struct args_dump_record));
    (void)part(h, 4, SIMPLER_REGION_ARENA, ARGS_DUMP_MAGIC);
}

static int make_file(const void *bytes, size_t size)
{
    int fd = memfd_create("fuzz", 0);

    CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    return fd;
}

static void use_samples(const struct simpler_region_reader *r,
                        const struct simpler_region_buffer *b)
{
    static struct scope_stats_line_format format;
    struct scope_stats_record record;
    char line[SCOPE_STATS_LINE_MAX];

    simpler_scope_stats_line_buffer(&format, EPOCH, b->seq);
    for (uint32_t i = 0; i < b->count && i < 64; i++) {
        if (simpler_region_reader_read(r, b->at + i * sizeof(record), &record, sizeof(record)) == 0)
            CHECK(simpler_scope_stats_line(line, &record, &format) <= sizeof(line));
    }
}

static void use_session(const struct simpler_region_reader *r, uint32_t magic, uint32_t bytes)
{
    struct simpler_region_session s;

    if (simpler_region_reader_session(r, magic, bytes, EPOCH, &s) != 0) {
        CHECK(s.bytes == NULL && s.buffers == NULL);
        return;
    }
    (void)simpler_region_session_counts(&s);
    (void)simpler_region_session_block(&s, sizeof(struct scope_stats_block));
    for (size_t i = 0; i < s.buffer_count; i++) {
        const struct simpler_region_buffer *b = &s.buffers[i], *last = b - (i != 0);
        CHECK(b->lane < s.header.lane_count && b->count != 0);
        CHECK(b->count <= s.header.kind[0].records_per_buffer);
        CHECK(i == 0 || last->lane < b->lane || (last->lane == b->lane && last->age > b->age));
        if (magic == SCOPE_STATS_MAGIC)
            use_samples(r, b);
    }
    simpler_region_session_fini(&s);
}

static void use_region(const uint8_t *data, size_t size)
{
    struct simpler_region_reader *r;
    size_t bytes = FILE_BYTES;

    make_image();
    for (; size >= 10; size -= 10, data += 10) {
        uint32_t at = data[0] | (uint32_t)data[1] << 8;
        /* Words of the header's fields and first parts, and of the sessions. */
        at = at % 2 == 0 ? at / 2 % 40 : at / 2 % (FILE_BYTES / 8);
        at = at >= PREFIX_WORD && at < 40 ? at - PREFIX_WORD + PARTS_WORD : at;
        memcpy(&image[at % (FILE_BYTES / 8)], data + 2, 8);
    }
    if (size >= 2)
        bytes = (data[0] | (size_t)data[1] << 8) * 2 % FILE_BYTES;
    if (simpler_region_reader_open(make_file(image, bytes), &r) != 0)
        return;
    use_session(r, SCOPE_STATS_MAGIC, sizeof(struct scope_stats_record));
    use_session(r, ARGS_DUMP_MAGIC, sizeof(struct args_dump_record));
    const struct simpler_region_part *arena =
        simpler_region_reader_part(r, SIMPLER_REGION_ARENA, ARGS_DUMP_MAGIC, 0);
    CHECK(arena == NULL || arena->bytes <= r->bytes);
    simpler_region_reader_close(r);
}

static void use_lines(const uint8_t *data, size_t size)
{
    struct scope_stats_scan scan;
    int fd = make_file(data, size);

    if (simpler_scope_stats_scan(fd, &scan) == 0)
        CHECK(scan.whole_bytes + scan.torn_bytes == size && scan.first_bytes <= size);
    else
        CHECK(scan.bad_line != 0);
    (void)close(fd);
}

static void use_live(const uint8_t *data, size_t size)
{
    struct simpler_live live;

    if (simpler_live_file_parse((const char *)data, size, &live) == 0)
        CHECK(live.region[0] == '/' && live.args_dump <= 3 && live.pid >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 4 == 0)
        use_lines(data + 1, size - 1);
    else if (data[0] % 4 == 1)
        use_live(data + 1, size - 1);
    else
        use_region(data + 1, size - 1);
    return 0;
}
