/* SPDX-License-Identifier: Apache-2.0 */
// ctest: TIMEOUT 120
/*
 * A slow disk and a host that takes nothing are waited for, without a deadlock and
 * without a loss that is not counted (AD-26, AD-27).  Needs a debug build.
 */
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cm.h"
#include "base/testpoint.h"
#include "collect/args_dump/args_dump_aicpu.h"
#include "collect/args_dump/args_dump_collector.h"
#include "dump_rig.h"
#include "faults.h"
#include "platform/transport.h"
#include "report/dump_manifest.h"
#include "simpler/log.h"

#if defined(SIMPLER_DEBUG)
/* Of the last run, whose dump was checked. */
static void saw(const char *fault)
{
    fault_saw(fault, "run=%s dump=%s truncated=%d", simpler_status_name(dump_result.status),
              simpler_status_name(dump_result.args_dump.status),
              (int)dump_result.args_dump.truncated);
}

/* Waits at the arena are longer than the clocks that find a stuck run. */
static void a_slow_disk_is_no_deadlock(void **state)
{
    uint32_t truncated;

    (void)state;
    for (uint32_t exec = 0; exec < 2; exec++) {
        struct simpler_call_config config = kit_config(2);
        struct dump_chain chain = {.tasks = 24};
        struct kit kit;
        dump_open_small(&kit);
        config.enable_dump_args = 2;
        config.output_prefix = dump_prefix;
        config.exec = exec;
        dump_slow_writes(1500000000, false);
        assert_int_equal(kit_run(&kit, dump_chain_graph, &chain, &config, &dump_result), 0);
        simpler_testpoint_set(NULL, NULL);
        assert_int_equal(dump_result.args_dump.status, 0);
        dump_check_chain(&truncated);
        assert_int_equal(truncated, 0);
        saw("slow-disk");
        kit_close(&kit);
    }
}

/* ---- a disk of 40 MB/s ---- */

#define WIDE_BYTES (1u << 20)
#define WIDE_TASKS 64u
#define CALL_NS    26214400u /* 1 MiB at 40 MB/s: no write has more */

static int stamp(const int64_t *args, uint32_t tensors, void *user)
{
    uint64_t *words = simpler_kernel_data(args, 0);

    (void)tensors;
    (void)user;
    for (size_t i = 0; i < WIDE_BYTES / 8; i++)
        words[i] += i + 1;
    return 0;
}

static void wide_graph(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(user, WIDE_BYTES / 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    for (uint32_t i = 0; i < WIDE_TASKS; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &t);
        (void)kit_submit_variant(orch, KIT_LONG, &args, stamp, NULL, NULL);
    }
}

/* 128 MiB of payload through an arena of 4 MiB: the run takes as long as the disk, loses nothing.
 */
static void a_disk_of_40_mb_a_second(void **state)
{
    static uint64_t words[WIDE_BYTES / 8], back[WIDE_BYTES / 8];
    struct simpler_dump_config sizes = {
        .records_per_buffer = 4, .buffers_per_thread = 4, .avg_tensor_bytes = 1u << 18};
    char path[256];
    struct kit kit;

    (void)state;
    dump_open(&kit, &sizes);
    dump_slow_writes(CALL_NS, true);
    uint64_t start = kit_now_ns();
    assert_int_equal(dump_run(&kit, wide_graph, words, dump_prefix, 2), 0);
    uint64_t took = kit_now_ns() - start;
    simpler_testpoint_set(NULL, NULL);
    kit_close(&kit);
    assert_int_equal(dump_result.args_dump.status, 0);
    assert_int_equal(dump_result.args_dump.records, WIDE_TASKS * 4);
    assert_int_equal(dump_result.args_dump.truncated, 0);
    assert_int_equal(dump_result.args_dump.payload_bytes, 2 * WIDE_TASKS * WIDE_BYTES);
    /* The disk was what it is said to be. */
    assert_true((double)took / 1e9 >= 2.0 * WIDE_TASKS * WIDE_BYTES / 40e6);
    dump_path(path, sizeof(path), "args.bin");
    int bin = open(path, O_RDONLY);
    assert_true(bin >= 0);
    for (uint32_t i = 0; i < 2 * WIDE_TASKS; i++) {
        assert_int_equal(read(bin, back, sizeof(back)), sizeof(back));
        /* In the order of capture, which is that of the chain. */
        for (size_t k = 0; k < WIDE_BYTES / 8; k++) {
            if (back[k] != (k + 1) * ((i + 1) / 2))
                fail_msg("payload %u, word %zu: %llu", i, k, (unsigned long long)back[k]);
        }
    }
    (void)close(bin);
    assert_int_equal(words[9], 10 * WIDE_TASKS);
    saw("slow-disk");
}

