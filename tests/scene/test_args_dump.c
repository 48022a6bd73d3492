/* SPDX-License-Identifier: Apache-2.0 */
// ctest: TIMEOUT 240
// runtimes: all
/*
 * Every payload of an args dump equals a copy that the kernel itself made,
 * element by element: random graphs over a few buffers with random views, types,
 * levels, marks, threads, arenas from 4 KiB, buffers of 2 records and a writer
 * with random delays (debug builds).  Tasks are plain, of several blocks, mixed,
 * cohorts, deferred, or switched off by a predicate.  What is in the manifest is exactly
 * what the level asks for, each payload once a stage.  Proves AD-03, AD-04, AD-07, AD-13, AD-14,
 * AD-15, AD-23, AD-25 and AD-26, and of AD-24 the recovery: what other lanes than the leader's hold
 * at the end comes no other way.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm.h"
#include "kit.h"
#include "prof_rig.h"
#include "report/dump_manifest.h"

#ifndef PROPERTY_SECONDS
#define PROPERTY_SECONDS 6
#endif
#define TASKS        120
#define BUFFERS      5
#define BUFFER_BYTES 65536u
#define MAX_ARGS     4
#define SCALARS      3

static const uint8_t dtypes[] = {SIMPLER_DTYPE_INT8, SIMPLER_DTYPE_FLOAT16, SIMPLER_DTYPE_FLOAT32,
                                 SIMPLER_DTYPE_INT64, SIMPLER_DTYPE_FP4E2M1};

/* One argument, and what its kernel saw. */
struct argument {
    struct simpler_tensor view; /* as the kernel got it */
    struct simpler_create_info info;
    uint8_t use;
    uint8_t *copy[2]; /* before and after; NULL: not yet */
    uint64_t bytes;
    bool seen[2];
};

enum form { PLAIN, BLOCKS, MIXED, COHORT, DEFERRED, OFF, FORMS };

struct task {
    uint64_t id;
    enum form form;
    int32_t blocks;
    uint32_t func_count, first_lane;
    int64_t func_ids[SIMPLER_LANES];
    struct simpler_async_counter counter;
    struct task *next; /* to be finished by the raiser */
    uint32_t number, count;
    struct argument arg[MAX_ARGS];
    uint64_t mask;
    bool marked;
    float scale;
    bool scalar_seen[SCALARS];
};

static struct task tasks[TASKS];
static uint8_t *memory[BUFFERS];
static struct kit_random rng;
static uint32_t level;
static uint64_t arena;
static uint64_t seed; /* of the workers and runs that are under way */

/* ---- the graph ---- */

/* The plainest gather there is. */
static uint8_t *copy_of(const struct simpler_tensor *t)
{
    uint64_t count = simpler_tensor_numel(t), width = simpler_dtype_bytes(t->dtype);
    uint8_t *out = malloc(count * width + 1);

    for (uint64_t flat = 0; flat < count; flat++) {
        uint64_t at = t->start_offset, rest = flat;
        for (uint32_t d = t->ndims; d-- > 0;) {
            at += rest % t->shape[d] * t->stride[d];
            rest /= t->shape[d];
        }
        memcpy(out + flat * width, (uint8_t *)(uintptr_t)t->addr + at * width, width);
    }
    return out;
}

/* Each element gets the task's number and its own, so that a mix shows. */
static void fill(const struct simpler_tensor *t, uint32_t number)
{
    uint64_t count = simpler_tensor_numel(t), width = simpler_dtype_bytes(t->dtype);

    for (uint64_t flat = 0; flat < count; flat++) {
        uint64_t at = t->start_offset, rest = flat, value = kit_mix(number * 1000003u + flat);
        for (uint32_t d = t->ndims; d-- > 0;) {
            at += rest % t->shape[d] * t->stride[d];
            rest /= t->shape[d];
        }
        memcpy((uint8_t *)(uintptr_t)t->addr + at * width, &value, width);
    }
}

static _Atomic(struct task *) to_finish;
static _Atomic bool finisher_ends;

