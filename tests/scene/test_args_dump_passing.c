/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short tasks pass through under an args dump as without one: what they are
 * captured with, by which ids, and that they do pass.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "cm.h"
#include "dump_rig.h"
#include "report/dump_manifest.h"

#define MANY 3000

static int dump_with(struct kit *kit, kit_orch fn, void *user, uint32_t threads, uint32_t level)
{
    struct simpler_call_config config = kit_config(threads);

    config.enable_dump_args = level;
    config.output_prefix = dump_prefix;
    return kit_run(kit, fn, user, &config, &dump_result);
}

/* One thread: every kernel counts as short.  Some platforms have two at least. */
static bool is_alone(void)
{
    return kit_threads(1) == 1;
}

/* ---- they pass, with what they find and leave ---- */

static void each_payload_is_its_tasks(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct dump_chain chain = {.tasks = MANY};
        uint32_t truncated;
        struct kit kit;
        kit_open(&kit);
        assert_int_equal(dump_with(&kit, dump_chain_graph, &chain, threads, 2), 0);
        assert_int_equal(dump_result.args_dump.status, 0);
        assert_int_equal(dump_result.args_dump.records, 4 * MANY);
        assert_int_equal(dump_result.stats.ring[0].tasks, MANY);
        assert_int_equal(dump_result.stats.tasks_run, MANY);
        dump_check_chain(&truncated);
        assert_int_equal(truncated, 0);
        if (threads == 1 && is_alone()) {
            assert_int_equal(dump_result.stats.ring[0].task_window_peak, 1);
            assert_int_equal(dump_result.stats.tensormap_peak, 0);
        }
        kit_close(&kit);
    }
}

/* ---- entries, one by one ---- */

struct want {
    uint64_t task_id;
    uint32_t stage, arg;
    int32_t value; /* of each element */
};

/* The tensors' entries of the manifest are these, in this order. */
static void check_entries(const struct want *want, size_t count)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    int32_t cells[DUMP_CELLS];
    char path[256];
    size_t at = 0;

    dump_path(path, sizeof(path), "args.bin");
    int bin = open(path, O_RDONLY);
    dump_path(path, sizeof(path), "args_dump.json");
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    while (simpler_dump_manifest_next(m, &e) > 0) {
        if (e.kind == SIMPLER_DUMP_SCALAR)
            continue;
        assert_true(at < count);
        assert_int_equal(e.task_id, want[at].task_id);
        assert_int_equal(e.stage, want[at].stage);
        assert_int_equal(e.arg_index, want[at].arg);
        assert_int_equal(pread(bin, cells, sizeof(cells), (off_t)e.bin_offset), sizeof(cells));
        for (int k = 0; k < DUMP_CELLS; k++)
            assert_int_equal(cells[k], want[at].value);
        at++;
    }
    assert_string_equal(simpler_dump_manifest_error(m), "");
    assert_int_equal(at, count);
    simpler_dump_manifest_close(m);
    (void)close(bin);
}

static int32_t first[DUMP_CELLS], second[DUMP_CELLS];

static void fill(int32_t *cells, int32_t value)
{
    for (int i = 0; i < DUMP_CELLS; i++)
        cells[i] = value;
}

/* Tensor 0 is read, tensor 1 written; then both descriptors and the array are spoiled. */
static int rude_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    int64_t *mine = (int64_t *)(uintptr_t)args;

    fill(simpler_kernel_data(args, 1), 7);
    for (uint32_t i = 0; i < tensors; i++) {
        struct simpler_tensor *t = (struct simpler_tensor *)(uintptr_t)args[i];
        memset(t, 0, sizeof(*t));
        mine[i] = 0;
    }
    (void)user;
    return 0;
}

static void rude_graph(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor in = kit_tensor(first, DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_create_info info = kit_info(DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_tensor out = kit_tensor(second, DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_task_args args;

    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &in);
    simpler_task_args_add_inout(&args, &out);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, rude_kernel, NULL, NULL), 0);
    /* With an OUTPUT it has a slot, and is run here all the same. */
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &in);
    simpler_task_args_add_create(&args, &info);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, rude_kernel, NULL, NULL), 0);
}

/* What a kernel does to its own arguments is not what is captured behind it. */
static void a_kernel_spoils_its_arguments(void **state)
{
    static const struct want want[] = {
        {0, SIMPLER_DUMP_BEFORE, 0, 3}, {0, SIMPLER_DUMP_BEFORE, 1, 4},
        {0, SIMPLER_DUMP_AFTER, 1, 7},  {1, SIMPLER_DUMP_BEFORE, 0, 3},
        {1, SIMPLER_DUMP_AFTER, 1, 7},
    };

    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct kit kit;
        kit_open(&kit);
        fill(first, 3);
        fill(second, 4);
        assert_int_equal(dump_with(&kit, rude_graph, NULL, threads, 2), 0);
        check_entries(want, sizeof(want) / sizeof(want[0]));
        kit_close(&kit);
    }
}

/* ---- marked tasks alone ---- */