/* ---- a full pool ---- */

#define FAN       16
#define MOST_FAN  1024 /* int32 of one tensor */
#define FAN_TIMES 4

struct fan {
    int32_t data[FAN][MOST_FAN];
    uint32_t cells; /* of each tensor, DUMP_CELLS at least */
};

/* Adds one to every cell of every tensor. */
static int raise_all(const int64_t *args, uint32_t tensors, void *user)
{
    const struct fan *fan = user;

    for (uint32_t i = 0; i < tensors; i++) {
        int32_t *cells = simpler_kernel_data(args, i);
        for (uint32_t k = 0; k < fan->cells; k++)
            cells[k]++;
    }
    return 0;
}

/* FAN producers that are long, and a task that waits for all: the pool is full to its last entry.
 */
static void fan_graph(struct simpler_orch *orch, void *user)
{
    struct fan *fan = user;
    struct simpler_tensor t[FAN];
    struct simpler_task_args args;

    for (int round = 0; round < FAN_TIMES; round++) {
        for (int i = 0; i < FAN; i++) {
            t[i] = kit_tensor(fan->data[i], fan->cells, SIMPLER_DTYPE_INT32);
            simpler_task_args_reset(&args);
            simpler_task_args_add_inout(&args, &t[i]);
            if (kit_submit_variant(orch, KIT_LONG, &args, raise_all, fan, NULL) != 0)
                return;
        }
        simpler_task_args_reset(&args);
        for (int i = 0; i < FAN; i++)
            simpler_task_args_add_inout(&args, &t[i]);
        if (kit_submit_variant(orch, KIT_LONG, &args, raise_all, fan, NULL) != 0)
            return;
    }
}

/* What tensor @i holds before and after task @id, which is a producer or the one that waits. */
static int32_t fan_value(uint64_t id, bool after)
{
    uint64_t round = id / (FAN + 1);
    return (int32_t)(2 * round + (id % (FAN + 1) == FAN) + after);
}

static void check_fan(const struct fan *fan)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    uint32_t tensors = 0;
    char path[256];

    dump_path(path, sizeof(path), "args.bin");
    int bin = open(path, O_RDONLY);
    dump_path(path, sizeof(path), "args_dump.json");
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    while (simpler_dump_manifest_next(m, &e) > 0) {
        int32_t cells[MOST_FAN];
        if (e.kind == SIMPLER_DUMP_SCALAR)
            continue;
        tensors++;
        assert_int_equal(e.bin_size, 4 * fan->cells);
        assert_int_equal(pread(bin, cells, e.bin_size, (off_t)e.bin_offset), e.bin_size);
        for (uint32_t k = 0; k < fan->cells; k++)
            assert_int_equal(cells[k], fan_value(e.task_id, e.stage == SIMPLER_DUMP_AFTER));
    }
    assert_string_equal(simpler_dump_manifest_error(m), "");
    simpler_dump_manifest_close(m);
    (void)close(bin);
    assert_int_equal(tensors, FAN_TIMES * 4 * FAN);
}

/* Fifty times; the payloads of a run are several arenas. */
static void fill_pool_and_arena(const struct simpler_dump_config *sizes, uint32_t cells)
{
    static struct fan fan;
    struct kit kit;
    int full = 0;

    dump_open(&kit, sizes);
    dump_slow_writes(200000, false);
    for (int round = 0; round < 50; round++) {
        struct simpler_call_config config = kit_config(3);
        memset(&fan, 0, sizeof(fan));
        fan.cells = cells;
        config.enable_dump_args = 2;
        config.output_prefix = dump_prefix;
        config.hazards = SIMPLER_HAZARDS_ALL;
        kit_set_dep_pool(&config, FAN);
        assert_int_equal(kit_run(&kit, fan_graph, &fan, &config, &dump_result), 0);
        assert_int_equal(dump_result.args_dump.status, 0);
        assert_int_equal(dump_result.args_dump.records, FAN_TIMES * (FAN * 4 + 2 * FAN + 2));
        full += dump_result.stats.ring[0].dep_pool_peak == FAN;
        check_fan(&fan);
        if (dump_result.stats.ring[0].dep_pool_peak == FAN)
            saw("slow-disk-full-pool");
    }
    simpler_testpoint_set(NULL, NULL);
    kit_close(&kit);
    /* Else a producer was done before its consumer was linked. */
    assert_true(full > 0);
    print_message("the pool was full in %d of 50 runs\n", full);
}

static void a_full_pool_and_an_arena_of_4_kib(void **state)
{
    (void)state;
    fill_pool_and_arena(&(struct simpler_dump_config){.records_per_buffer = 4,
                                                      .buffers_per_thread = 4,
                                                      .avg_tensor_bytes = 256},
                        DUMP_CELLS);
}