static void write_outputs(struct task *task)
{
    for (uint32_t i = 0; i < task->count; i++) {
        if (task->arg[i].use != SIMPLER_USE_INPUT)
            fill(&task->arg[i].view, task->number * MAX_ARGS + i);
    }
    for (uint32_t i = 0; i < task->count; i++)
        task->arg[i].copy[1] = copy_of(&task->arg[i].view);
}

/* Deferred tasks get their outputs here, when their kernels have long returned. */
static void *finish_deferred(void *unused)
{
    (void)unused;
    while (!atomic_load(&finisher_ends)) {
        kit_sleep_ns(50000);
        struct task *task = atomic_exchange(&to_finish, NULL);
        while (task != NULL) {
            struct task *next = task->next;
            write_outputs(task);
            simpler_async_counter_add(&task->counter, 1);
            task = next;
        }
    }
    return NULL;
}

static int defer(const int64_t *args, struct task *task)
{
    struct simpler_async_condition condition = {SIMPLER_ASYNC_EVENT, 0, &task->counter, 0};
    int rc = simpler_kernel_defer(args, &condition);

    task->next = atomic_load(&to_finish);
    while (!atomic_compare_exchange_weak(&to_finish, &task->next, task))
        ;
    return rc;
}

/* One of a task's kernels does the work. */
static bool is_the_one(const int64_t *args, const struct task *task)
{
    return task->blocks == 1 + simpler_kernel_block_idx(args) &&
           (task->func_count == 1 || simpler_kernel_lane(args) == task->first_lane);
}

static int kernel(const int64_t *args, uint32_t tensors, void *user)
{
    struct task *task = user;

    if (task->form == COHORT && simpler_kernel_sync_all(args) != 0)
        return 1;
    if (!is_the_one(args, task))
        return 0;
    for (uint32_t i = 0; i < tensors; i++) {
        struct argument *a = &task->arg[i];
        a->view = *simpler_kernel_tensor(args, i);
        a->bytes = simpler_tensor_numel(&a->view) * simpler_dtype_bytes(a->view.dtype);
        a->copy[0] = copy_of(&a->view);
    }
    if (task->form == DEFERRED)
        return defer(args, task);
    write_outputs(task);
    return 0;
}

/* A random view of a random buffer: block, slice, permutation. */
static struct simpler_tensor random_view(void)
{
    uint32_t dtype = kit_dtype(dtypes[kit_random_below(&rng, sizeof(dtypes))]);
    uint32_t budget = kit_random_chance(&rng, 10) ? 6000 : 400;
    uint32_t n = 1 + kit_random_below(&rng, 4), shape[4], step;
    struct simpler_tensor t;

    for (uint32_t d = 0; d < n; d++) {
        shape[d] = 1 + kit_random_below(&rng, d == n - 1 ? budget : 6);
        budget /= shape[d];
        budget += budget == 0;
    }
    assert_int_equal(
        simpler_tensor_init(&t, memory[kit_random_below(&rng, BUFFERS)], shape, n, dtype), 0);
    for (uint32_t d = 0; d < n; d++) {
        uint32_t start = kit_random_below(&rng, t.shape[d]);
        if (!kit_random_chance(&rng, 40))
            continue;
        step = 1 + kit_random_below(&rng, 3);
        assert_int_equal(simpler_tensor_slice(&t, d, start, t.shape[d], step, &t), 0);
    }
    if (n > 1 && kit_random_chance(&rng, 40))
        assert_int_equal(simpler_tensor_transpose(&t, 0, n - 1, &t), 0);
    if (kit_random_chance(&rng, 5)) {
        uint32_t none[4] = {0}, offset[4] = {0};
        assert_int_equal(simpler_tensor_view(&t, none, offset, &t), 0);
    }
    return t;
}

