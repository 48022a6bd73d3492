/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AD-15: records are visited in the manifest's order, from memory and from the
 * spool through any number of runs, and every record once; entries as text.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cm.h"
#include "collect/args_dump/args_dump_export.h"
#include "collect/args_dump/args_dump_line.h"
#include "collect/args_dump/args_dump_store.h"
#include "failing_pwrite.h"
#include "kit.h"
#include "simpler/dtype.h"
#include "simpler/status.h"

#define MOST 3000

struct visit {
    struct args_dump_record last;
    uint32_t seen, visited;
    bool began;
    uint8_t times[MOST];
};

/* The order as the document says it. */
static int compare(const struct args_dump_record *a, const struct args_dump_record *b)
{
    if (a->task_id != b->task_id)
        return a->task_id < b->task_id ? -1 : 1;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    if (a->arg_index != b->arg_index)
        return a->arg_index < b->arg_index ? -1 : 1;
    return a->role < b->role ? -1 : a->role > b->role;
}

static int see(void *context, const struct args_dump_record *record)
{
    struct visit *v = context;
    assert_false(v->began);
    (void)record;
    v->seen++;
    return 0;
}

static int between(void *context)
{
    struct visit *v = context;
    v->began = true;
    return 0;
}

static int visit(void *context, struct args_dump_record *record)
{
    struct visit *v = context;

    assert_true(v->began);
    if (v->visited++ != 0)
        assert_true(compare(&v->last, record) <= 0);
    v->last = *record;
    v->times[record->submit_seq]++;
    return 0;
}

static void append(struct args_dump_store *store, struct kit_random *rng, uint32_t seq)
{
    struct args_dump_record *r = simpler_args_dump_store_append(store, kit_random_below(rng, 2));

    assert_non_null(r);
    *r = (struct args_dump_record){
        .task_id = (uint64_t)kit_random_below(rng, 4) << 32 | (kit_random_below(rng, 40) << 26),
        .stage = (uint8_t)kit_random_below(rng, 2),
        .role = (uint8_t)kit_random_below(rng, 3),
        .arg_index = kit_random_below(rng, 48),
        .submit_seq = seq,
    };
}

