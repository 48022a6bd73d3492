/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What recover finds of one payload of a killed process: in args.bin, in the arena, in both
 * or in neither.  The CRC-32C decides, and nothing that may be whole is written over.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm.h"
#include "collect/args_dump/args_dump_salvage.h"
#include "simpler/dtype.h"

#define WORDS  64u
#define BYTES  (WORDS * 4)
#define ARENA  4096u
#define WITHIN 512u /* where in the arena the payload is */

static struct {
    char directory[64];
    uint8_t payload[BYTES];
    uint8_t arena[ARENA];
    struct simpler_region_reader *reader;
    struct args_dump_salvage salvage;
} rig;

/* Bit by bit, as the polynomial says. */
static uint32_t crc32c(const uint8_t *bytes, size_t count)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

static void path_of(char path[96], const char *name)
{
    (void)snprintf(path, 96, "%s/%s", rig.directory, name);
}

static void write_bin(const void *bytes, size_t count)
{
    char path[96];

    path_of(path, "args.bin");
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, count, out), count);
    assert_int_equal(fclose(out), 0);
}

static size_t read_bin(uint8_t bytes[4 * BYTES])
{
    char path[96];

    path_of(path, "args.bin");
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return 0;
    size_t count = fread(bytes, 1, 4 * BYTES, in);
    (void)fclose(in);
    return count;
}

/* A region file with one arena, of lane 0. */
static void open_region(void)
{
    static struct simpler_region_header header;
    int fd = memfd_create("region", 0);

    header.magic = SIMPLER_REGION_MAGIC;
    header.version = SIMPLER_REGION_VERSION;
    header.parts[0] = (struct simpler_region_part){.role = SIMPLER_REGION_ARENA,
                                                   .client = ARGS_DUMP_MAGIC,
                                                   .offset = SIMPLER_REGION_HEADER_BYTES,
                                                   .bytes = ARENA};
    assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
    assert_int_equal(pwrite(fd, rig.arena, ARENA, SIMPLER_REGION_HEADER_BYTES), ARENA);
    assert_int_equal(simpler_region_reader_open(fd, &rig.reader), 0);
}

/* @bin bytes of args.bin are right (of BYTES that are there), or none; the arena's are if @arena.
 */
static void begin(const void *bin, size_t bin_bytes, bool arena)
{
    if (bin != NULL)
        write_bin(bin, bin_bytes);
    memset(rig.arena, 0xee, sizeof(rig.arena));
    if (arena)
        memcpy(rig.arena + WITHIN, rig.payload, BYTES);
    open_region();
    int directory = open(rig.directory, O_RDONLY | O_DIRECTORY);
    assert_true(directory >= 0);
    assert_int_equal(simpler_args_dump_salvage_init(&rig.salvage, directory, rig.reader), 0);
}

static struct args_dump_record record_at(uint64_t offset)
{
    return (struct args_dump_record){.kind = ARGS_DUMP_TENSOR,
                                     .dtype = SIMPLER_DTYPE_INT32,
                                     .payload_offset = offset,
                                     .payload_size = BYTES,
                                     .crc32c = crc32c(rig.payload, BYTES)};
}

/* The record that is at its place in args.bin, and in lane 0's arena some turns on. */
static void take(struct args_dump_record *r)
{
    simpler_args_dump_salvage_note(&rig.salvage, r);
    assert_true(simpler_args_dump_salvage_take(&rig.salvage, r, true, true, 0,
                                               3 * (uint64_t)ARENA + WITHIN));
}

static void what_is_whole_stays(void **state)
{
    uint8_t bytes[4 * BYTES];

    (void)state;
    begin(rig.payload, BYTES, true);
    struct args_dump_record r = record_at(0);
    take(&r);
    assert_int_equal(r.payload_offset, 0);
    assert_int_equal(r.payload_size, BYTES);
    assert_int_equal(r.truncated, 0);
    assert_int_equal(rig.salvage.from_arena, 0);
    assert_int_equal(read_bin(bytes), BYTES);
    assert_memory_equal(bytes, rig.payload, BYTES);
}

static void what_was_not_written_yet_comes_from_the_arena(void **state)
{
    uint8_t bytes[4 * BYTES];

    (void)state;
    begin(rig.payload, BYTES / 2, true);
    struct args_dump_record r = record_at(0);
    take(&r);
    assert_int_equal(r.payload_offset, 0);
    assert_int_equal(r.payload_size, BYTES);
    assert_int_equal(r.truncated, 0);
    assert_int_equal(rig.salvage.from_arena, 1);
    assert_int_equal(read_bin(bytes), BYTES);
    assert_memory_equal(bytes, rig.payload, BYTES);
}

