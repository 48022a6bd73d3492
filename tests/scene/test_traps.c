/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traps that runtimes of this kind fall into, each from outside (SY-01):
 * work that is not published, boundaries between private and shared tasks,
 * slots recycled too early, lost wake-ups, lost producers.
 * The ratios of time are in test_ratios.c.
 */
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "kit.h"

static struct kit kit;
static struct simpler_run_result result;
static uint64_t cells[1024];

static struct simpler_tensor cell(uint32_t index)
{
    return kit_tensor(&cells[index], 1, SIMPLER_DTYPE_UINT64);
}

static int submit_cell(struct simpler_orch *orch, uint32_t variant, uint32_t index, kit_kernel fn,
                       void *user)
{
    struct simpler_tensor tensor = cell(index);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    return kit_submit_variant(orch, variant, &args, fn, user, NULL);
}

static bool reaches(_Atomic int *count, int value)
{
    for (int i = 0; i < 50000 && atomic_load(count) < value; i++)
        kit_sleep_ns(100000);
    return atomic_load(count) >= value;
}

static void must_pass(kit_orch fn, void *user, const struct simpler_call_config *config)
{
    int rc = kit_run(&kit, fn, user, config, &result);
    if (rc != 0)
        fail_msg("%d: %s", rc, result.message);
}

/* ---- 1: starvation by work that is not published ---- */

static int long_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    kit_spin_ns(200000);
    atomic_fetch_add((_Atomic int *)user, 1);
    return 0;
}

struct few {
    int tasks;
    bool trained;     /* the kernel's time is known */
    bool behind_tiny; /* the first long task depends on one whose kernel is tiny */
    _Atomic int count, tiny, started;
};

/* The orchestration submits a few long tasks and computes; they must run meanwhile. */
static void few_long_tasks(struct simpler_orch *orch, void *user)
{
    struct few *few = user;
    for (uint32_t i = 0; few->trained && i < 40; i++)
        submit_cell(orch, 1, i, long_kernel, (void *)&few->tiny);
    for (uint32_t i = 0; few->trained && i < 2000; i++)
        submit_cell(orch, 2, i % 16, kit_count_kernel, (void *)&few->tiny);
    uint32_t index = 0;
    uint64_t value;
    struct simpler_tensor tensor;
    for (uint32_t i = 0; few->trained && i < 40; i++) {
        tensor = cell(i);
        simpler_orch_get_tensor_data(orch, &tensor, &index, &value);
    }
    if (few->behind_tiny)
        submit_cell(orch, 2, 100, kit_count_kernel, (void *)&few->tiny);
    for (int i = 0; i < few->tasks; i++)
        submit_cell(orch, 1, 100 + (uint32_t)i, long_kernel, (void *)&few->count);
    atomic_store(&few->started, reaches(&few->count, few->tasks));
}

static void few_long_tasks_start_while_the_orchestration_computes(void **state)
{
    (void)state;
    static const int tasks[] = {1, 2, 3, 7, 20};
    static const uint64_t windows[] = {64, 16384};
    for (size_t i = 0; i < 5 * 2 * 4; i++) {
        struct few few = {tasks[i % 5], i / 10 % 2, i / 20 % 2, 0, 0, 0};
        struct simpler_call_config config = kit_config(2);
        kit_set_window(&config, windows[i / 5 % 2]);
        must_pass(few_long_tasks, &few, &config);
        if (!atomic_load(&few.started))
            fail_msg("%d long tasks (trained %d, behind a tiny one %d, window %llu) did not run",
                     few.tasks, few.trained, few.behind_tiny,
                     (unsigned long long)windows[i / 5 % 2]);
    }
}

/* ---- 2 to 5: boundaries, recycling ---- */

/* cell = cell * 3 + task: the order of a cell's tasks shows. */
struct step {
    uint64_t number;
    uint32_t spin_ns;
};

