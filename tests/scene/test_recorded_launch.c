/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SY-02, AD-31: blocks, a mixed task, a sync_start task and predicates inside a recorded graph
 * that is replayed with other tensors and scalars; an args dump of the replay holds what one of
 * the same tasks holds that were submitted one by one.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cm.h"
#include "dump_rig.h"
#include "report/dump_manifest.h"

#define N     48u
#define CALLS 4u
/* The two flags are elements 3 and 4 of that window: the graph looks through views of it. */
#define WINDOW(i) (2 * (i) + 1)
#define FLAG      3u

static struct kit kit;
static int calls; /* of the graph's function */

struct binding {
    int32_t flags[16]; /* the graph's argument is a window of 8, each call's elsewhere */
    int64_t cells[N];
    uint64_t add;
};
static struct binding bindings[CALLS];

/* Adds @user times the bound scalar to part @k of @parts. */
static int add_part(const int64_t *args, uint32_t tensors, const void *user, uint32_t k,
                    uint32_t parts)
{
    int64_t *cells = simpler_kernel_data(args, 0);
    uint64_t add;

    simpler_kernel_scalar(args, tensors + 2, &add, sizeof(add));
    for (uint32_t i = k * N / parts; i < (k + 1) * N / parts; i++)
        cells[i] += *(const int64_t *)user * (int64_t)add;
    return 0;
}

static int add_block(const int64_t *args, uint32_t tensors, void *user)
{
    return add_part(args, tensors, user, (uint32_t)simpler_kernel_block_idx(args),
                    (uint32_t)simpler_kernel_block_num(args));
}

static int add_lane(const int64_t *args, uint32_t tensors, void *user)
{
    return add_part(args, tensors, user, (uint32_t)simpler_kernel_lane(args), 3);
}

/* Each block its own part, and behind the barrier the part of the next block. */
static int add_two_parts(const int64_t *args, uint32_t tensors, void *user)
{
    uint32_t blocks = (uint32_t)simpler_kernel_block_num(args);
    uint32_t block = (uint32_t)simpler_kernel_block_idx(args);

    (void)add_part(args, tensors, user, block, blocks);
    int status = simpler_kernel_sync_all(args);
    return status != 0 ? status : add_part(args, tensors, user, (block + 1) % blocks, blocks);
}

static void prepare(struct simpler_task_args *args, const struct simpler_graph_args *g,
                    kit_kernel fn, int64_t *times)
{
    simpler_task_args_reset(args);
    simpler_task_args_add_inout(args, &g->tensor[1]);
    kit_add_call(args, fn, times);
    simpler_task_args_add_scalar(args, &g->scalar[0], SIMPLER_DTYPE_UINT64);
}

static void submit_if(struct simpler_orch *orch, const struct simpler_graph_args *g, uint32_t which,
                      int32_t blocks, int64_t *times)
{
    /* Of a view of three elements the first flag is the last, the second one is the middle. */
    uint32_t shape = 3, shift = 1 + 2 * which;
    struct simpler_tensor view;
    struct simpler_predicate p = {
        .tensor = &view, .index = {FLAG + which - shift}, .op = SIMPLER_PREDICATE_GT, .target = 0};
    struct simpler_task_args args;

    KIT_EXPECT_EQUAL(simpler_tensor_view(&g->tensor[0], &shape, &shift, &view), 0);
    prepare(&args, g, add_block, times);
    simpler_task_args_set_block_num(&args, blocks);
    simpler_task_args_set_predicate(&args, &p);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, 1, &args, NULL), 0);
}

/*
 * Blocks, lanes, one task and blocks behind a predicate each: 1, 10, 100 and 1000 times the
 * scalar.  Blocks of sync_start: 10000 times, twice.
 */
static void graph(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    static int64_t times[] = {1, 10, 100, 1000, 10000};
    static const struct simpler_mixed_kernels lanes = {1 + KIT_VARIANT * KIT_AIV_VARIANTS, 1, 1};
    struct simpler_task_args args;

    calls++;
    prepare(&args, g, add_block, &times[0]);
    simpler_task_args_set_block_num(&args, 4);
    simpler_task_args_dump_all(&args);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, 1, &args, NULL), 0);
    prepare(&args, g, add_lane, &times[1]);
    KIT_EXPECT_EQUAL(simpler_orch_submit_mixed(orch, &lanes, &args, NULL), 0);
    submit_if(orch, g, 0, 1, &times[2]);
    submit_if(orch, g, 1, 6, &times[3]);
    prepare(&args, g, add_two_parts, &times[4]);
    simpler_task_args_set_block_num(&args, 3);
    simpler_task_args_set_require_sync_start(&args, true);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, 1, &args, NULL), 0);
}

static void call(struct simpler_orch *orch, uint32_t i, bool as_graph)
{
    struct binding *b = &bindings[i];
    struct simpler_tensor all = kit_tensor(b->flags, 16, SIMPLER_DTYPE_INT32);
    struct simpler_tensor t[2] = {all, kit_tensor(b->cells, N, SIMPLER_DTYPE_INT64)};
    uint32_t shape = 8, offset = WINDOW(i);
    struct simpler_graph_args direct = {t, &b->add, 2, 1, NULL};
    struct simpler_task_args args;

    KIT_EXPECT_EQUAL(simpler_tensor_view(&all, &shape, &offset, &t[0]), 0);
    if (!as_graph) {
        graph(orch, &direct);
        return;
    }
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &t[0]);
    simpler_task_args_add_inout(&args, &t[1]);
    simpler_task_args_add_scalar(&args, &b->add, SIMPLER_DTYPE_UINT64);
    KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, graph, &args, NULL, 0), 0);
}

