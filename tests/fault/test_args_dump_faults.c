/* SPDX-License-Identifier: Apache-2.0 */
// ctest: TIMEOUT 120
/*
 * A dump never changes a run, whatever the disk and the host do: each write that
 * can fail fails, directories cannot be made or vanish, the host stops taking.
 * The counts are true and the manifest, where there is one, is right (AD-16, AD-25,
 * AD-27, decision 30).  Needs a debug build for what fails on demand.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/crc32c.h"
#include "base/testpoint.h"
#include "collect/args_dump/args_dump_aicpu.h"
#include "collect/args_dump/args_dump_collector.h"
#include "failing_alloc.h"
#include "kit.h"
#include "platform/transport.h"
#include "report/dump_manifest.h"
#include "simpler/log.h"

#define CELLS 64 /* int32 of each tensor */

static char prefix[64];
static struct simpler_run_result result;

/* ---- runs ---- */

static int make_prefix(void **state)
{
    (void)state;
    (void)snprintf(prefix, sizeof(prefix), "/tmp/test_dump_faults_XXXXXX");
    return mkdtemp(prefix) == NULL;
}

static int remove_prefix(void **state)
{
    char command[128];

    (void)state;
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", prefix);
    return system(command);
}

static void open_small(struct kit *kit)
{
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;
    struct simpler_callable callable = kit_callable();

    config.dump.records_per_buffer = 4;
    config.dump.buffers_per_thread = 4;
    config.dump.avg_tensor_bytes = 256;
    assert_int_equal(simpler_worker_open(&config, &kit->worker), 0);
    assert_int_equal(simpler_worker_register(kit->worker, &callable, &kit->handle), 0);
}

static int run(struct kit *kit, kit_orch fn, void *user, const char *where, uint32_t level)
{
    struct simpler_call_config config = kit_config(2);

    config.enable_dump_args = level;
    config.output_prefix = where;
    return kit_run(kit, fn, user, &config, &result);
}

/* Adds one to each element. */
static int increment(const int64_t *args, uint32_t tensors, void *user)
{
    int32_t *cells = simpler_kernel_data(args, 0);

    (void)tensors;
    (void)user;
    for (int i = 0; i < CELLS; i++)
        cells[i]++;
    return 0;
}

struct chain {
    int32_t cells[CELLS];
    uint32_t tasks;
    kit_kernel last;
};

/* Task i finds i in every element and leaves i + 1. */
static void chain_graph(struct simpler_orch *orch, void *user)
{
    struct chain *chain = user;
    struct simpler_tensor t = kit_tensor(chain->cells, CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_task_args args;

    for (uint32_t i = 0; i < chain->tasks; i++) {
        bool last = i + 1 == chain->tasks && chain->last != NULL;
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &t);
        (void)kit_submit(orch, &args, last ? chain->last : increment, chain, NULL);
    }
}

static void path_of(char *path, size_t bytes, const char *name)
{
    (void)snprintf(path, bytes, "%s/args_dump/%s", prefix, name);
}

static bool exists(const char *name)
{
    char path[256];
    path_of(path, sizeof(path), name);
    return access(path, F_OK) == 0;
}

/* Every entry of a chain, cut ones as far as they go; their number is result's. */
static void check_chain(uint32_t *truncated)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    char path[256];
    uint64_t entries = 0;
    struct stat st;

    path_of(path, sizeof(path), "args.bin");
    int bin = open(path, O_RDONLY);
    assert_true(bin >= 0 && fstat(bin, &st) == 0);
    assert_int_equal(st.st_size, result.args_dump.payload_bytes);
    path_of(path, sizeof(path), "args_dump.json");
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    *truncated = 0;
    while (simpler_dump_manifest_next(m, &e) > 0) {
        int32_t cells[CELLS], want = (int32_t)e.task_id + (e.stage == SIMPLER_DUMP_AFTER);
        entries++;
        if (e.kind == SIMPLER_DUMP_SCALAR)
            continue;
        assert_true(e.bin_size == sizeof(cells) || e.truncated);
        assert_int_equal(e.bin_size % 4, 0);
        *truncated += e.truncated;
        assert_int_equal(pread(bin, cells, e.bin_size, (off_t)e.bin_offset), e.bin_size);
        for (uint64_t i = 0; i < e.bin_size / 4; i++)
            assert_int_equal(cells[i], want);
    }
    assert_string_equal(simpler_dump_manifest_error(m), "");
    assert_int_equal(simpler_dump_manifest_header(m)->count[SIMPLER_DUMP_COUNT_TRUNCATED],
                     *truncated);
    simpler_dump_manifest_close(m);
    (void)close(bin);
    assert_int_equal(entries, result.args_dump.records);
}

