/* SPDX-License-Identifier: Apache-2.0 */
// ctest: TIMEOUT 120
/*
 * The collector by itself: when it is enabled, its sizes, its records.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm.h"
#include "base/crc32c.h"
#include "collect/args_dump/args_dump_aicpu.h"
#include "collect/args_dump/args_dump_collector.h"
#include "collect/args_dump/args_dump_ending.h"
#include "dump_rig.h"
#include "failing_pwrite.h"
#include "platform/transport.h"
#include "report/dump_manifest.h"
#include "simpler/log.h"

/* AD-20: a base alone enables nothing. */
static void a_base_is_not_enough(void **state)
{
    struct args_dump_collector_config config = {.transport = &simpler_transport_mapped, .lanes = 2};
    enum simpler_lane_end ends[2] = {SIMPLER_LANE_COMPLETE, SIMPLER_LANE_COMPLETE};
    struct simpler_args_dump_collector *c;
    struct args_dump_outcome out;

    (void)state;
    assert_int_equal(simpler_args_dump_collector_open(&config, &c), 0);
    for (uint32_t level = 1; level <= 3; level++) {
        assert_int_equal(simpler_args_dump_collector_admit(c, level, dump_prefix, level), 0);
        set_platform_dump_base(simpler_args_dump_collector_device_base(c));
        set_dump_args_enabled(false);
        assert_int_equal(dump_args_init(level), 0);
        set_dump_args_enabled(true);
        assert_int_equal(dump_args_init(level), level); /* AD-08: as the host has written it */
        assert_int_equal(simpler_args_dump_collector_settle(c, ends, &out), 0);
        assert_false(out.has_manifest);
    }
    set_platform_dump_base(0);
    assert_int_equal(dump_args_init(4), 0);
    simpler_args_dump_collector_close(c);
    assert_false(dump_exists(""));
}

/* AD-19, AD-28: the header and the lanes as the device finds them, by default and as asked. */
static void defaults_and_sizes(void **state)
{
    (void)state;
    for (int asked = 0; asked < 2; asked++) {
        struct args_dump_collector_config config = {.transport = &simpler_transport_mapped,
                                                    .lanes = 3};
        struct simpler_args_dump_collector *c;
        if (asked)
            config.records_per_buffer = 5, config.buffers = 2, config.avg_bytes = 1000,
            config.ready_depth = 4;
        assert_int_equal(simpler_args_dump_collector_open(&config, &c), 0);
        assert_int_equal(simpler_args_dump_collector_admit(c, 9, dump_prefix, 3), 0);
        uint64_t base = simpler_args_dump_collector_device_base(c);
        const struct simpler_prof_header *header = (void *)(uintptr_t)base;
        const struct args_dump_block *block = (void *)(uintptr_t)(base + header->client_offset);
        assert_int_equal(header->magic, 0x44554d50);
        assert_int_equal(header->lane_count, 3);
        assert_int_equal(header->kind[0].record_bytes, 128);
        assert_int_equal(header->kind[0].records_per_buffer, asked ? 5 : 256);
        assert_int_equal(header->ready_depth, asked ? 4 : 16);
        assert_int_equal(header->backstop_ns, 30000000000u);
        assert_int_equal(block->dump_args_level, 3);
        for (int l = 0; l < 3; l++) {
            struct simpler_prof_state *lane = (void *)(uintptr_t)(base + header->states_offset);
            assert_int_equal(block->lanes[l].arena_size, asked ? 10000 : 134217728);
            assert_true(block->lanes[l].arena_base % 64 == 0 && block->lanes[l].arena_base != 0);
            assert_int_equal(atomic_load(&lane[l].free.tail) - atomic_load(&lane[l].free.head),
                             asked ? 2 : 8);
        }
        simpler_args_dump_collector_close(c);
    }
}