static int step_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    const struct step *step = user;
    uint64_t *to = simpler_kernel_data(args, tensors - 1);
    uint64_t sum = step->number;
    if (step->spin_ns != 0)
        kit_spin_ns(step->spin_ns);
    for (uint32_t i = 0; i + 1 < tensors; i++)
        sum += *(uint64_t *)simpler_kernel_data(args, i) * (i + 5);
    *to = *to * 3 + sum;
    return 0;
}

#define STEPS 20000
struct mix {
    uint32_t width;     /* cells */
    uint32_t reads;     /* other cells that a task reads */
    uint32_t phase;     /* tasks until tiny and long change places; 0: all tiny */
    uint32_t get_every; /* tasks; 0: never */
    uint32_t scope_of;  /* tasks a scope; 0: none */
    uint32_t tasks;
};
static struct step steps[STEPS];

static uint32_t read_cell(const struct mix *mix, uint32_t task, uint32_t i)
{
    return (uint32_t)(kit_mix(task * 7 + i + 1) % mix->width);
}

static void submit_step(struct simpler_orch *orch, const struct mix *mix, uint32_t i)
{
    struct simpler_tensor tensor[SIMPLER_MAX_TENSORS];
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    for (uint32_t k = 0; k < mix->reads; k++) {
        tensor[k] = cell(read_cell(mix, i, k));
        simpler_task_args_add_input(&args, &tensor[k]);
    }
    tensor[mix->reads] = cell(i % mix->width);
    simpler_task_args_add_inout(&args, &tensor[mix->reads]);
    kit_submit_variant(orch, (steps[i].spin_ns != 0) + 4 * (i / 64 % 2), &args, step_kernel,
                       &steps[i], NULL);
}

static void submit_mix(struct simpler_orch *orch, void *user)
{
    const struct mix *mix = user;
    uint32_t origin = 0;
    uint64_t value;
    for (uint32_t i = 0; i < mix->tasks; i++) {
        if (mix->scope_of != 0 && i % mix->scope_of == 0)
            simpler_orch_scope_begin(orch, SIMPLER_SCOPE_AUTO);
        submit_step(orch, mix, i);
        if (mix->scope_of != 0 && (i % mix->scope_of == mix->scope_of - 1 || i + 1 == mix->tasks))
            simpler_orch_scope_end(orch);
        if (mix->get_every != 0 && i % mix->get_every == mix->get_every - 1) {
            struct simpler_tensor tensor = cell(i % mix->width);
            simpler_orch_get_tensor_data(orch, &tensor, &origin, &value);
        }
    }
}

static void expect_mix(const struct mix *mix, uint64_t *expected)
{
    memset(expected, 0, sizeof(cells));
    for (uint32_t i = 0; i < mix->tasks; i++) {
        uint64_t sum = i;
        for (uint32_t k = 0; k < mix->reads; k++)
            sum += expected[read_cell(mix, i, k)] * (k + 5);
        uint64_t *to = &expected[i % mix->width];
        *to = *to * 3 + sum;
    }
}

static void check_mix(const struct mix *mix, const struct simpler_call_config *config)
{
    static uint64_t expected[1024];
    for (uint32_t i = 0; i < mix->tasks; i++) {
        steps[i].number = i;
        steps[i].spin_ns = mix->phase != 0 && i / mix->phase % 2 == 1 && i % 8 == 0 ? 20000 : 0;
    }
    memset(cells, 0, sizeof(cells));
    struct mix copy = *mix;
    must_pass(submit_mix, &copy, config);
    expect_mix(mix, expected);
    assert_memory_equal(cells, expected, sizeof(cells));
    assert_int_equal(result.stats.tasks_run, mix->tasks);
}