static void marks_graph(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(first, DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_task_args args;

    (void)user;
    for (int i = 0; i < 4; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &t);
        if (i == 1 || i == 3)
            simpler_task_args_dump(&args, &t);
        KIT_EXPECT_EQUAL(kit_submit(orch, &args, dump_increment, NULL, NULL), 0);
    }
}

static void marked_tasks_alone(void **state)
{
    static const struct want want[] = {
        {1, SIMPLER_DUMP_BEFORE, 0, 1},
        {1, SIMPLER_DUMP_AFTER, 0, 2},
        {3, SIMPLER_DUMP_BEFORE, 0, 3},
        {3, SIMPLER_DUMP_AFTER, 0, 4},
    };
    struct kit kit;

    (void)state;
    kit_open(&kit);
    fill(first, 0);
    assert_int_equal(dump_with(&kit, marks_graph, NULL, 1, 1), 0);
    assert_int_equal(dump_result.args_dump.records, 4);
    check_entries(want, sizeof(want) / sizeof(want[0]));
    kit_close(&kit);
}

/* ---- a task that fails, one that is done later ---- */

static int refuse(const int64_t *args, uint32_t tensors, void *user)
{
    (void)dump_increment(args, tensors, user);
    return 7;
}

static void failing_graph(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(first, DUMP_CELLS, SIMPLER_DTYPE_INT32);
    static const kit_kernel kernels[] = {dump_increment, refuse, dump_increment};
    struct simpler_task_args args;

    (void)user;
    for (int i = 0; i < 3; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &t);
        (void)kit_submit(orch, &args, kernels[i], NULL, NULL);
    }
}

static void a_failed_task_has_both_its_stages(void **state)
{
    static const struct want want[] = {
        {0, SIMPLER_DUMP_BEFORE, 0, 0},
        {0, SIMPLER_DUMP_AFTER, 0, 1},
        {1, SIMPLER_DUMP_BEFORE, 0, 1},
        {1, SIMPLER_DUMP_AFTER, 0, 2},
    };

    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct kit kit;
        kit_open(&kit);
        fill(first, 0);
        assert_int_equal(dump_with(&kit, failing_graph, NULL, threads, 2), SIMPLER_EKERNEL);
        assert_int_equal(dump_result.stats.tasks_poisoned, 1);
        check_entries(want, sizeof(want) / sizeof(want[0]));
        kit_close(&kit);
    }
}

static struct simpler_async_counter counter;
static _Atomic bool has_begun; /* release: what it wrote; a chip's second thread waits for it */

/* Begins to write its tensor; somebody else ends it, and raises the counter. */
static int begin_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    struct simpler_async_condition condition = {SIMPLER_ASYNC_COUNTER, 1, &counter, 0};

    (void)tensors;
    (void)user;
    fill(simpler_kernel_data(args, 0), 1);
    atomic_store_explicit(&has_begun, true, memory_order_release);
    return simpler_kernel_defer(args, &condition);
}

static int end_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    while (!atomic_load_explicit(&has_begun, memory_order_acquire))
        (void)sched_yield();
    fill(first, 2);
    simpler_async_counter_add(&counter, 1);
    return 0;
}

/* @user: the first task has an OUTPUT as well, so that it has a slot. */
static void deferred_graph(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(first, DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_tensor other = kit_tensor(second, DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_create_info info = kit_info(DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    if (user != NULL) {
        info.has_initial_value = 1;
        info.initial_value = 9;
        simpler_task_args_add_create(&args, &info);
    }
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, begin_kernel, NULL, NULL), 0);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &other);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, end_kernel, NULL, NULL), 0);
}

/* Its outputs are captured when its condition holds. */
static void a_deferred_task_is_captured_when_it_is_done(void **state)
{
    static const struct want plain[] = {
        {0, SIMPLER_DUMP_BEFORE, 0, 0},
        {0, SIMPLER_DUMP_AFTER, 0, 2},
        {1, SIMPLER_DUMP_BEFORE, 0, 4},
    };
    static const struct want with_output[] = {
        {0, SIMPLER_DUMP_BEFORE, 0, 0},
        {0, SIMPLER_DUMP_AFTER, 0, 2},
        {0, SIMPLER_DUMP_AFTER, 1, 9},
        {1, SIMPLER_DUMP_BEFORE, 0, 4},
    };

    (void)state;
    for (int output = 0; output < 2; output++) {
        struct kit kit;
        kit_open(&kit);
        fill(first, 0);
        fill(second, 4);
        counter.value = 0; /* between runs */
        atomic_store(&has_begun, false);
        assert_int_equal(dump_with(&kit, deferred_graph, output ? first : NULL, 1, 2), 0);
        check_entries(output ? with_output : plain, output ? 4 : 3);
        kit_close(&kit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DUMP_TEST(each_payload_is_its_tasks),
        DUMP_TEST(a_kernel_spoils_its_arguments),
        DUMP_TEST(marked_tasks_alone),
        DUMP_TEST(a_failed_task_has_both_its_stages),
        DUMP_TEST(a_deferred_task_is_captured_when_it_is_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