/* What the task is besides its arguments. */
static void choose_form(struct task *task, struct simpler_task_args *args,
                        const struct simpler_tensor *operand)
{
    struct simpler_predicate never = {operand, {0}, SIMPLER_PREDICATE_NE, 0};

    task->form = kit_random_chance(&rng, 40) ? PLAIN : (enum form)kit_random_below(&rng, FORMS);
    task->blocks =
        task->form == BLOCKS || task->form == MIXED ? 1 + (int32_t)kit_random_below(&rng, 5) : 1;
    simpler_task_args_set_block_num(args, task->blocks);
    simpler_task_args_set_require_sync_start(args, task->form == COHORT);
    if (task->form == OFF)
        simpler_task_args_set_predicate(args, &never);
    if (task->form == PLAIN && kit_random_chance(&rng, 20))
        simpler_task_args_set_task_timing_slot(args, 1);
}

static int submit_form(struct simpler_orch *orch, struct task *task,
                       const struct simpler_task_args *args, struct simpler_task_outputs *out)
{
    int32_t aiv = (int32_t)task->count;
    struct simpler_mixed_kernels k = {aiv + (int32_t)(KIT_VARIANT * KIT_AIV_VARIANTS),
                                      kit_random_chance(&rng, 70) ? aiv : -1,
                                      aiv + (int32_t)KIT_VARIANT};

    task->func_count = 0;
    if (task->form != MIXED && task->form != COHORT) {
        task->func_ids[task->func_count++] = aiv;
        return simpler_orch_submit_aiv(orch, task->count, args, out);
    }
    if (kit_random_chance(&rng, 30))
        k.aiv1_kernel_id = k.aiv0_kernel_id; /* one kernel on both, or none */
    int64_t all[] = {k.aic_kernel_id, k.aiv0_kernel_id, k.aiv1_kernel_id};
    for (int lane = 0; lane < SIMPLER_LANES; lane++) {
        if (all[lane] >= 0 && task->func_count == 0)
            task->first_lane = (uint32_t)lane;
        if (all[lane] >= 0)
            task->func_ids[task->func_count++] = all[lane];
    }
    return simpler_orch_submit_mixed(orch, &k, args, out);
}

static void submit(struct simpler_orch *orch, struct task *task)
{
    static int64_t zero;
    struct simpler_tensor operand = kit_tensor(&zero, 1, SIMPLER_DTYPE_INT64);
    struct simpler_task_args args;
    struct simpler_task_outputs out;
    struct simpler_tensor views[MAX_ARGS];
    const void *picked[MAX_ARGS + 1];
    size_t picks = 0;

    simpler_task_args_reset(&args);
    task->count = 1 + kit_random_below(&rng, MAX_ARGS);
    for (uint32_t i = 0; i < task->count; i++) {
        struct argument *a = &task->arg[i];
        static const uint8_t uses[] = {SIMPLER_USE_INPUT, SIMPLER_USE_INOUT,
                                       SIMPLER_USE_OUTPUT_EXISTING, SIMPLER_USE_OUTPUT};
        a->use = uses[kit_random_below(&rng, 4)];
        views[i] = random_view();
        a->info = kit_info(1 + kit_random_below(&rng, 300), views[i].dtype);
        const void *from = a->use == SIMPLER_USE_OUTPUT ? (void *)&a->info : (void *)&views[i];
        simpler_task_args_add(&args, from, (enum simpler_tensor_use)a->use);
        if (task->marked && kit_random_chance(&rng, 60)) {
            task->mask |= (uint64_t)1 << i;
            picked[picks++] = from;
        }
    }
    kit_add_call(&args, kernel, task);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(task->scale));
    if (task->marked && kit_random_chance(&rng, 60)) {
        task->mask |= (uint64_t)1 << (task->count + 2);
        picked[picks++] = &task->scale;
    }
    simpler_task_args_dump_list(&args, picked, picks);
    choose_form(task, &args, &operand);
    KIT_EXPECT_EQUAL(args.error, 0);
    KIT_EXPECT_EQUAL(submit_form(orch, task, &args, &out), 0);
    task->id = out.id.raw;
}

static void graph(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < TASKS; i++) {
        tasks[i].number = i;
        tasks[i].scale = (float)i + 0.5f;
        tasks[i].marked = kit_random_chance(&rng, 50);
        submit(orch, &tasks[i]);
    }
}

/* ---- the dump ---- */

static struct task *task_of(uint64_t id)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        if (tasks[i].id == id)
            return &tasks[i];
    }
    fail_msg("no task has the id %#llx", (unsigned long long)id);
    return NULL;
}

