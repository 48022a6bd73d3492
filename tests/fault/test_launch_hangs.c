/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 200
 * runtimes: all
 * Kernels that wait for each other, and counters that nobody raises: a run that hangs on
 * them ends within its budget and says so (SY-05), and the worker goes on.
 */
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "faults.h"
#include "kit.h"

#define BUDGET "300"

static struct kit kit;
static struct simpler_run_result result;

static int open_kit(void **state)
{
    (void)state;
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", BUDGET, 1);
    kit_open(&kit);
    return 0;
}

static int close_kit(void **state)
{
    (void)state;
    kit_close(&kit);
    return 0;
}

/* Statics: what a hung run still uses stays until its threads have come back. */
static struct {
    int32_t blocks;
    bool mixed, sync_start;
    kit_kernel fn;
} job;
static _Atomic int let_go, answers;

static void submit_job(struct simpler_orch *orch, void *user)
{
    struct simpler_mixed_kernels mixed = {(int32_t)(KIT_VARIANT * KIT_AIV_VARIANTS), 0, 0};
    struct simpler_task_args args;
    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_set_block_num(&args, job.blocks);
    simpler_task_args_set_require_sync_start(&args, job.sync_start);
    kit_add_call(&args, job.fn, NULL);
    if (job.mixed)
        (void)simpler_orch_submit_mixed(orch, &mixed, &args, NULL);
    else
        (void)simpler_orch_submit_aiv(orch, 0, &args, NULL);
}

static void submit_counts(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_set_block_num(&args, 10);
    kit_submit(orch, &args, kit_count_kernel, user, NULL);
    simpler_task_args_reset(&args);
    simpler_task_args_set_block_num(&args, 4);
    simpler_task_args_set_require_sync_start(&args, 1);
    kit_submit(orch, &args, kit_count_kernel, user, NULL);
}

static void next_run_is_right(void)
{
    static _Atomic int count;
    struct simpler_call_config config = kit_config(2);
    atomic_store(&count, 0);
    assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
    assert_int_equal(kit_run(&kit, submit_counts, (void *)&count, &config, &result), 0);
    assert_int_equal(count, 14);
}

/* Of the run that hung; and that the worker goes on. */
static void saw(const char *fault)
{
    int rc = result.status;
    next_run_is_right();
    fault_saw(fault, "status=%s next=%s", simpler_status_name(rc),
              simpler_status_name(result.status));
}

static void hangs(uint32_t exec)
{
    struct simpler_call_config config = kit_config(2);
    config.exec = exec;
    uint64_t start = kit_now_ns();
    assert_int_equal(kit_run(&kit, submit_job, NULL, &config, &result),
                     -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    assert_true(kit_now_ns() - start < 5000000000u);
    assert_int_equal(result.sched_error_code, SIMPLER_CODE_SCHEDULER_TIMEOUT);
}

/* Block 0 never arrives; the others wait for it and are told of the run's end. */
static int one_stays_away(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    (void)user;
    if (simpler_kernel_block_idx(args) == 0) {
        while (!atomic_load(&let_go))
            kit_sleep_ns(1000000);
        return 0;
    }
    int rc = simpler_kernel_sync_all(args);
    atomic_fetch_add(&answers, rc != 0);
    return rc;
}

static void a_barrier_that_one_stays_away_from(void **state)
{
    (void)state;
    for (uint32_t exec = 0; exec < 2; exec++) {
        job.blocks = 4;
        job.mixed = false;
        job.sync_start = true;
        job.fn = one_stays_away;
        atomic_store(&let_go, 0);
        atomic_store(&answers, 0);
        hangs(exec);
        atomic_store(&let_go, 1);
        saw("cohort-member-stays-away");
        assert_int_equal(answers, 3);
    }
}

/* Each lane waits for a flag of the other: both come back by themselves. */
static int wait_for_each_other(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    (void)user;
    int rc = simpler_kernel_wait_flag(args, 0);
    atomic_fetch_add(&answers, rc != 0);
    return rc;
}

static void lanes_that_wait_for_each_other(void **state)
{
    (void)state;
    for (uint32_t exec = 0; exec < 2; exec++) {
        job.blocks = 1;
        job.mixed = true;
        job.sync_start = false;
        job.fn = wait_for_each_other;
        atomic_store(&answers, 0);
        hangs(exec);
        saw("lanes-wait-for-each-other");
        assert_int_equal(answers, 3);
    }
}

static int defer_for_ever(const int64_t *args, uint32_t tensors, void *user)
{
    static struct simpler_async_counter never;
    struct simpler_async_condition condition = {SIMPLER_ASYNC_EVENT, 0, &never, 0};
    (void)tensors;
    (void)user;
    return simpler_kernel_defer(args, &condition);
}

static void a_counter_that_nobody_raises(void **state)
{
    (void)state;
    for (uint32_t exec = 0; exec < 2; exec++) {
        for (int32_t blocks = 1; blocks < 3; blocks++) {
            job.blocks = blocks;
            job.mixed = job.sync_start = false;
            job.fn = defer_for_ever;
            hangs(exec);
            if (strstr(result.message, "waits for a counter that is 0 to be at least 1") == NULL)
                fail_msg("no word of the conditions in: %s", result.message);
            if (strstr(result.message, "it has returned from its kernel and waits for its") == NULL)
                fail_msg("no word of where the task is in: %s", result.message);
            assert_null(strstr(result.message, "a completion was lost"));
            assert_null(strstr(result.message, "remedy:"));
            saw("counter-not-raised");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_barrier_that_one_stays_away_from, open_kit, close_kit),
        cmocka_unit_test_setup_teardown(lanes_that_wait_for_each_other, open_kit, close_kit),
        cmocka_unit_test_setup_teardown(a_counter_that_nobody_raises, open_kit, close_kit),
    };
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
