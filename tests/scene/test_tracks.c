/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SY-02: recorded graphs whose plan says which thread does which task.  Random graphs, more and
 * fewer threads than tracks, several calls at once, delays in the race windows; each task runs
 * once, and after its producers.  The plan is forced in debug builds; else the kernels are
 * such that it may come about.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "kit.h"

#define CELLS   12u
#define TASKS   160u
#define CALLS   3u
#define NO_TASK UINT32_MAX

static struct kit kit;
static uint64_t cells[CALLS][CELLS];
static _Atomic uint32_t ran[CALLS][TASKS];

/* One graph: task i changes cell target[i] with what it reads in two others. */
struct random_graph {
    uint32_t count;
    uint32_t target[TASKS], reads[TASKS][2];
    uint32_t fails; /* or NO_TASK */
    uint64_t kernel_ns;
    uint32_t calls; /* in a run */
    bool chained;   /* they all work on the same cells */
};
static struct random_graph g;

static void make_graph(uint64_t seed)
{
    g = (struct random_graph){.count = 2 + (uint32_t)(kit_mix(seed) % (TASKS - 2)),
                              .fails = NO_TASK,
                              .kernel_ns = kit_mix(seed + 1) % 2 * 300,
                              .calls = 1 + (uint32_t)(kit_mix(seed + 2) % CALLS),
                              .chained = kit_mix(seed + 3) % 2 == 0};
    for (uint32_t i = 0; i < g.count; i++) {
        uint64_t r = kit_mix(seed * 1000 + i);
        g.target[i] = (uint32_t)(r % CELLS);
        g.reads[i][0] = (uint32_t)(r / 64 % CELLS);
        g.reads[i][1] = (uint32_t)(r / 4096 % CELLS);
    }
}

static uint64_t change(const uint64_t *c, uint32_t i)
{
    return kit_mix(c[g.target[i]] ^ kit_mix(c[g.reads[i][0]] + 3 * c[g.reads[i][1]]) ^ i);
}

/* Its scalars behind the kit's two: the task. */
static int kernel(const int64_t *args, uint32_t tensors, void *user)
{
    uint64_t i;
    uint64_t *own = simpler_kernel_data(args, 0);
    const uint64_t *a = simpler_kernel_data(args, 1), *b = simpler_kernel_data(args, 2);
    uint64_t call = (uint64_t)(own - &cells[0][0]) / CELLS;

    (void)user;
    simpler_kernel_scalar(args, tensors + 2, &i, sizeof(i));
    atomic_fetch_add_explicit(&ran[call][i], 1, memory_order_relaxed);
    uint64_t got = kit_mix(*own ^ kit_mix(*a + 3 * *b) ^ i);
    kit_spin_ns(g.kernel_ns);
    if (i == g.fails)
        return 7;
    *own = got;
    return 0;
}

static struct simpler_tensor cell_of(const struct simpler_tensor *all, uint32_t i)
{
    struct simpler_tensor cell;
    uint32_t shape = 1;

    KIT_EXPECT_EQUAL(simpler_tensor_view(all, &shape, &i, &cell), 0);
    return cell;
}

static void graph(struct simpler_orch *orch, const struct simpler_graph_args *arguments)
{
    struct simpler_task_args args;

    for (uint32_t i = 0; i < g.count; i++) {
        uint64_t number = i;
        struct simpler_tensor own = cell_of(&arguments->tensor[0], g.target[i]);
        struct simpler_tensor a = cell_of(&arguments->tensor[0], g.reads[i][0]);
        struct simpler_tensor b = cell_of(&arguments->tensor[0], g.reads[i][1]);
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &own);
        simpler_task_args_add_input(&args, &a);
        simpler_task_args_add_input(&args, &b);
        kit_add_call(&args, kernel, NULL);
        simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(number));
        KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, 3, &args, NULL), 0);
    }
}

static void call_graphs(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;

    for (uint32_t c = 0; c < g.calls; c++) {
        struct simpler_tensor t = kit_tensor(cells[g.chained ? 0 : c], CELLS, SIMPLER_DTYPE_UINT64);
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &t);
        KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, graph, &args, user, sizeof(uint64_t)), 0);
    }
}

static void fill(uint64_t seed)
{
    memset((void *)ran, 0, sizeof(ran));
    for (uint32_t c = 0; c < CALLS; c++) {
        for (uint32_t i = 0; i < CELLS; i++)
            cells[c][i] = kit_mix(seed + c * CELLS + i);
    }
}

static int run(uint64_t seed, uint32_t threads, struct simpler_run_result *result)
{
    struct simpler_call_config config = kit_config(threads);

    config.runtime = "host_build_graph";
    config.hazards = SIMPLER_HAZARDS_ALL;
    fill(seed);
    return kit_run(&kit, call_graphs, &seed, &config, result);
}

static void check_call(uint64_t seed, uint32_t c, uint32_t times)
{
    uint64_t right[CELLS];

    for (uint32_t i = 0; i < CELLS; i++)
        right[i] = kit_mix(seed + c * CELLS + i);
    for (uint32_t k = 0; k < times; k++) {
        for (uint32_t i = 0; i < g.count; i++)
            right[g.target[i]] = change(right, i);
    }
    for (uint32_t i = 0; i < g.count; i++) {
        if (ran[c][i] != times)
            fail_msg("seed %llu: task %u of call %u ran %u times, not %u", (unsigned long long)seed,
                     i, c, ran[c][i], times);
    }
    if (memcmp(right, cells[c], sizeof(right)) != 0)
        fail_msg("seed %llu: call %u left other cells", (unsigned long long)seed, c);
}

static void check_run(uint64_t seed)
{
    if (g.chained)
        check_call(seed, 0, g.calls);
    for (uint32_t c = 0; c < g.calls && !g.chained; c++)
        check_call(seed, c, 1);
}