static bool is_picked(const struct task *task, uint32_t arg)
{
    return (task->mask >> arg & 1) != 0;
}

static void check_scalar(struct task *task, const struct simpler_dump_entry *e)
{
    uint64_t k = e->arg_index - task->count, bits = 0;

    assert_true(k < SCALARS && !task->scalar_seen[k]);
    task->scalar_seen[k] = true;
    assert_int_equal(e->stage, SIMPLER_DUMP_BEFORE);
    if (k != 2)
        return;
    uint32_t want;
    memcpy(&want, &task->scale, 4);
    assert_true(simpler_dump_entry_scalar_bits(e, &bits));
    assert_int_equal(bits, want);
}

static void check_tensor(struct task *task, const struct simpler_dump_entry *e, int bin)
{
    static const enum simpler_dump_role roles[] = {SIMPLER_DUMP_INPUT, SIMPLER_DUMP_OUTPUT,
                                                   SIMPLER_DUMP_INOUT, SIMPLER_DUMP_OUTPUT};
    assert_true(e->arg_index < task->count);
    struct argument *a = &task->arg[e->arg_index];
    uint32_t width = (uint32_t)simpler_dtype_bytes(a->view.dtype);
    bool payload = level != 3 || is_picked(task, (uint32_t)e->arg_index);
    bool truncated = payload && a->bytes > arena;
    uint64_t want = !payload ? 0 : truncated ? arena / 2 / width * width : a->bytes;

    assert_false(a->seen[e->stage]);
    a->seen[e->stage] = true;
    assert_int_equal(e->role, roles[a->use]);
    assert_int_equal(e->dtype, a->view.dtype);
    assert_int_equal(e->shape_count, a->view.ndims);
    assert_int_equal(e->is_contiguous, a->view.is_contiguous);
    assert_int_equal(e->start_offset, a->view.start_offset);
    for (uint32_t d = 0; d < a->view.ndims; d++) {
        assert_int_equal(e->shape[d], a->view.shape[d]);
        if (a->bytes != 0)
            assert_int_equal(e->strides[d], a->view.stride[d]);
    }
    assert_int_equal(e->truncated, truncated);
    assert_int_equal(e->bin_size, want);
    uint8_t *got = malloc(want + 1);
    if (want != 0)
        assert_int_equal(pread(bin, got, want, (off_t)e->bin_offset), want);
    assert_memory_equal(got, a->copy[e->stage], want);
    free(got);
}

/* Everything that the level asks for was there. */
static void check_complete(const struct task *task)
{
    bool all = level != 1;
    bool on = task->form != OFF;

    for (uint32_t i = 0; i < task->count; i++) {
        const struct argument *a = &task->arg[i];
        bool before = a->use == SIMPLER_USE_INPUT || a->use == SIMPLER_USE_INOUT;
        bool after = a->use != SIMPLER_USE_INPUT;
        assert_int_equal(a->seen[0], on && before && (all || is_picked(task, i)));
        assert_int_equal(a->seen[1], on && after && (all || is_picked(task, i)));
    }
    for (uint32_t k = 0; k < SCALARS; k++)
        assert_int_equal(task->scalar_seen[k], on && (all || is_picked(task, task->count + k)));
}

static void check_dump(const char *directory, const struct simpler_args_dump_result *result)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e, last = {0};
    char path[1200];
    uint64_t count = 0;
    int rc;

    (void)snprintf(path, sizeof(path), "%s/args.bin", directory);
    int bin = open(path, O_RDONLY);
    (void)snprintf(path, sizeof(path), "%s/args_dump.json", directory);
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    while ((rc = simpler_dump_manifest_next(m, &e)) > 0) {
        struct task *task = task_of(e.task_id);
        if (count++ != 0)
            assert_true(simpler_dump_entry_compare(&last, &e) < 0);
        last = e;
        if (kit_is_host_built()) {
            assert_int_equal(e.func_count, 1);
            assert_int_equal(e.func_ids[0], -1);
        } else {
            assert_int_equal(e.func_count, task->func_count);
            assert_memory_equal(e.func_ids, task->func_ids, task->func_count * sizeof(int64_t));
        }
        if (e.kind == SIMPLER_DUMP_SCALAR)
            check_scalar(task, &e);
        else
            check_tensor(task, &e, bin);
    }
    if (rc != 0)
        fail_msg("%s", simpler_dump_manifest_error(m));
    assert_int_equal(simpler_dump_manifest_header(m)->count[SIMPLER_DUMP_COUNT_DROPPED], 0);
    simpler_dump_manifest_close(m);
    if (bin >= 0)
        (void)close(bin);
    assert_int_equal(count, result->records);
    for (uint32_t i = 0; i < TASKS; i++)
        check_complete(&tasks[i]);
}