/* ---- what fails ---- */

#if defined(SIMPLER_DEBUG)
static _Atomic int failing; /* enum simpler_testpoint */
static _Atomic int64_t before_failure;

static bool fail_from_nth(void *user, enum simpler_testpoint point)
{
    (void)user;
    return (int)point == atomic_load_explicit(&failing, memory_order_relaxed) &&
           atomic_fetch_sub_explicit(&before_failure, 1, memory_order_relaxed) <= 0;
}

static void arm(enum simpler_testpoint point, int64_t nth)
{
    atomic_store_explicit(&failing, (int)point, memory_order_relaxed);
    atomic_store_explicit(&before_failure, nth, memory_order_relaxed);
    simpler_testpoint_set(fail_from_nth, NULL);
}

static void payload_writes_fail(void **state)
{
    struct kit kit;

    (void)state;
    open_small(&kit);
    for (int64_t nth = 0; nth < 8; nth++) {
        struct chain chain = {.tasks = 40};
        uint32_t truncated;
        arm(SIMPLER_TESTPOINT_DUMP_BIN_WRITE, nth);
        assert_int_equal(run(&kit, chain_graph, &chain, prefix, 2), 0);
        simpler_testpoint_set(NULL, NULL);
        assert_int_equal(chain.cells[CELLS - 1], 40);
        /* Neighbouring payloads are written at once: there may be fewer writes than nth. */
        bool fired = atomic_load(&before_failure) < 0;
        assert_true(fired || nth > 0);
        if (!fired) {
            assert_int_equal(result.args_dump.status, 0);
            break;
        }
        assert_int_equal(result.args_dump.status, SIMPLER_EPARTIAL);
        assert_true(result.args_dump.has_manifest && result.args_dump.counts_known);
        assert_int_equal(result.args_dump.records, 40 * 4);
        check_chain(&truncated);
        assert_true(truncated != 0 && truncated == result.args_dump.truncated);
        assert_true(nth != 0 || truncated == 80);
    }
    kit_close(&kit);
}

static void manifest_writes_fail(void **state)
{
    struct kit kit;
    struct chain chain = {.tasks = 10};
    uint32_t truncated;

    (void)state;
    open_small(&kit);
    assert_int_equal(run(&kit, chain_graph, &chain, prefix, 2), 0);
    assert_int_equal(result.args_dump.status, 0);
    check_chain(&truncated);
    arm(SIMPLER_TESTPOINT_DUMP_MANIFEST_WRITE, 0);
    assert_int_equal(run(&kit, chain_graph, &chain, prefix, 2), 0);
    simpler_testpoint_set(NULL, NULL);
    assert_int_equal(result.args_dump.status, SIMPLER_EIO);
    assert_false(result.args_dump.has_manifest);
    assert_int_equal(result.args_dump.write_failed, 40);
    /* The manifest of the run before would be taken for this one's. */
    assert_false(exists("args_dump.json") || exists("args_dump.json.partial") || exists(".spool"));
    kit_close(&kit);
}