static void check_visit(struct args_dump_store *store, uint32_t count)
{
    static struct visit v;

    memset(&v, 0, sizeof(v));
    assert_int_equal(simpler_args_dump_store_visit(store, see, between, visit, &v), 0);
    assert_int_equal(v.seen, count);
    assert_int_equal(v.visited, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(v.times[i], 1);
}

static void every_record_once_in_order(void **state)
{
    char directory[] = "/tmp/test_args_dump_store_XXXXXX";
    struct args_dump_store store;
    struct kit_random rng = {7};

    (void)state;
    assert_non_null(mkdtemp(directory));
    int fd = open(directory, O_RDONLY | O_DIRECTORY);
    simpler_args_dump_store_init(&store);
    for (int round = 0; round < 60; round++) {
        uint32_t count = 1 + kit_random_below(&rng, MOST);
        store.run_records = 100 + kit_random_below(&rng, 900);
        simpler_args_dump_store_start(&store, fd);
        for (uint32_t i = 0; i < count; i++)
            append(&store, &rng, i);
        assert_int_equal(simpler_args_dump_store_count(&store), count);
        assert_int_equal(store.lost, 0);
        check_visit(&store, count);
        check_visit(&store, count); /* can be repeated */
        assert_int_equal(store.spool >= 0, store.spooled != 0);
        simpler_args_dump_store_drop_spool(&store);
        simpler_args_dump_store_fini(&store);
        simpler_args_dump_store_init(&store);
        store.piece_records = 1 + kit_random_below(&rng, 500);
    }
    simpler_args_dump_store_fini(&store);
    (void)close(fd);
    assert_int_equal(rmdir(directory), 0); /* the spool is gone */
}

/* A disk that is full while a run is sorted in its place leaves half of it as it was: records would
 * be there twice, and others not at all.  Nothing is shown of such a spool, again and again. */
static void half_sorted_is_not_shown(void **state)
{
    char directory[] = "/tmp/test_args_dump_half_XXXXXX";
    static struct visit v;
    struct args_dump_store store;
    struct kit_random rng = {17};

    (void)state;
    assert_non_null(mkdtemp(directory));
    int fd = open(directory, O_RDONLY | O_DIRECTORY);
    simpler_args_dump_store_init(&store);
    for (int failing = 0; failing < 3; failing++) {
        simpler_args_dump_store_start(&store, fd);
        store.piece_records = 100;
        store.run_records = 400;
        for (uint32_t i = 0; i < 1000; i++)
            append(&store, &rng, i);
        simpler_args_dump_store_finish(&store);
        failing_pwrite_arm(failing, ENOSPC);
        for (int again = 0; again < 2; again++) {
            memset(&v, 0, sizeof(v));
            assert_int_equal(simpler_args_dump_store_visit(&store, see, between, visit, &v),
                             SIMPLER_EIO);
            assert_int_equal(v.visited, 0);
        }
        assert_true(failing_pwrite_fired());
        simpler_args_dump_store_drop_spool(&store);
    }
    /* The next one is whole. */
    simpler_args_dump_store_start(&store, fd);
    for (uint32_t i = 0; i < 1000; i++)
        append(&store, &rng, i);
    check_visit(&store, 1000);
    simpler_args_dump_store_drop_spool(&store);
    simpler_args_dump_store_fini(&store);
    (void)close(fd);
    assert_int_equal(rmdir(directory), 0);
}

/* A spool that is kept is after a visit what it was before, however many runs were sorted. */
static void kept_spool_stays(void **state)
{
    char directory[] = "/tmp/test_args_dump_keep_XXXXXX";
    static struct args_dump_record before[MOST], after[MOST];
    struct args_dump_store store;
    struct kit_random rng = {13};

    (void)state;
    assert_non_null(mkdtemp(directory));
    int fd = open(directory, O_RDONLY | O_DIRECTORY);
    for (uint32_t run_records = 200; run_records < 2 * MOST; run_records += 700) {
        simpler_args_dump_store_init(&store);
        simpler_args_dump_store_start(&store, fd);
        store.keep_spool = true;
        store.run_records = run_records;
        for (uint32_t i = 0; i < MOST; i++) {
            append(&store, &rng, i);
            for (uint32_t shard = 0; shard < 2; shard++)
                assert_true(simpler_args_dump_store_try_spill(&store, shard));
        }
        assert_int_equal(pread(store.spool, before, sizeof(before), 0), sizeof(before));
        check_visit(&store, MOST);
        check_visit(&store, MOST);
        assert_int_equal(pread(store.spool, after, sizeof(after), 0), sizeof(after));
        assert_memory_equal(before, after, sizeof(before));
        simpler_args_dump_store_drop_spool(&store);
        simpler_args_dump_store_fini(&store);
    }
    (void)close(fd);
    assert_int_equal(rmdir(directory), 0); /* the sorted runs are gone as well */
}

/*
 * A run's records move to a store of their own, to memory or (spooled already, or no budget)
 * to the spool; the next run's do not meet them.
 */
static void moved_records_are_whole(void **state)
{
    char directories[2][64] = {"/tmp/test_args_dump_move_XXXXXX",
                               "/tmp/test_args_dump_move_XXXXXX"};
    struct args_dump_store store, moved;
    struct args_dump_budget budget = {.bytes = 1000 * sizeof(struct args_dump_record)};
    struct kit_random rng = {11};
    int fds[2], in_memory = 0, spooled = 0, refused = 0;

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_non_null(mkdtemp(directories[i]));
        fds[i] = open(directories[i], O_RDONLY | O_DIRECTORY);
    }
    simpler_args_dump_store_init(&store);
    store.piece_records = 500;
    for (int round = 0; round < 60; round++) {
        uint32_t count = 1 + kit_random_below(&rng, 1500), next = 1 + kit_random_below(&rng, 300);
        bool full = round % 4 == 3;
        simpler_args_dump_store_start(&store, fds[0]);
        for (uint32_t i = 0; i < count; i++)
            append(&store, &rng, i);
        bool was_spooled = store.spooled != 0;
        budget.used = full ? budget.bytes : 0;
        simpler_args_dump_store_init(&moved);
        uint64_t bytes = simpler_args_dump_store_move(&store, &moved, &budget);
        assert_int_equal(simpler_args_dump_store_count(&moved), count);
        assert_int_equal(simpler_args_dump_store_count(&store), 0);
        bool fits = !was_spooled && !full && count <= 1000;
        assert_int_equal(bytes, fits ? count * sizeof(struct args_dump_record) : 0);
        assert_int_equal(budget.used, bytes + (full ? budget.bytes : 0));
        assert_int_equal(moved.spooled, fits ? 0 : count);
        in_memory += fits;
        spooled += was_spooled;
        refused += !was_spooled && !fits;
        simpler_args_dump_store_start(&store, fds[1]);
        for (uint32_t i = 0; i < next; i++)
            append(&store, &rng, i);
        check_visit(&moved, count);
        check_visit(&store, next);
        simpler_args_dump_store_drop_spool(&moved);
        simpler_args_dump_store_fini(&moved);
        simpler_args_dump_store_drop_spool(&store);
    }
    assert_true(in_memory != 0 && spooled != 0 && refused != 0);
    simpler_args_dump_store_fini(&store);
    for (int i = 0; i < 2; i++) {
        (void)close(fds[i]);
        assert_int_equal(rmdir(directories[i]), 0);
    }
}