static void forget(void)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        for (uint32_t a = 0; a < MAX_ARGS; a++) {
            free(tasks[i].arg[a].copy[0]);
            free(tasks[i].arg[a].copy[1]);
        }
    }
    memset(tasks, 0, sizeof(tasks));
}

static void run_once(struct kit *kit, const char *prefix, uint32_t threads)
{
    struct simpler_call_config config = kit_config(threads);
    static struct simpler_run_result result;

    level = 1 + kit_random_below(&rng, 3);
    config.enable_dump_args = level;
    config.output_prefix = prefix;
    config.hazards = SIMPLER_HAZARDS_ALL;
    config.exec = kit_random_below(&rng, 2);
    config.cluster_count = 1;
    assert_int_equal(kit_run(kit, graph, NULL, &config, &result), 0);
    assert_int_equal(result.args_dump.status, 0);
    assert_true(result.args_dump.has_manifest);
    check_dump(result.args_dump.path, &result.args_dump);
    forget();
}

static void remove_tree(const char *prefix)
{
    static const char *const names[] = {"/args_dump/args_dump.json", "/args_dump/args.bin",
                                        "/args_dump", ""};
    char path[1200];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s%s", prefix, names[i]);
        if (i != 1)
            assert_int_equal(remove(path), 0);
        else
            (void)remove(path);
    }
}

static void payloads_equal_the_kernels_copies(void **state)
{
    double end = (double)kit_now_ns() / 1e9 + kit_seconds(PROPERTY_SECONDS);
    char prefix[] = "/tmp/test_args_dump_XXXXXX";
    pthread_t finisher;

    (void)state;
    assert_int_equal(pthread_create(&finisher, NULL, finish_deferred, NULL), 0);
    assert_non_null(mkdtemp(prefix));
    for (int b = 0; b < BUFFERS; b++) {
        memory[b] = malloc(BUFFER_BYTES);
        for (uint32_t i = 0; i < BUFFER_BYTES; i++)
            memory[b][i] = (uint8_t)kit_mix(i + (uint64_t)b);
    }
    for (seed = 1; seed == 1 || (double)kit_now_ns() / 1e9 < end; seed++) {
        struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;
        struct kit kit;
        rng.state = seed;
        config.dump.records_per_buffer = 2 + kit_random_below(&rng, 7);
        config.dump.buffers_per_thread = 2 + kit_random_below(&rng, 3);
        arena = 0;
        while (arena < 4096) {
            config.dump.avg_tensor_bytes = 64 + kit_random_below(&rng, 2048);
            arena = config.dump.avg_tensor_bytes * config.dump.records_per_buffer *
                    config.dump.buffers_per_thread;
        }
        kit_open_config(&kit, &config);
        rig_delays_start(seed, 50);
        for (int i = 0; i < 3; i++)
            run_once(&kit, prefix, 1 + kit_random_below(&rng, 4));
        rig_delays_stop();
        kit_close(&kit);
    }
    atomic_store(&finisher_ends, true);
    pthread_join(finisher, NULL);
    for (int b = 0; b < BUFFERS; b++)
        free(memory[b]);
    remove_tree(prefix);
}

/* What a failure needs to be seen again. */
static int print_seed(void **state)
{
    (void)state;
    print_message("the last seed was %llu\n", (unsigned long long)seed);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(payloads_equal_the_kernels_copies, print_seed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