static void tiny_and_long_kernels_change_places(void **state)
{
    (void)state;
    static const struct mix mixes[] = {
        {1, 0, 0, 0, 0, 5000},      {8, 3, 40, 0, 0, 5000},       {64, 2, 200, 100, 0, 5000},
        {16, 1, 16, 3, 10, 3000},   {500, 4, 1000, 0, 100, 5000}, {3, 2, 5, 7, 2, 3000},
        {1000, 0, 500, 0, 0, 5000},
    };
    for (size_t i = 0; i < sizeof(mixes) / sizeof(mixes[0]); i++) {
        for (uint32_t threads = 1; threads <= 4; threads++) {
            struct simpler_call_config config = kit_config(threads);
            check_mix(&mixes[i], &config);
        }
    }
}

static void smallest_windows_with_wide_graphs(void **state)
{
    (void)state;
    static const struct mix mixes[] = {{200, 3, 0, 0, 0, 8000},
                                       {1, 0, 0, 0, 0, 8000},
                                       {9, 8, 300, 0, 3, 4000},
                                       {64, 1, 0, 1, 0, 4000}};
    static const uint64_t windows[] = {4, 8, 64};
    for (size_t i = 0; i < 4 * 3; i++) {
        for (uint32_t threads = 1; threads <= 4; threads += 1) {
            struct simpler_call_config config = kit_config(threads);
            kit_set_window(&config, windows[i / 4]);
            kit_set_dep_pool(&config, 16);
            config.runtime_env.tensormap = 16;
            check_mix(&mixes[i % 4], &config);
        }
    }
}

/* ---- 8: lost wake-ups ---- */

static int short_sleep(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    kit_sleep_ns(100000);
    atomic_fetch_add((_Atomic int *)user, 1);
    return 0;
}

/* Everybody parks between two tasks. */
static void park_and_wake(struct simpler_orch *orch, void *user)
{
    for (uint32_t i = 0; i < 10; i++) {
        submit_cell(orch, 1, i % 2, short_sleep, user);
        submit_cell(orch, 2, i % 3, kit_count_kernel, user);
        kit_sleep_ns(i % 3 * 100000);
    }
}

#if defined(SIMPLER_DEBUG)
/* Lingers in the windows in which a wake-up can be lost. */
static bool linger(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point == SIMPLER_TESTPOINT_PARK_BEFORE_RECHECK ||
        point == SIMPLER_TESTPOINT_PARK_BEFORE_WAIT || point == SIMPLER_TESTPOINT_WAKE_BEFORE_CHECK)
        kit_sleep_ns(150000);
    return false;
}
#endif

static void no_wake_up_is_lost(void **state)
{
    (void)state;
#if defined(SIMPLER_DEBUG)
    simpler_testpoint_reset_hits();
    simpler_testpoint_set(linger, NULL);
#endif
    for (int i = 0; i < 60; i++) {
        static _Atomic int count;
        struct simpler_call_config config = kit_config(2 + (uint32_t)i % 3);
        config.deadline_ns = 20000000000u;
        config.exec = i % 4 == 3 ? SIMPLER_EXEC_THREADS : SIMPLER_EXEC_INLINE;
        atomic_store(&count, 0);
        if (i % 2 == 0)
            kit_set_window(&config, 4);
        must_pass(park_and_wake, (void *)&count, &config);
        assert_int_equal(atomic_load(&count), 20);
    }
#if defined(SIMPLER_DEBUG)
    simpler_testpoint_set(NULL, NULL);
    assert_true(simpler_testpoint_hits(SIMPLER_TESTPOINT_PARK_BEFORE_RECHECK) > 0);
    assert_true(simpler_testpoint_hits(SIMPLER_TESTPOINT_PARK_BEFORE_WAIT) > 0);
#endif
}

static int few_us(const int64_t *args, uint32_t tensors, void *user)
{
    kit_spin_ns(3000);
    return kit_count_kernel(args, tensors, user);
}

#define ROUNDS 15000

/*
 * One task at a time, at every moment of the scheduler's way from its last look
 * to its sleep; the orchestration helps with nothing, for it does not call.
 */