static void spool_writes_fail(void **state)
{
    struct kit kit;
    struct chain chain = {.tasks = 10000};

    (void)state;
    kit_open(&kit);
    arm(SIMPLER_TESTPOINT_DUMP_SPOOL_WRITE, 1);
    assert_int_equal(run(&kit, chain_graph, &chain, prefix, 2), 0);
    simpler_testpoint_set(NULL, NULL);
    /* One piece of each shard is in the spool at most, the rest cannot be sorted there. */
    assert_int_equal(chain.cells[0], 10000);
    assert_true(result.args_dump.status != 0);
    assert_int_equal(result.args_dump.records + result.args_dump.write_failed, 40000);
    assert_true(!exists(".spool") && !exists("args_dump.json.partial"));
    assert_int_equal(exists("args_dump.json"), result.args_dump.has_manifest);
    kit_close(&kit);
}

/* Whatever allocation, mapping or thread cannot be had: the run goes on, or says why not. */
static void every_step_fails(void **state)
{
    uint64_t nth = 0;
    bool fired = true;

    (void)state;
    for (; fired; nth++) {
        struct chain chain = {.tasks = 20};
        struct kit kit;
        open_small(&kit);
        failing_alloc_arm(nth);
        int rc = run(&kit, chain_graph, &chain, prefix, 2);
        fired = failing_alloc_fired();
        failing_alloc_disarm();
        assert_int_equal(chain.cells[0], rc == 0 ? 20 : chain.cells[0]);
        assert_true(rc == 0 || rc == SIMPLER_ENOMEM || rc == SIMPLER_ETHREAD);
        assert_true(result.args_dump.status == 0 || fired);
        chain = (struct chain){.tasks = 20};
        assert_int_equal(run(&kit, chain_graph, &chain, prefix, 2), 0);
        assert_int_equal(result.args_dump.status, 0);
        kit_close(&kit);
    }
    assert_true(nth > 30);
}

/* ---- a slow disk ---- */

static _Atomic uint64_t sleep_ns;

/* Each write of payload takes a random time. */
static bool write_slowly(void *user, enum simpler_testpoint point)
{
    static _Atomic uint64_t calls;
    uint64_t most = atomic_load_explicit(&sleep_ns, memory_order_relaxed);

    (void)user;
    if (point == SIMPLER_TESTPOINT_DUMP_BIN_WRITE)
        kit_sleep_ns(kit_mix(atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed)) % most);
    return false;
}

static void start_slow_writes(uint64_t most_ns)
{
    atomic_store_explicit(&sleep_ns, most_ns, memory_order_relaxed);
    simpler_testpoint_set(write_slowly, NULL);
}

/* Waits at the arena are longer than the clocks that find a stuck run. */
static void a_slow_disk_is_no_deadlock(void **state)
{
    uint32_t truncated;

    (void)state;
    for (uint32_t exec = 0; exec < 2; exec++) {
        struct simpler_call_config config = kit_config(2);
        struct chain chain = {.tasks = 24};
        struct kit kit;
        open_small(&kit);
        config.enable_dump_args = 2;
        config.output_prefix = prefix;
        config.exec = exec;
        start_slow_writes(1500000000);
        assert_int_equal(kit_run(&kit, chain_graph, &chain, &config, &result), 0);
        simpler_testpoint_set(NULL, NULL);
        assert_int_equal(result.args_dump.status, 0);
        check_chain(&truncated);
        assert_int_equal(truncated, 0);
        kit_close(&kit);
    }
}

#define FAN 16

/* FAN producers that are long, and a task that waits for all: the pool is full to its last entry.
 */
static void fan_graph(struct simpler_orch *orch, void *user)
{
    int32_t(*cells)[CELLS] = user;
    struct simpler_tensor t[FAN];
    struct simpler_task_args args;

    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < FAN; i++) {
            t[i] = kit_tensor(cells[i], CELLS, SIMPLER_DTYPE_INT32);
            simpler_task_args_reset(&args);
            simpler_task_args_add_inout(&args, &t[i]);
            if (kit_submit_variant(orch, KIT_LONG, &args, increment, NULL, NULL) != 0)
                return;
        }
        simpler_task_args_reset(&args);
        for (int i = 0; i < FAN; i++)
            simpler_task_args_add_inout(&args, &t[i]);
        if (kit_submit_variant(orch, KIT_LONG, &args, increment, NULL, NULL) != 0)
            return;
    }
}