/* AD-17: values of every type, NaN and infinities as strings (decision 10). */
static void scalars_print_as_values(void **state)
{
    static const struct {
        uint32_t dtype;
        uint64_t bits;
        const char *text;
    } rows[] = {
        {SIMPLER_DTYPE_FLOAT32, 0x3dcccccd, "0.1"},
        {SIMPLER_DTYPE_FLOAT32, 0x40000000, "2.0"},
        {SIMPLER_DTYPE_FLOAT32, 0x7fc00000, "\"nan\""},
        {SIMPLER_DTYPE_FLOAT32, 0x7f800000, "\"inf\""},
        {SIMPLER_DTYPE_FLOAT32, 0xff800000, "\"-inf\""},
        {SIMPLER_DTYPE_FLOAT64, 0x3fb999999999999a, "0.1"},
        {SIMPLER_DTYPE_FLOAT64, 0x7fefffffffffffff, "1.7976931348623157e+308"},
        {SIMPLER_DTYPE_FLOAT64, 0x8000000000000000, "-0.0"},
        {SIMPLER_DTYPE_FLOAT16, 0x3c00, "1.0"},
        {SIMPLER_DTYPE_FLOAT16, 0xc100, "-2.5"},
        {SIMPLER_DTYPE_FLOAT16, 0x7bff, "65504.0"},
        {SIMPLER_DTYPE_FLOAT16, 0x0001, "5.9604645e-08"},
        {SIMPLER_DTYPE_FLOAT16, 0xfc00, "\"-inf\""},
        {SIMPLER_DTYPE_FLOAT16, 0x7e00, "\"nan\""},
        {SIMPLER_DTYPE_BFLOAT16, 0x4049, "3.140625"},
        {SIMPLER_DTYPE_INT8, 0xff, "-1"},
        {SIMPLER_DTYPE_INT16, 0x8000, "-32768"},
        {SIMPLER_DTYPE_INT32, 0x80000000, "-2147483648"},
        {SIMPLER_DTYPE_INT64, 0x8000000000000000, "-9223372036854775808"},
        {SIMPLER_DTYPE_UINT8, 0xff, "255"},
        {SIMPLER_DTYPE_UINT16, 0xffff, "65535"},
        {SIMPLER_DTYPE_UINT32, 0xffffffff, "4294967295"},
        {SIMPLER_DTYPE_UINT64, 0xffffffffffffffff, "18446744073709551615"},
        {SIMPLER_DTYPE_BOOL, 1, "true"},
        {SIMPLER_DTYPE_BOOL, 0, "false"},
        {SIMPLER_DTYPE_FP8E4M3FN, 0x7e, "126"},
    };
    char line[ARGS_DUMP_LINE_MAX + 1], want[64];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct args_dump_record r = {.kind = ARGS_DUMP_SCALAR,
                                     .dtype = (uint8_t)rows[i].dtype,
                                     .scalar_value = rows[i].bits};
        line[simpler_args_dump_line(line, &r)] = '\0';
        (void)snprintf(want, sizeof(want), "\"dtype\": \"%s\", \"value\": %s, \"shape\": [],",
                       simpler_dtype_name(rows[i].dtype), rows[i].text);
        if (strstr(line, want) == NULL)
            fail_msg("'%s' is not in '%s'", want, line);
    }
}