static void one_at_a_time(struct simpler_orch *orch, void *user)
{
    _Atomic int *count = user;
    struct kit_random random = {ROUNDS};
    struct simpler_task_args args;
    for (int i = 0; i < ROUNDS; i++) {
        simpler_task_args_reset(&args);
        kit_submit_variant(orch, KIT_LONG, &args, few_us, user, NULL);
        uint64_t end = kit_now_ns() + 2000000000u;
        while (atomic_load_explicit(count, memory_order_relaxed) <= i && kit_now_ns() < end)
            ;
        KIT_EXPECT(atomic_load_explicit(count, memory_order_relaxed) == i + 1);
        if (atomic_load_explicit(count, memory_order_relaxed) != i + 1)
            return;
        kit_spin_ns(kit_random_below(&random, 60000));
    }
}

static void no_wake_up_is_lost_on_the_way_to_sleep(void **state)
{
    (void)state;
    static _Atomic int count;
    struct simpler_call_config config = kit_config(2);
    must_pass(one_at_a_time, (void *)&count, &config);
    assert_int_equal(atomic_load(&count), ROUNDS);
}

/* Many tiny kernels on core threads, run after run: no completion is lost on its way back. */
static void scopes_of_tiny_tasks(struct simpler_orch *orch, void *user)
{
    struct simpler_create_info info = kit_info(64, SIMPLER_DTYPE_UINT8);
    struct simpler_task_args args;
    struct simpler_task_outputs out;
    for (uint32_t i = 0; i < 100; i++) {
        SIMPLER_SCOPE(orch)
        {
            simpler_task_args_reset(&args);
            simpler_task_args_add_create(&args, &info);
            kit_submit(orch, &args, kit_count_kernel, user, &out);
            for (uint32_t k = 1; k < 10; k++) {
                struct simpler_tensor tensor = cell((i * 7 + k) % 1024);
                simpler_task_args_reset(&args);
                simpler_task_args_add_input(&args, &out.tensor[0]);
                simpler_task_args_add_inout(&args, &tensor);
                kit_submit(orch, &args, kit_count_kernel, user, NULL);
            }
        }
    }
}

static void a_stream_on_core_threads_ends(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 150; i++) {
        static _Atomic int count;
        struct simpler_call_config config = kit_config(3 + i % 2);
        config.exec = SIMPLER_EXEC_THREADS;
        config.cluster_count = 1 + i % 8;
        atomic_store(&count, 0);
        must_pass(scopes_of_tiny_tasks, (void *)&count, &config);
        assert_int_equal(atomic_load(&count), 1000);
    }
}

/* ---- no producer is lost ---- */

#define MOST 1000
struct wide {
    uint32_t count;
    bool by_ids; /* by explicit dependencies instead of by data */
    _Atomic uint32_t done;
    uint32_t seen;
};

static int producer(const int64_t *args, uint32_t tensors, void *user)
{
    struct wide *wide = user;
    (void)args;
    (void)tensors;
    atomic_fetch_add(&wide->done, 1);
    return 0;
}

static int consumer(const int64_t *args, uint32_t tensors, void *user)
{
    struct wide *wide = user;
    (void)args;
    (void)tensors;
    wide->seen = atomic_load(&wide->done);
    return 0;
}

static struct kit_gate gate;

/* Holds back everything that reads or writes cell @index. */
static void close_gate(struct simpler_orch *orch, uint32_t index)
{
    kit_gate_close(&gate);
    submit_cell(orch, KIT_LONG, index, kit_gate_kernel, &gate);
    KIT_EXPECT(kit_gate_wait(&gate, 1));
}