static void a_full_pool_and_a_full_arena(void **state)
{
    struct kit kit;

    (void)state;
    open_small(&kit);
    start_slow_writes(200000);
    for (int round = 0; round < 50; round++) {
        static int32_t cells[FAN][CELLS];
        struct simpler_call_config config = kit_config(3);
        memset(cells, 0, sizeof(cells));
        config.enable_dump_args = 2;
        config.output_prefix = prefix;
        config.hazards = SIMPLER_HAZARDS_ALL;
        kit_set_dep_pool(&config, FAN);
        assert_int_equal(kit_run(&kit, fan_graph, cells, &config, &result), 0);
        assert_int_equal(result.args_dump.status, 0);
        assert_int_equal(result.args_dump.records, 4 * (FAN * 4 + 2 * FAN + 2));
        assert_int_equal(cells[1][0], 4);
        assert_int_equal(cells[0][0], 8);
    }
    simpler_testpoint_set(NULL, NULL);
    kit_close(&kit);
}

/* ---- a host that takes nothing ---- */

static _Atomic bool host_stands;

static bool stand(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point != SIMPLER_TESTPOINT_COLLECTOR_BEFORE_COLLECT)
        return false;
    while (atomic_load_explicit(&host_stands, memory_order_relaxed))
        kit_sleep_ns(1000000);
    return false;
}

/* AD-26, AD-27: after one expiry the lane drops without waiting; every loss is counted. */
static void a_dead_host_costs_one_wait(void **state)
{
    struct args_dump_collector_config config = {.transport = &simpler_transport_mapped,
                                                .lanes = 1,
                                                .records_per_buffer = 4,
                                                .buffers = 4,
                                                .avg_bytes = 256,
                                                .backstop_ns = 100000000};
    struct simpler_args_dump_collector *c;
    struct args_dump_outcome out;
    static uint8_t bytes[3000];
    uint32_t shape = sizeof(bytes), one = 1;
    struct dump_args_info info = {.buffer_addr = (uint64_t)(uintptr_t)bytes,
                                  .ndims = 1,
                                  .dtype = SIMPLER_DTYPE_UINT8,
                                  .is_contiguous = 1,
                                  .shape = &shape,
                                  .stride = &one};
    struct dump_args_task task = {.func_count = 1};
    enum simpler_lane_end end = SIMPLER_LANE_COMPLETE;

    (void)state;
    atomic_store_explicit(&host_stands, true, memory_order_relaxed);
    simpler_testpoint_set(stand, NULL);
    assert_int_equal(simpler_args_dump_collector_open(&config, &c), 0);
    assert_int_equal(simpler_args_dump_collector_admit(c, 1, prefix, 2), 0);
    set_dump_args_enabled(true);
    set_platform_dump_base(simpler_args_dump_collector_device_base(c));
    assert_int_equal(dump_args_init(1), 2);
    struct dump_args_run at = {simpler_args_dump_collector_device_base(c), 1};
    uint64_t start = kit_now_ns();
    for (uint32_t i = 0; i < 200; i++) {
        task.task_id = i;
        dump_args_begin(&at, 0);
        dump_arg_record(&task, &info, 0, 0, true);
        dump_args_end();
    }
    uint64_t took = kit_now_ns() - start;
    dump_args_flush(&at, 0);
    atomic_store_explicit(&host_stands, false, memory_order_relaxed);
    assert_int_equal(simpler_args_dump_collector_settle(c, &end, &out), SIMPLER_EPARTIAL);
    simpler_testpoint_set(NULL, NULL);
    assert_true(took >= 100000000 && took < 5000000000);
    assert_true(out.counts_known && out.has_manifest);
    assert_true(out.records >= 1 && out.records <= 4);
    assert_int_equal(out.records + out.dropped_arena + out.dropped_no_free + out.dropped_ready_full,
                     200);
    simpler_args_dump_collector_close(c);
}
#endif

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
        assert_int_equal(simpler_args_dump_collector_admit(c, level, prefix, level), 0);
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
    assert_false(exists(""));
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
            config.records_per_buffer = 5, config.buffers = 2, config.avg_bytes = 1000;
        assert_int_equal(simpler_args_dump_collector_open(&config, &c), 0);
        assert_int_equal(simpler_args_dump_collector_admit(c, 9, prefix, 3), 0);
        uint64_t base = simpler_args_dump_collector_device_base(c);
        const struct simpler_prof_header *header = (void *)(uintptr_t)base;
        const struct args_dump_block *block = (void *)(uintptr_t)(base + header->client_offset);
        assert_int_equal(header->magic, 0x44554d50);
        assert_int_equal(header->lane_count, 3);
        assert_int_equal(header->kind[0].record_bytes, 128);
        assert_int_equal(header->kind[0].records_per_buffer, asked ? 5 : 256);
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
    assert_int_equal(simpler_args_dump_collector_admit(c, 1, prefix, 2), 0);
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
    path_of(path, sizeof(path), ".spool");
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
    assert_false(exists(".spool"));
    simpler_args_dump_collector_close(c);
}