/* The fields of the record that the manifest does not show, as the spool has them. */
static void reserved_fields_are_filled(void **state)
{
    struct args_dump_collector_config config = {.transport = &simpler_transport_mapped,
                                                .lanes = 1,
                                                .records_per_buffer = 10,
                                                .spool_records = 32};
    enum simpler_lane_end end = SIMPLER_LANE_COMPLETE;
    static struct args_dump_record records[64];
    struct simpler_args_dump_collector *c;
    struct args_dump_outcome out;
    static uint8_t bytes[100][500];
    uint32_t shape[2] = {100, 2}, stride[2] = {5, 3};
    struct dump_args_info info = {.ndims = 2,
                                  .dtype = SIMPLER_DTYPE_UINT8,
                                  .start_offset = 1,
                                  .shape = shape,
                                  .stride = stride};
    struct dump_args_task task = {.func_count = 1};
    char path[256];
    ssize_t got = 0;

    (void)state;
    assert_int_equal(simpler_args_dump_collector_open(&config, &c), 0);
    assert_int_equal(simpler_args_dump_collector_admit(c, 1, dump_prefix, 2), 0);
    set_dump_args_enabled(true);
    set_platform_dump_base(simpler_args_dump_collector_device_base(c));
    assert_int_equal(dump_args_init(1), 2);
    struct dump_args_run at = {simpler_args_dump_collector_device_base(c), 1};
    for (uint32_t i = 0; i < 100; i++) {
        for (uint32_t k = 0; k < sizeof(bytes[i]); k++)
            bytes[i][k] = (uint8_t)(i * 7 + k * 13);
        info.buffer_addr = (uint64_t)(uintptr_t)bytes[i];
        task.task_id = i;
        task.submit_seq = i + 1;
        dump_args_begin(&at, 0);
        dump_arg_record(&task, &info, 0, 0, true);
        dump_args_end();
    }
    dump_args_flush(&at, 0);
    dump_path(path, sizeof(path), ".spool");
    for (int i = 0; i < 5000 && got < (ssize_t)sizeof(records); i++) {
        int fd = open(path, O_RDONLY);
        got = fd < 0 ? 0 : read(fd, records, sizeof(records));
        if (fd >= 0)
            (void)close(fd);
        kit_sleep_ns(got < (ssize_t)sizeof(records) ? 1000000 : 0);
    }
    assert_int_equal(got, sizeof(records));
    for (uint32_t i = 0; i < 64; i++) {
        const struct args_dump_record *r = &records[i];
        uint8_t view[200];
        for (uint32_t k = 0; k < 200; k++)
            view[k] = bytes[r->task_id][1 + k / 2 * 5 + k % 2 * 3];
        assert_int_equal(r->submit_seq, r->task_id + 1);
        assert_int_equal(r->buffer_addr, (uint64_t)(uintptr_t)bytes[r->task_id]);
        assert_int_equal(r->crc32c, simpler_crc32c(0, view, sizeof(view)));
        assert_true(i == 0 || r->capture_ns >= records[i - 1].capture_ns);
        assert_true(r->capture_ns < 60000000000u);
    }
    assert_int_equal(simpler_args_dump_collector_settle(c, &end, &out), 0);
    assert_int_equal(out.records, 100);
    assert_false(dump_exists(".spool"));
    simpler_args_dump_collector_close(c);
}

/* Places in args.bin beyond 4 GiB: the file's first bytes are a hole. */
static void places_beyond_4_gib(void **state)
{
    const uint64_t first = ((uint64_t)4 << 30) - 3000;
    struct args_dump_collector_config config = {.transport = &simpler_transport_mapped,
                                                .lanes = 1,
                                                .records_per_buffer = 10,
                                                .bin_first = first};
    enum simpler_lane_end end = SIMPLER_LANE_COMPLETE;
    uint8_t bytes[500];
    uint32_t shape = sizeof(bytes), one = 1;
    struct dump_args_info info = {.buffer_addr = (uint64_t)(uintptr_t)bytes,
                                  .ndims = 1,
                                  .dtype = SIMPLER_DTYPE_UINT8,
                                  .is_contiguous = 1,
                                  .shape = &shape,
                                  .stride = &one};
    struct dump_args_task task = {.func_count = 1};
    struct simpler_args_dump_collector *c;
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    struct args_dump_outcome out;
    char path[256];
    uint64_t count = 0;
    struct stat st;

    (void)state;
    assert_int_equal(simpler_args_dump_collector_open(&config, &c), 0);
    assert_int_equal(simpler_args_dump_collector_admit(c, 1, dump_prefix, 2), 0);
    set_dump_args_enabled(true);
    set_platform_dump_base(simpler_args_dump_collector_device_base(c));
    assert_int_equal(dump_args_init(1), 2);
    struct dump_args_run at = {simpler_args_dump_collector_device_base(c), 1};
    for (uint32_t i = 0; i < 100; i++) {
        memset(bytes, (int)i + 1, sizeof(bytes));
        task.task_id = i;
        dump_args_begin(&at, 0);
        dump_arg_record(&task, &info, 0, 0, true);
        dump_args_end();
    }
    dump_args_flush(&at, 0);
    assert_int_equal(simpler_args_dump_collector_settle(c, &end, &out), 0);
    simpler_args_dump_collector_close(c);
    assert_int_equal(out.records, 100);
    assert_int_equal(out.payload_bytes, 100 * sizeof(bytes));
    dump_path(path, sizeof(path), "args.bin");
    int bin = open(path, O_RDONLY);
    assert_true(bin >= 0 && fstat(bin, &st) == 0);
    assert_int_equal(st.st_size, first + 100 * sizeof(bytes));
    dump_path(path, sizeof(path), "args_dump.json");
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    for (; simpler_dump_manifest_next(m, &e) > 0; count++) {
        uint8_t back[sizeof(bytes)];
        memset(bytes, (int)count + 1, sizeof(bytes));
        assert_int_equal(e.task_id, count);
        assert_int_equal(e.bin_offset, first + count * sizeof(bytes));
        assert_int_equal(e.bin_size, sizeof(bytes));
        assert_int_equal(pread(bin, back, sizeof(back), (off_t)e.bin_offset), sizeof(back));
        assert_memory_equal(back, bytes, sizeof(bytes));
    }
    assert_string_equal(simpler_dump_manifest_error(m), "");
    simpler_dump_manifest_close(m);
    (void)close(bin);
    assert_int_equal(count, 100);
}

