/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SY-02, SY-05: kernels that hang inside a recorded graph, and in one block of a task: the
 * report of host_build_graph names the task and counts what is done around it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "faults.h"
#include "kit.h"

static struct kit kit;
static struct simpler_run_result result;
static uint64_t cells[16];
static _Atomic int let_go;

static int hang(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    if (user != NULL && simpler_kernel_block_idx(args) != *(const int32_t *)user)
        return 0;
    while (!atomic_load_explicit(&let_go, memory_order_acquire))
        kit_sleep_ns(100000);
    return 0;
}

static void submit(struct simpler_orch *orch, const struct simpler_tensor *t, kit_kernel fn)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, t);
    (void)kit_submit_variant(orch, KIT_LONG, &args, fn, NULL, NULL);
}

/* Three tasks one after another; the second one hangs. */
static void graph(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    SIMPLER_SCOPE(orch)
    {
        submit(orch, &g->tensor[0], kit_nop_kernel);
        submit(orch, &g->tensor[0], hang);
        submit(orch, &g->tensor[0], kit_nop_kernel);
    }
}

/* Ids: 0; 1, 2 and 3 are the graph's; 4; the second call's 5, 6 and 7 wait. */
static void call_between(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(cells, 16, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    (void)user;
    SIMPLER_SCOPE(orch)
    {
        submit(orch, &t, kit_nop_kernel);
        for (int i = 0; i < 2; i++) {
            simpler_task_args_reset(&args);
            simpler_task_args_add_inout(&args, &t);
            (void)simpler_orch_submit_graph(orch, graph, &args, NULL, 0);
            if (i == 0)
                submit(orch, &t, kit_nop_kernel);
        }
    }
}

static void must_say(const char *text)
{
    if (strstr(result.message, text) == NULL)
        fail_msg("'%s' is not in:\n%s", text, result.message);
}

static struct simpler_call_config config_of(uint32_t threads, uint32_t exec)
{
    struct simpler_call_config config = kit_config(threads);

    config.runtime = "host_build_graph";
    config.exec = exec;
    return config;
}

static void free_device(void)
{
    atomic_store(&let_go, 1);
    assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
}

static void a_hang_in_a_recorded_graph_is_named(void **state)
{
    static const uint32_t execs[] = {SIMPLER_EXEC_INLINE, SIMPLER_EXEC_THREADS};

    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        struct simpler_call_config config = config_of(1 + i % 3, execs[i / 3]);
        atomic_store(&let_go, 0);
        assert_int_equal(kit_run(&kit, call_between, NULL, &config, &result),
                         -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        must_say("6 of 8 tasks are not done: 1 running, 0 ready, 5 waiting");
        must_say("the oldest unfinished: task 0x0000000000000002, kernel kit_aiv (func_id 193)");
        must_say("test_recorded_hangs.c:");
        must_say("in a scope of depth 2 that has ended; it runs on device thread ");
        must_say("is still inside kernel kit_aiv (func_id 193) of task 0x0000000000000002\n");
        int rc = result.status;
        const char *device = fault_device(kit.worker);
        free_device();
        /* What was recorded is whole: nothing hangs any more. */
        assert_int_equal(kit_run(&kit, call_between, NULL, &config, &result), 0);
        assert_int_equal(result.stats.tasks_run, 8);
        fault_saw("hang-in-recorded-graph@host_build_graph", "status=%s device=%s next=%s",
                  simpler_status_name(rc), device, simpler_status_name(result.status));
    }
}

/* ---- one block of several ---- */

static void blocks_then_one(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(cells, 16, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    simpler_task_args_set_block_num(&args, 8);
    (void)kit_submit_variant(orch, KIT_LONG, &args, hang, user, NULL);
    submit(orch, &t, kit_nop_kernel);
}

static void a_hang_in_one_block_is_named(void **state)
{
    static const int32_t which[] = {0, 7, 3};

    (void)state;
    for (uint32_t i = 0; i < 9; i++) {
        struct simpler_call_config config = config_of(1 + i / 3, SIMPLER_EXEC_INLINE);
        atomic_store(&let_go, 0);
        assert_int_equal(
            kit_run(&kit, blocks_then_one, (void *)(uintptr_t)&which[i % 3], &config, &result),
            -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        must_say("2 of 2 tasks are not done: 1 running, 0 ready, 1 waiting");
        must_say("the oldest unfinished: task 0x0000000000000000, kernel kit_aiv (func_id 193)");
        must_say("is still inside kernel kit_aiv (func_id 193) of task 0x0000000000000000\n");
        fault_saw("hang-in-one-block@host_build_graph", "status=%s device=%s",
                  simpler_status_name(result.status), fault_device(kit.worker));
        free_device();
    }
}

/* ---- a stop, and a task that was ready ---- */

static void hang_beside_others(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(cells, 16, SIMPLER_DTYPE_UINT64);

    (void)user;
    for (uint32_t i = 0; i < 4; i++) {
        struct simpler_tensor cell = kit_cell(&t, i);
        submit(orch, &cell, i < 2 ? hang : kit_nop_kernel);
    }
}

/* The thread hangs in the first; the others wait for none, and are in its grain. */
static void a_deadline_ends_kernels_that_hang(void **state)
{
    struct simpler_call_config config = config_of(1, SIMPLER_EXEC_INLINE);

    (void)state;
    if (kit_threads(1) != 1)
        skip();
    atomic_store(&let_go, 0);
    config.deadline_ns = 200000000; /* before the budget */
    assert_int_equal(kit_run(&kit, hang_beside_others, NULL, &config, &result), SIMPLER_ETIMEDOUT);
    must_say("then the run hung: ");
    must_say("4 of 4 tasks are not done: 1 running, 3 ready, 0 waiting");
    fault_saw("hang-at-deadline@host_build_graph", "status=%s device=%s",
              simpler_status_name(result.status), fault_device(kit.worker));
    assert_int_equal(kit_run(&kit, hang_beside_others, NULL, &config, &result), SIMPLER_EBUSY);
    must_say("device thread 0 is still inside kernel kit_aiv");
    free_device();
}

static int open_kit(void **state)
{
    (void)state;
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", "300", 1);
    simpler_log_set_level(SIMPLER_LOG_NONE);
    kit_open(&kit);
    return 0;
}

static int close_kit(void **state)
{
    (void)state;
    kit_close(&kit);
    return 0;
}

#if defined(SIMPLER_DEBUG)
static bool force(void *user, enum simpler_testpoint point)
{
    (void)user;
    return point == SIMPLER_TESTPOINT_PLAN_TRACKS;
}

/* The same report when each thread has its tasks beforehand. */
static void a_hang_on_a_track_is_named(void **state)
{
    simpler_testpoint_reset_hits();
    simpler_testpoint_set(force, NULL);
    kit_close(&kit);
    kit_open(&kit);
    a_hang_in_a_recorded_graph_is_named(state);
    assert_true(simpler_testpoint_hits(SIMPLER_TESTPOINT_TRACK_BEFORE_TAKE) != 0);
    simpler_testpoint_set(NULL, NULL);
}

/* ---- many tasks ---- */

#define MANY 200000u

static _Atomic uint64_t claimed_ns;

static bool force_and_note(void *user, enum simpler_testpoint point)
{
    if (point == SIMPLER_TESTPOINT_HANG_CLAIMED)
        atomic_store(&claimed_ns, kit_now_ns());
    return force(user, point);
}

/* The first one hangs; the others, each in a grain of its own, wait for it. */
static void many(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    struct simpler_task_args args;

    for (uint32_t i = 0; i < MANY; i++) {
        simpler_task_args_reset(&args);
        if (i == 0)
            simpler_task_args_add_inout(&args, &g->tensor[0]);
        else
            simpler_task_args_add_input(&args, &g->tensor[0]);
        (void)kit_submit_variant(orch, KIT_LONG, &args, i == 0 ? hang : kit_nop_kernel, NULL, NULL);
    }
}

static void call_many(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(cells, 16, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    (void)simpler_orch_submit_graph(orch, many, &args, NULL, 0);
}

/* 10 s where each grain is looked for from the first one on. */
static void a_report_of_many_tasks_takes_no_time(void **state)
{
    struct simpler_call_config config = config_of(2, SIMPLER_EXEC_INLINE);

    (void)state;
    kit_set_window(&config, 1u << 18);
    atomic_store(&let_go, 0);
    simpler_testpoint_set(force_and_note, NULL);
    assert_int_equal(kit_run(&kit, call_many, NULL, &config, &result),
                     -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    uint64_t ns = kit_now_ns() - atomic_load(&claimed_ns);
    simpler_testpoint_set(NULL, NULL);
    must_say("200000 of 200000 tasks are not done: 1 running, 0 ready, 199999 waiting");
    free_device();
    assert_in_range(ns, 0, 2500000000u);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hang_in_a_recorded_graph_is_named),
#if defined(SIMPLER_DEBUG)
        cmocka_unit_test(a_hang_on_a_track_is_named),
        cmocka_unit_test(a_report_of_many_tasks_takes_no_time),
#endif
        cmocka_unit_test(a_hang_in_one_block_is_named),
        cmocka_unit_test(a_deadline_ends_kernels_that_hang),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