static void impossible_sizes_are_refused(void **state)
{
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;
    struct simpler_worker *worker = NULL;

    (void)state;
    simpler_log_set_level(SIMPLER_LOG_NONE);
    config.dump.records_per_buffer = UINT32_MAX;
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    config.dump = (struct simpler_dump_config){1u << 20, 1u << 10, (uint64_t)1 << 40};
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    assert_null(worker);
    simpler_log_set_level(SIMPLER_LOG_WARN);
}

/* ---- directories ---- */

static void a_directory_that_cannot_be_made(void **state)
{
    char file[128], below[160];
    struct kit kit;
    struct chain chain = {.tasks = 300};

    (void)state;
    (void)snprintf(file, sizeof(file), "%s/file", prefix);
    int fd = open(file, O_CREAT | O_WRONLY, 0666);
    assert_true(fd >= 0 && close(fd) == 0);
    (void)snprintf(below, sizeof(below), "%s/run", file);
    open_small(&kit);
    assert_int_equal(run(&kit, chain_graph, &chain, below, 2), 0);
    assert_int_equal(chain.cells[0], 300);
    assert_int_equal(result.args_dump.status, SIMPLER_EIO);
    assert_int_equal(result.args_dump.write_failed, 1200);
    assert_false(result.args_dump.has_manifest);
    kit_close(&kit);
}

/* Waits for args.bin, then removes it and its directory. */
static int remove_directory(const int64_t *args, uint32_t tensors, void *user)
{
    char path[256];

    for (int i = 0; i < 5000 && !exists("args.bin"); i++)
        kit_sleep_ns(1000000);
    path_of(path, sizeof(path), "args.bin");
    KIT_EXPECT_EQUAL(unlink(path), 0);
    path_of(path, sizeof(path), "");
    KIT_EXPECT_EQUAL(rmdir(path), 0);
    return increment(args, tensors, user);
}

static void a_directory_that_vanishes(void **state)
{
    struct kit kit;
    struct chain chain = {.tasks = 200, .last = remove_directory};

    (void)state;
    open_small(&kit);
    assert_int_equal(run(&kit, chain_graph, &chain, prefix, 2), 0);
    assert_int_equal(chain.cells[0], 200);
    assert_int_equal(result.args_dump.status, SIMPLER_EIO);
    assert_int_equal(result.args_dump.write_failed, 800);
    assert_false(exists("args_dump.json"));
    kit_close(&kit);
}