/* What the manifest says of each of @records payloads is in args.bin; how many are cut. */
static uint64_t check_places(uint64_t records)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    uint64_t count = 0, bytes = 0, truncated = 0;
    char path[256];
    struct stat st;

    dump_path(path, sizeof(path), "args.bin");
    assert_int_equal(stat(path, &st), 0);
    dump_path(path, sizeof(path), "args_dump.json");
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    for (; simpler_dump_manifest_next(m, &e) > 0; count++) {
        assert_true(e.bin_size == 0 || e.bin_offset + e.bin_size <= (uint64_t)st.st_size);
        truncated += e.truncated;
        bytes += e.bin_size;
    }
    assert_string_equal(simpler_dump_manifest_error(m), "");
    simpler_dump_manifest_close(m);
    assert_int_equal(count, records);
    assert_int_equal(bytes, st.st_size);
    return truncated;
}

/* 100 records of 200 bytes, all of which are written; then the spool's write number @nth finds a
 * full disk.  Of a retained run nothing is to stay in memory. */
static void a_full_disk_at(int nth, bool is_retained)
{
    struct args_dump_budget budget = {.bytes = 0};
    struct args_dump_collector_config config = {.transport = &simpler_transport_mapped,
                                                .lanes = 1,
                                                .records_per_buffer = 10,
                                                .budget = &budget,
                                                .spool_records = is_retained ? 128 : 32};
    enum simpler_lane_end end = SIMPLER_LANE_COMPLETE;
    static uint8_t bytes[200];
    uint32_t shape = sizeof(bytes), one = 1;
    struct dump_args_info info = {.buffer_addr = (uint64_t)(uintptr_t)bytes,
                                  .ndims = 1,
                                  .dtype = SIMPLER_DTYPE_UINT8,
                                  .is_contiguous = 1,
                                  .shape = &shape,
                                  .stride = &one};
    struct dump_args_task task = {.func_count = 1};
    struct simpler_args_dump_collector *c;
    struct args_dump_outcome out;

    assert_int_equal(simpler_args_dump_collector_open(&config, &c), 0);
    assert_int_equal(is_retained ? simpler_args_dump_collector_admit_retained(c, 1, dump_prefix, 2)
                                 : simpler_args_dump_collector_admit(c, 1, dump_prefix, 2),
                     0);
    set_dump_args_enabled(true);
    set_platform_dump_base(simpler_args_dump_collector_device_base(c));
    assert_int_equal(dump_args_init(1), 2);
    struct dump_args_run at = {simpler_args_dump_collector_device_base(c), 1};
    failing_pwrite_arm(nth, ENOSPC);
    for (uint32_t i = 0; i < 100; i++) {
        task.task_id = i;
        dump_args_begin(&at, 0);
        dump_arg_record(&task, &info, 0, 0, true);
        dump_args_end();
    }
    dump_args_flush(&at, 0);
    assert_int_equal(simpler_args_dump_collector_settle(c, &end, &out), SIMPLER_EPARTIAL);
    if (is_retained) {
        struct args_dump_retained *run = simpler_args_dump_collector_take(c);
        assert_non_null(run);
        assert_int_equal(simpler_args_dump_retained_write(run), SIMPLER_EPARTIAL);
        simpler_args_dump_retained_close(run);
    }
    assert_true(failing_pwrite_fired());
    assert_int_equal(out.records, 100);
    assert_int_equal(out.payload_bytes, 0);
    assert_int_equal(check_places(100), 100);
    simpler_args_dump_collector_close(c);
}

/* At the end of a run, too, args.bin gives room to the spool: the manifest knows. */
static void what_the_spool_was_given_is_not_promised(void **state)
{
    (void)state;
    simpler_log_set_level(SIMPLER_LOG_NONE);
    a_full_disk_at(3, false);
    (void)dump_remove_prefix(NULL);
    assert_int_equal(dump_make_prefix(NULL), 0);
    a_full_disk_at(0, true);
    simpler_log_set_level(SIMPLER_LOG_WARN);
}

static void impossible_sizes_are_refused(void **state)
{
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;
    struct simpler_worker *worker = NULL;

    (void)state;
    simpler_log_set_level(SIMPLER_LOG_NONE);
    config.dump.records_per_buffer = UINT32_MAX;
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    config.dump = (struct simpler_dump_config){1u << 20, 1u << 10, (uint64_t)1 << 40, 0};
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    config.dump = (struct simpler_dump_config){.ready_queue_depth = 3};
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    config.dump.ready_queue_depth = 1u << 17;
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    assert_null(worker);
    simpler_log_set_level(SIMPLER_LOG_WARN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DUMP_TEST(a_base_is_not_enough),
        DUMP_TEST(defaults_and_sizes),
        DUMP_TEST(reserved_fields_are_filled),
        DUMP_TEST(places_beyond_4_gib),
        DUMP_TEST(what_the_spool_was_given_is_not_promised),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    simpler_log_set_level(SIMPLER_LOG_WARN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