/* Its place is full of something else, which may be another's: that stays. */
static void what_is_something_else_comes_from_the_arena(void **state)
{
    uint8_t other[BYTES], bytes[4 * BYTES];

    (void)state;
    memcpy(other, rig.payload, BYTES);
    other[BYTES - 1] ^= 1;
    begin(other, BYTES, true);
    struct args_dump_record r = record_at(0);
    take(&r);
    assert_int_equal(r.payload_offset, BYTES);
    assert_int_equal(r.payload_size, BYTES);
    assert_int_equal(r.truncated, 0);
    assert_int_equal(read_bin(bytes), 2 * BYTES);
    assert_memory_equal(bytes, other, BYTES);
    assert_memory_equal(bytes + BYTES, rig.payload, BYTES);
}

static void what_is_nowhere_is_lost(void **state)
{
    uint8_t other[BYTES];

    (void)state;
    memset(other, 0x55, sizeof(other));
    begin(other, BYTES, false);
    struct args_dump_record r = record_at(0);
    take(&r);
    assert_int_equal(r.payload_size, 0);
    assert_int_equal(r.truncated, 1);
    assert_int_equal(rig.salvage.lost, 1);
    assert_int_equal(rig.salvage.from_arena, 0);
}

/* Of a payload that ends early the whole elements are kept. */
static void the_beginning_is_kept(void **state)
{
    (void)state;
    begin(rig.payload, BYTES / 2 + 3, false);
    struct args_dump_record r = record_at(0);
    take(&r);
    assert_int_equal(r.payload_size, BYTES / 2);
    assert_int_equal(r.truncated, 1);
    assert_int_equal(rig.salvage.lost, 1);
}

static void a_place_that_no_run_gives_is_not_written(void **state)
{
    uint8_t bytes[4 * BYTES];

    (void)state;
    begin(rig.payload, BYTES / 2, true);
    struct args_dump_record r = record_at(UINT64_MAX - BYTES);
    take(&r);
    assert_int_equal(r.payload_offset, 0); /* behind what has a place */
    assert_int_equal(r.payload_size, BYTES);
    assert_int_equal(read_bin(bytes), BYTES);
    assert_memory_equal(bytes, rig.payload, BYTES);
}

/* A record of a buffer has no place yet; there may be no args.bin. */
static void a_record_without_a_place_gets_one(void **state)
{
    uint8_t bytes[4 * BYTES];

    (void)state;
    begin(NULL, 0, true);
    for (uint32_t i = 0; i < 2; i++) {
        struct args_dump_record r = record_at(0);
        assert_true(simpler_args_dump_salvage_take(&rig.salvage, &r, false, true, 0, WITHIN));
        assert_int_equal(r.payload_offset, i * BYTES);
        assert_int_equal(r.truncated, 0);
    }
    struct args_dump_record r = record_at(0);
    assert_true(simpler_args_dump_salvage_take(&rig.salvage, &r, false, true, 1, WITHIN));
    assert_int_equal(r.truncated, 1); /* lane 1 has no arena */
    assert_int_equal(read_bin(bytes), 2 * BYTES);
    assert_memory_equal(bytes, rig.payload, BYTES);
    assert_memory_equal(bytes + BYTES, rig.payload, BYTES);
}

static int make(void **state)
{
    (void)state;
    memset(&rig, 0, sizeof(rig));
    (void)snprintf(rig.directory, sizeof(rig.directory), "/tmp/simpler-salvage-XXXXXX");
    assert_non_null(mkdtemp(rig.directory));
    for (uint32_t i = 0; i < BYTES; i++)
        rig.payload[i] = (uint8_t)(i * 7 + i / 3);
    return 0;
}

static int unmake(void **state)
{
    char path[96];

    (void)state;
    (void)close(rig.salvage.directory);
    simpler_args_dump_salvage_fini(&rig.salvage);
    simpler_region_reader_close(rig.reader);
    path_of(path, "args.bin");
    (void)unlink(path);
    return rmdir(rig.directory);
}

#define SALVAGE(test) cmocka_unit_test_setup_teardown(test, make, unmake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SALVAGE(what_is_whole_stays),
        SALVAGE(what_was_not_written_yet_comes_from_the_arena),
        SALVAGE(what_is_something_else_comes_from_the_arena),
        SALVAGE(what_is_nowhere_is_lost),
        SALVAGE(the_beginning_is_kept),
        SALVAGE(a_place_that_no_run_gives_is_not_written),
        SALVAGE(a_record_without_a_place_gets_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