/* Another run writes under the prefix: nothing of it is touched, this run says so. */
static void a_directory_of_another_run(void **state)
{
    char path[256];
    struct kit kit;
    struct chain chain = {.tasks = 20};

    (void)state;
    path_of(path, sizeof(path), "");
    assert_int_equal(mkdir(path, 0777), 0);
    int directory = open(path, O_RDONLY | O_DIRECTORY);
    assert_true(directory >= 0 && flock(directory, LOCK_EX | LOCK_NB) == 0);
    path_of(path, sizeof(path), "args_dump.json");
    int theirs = open(path, O_CREAT | O_WRONLY, 0666);
    assert_true(theirs >= 0 && close(theirs) == 0);
    open_small(&kit);
    assert_int_equal(run(&kit, chain_graph, &chain, prefix, 2), 0);
    assert_int_equal(chain.cells[0], 20);
    assert_int_equal(result.args_dump.status, SIMPLER_EIO);
    assert_true(exists("args_dump.json"));
    assert_false(exists("args.bin"));
    assert_int_equal(close(directory), 0);
    chain.cells[0] = 0;
    assert_int_equal(run(&kit, chain_graph, &chain, prefix, 2), 0);
    assert_int_equal(result.args_dump.status, 0);
    assert_true(exists("args.bin"));
    kit_close(&kit);
}

/* ---- the widest task, failed tasks ---- */

static void wide_graph(struct simpler_orch *orch, void *user)
{
    static int32_t cells[SIMPLER_MAX_TENSORS][CELLS];
    struct simpler_tensor t[SIMPLER_MAX_TENSORS];
    struct simpler_task_args args;
    uint64_t more[SIMPLER_MAX_SCALARS - 2] = {0};

    (void)user;
    simpler_task_args_reset(&args);
    for (uint32_t i = 0; i < SIMPLER_MAX_TENSORS; i++) {
        t[i] = kit_tensor(cells[i], CELLS, SIMPLER_DTYPE_INT32);
        simpler_task_args_add_inout(&args, &t[i]);
    }
    kit_add_call(&args, kit_nop_kernel, NULL);
    simpler_task_args_add_scalars(&args, more, SIMPLER_MAX_SCALARS - 2);
    simpler_task_args_dump_all(&args);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, SIMPLER_MAX_TENSORS, &args, NULL), 0);
}

static void the_widest_task(void **state)
{
    struct kit kit;

    (void)state;
    open_small(&kit);
    for (uint32_t level = 1; level <= 3; level++) {
        assert_int_equal(run(&kit, wide_graph, NULL, prefix, level), 0);
        assert_int_equal(result.args_dump.status, 0);
        assert_int_equal(result.args_dump.records, 2 * SIMPLER_MAX_TENSORS + SIMPLER_MAX_SCALARS);
        assert_int_equal(result.args_dump.payload_bytes, 2 * SIMPLER_MAX_TENSORS * 4 * CELLS);
    }
    kit_close(&kit);
}

static int refuse(const int64_t *args, uint32_t tensors, void *user)
{
    (void)increment(args, tensors, user);
    return 7;
}

static void failing_graph(struct simpler_orch *orch, void *user)
{
    struct chain *chain = user;
    struct simpler_tensor t = kit_tensor(chain->cells, CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_task_args args;
    static const kit_kernel kernels[] = {increment, refuse, increment};

    for (uint32_t i = 0; i < 3; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &t);
        (void)kit_submit(orch, &args, kernels[i], chain, NULL);
    }
}

/* Decision 6: a failed run has its dump; the task that did not run has no entry. */
static void a_failed_run_has_its_dump(void **state)
{
    struct kit kit;
    struct chain chain = {.tasks = 3};
    uint32_t truncated;

    (void)state;
    open_small(&kit);
    assert_int_equal(run(&kit, failing_graph, &chain, prefix, 2), SIMPLER_EKERNEL);
    assert_int_equal(result.args_dump.status, 0);
    assert_int_equal(result.args_dump.records, 8);
    check_chain(&truncated);
    kit_close(&kit);
}

/* ---- signatures ---- */

static char warnings[4096];
static int warning_count;

static void keep_warning(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    warning_count++;
    (void)snprintf(warnings + strlen(warnings), sizeof(warnings) - strlen(warnings), "%s\n", line);
}

static int nothing(int64_t *args)
{
    (void)args;
    return 0;
}

static void signature_orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *run)
{
    struct simpler_task_args args;

    for (uint32_t i = 0; i < 4; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &run->tensor[0]); /* IN */
        simpler_task_args_add_input(&args, &run->tensor[1]); /* OUT */
        simpler_task_args_add_input(&args, &run->tensor[2]); /* beyond the signature */
        (void)simpler_orch_submit_aiv(orch, 0, &args, NULL);
    }
}