/* @count tasks write a cell each, one reads all of them. */
static void many_producers(struct simpler_orch *orch, void *user)
{
    struct wide *wide = user;
    static struct simpler_task_id ids[MOST];
    struct simpler_task_outputs out;
    struct simpler_tensor whole = kit_tensor(cells, wide->count, SIMPLER_DTYPE_UINT64);
    struct simpler_tensor held = cell(1023);
    struct simpler_task_args args;
    close_gate(orch, 1023);
    for (uint32_t i = 0; i < wide->count; i++) {
        struct simpler_tensor one = kit_cell(&whole, i);
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &held);
        if (!wide->by_ids)
            simpler_task_args_add_inout(&args, &one);
        kit_submit(orch, &args, producer, wide, &out);
        ids[i] = out.id;
    }
    simpler_task_args_reset(&args);
    if (wide->by_ids)
        simpler_task_args_set_dependencies(&args, ids, wide->count);
    else
        simpler_task_args_add_input(&args, &whole);
    kit_submit(orch, &args, consumer, wide, NULL);
    kit_gate_open(&gate);
}

/* @count tasks read a cell, one writes it. */
static void many_readers(struct simpler_orch *orch, void *user)
{
    struct wide *wide = user;
    struct simpler_tensor held = cell(1023);
    struct simpler_task_args args;
    close_gate(orch, 1023);
    for (uint32_t i = 0; i < wide->count; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &held);
        kit_submit(orch, &args, producer, wide, NULL);
    }
    submit_cell(orch, 1, 1023, consumer, wide);
    kit_gate_open(&gate);
}

/* ---- successors are not hidden (engine-findings 6.12) ---- */

static _Atomic int met;

/* Waits until both stand here, at most two seconds. */
static int meet(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    atomic_fetch_add(&met, 1);
    for (int i = 0; i < 2000 && atomic_load(&met) < 2; i++)
        kit_sleep_ns(1000000);
    atomic_fetch_add((_Atomic int *)user, atomic_load(&met) >= 2);
    kit_sleep_ns(1000000); /* never tiny, whatever the others do */
    return 0;
}

static int nap(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_sleep_ns(2000000);
    return 0;
}

/* Two successors become ready by one completion; the thread may keep one of them. */
static void one_before_two(struct simpler_orch *orch, void *user)
{
    static uint64_t pair[2];
    struct simpler_tensor tensor[2];
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    for (int i = 0; i < 2; i++) {
        tensor[i] = kit_tensor(&pair[i], 1, SIMPLER_DTYPE_UINT64);
        simpler_task_args_add_inout(&args, &tensor[i]);
    }
    kit_submit_variant(orch, KIT_LONG, &args, nap, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &tensor[i]);
        kit_submit_variant(orch, KIT_LONG, &args, meet, user, NULL);
    }
}

static void successors_are_exposed_before_the_next_kernel(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        _Atomic int both = 0;
        atomic_store(&met, 0);
        kit_pass(&kit, one_before_two, (void *)&both);
        assert_int_equal(atomic_load(&both), 2);
    }
}

static void no_producer_is_lost(void **state)
{
    (void)state;
    static const uint32_t counts[] = {2, 8, 9, 15, 16, 17, 32, 33, 64, 65, 128, 300, 1000};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct simpler_call_config config = kit_config(2);
        for (int way = 0; way < 3; way++) {
            static struct wide wide;
            memset(&wide, 0, sizeof(wide));
            wide.count = counts[i];
            wide.by_ids = way == 1;
            must_pass(way == 2 ? many_readers : many_producers, &wide, &config);
            assert_int_equal(wide.seen, counts[i]);
            assert_true(result.stats.edges >= 2 * counts[i]);
        }
    }
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_long_tasks_start_while_the_orchestration_computes),
        cmocka_unit_test(tiny_and_long_kernels_change_places),
        cmocka_unit_test(smallest_windows_with_wide_graphs),
        cmocka_unit_test(no_wake_up_is_lost),
        cmocka_unit_test(no_wake_up_is_lost_on_the_way_to_sleep),
        cmocka_unit_test(a_stream_on_core_threads_ends),
        cmocka_unit_test(successors_are_exposed_before_the_next_kernel),
        cmocka_unit_test(no_producer_is_lost),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