/* Which tasks cannot run when g.fails does: with hazards all, who comes after in any way. */
static uint32_t poisoned_tasks(void)
{
    bool bad[TASKS] = {false};
    uint32_t count = 0;

    for (uint32_t i = 0; i < g.count; i++) {
        for (uint32_t p = 0; p < i && !bad[i]; p++) {
            bool writes_mine = g.target[p] == g.target[i] || g.target[p] == g.reads[i][0] ||
                               g.target[p] == g.reads[i][1];
            bool reads_mine = g.reads[p][0] == g.target[i] || g.reads[p][1] == g.target[i];
            bad[i] = (writes_mine || reads_mine) && (bad[p] || p == g.fails);
        }
        count += bad[i];
    }
    return count;
}

#if defined(SIMPLER_DEBUG)
static _Atomic uint64_t ticket;

static bool force_and_delay(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point == SIMPLER_TESTPOINT_PLAN_TRACKS)
        return true;
    if (point != SIMPLER_TESTPOINT_TRACK_BEFORE_TAKE &&
        point != SIMPLER_TESTPOINT_TRACK_BEFORE_LOOK &&
        point != SIMPLER_TESTPOINT_COMPLETE_BEFORE_CLOSE &&
        point != SIMPLER_TESTPOINT_COMPLETE_BEFORE_DONE)
        return false;
    uint64_t r = kit_mix(atomic_fetch_add_explicit(&ticket, 1, memory_order_relaxed));
    if (r % 40 == 0)
        kit_spin_ns(r / 64 % 8000);
    else if (r % 40 == 1)
        (void)sched_yield();
    return false;
}

static bool force(void *user, enum simpler_testpoint point)
{
    (void)user;
    return point == SIMPLER_TESTPOINT_PLAN_TRACKS;
}
#endif

static void expect_tracks(void)
{
#if defined(SIMPLER_DEBUG)
    assert_true(simpler_testpoint_hits(SIMPLER_TESTPOINT_TRACK_BEFORE_TAKE) > 1000);
#endif
}

static void random_graphs(void **state)
{
    struct simpler_run_result result;
    uint64_t end = kit_now_ns() + (uint64_t)(kit_seconds(4) * 1e9);
    uint64_t seed = kit_now_ns();
    (void)state;

#if defined(SIMPLER_DEBUG)
    simpler_testpoint_reset_hits();
    simpler_testpoint_set(force_and_delay, NULL);
#endif
    for (; kit_now_ns() < end; seed++) {
        make_graph(seed);
        uint32_t threads = 2 + (uint32_t)(seed / 4 % 3);
        for (int r = 0; r < 3; r++) {
            if (run(seed, threads, &result) != 0)
                fail_msg("seed %llu: %s", (unsigned long long)seed, result.message);
            check_run(seed);
        }
    }
    expect_tracks();
    simpler_testpoint_set(NULL, NULL);
}

static void a_failure_poisons_who_comes_after(void **state)
{
    struct simpler_run_result result;
    (void)state;

#if defined(SIMPLER_DEBUG)
    simpler_testpoint_reset_hits();
    simpler_testpoint_set(force, NULL);
#endif
    for (uint64_t seed = 0; seed < 60; seed++) {
        make_graph(seed);
        g.chained = false;
        g.fails = (uint32_t)(kit_mix(seed + 9) % g.count);
        assert_int_equal(run(seed, 2, &result), SIMPLER_EKERNEL);
        assert_int_equal(result.stats.tasks_failed, g.calls);
        assert_int_equal(result.stats.tasks_poisoned, g.calls * poisoned_tasks());
        assert_int_equal(result.stats.tasks_run + result.stats.tasks_poisoned + g.calls,
                         (uint64_t)g.calls * g.count);
    }
    expect_tracks();
    simpler_testpoint_set(NULL, NULL);
}

/* While one thread of two is inside a long kernel the other one does its track too. */
static _Atomic uint32_t others;
static int wait_for_others(const int64_t *args, uint32_t tensors, void *user)
{
    uint64_t end = kit_now_ns() + UINT64_C(20000000000);
    (void)args;
    (void)tensors;
    (void)user;
    while (atomic_load_explicit(&others, memory_order_acquire) < 40 && kit_now_ns() < end)
        kit_sleep_ns(50000);
    return kit_now_ns() < end ? 0 : 1;
}

static int count_one(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    atomic_fetch_add_explicit(&others, 1, memory_order_release);
    return 0;
}

static void one_long_many_short(struct simpler_orch *orch, const struct simpler_graph_args *a)
{
    struct simpler_task_args args;
    (void)a;

    for (int i = 0; i < 41; i++) {
        simpler_task_args_reset(&args);
        kit_add_call(&args, i == 0 ? wait_for_others : count_one, NULL);
        KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, 0, &args, NULL), 0);
    }
}

static void call_one_long(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(cells, CELLS, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, one_long_many_short, &args, NULL, 0), 0);
}

static void a_thread_that_is_held_holds_up_nobody(void **state)
{
    struct simpler_call_config config = kit_config(2);
    struct simpler_run_result result;
    (void)state;

    config.runtime = "host_build_graph";
#if defined(SIMPLER_DEBUG)
    simpler_testpoint_set(force, NULL);
#else
    SKIP_TEST("a plan that is not forced may give all tasks to one thread");
#endif
    assert_int_equal(kit_run(&kit, call_one_long, NULL, &config, &result), 0);
    assert_int_equal(atomic_load(&others), 40);
    simpler_testpoint_set(NULL, NULL);
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(a_failure_poisons_who_comes_after),
        cmocka_unit_test(a_thread_that_is_held_holds_up_nobody),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