/* AD-16: the signature rules, by position; each mistake is said once a run. */
static void the_signature_rules(void **state)
{
    static const uint8_t signature[] = {SIMPLER_DIR_IN, SIMPLER_DIR_OUT, SIMPLER_DIR_SCALAR};
    static const struct simpler_kernel kernel = {0, SIMPLER_CORE_AIV, "k", nothing, signature, 3};
    struct simpler_callable callable = {
        .orchestrate = signature_orchestrate, .kernels = &kernel, .kernel_count = 1};
    struct simpler_call_config config = kit_config(2);
    static int32_t cells[3][CELLS];
    struct simpler_tensor t[3];
    struct simpler_orch_args args = {.tensor = t, .tensor_count = 3};
    struct simpler_worker *worker;
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    char path[256];
    uint32_t handle, count = 0;

    (void)state;
    for (int i = 0; i < 3; i++)
        t[i] = kit_tensor(cells[i], CELLS, SIMPLER_DTYPE_INT32);
    assert_int_equal(simpler_worker_open(NULL, &worker), 0);
    assert_int_equal(simpler_worker_register(worker, &callable, &handle), 0);
    config.enable_dump_args = 2;
    config.output_prefix = prefix;
    warning_count = 0;
    simpler_log_set_callback(keep_warning, NULL);
    assert_int_equal(simpler_worker_run(worker, handle, &args, &config, &result), 0);
    simpler_log_set_callback(NULL, NULL);
    assert_int_equal(warning_count, 2);
    assert_non_null(strstr(warnings, "add_inout"));
    assert_non_null(strstr(warnings, "says IN,"));
    assert_non_null(strstr(warnings, "the signature ends before tensor 2"));
    assert_int_equal(result.args_dump.status, 0);
    path_of(path, sizeof(path), "args_dump.json");
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    while (simpler_dump_manifest_next(m, &e) > 0) {
        assert_int_equal(e.arg_index, count % 2);
        assert_int_equal(e.role, count % 2 == 0 ? SIMPLER_DUMP_INPUT : SIMPLER_DUMP_OUTPUT);
        assert_int_equal(e.stage, count % 2 == 0 ? SIMPLER_DUMP_BEFORE : SIMPLER_DUMP_AFTER);
        count++;
    }
    assert_int_equal(count, 8);
    simpler_dump_manifest_close(m);
    simpler_worker_close(worker);
}

#define EACH_IN_A_DIRECTORY(fn) cmocka_unit_test_setup_teardown(fn, make_prefix, remove_prefix)

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(SIMPLER_DEBUG)
        EACH_IN_A_DIRECTORY(payload_writes_fail),
        EACH_IN_A_DIRECTORY(manifest_writes_fail),
        EACH_IN_A_DIRECTORY(spool_writes_fail),
        EACH_IN_A_DIRECTORY(every_step_fails),
        EACH_IN_A_DIRECTORY(a_slow_disk_is_no_deadlock),
        EACH_IN_A_DIRECTORY(a_full_pool_and_a_full_arena),
        EACH_IN_A_DIRECTORY(a_dead_host_costs_one_wait),
#endif
        EACH_IN_A_DIRECTORY(a_base_is_not_enough),
        EACH_IN_A_DIRECTORY(defaults_and_sizes),
        EACH_IN_A_DIRECTORY(reserved_fields_are_filled),
        cmocka_unit_test(impossible_sizes_are_refused),
        EACH_IN_A_DIRECTORY(a_directory_that_cannot_be_made),
        EACH_IN_A_DIRECTORY(a_directory_that_vanishes),
        EACH_IN_A_DIRECTORY(a_directory_of_another_run),
        EACH_IN_A_DIRECTORY(the_widest_task),
        EACH_IN_A_DIRECTORY(a_failed_run_has_its_dump),
        EACH_IN_A_DIRECTORY(the_signature_rules),
    };
    simpler_log_set_level(SIMPLER_LOG_WARN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