static void a_full_pool_and_an_arena_of_64_kib(void **state)
{
    (void)state;
    fill_pool_and_arena(&(struct simpler_dump_config){.records_per_buffer = 4,
                                                      .buffers_per_thread = 4,
                                                      .avg_tensor_bytes = 4096},
                        MOST_FAN);
}

static int64_t mapped_bytes(void)
{
    char text[64] = "";
    int fd = open("/proc/self/statm", O_RDONLY);

    assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
    (void)close(fd);
    return strtoll(text, NULL, 10) * sysconf(_SC_PAGESIZE);
}

/* What a worker with such queues maps for a run. */
static int64_t bytes_of_depth(uint32_t depth)
{
    struct simpler_dump_config sizes = {.records_per_buffer = 4,
                                        .buffers_per_thread = 4,
                                        .avg_tensor_bytes = 256,
                                        .ready_queue_depth = depth};
    struct dump_chain chain = {.tasks = 4};
    int64_t before = mapped_bytes();
    struct kit kit;

    dump_open(&kit, &sizes);
    assert_int_equal(dump_run(&kit, dump_chain_graph, &chain, dump_prefix, 2), 0);
    int64_t bytes = mapped_bytes() - before;
    kit_close(&kit);
    return bytes;
}

/* AD-28: a worker's queues are as deep as it was opened with: 32 bytes an entry, two threads. */
static void a_deep_ready_queue(void **state)
{
    (void)state;
    (void)bytes_of_depth(1);
    assert_true(bytes_of_depth(65536) - bytes_of_depth(1) >= 2 * 65535 * 32);
}

/* With one place a thread waits at every buffer, and nothing is lost. */
static void a_short_ready_queue(void **state)
{
    (void)state;
    for (uint32_t depth = 1; depth <= 64; depth *= 8) {
        struct simpler_dump_config sizes = {.records_per_buffer = 4,
                                            .buffers_per_thread = 16,
                                            .avg_tensor_bytes = 4096,
                                            .ready_queue_depth = depth};
        struct dump_chain chain = {.tasks = 400};
        struct kit kit;
        uint32_t truncated;
        dump_open(&kit, &sizes);
        dump_slow_writes(100000, false);
        assert_int_equal(dump_run(&kit, dump_chain_graph, &chain, dump_prefix, 2), 0);
        simpler_testpoint_set(NULL, NULL);
        assert_int_equal(dump_result.args_dump.status, 0);
        dump_check_chain(&truncated);
        assert_int_equal(dump_result.args_dump.records, 1600);
        saw("short-ready-queue");
        kit_close(&kit);
    }
}

/* ---- a host that takes nothing ---- */

static _Atomic bool host_stands;
static _Atomic enum simpler_testpoint stands_at;

static bool stand(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point != atomic_load_explicit(&stands_at, memory_order_relaxed))
        return false;
    while (atomic_load_explicit(&host_stands, memory_order_relaxed))
        kit_sleep_ns(1000000);
    return false;
}

#define DEAD_RECORDS 200

/* A collector with an arena of 4 KiB, and DEAD_RECORDS records of 3000 bytes; how long they took.
 */
static uint64_t dump_to_a_dead_host(enum simpler_testpoint where,
                                    struct simpler_args_dump_collector **out)
{
    struct args_dump_collector_config config = {.transport = &simpler_transport_mapped,
                                                .lanes = 1,
                                                .records_per_buffer = 4,
                                                .buffers = 4,
                                                .avg_bytes = 256,
                                                .backstop_ns = 100000000,
                                                .write_limit_ns = 400000000};
    struct simpler_args_dump_collector *c;
    static uint8_t bytes[3000];
    uint32_t shape = sizeof(bytes), one = 1;
    struct dump_args_info info = {.buffer_addr = (uint64_t)(uintptr_t)bytes,
                                  .ndims = 1,
                                  .dtype = SIMPLER_DTYPE_UINT8,
                                  .is_contiguous = 1,
                                  .shape = &shape,
                                  .stride = &one};
    struct dump_args_task task = {.func_count = 1};