/* AD-11, AD-12: the longest entry that there can be fits, and is to the letter. */
static void the_longest_entry_fits(void **state)
{
    struct args_dump_record r;
    char line[ARGS_DUMP_LINE_MAX + 1];

    (void)state;
    memset(&r, 0xff, sizeof(r));
    r.role = 2;
    r.stage = 1;
    r.ndims = 5;
    r.kind = ARGS_DUMP_SCALAR;
    r.dtype = SIMPLER_DTYPE_FLOAT64;
    r.scalar_value = 0xffefffffffffffff;
    r.func_count = 3;
    r.func_ids[0] = r.func_ids[1] = r.func_ids[2] = 65534;
    size_t n = simpler_args_dump_line(line, &r);
    assert_true(n < ARGS_DUMP_LINE_MAX);
    line[n] = '\0';
    assert_string_equal(
        line,
        "{\"task_id\": \"0xffffffffffffffff\", \"func_id\": [65534, 65534, 65534], \"role\": "
        "\"inout\", \"stage\": \"after_completion\", \"arg_index\": 4294967295, "
        "\"arg_index_ambiguous\": true, \"kind\": \"scalar\", \"dtype\": \"float64\", \"value\": "
        "-1.7976931348623157e+308, \"shape\": [4294967295, 4294967295, 4294967295, 4294967295, "
        "4294967295], \"strides\": [4294967295, 4294967295, 4294967295, 4294967295, 4294967295], "
        "\"start_offset\": 18446744073709551615, \"is_contiguous\": true, \"truncated\": true, "
        "\"bin_offset\": 18446744073709551615, \"bin_size\": 18446744073709551615}");
}

/* Reads a whole small file; the caller frees. */
static char *text_of(int directory, const char *name)
{
    char *text = calloc(1, 65536);
    int fd = openat(directory, name, O_RDONLY);

    assert_true(fd >= 0 && text != NULL);
    assert_true(read(fd, text, 65535) > 0);
    (void)close(fd);
    return text;
}

/* Places beyond 4 GiB, and bytes that args.bin turned out not to have (decision 30). */
static void places_beyond_4_gib(void **state)
{
    static const uint64_t place = ((uint64_t)5 << 30) + 4;
    static const struct {
        uint64_t bin_bytes;
        const char *tail;
    } rows[] = {
        {((uint64_t)5 << 30) + 68, "\"truncated\": false, \"bin_offset\": 5368709124, "
                                   "\"bin_size\": 64}"},
        {((uint64_t)5 << 30) + 19, "\"truncated\": true, \"bin_offset\": 5368709124, "
                                   "\"bin_size\": 12}"},
        {(uint64_t)1 << 30, "\"truncated\": true, \"bin_offset\": 0, \"bin_size\": 0}"},
    };
    char directory[] = "/tmp/test_args_dump_store_XXXXXX";
    struct args_dump_store store;

    (void)state;
    assert_non_null(mkdtemp(directory));
    int fd = open(directory, O_RDONLY | O_DIRECTORY);
    simpler_args_dump_store_init(&store);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct args_dump_export e = {
            .directory = fd, .level = 2, .has_bin = true, .bin_bytes = rows[i].bin_bytes};
        simpler_args_dump_store_start(&store, fd);
        struct args_dump_record *r = simpler_args_dump_store_append(&store, 0);
        *r = (struct args_dump_record){.payload_offset = place,
                                       .payload_size = 64,
                                       .ndims = 1,
                                       .shapes = {16},
                                       .strides = {1},
                                       .is_contiguous = 1,
                                       .dtype = SIMPLER_DTYPE_FLOAT32};
        assert_int_equal(simpler_args_dump_export(&e, &store), 0);
        assert_int_equal(e.truncated, i != 0);
        char *text = text_of(fd, ARGS_DUMP_MANIFEST);
        if (strstr(text, rows[i].tail) == NULL)
            fail_msg("'%s' is not in '%s'", rows[i].tail, text);
        free(text);
    }
    simpler_args_dump_store_fini(&store);
    assert_int_equal(unlinkat(fd, ARGS_DUMP_MANIFEST, 0), 0);
    (void)close(fd);
    assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_once_in_order), cmocka_unit_test(kept_spool_stays),
        cmocka_unit_test(half_sorted_is_not_shown),   cmocka_unit_test(moved_records_are_whole),
        cmocka_unit_test(scalars_print_as_values),    cmocka_unit_test(the_longest_entry_fits),
        cmocka_unit_test(places_beyond_4_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