static void orchestrate(struct simpler_orch *orch, void *as_graph)
{
    for (uint32_t i = 0; i < CALLS; i++)
        call(orch, i, *(const bool *)as_graph);
}

static int run(const char *runtime, bool as_graph, uint32_t threads, uint32_t level)
{
    struct simpler_call_config config = kit_config(threads);

    for (uint32_t i = 0; i < CALLS; i++) {
        struct binding *b = &bindings[i];
        /* Around them the contrary. */
        int32_t flag[2] = {(int32_t)i % 2, (int32_t)i / 2};
        for (uint32_t k = 0; k < 16; k++)
            b->flags[k] = (k < WINDOW(i) + FLAG) ? !flag[0] : !flag[1];
        b->flags[WINDOW(i) + FLAG] = flag[0];
        b->flags[WINDOW(i) + FLAG + 1] = flag[1];
        b->add = i + 1;
        for (uint32_t k = 0; k < N; k++)
            b->cells[k] = 100000 * i + k;
    }
    calls = 0;
    config.runtime = runtime;
    config.enable_dump_args = level;
    config.output_prefix = level != 0 ? dump_prefix : NULL;
    return kit_run(&kit, orchestrate, &as_graph, &config, &dump_result);
}

static void check(void)
{
    for (uint32_t i = 0; i < CALLS; i++) {
        int64_t times = 20011 + 100 * (i % 2) + 1000 * (i / 2);
        for (uint32_t k = 0; k < N; k++)
            assert_int_equal(bindings[i].cells[k], 100000 * i + k + times * (i + 1));
    }
    assert_int_equal(dump_result.stats.tasks, 5 * CALLS);
    assert_int_equal(dump_result.stats.tasks_run, 3 * CALLS + 4);
    assert_int_equal(dump_result.stats.tasks_skipped, 4);
}

static void launches_are_replayed_with_other_data(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        assert_int_equal(run("tensormap_and_ringbuffer", true, threads, 0), 0);
        assert_int_equal(calls, CALLS);
        check();
        assert_int_equal(run("host_build_graph", true, threads, 0), 0);
        assert_int_equal(calls, threads == 1 ? 1 : 0);
        check();
    }
}

/* ---- the dump ---- */

struct found {
    struct simpler_dump_entry entry;
    uint8_t bytes[N * 8];
};

/* What does not depend on which task ran first. */
static uint32_t read_dump(struct found *found, uint32_t most)
{
    struct simpler_dump_manifest *m;
    char path[256];
    uint32_t n = 0;

    dump_path(path, sizeof(path), "args.bin");
    int bin = open(path, O_RDONLY);
    dump_path(path, sizeof(path), "args_dump.json");
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    memset(found, 0, most * sizeof(*found));
    while (n < most && simpler_dump_manifest_next(m, &found[n].entry) > 0) {
        struct found *f = &found[n++];
        assert_in_range(f->entry.bin_size, 0, sizeof(f->bytes));
        if (f->entry.bin_size != 0)
            assert_int_equal(pread(bin, f->bytes, f->entry.bin_size, (off_t)f->entry.bin_offset),
                             f->entry.bin_size);
    }
    assert_string_equal(simpler_dump_manifest_error(m), "");
    simpler_dump_manifest_close(m);
    (void)close(bin);
    assert_int_equal(n, dump_result.args_dump.records);
    return n;
}

static void compare(const struct found *a, const struct found *b)
{
    const struct simpler_dump_entry *x = &a->entry, *y = &b->entry;

    assert_int_equal(x->task_id, y->task_id);
    assert_int_equal(x->arg_index, y->arg_index);
    assert_int_equal(x->stage, y->stage);
    assert_int_equal(x->role, y->role);
    assert_int_equal(x->kind, y->kind);
    assert_int_equal(x->keys, y->keys);
    assert_int_equal(x->dtype, y->dtype);
    assert_int_equal(x->ambiguous, y->ambiguous);
    assert_int_equal(x->truncated, y->truncated);
    assert_int_equal(x->start_offset, y->start_offset);
    assert_int_equal(x->bin_size, y->bin_size);
    assert_memory_equal(x->func_ids, y->func_ids, sizeof(x->func_ids));
    assert_memory_equal(x->shape, y->shape, sizeof(x->shape));
    assert_memory_equal(x->strides, y->strides, sizeof(x->strides));
    assert_string_equal(x->value, y->value);
    assert_memory_equal(a->bytes, b->bytes, sizeof(a->bytes));
}

static void a_replay_is_dumped_as_the_tasks_one_by_one(void **state)
{
    static struct found one_by_one[256], replayed[256];

    (void)state;
    /* Recorded by a run without a dump: what it keeps is enough for one. */
    assert_int_equal(run("host_build_graph", true, 2, 0), 0);
    for (uint32_t level = 1; level <= 3; level++) {
        assert_int_equal(run("host_build_graph", false, 2, level), 0);
        assert_int_equal(calls, CALLS);
        check();
        uint32_t n = read_dump(one_by_one, 256);
        assert_int_equal(run("host_build_graph", true, 2, level), 0);
        assert_int_equal(calls, 0);
        check();
        assert_int_equal(read_dump(replayed, 256), n);
        /* Level 1: one task of each call; tensor before and after, three scalars. */
        if (level == 1)
            assert_int_equal(n, CALLS * 5);
        assert_true(n >= CALLS * 5);
        for (uint32_t i = 0; i < n; i++)
            compare(&one_by_one[i], &replayed[i]);
    }
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_are_replayed_with_other_data),
        DUMP_TEST(a_replay_is_dumped_as_the_tasks_one_by_one),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