    atomic_store_explicit(&stands_at, where, memory_order_relaxed);
    atomic_store_explicit(&host_stands, true, memory_order_relaxed);
    simpler_testpoint_set(stand, NULL);
    assert_int_equal(simpler_args_dump_collector_open(&config, &c), 0);
    assert_int_equal(simpler_args_dump_collector_admit(c, 1, dump_prefix, 2), 0);
    set_dump_args_enabled(true);
    set_platform_dump_base(simpler_args_dump_collector_device_base(c));
    assert_int_equal(dump_args_init(1), 2);
    struct dump_args_run at = {simpler_args_dump_collector_device_base(c), 1};
    uint64_t start = kit_now_ns();
    for (uint32_t i = 0; i < DEAD_RECORDS; i++) {
        task.task_id = i;
        dump_args_begin(&at, 0);
        dump_arg_record(&task, &info, 0, 0, true);
        dump_args_end();
    }
    uint64_t took = kit_now_ns() - start;
    dump_args_flush(&at, 0);
    *out = c;
    return took;
}

static void stands_no_more(void)
{
    atomic_store_explicit(&host_stands, false, memory_order_relaxed);
}

/* AD-26, AD-27: after one expiry the lane drops without waiting; every loss is counted. */
static void a_dead_host_costs_one_wait(void **state)
{
    /* A write that does not return: its limit is the wait. */
    static const struct {
        enum simpler_testpoint at;
        uint64_t least_ns;
        const char *fault;
    } where[] = {{SIMPLER_TESTPOINT_COLLECTOR_BEFORE_COLLECT, 100000000, "host-takes-nothing"},
                 {SIMPLER_TESTPOINT_DUMP_BIN_WRITE, 300000000, "write-returns-late"}};
    enum simpler_lane_end end = SIMPLER_LANE_COMPLETE;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct simpler_args_dump_collector *c;
        struct args_dump_outcome out;
        uint64_t took = dump_to_a_dead_host(where[i].at, &c);
        stands_no_more();
        int rc = simpler_args_dump_collector_settle(c, &end, &out);
        assert_int_equal(rc, SIMPLER_EPARTIAL);
        simpler_testpoint_set(NULL, NULL);
        assert_in_range(took, where[i].least_ns, 5000000000);
        assert_true(out.counts_known && out.has_manifest);
        assert_in_range(out.records, 1, 4);
        assert_int_equal(out.records + out.dropped_arena + out.dropped_no_free +
                             out.dropped_ready_full,
                         DEAD_RECORDS);
        fault_saw(where[i].fault, "settle=%s manifest=%s not_counted=%d ms=%d",
                  simpler_status_name(rc), fault_yes(out.has_manifest),
                  DEAD_RECORDS - (int)(out.records + out.dropped_arena + out.dropped_no_free +
                                       out.dropped_ready_full),
                  (int)(took / 1000000));
        simpler_args_dump_collector_close(c);
    }
}

/* The write never returns at all: the run's end goes without it, and says so. */
static void a_write_that_never_returns_ends_the_run(void **state)
{
    enum simpler_lane_end end = SIMPLER_LANE_COMPLETE;
    struct simpler_args_dump_collector *c;
    struct args_dump_outcome out;

    (void)state;
    uint64_t took = dump_to_a_dead_host(SIMPLER_TESTPOINT_DUMP_BIN_WRITE, &c);
    uint64_t start = kit_now_ns();
    int rc = simpler_args_dump_collector_settle(c, &end, &out);
    assert_int_equal(rc, SIMPLER_EPARTIAL);
    uint64_t end_took = kit_now_ns() - start;
    assert_in_range(took, 300000000, 5000000000);
    assert_in_range(end_took, 2900000000, 20000000000);
    assert_true(simpler_args_dump_collector_is_lost(c));
    assert_false(out.counts_known || out.has_manifest);
    assert_false(dump_exists("args_dump.json"));
    assert_true(out.dropped_arena + out.dropped_no_free + out.dropped_ready_full >=
                DEAD_RECORDS - 4);
    simpler_args_dump_collector_close(c); /* waits for nobody */
    stands_no_more();
    kit_sleep_ns(20000000);
    simpler_testpoint_set(NULL, NULL);
    assert_false(dump_exists("args_dump.json"));
    fault_saw("write-never-returns", "settle=%s manifest=%s ms=%d", simpler_status_name(rc),
              fault_yes(dump_exists("args_dump.json")), (int)(end_took / 1000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DUMP_TEST(a_slow_disk_is_no_deadlock),
        DUMP_TEST(a_disk_of_40_mb_a_second),
        DUMP_TEST(a_full_pool_and_an_arena_of_4_kib),
        DUMP_TEST(a_full_pool_and_an_arena_of_64_kib),
        DUMP_TEST(a_short_ready_queue),
        DUMP_TEST(a_deep_ready_queue),
        DUMP_TEST(a_dead_host_costs_one_wait),
        DUMP_TEST(a_write_that_never_returns_ends_the_run),
    };
    simpler_log_set_level(SIMPLER_LOG_WARN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    (void)puts("what fails on demand takes a debug build");
    return 77;
}
#endif
