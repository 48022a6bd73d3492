/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 300
 * runtimes: all
 * Runs that do not end by themselves: each ends within its budget, says what it
 * hung on, and leaves a device that is busy exactly as long as a thread is inside.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "hang_rig.h"

/* ---- a kernel that spins ---- */

static void spin_and_wait(struct simpler_orch *orch, void *user)
{
    struct hang_spinner *s = user;
    SIMPLER_SCOPE(orch)
    {
        KIT_EXPECT_EQUAL(hang_submit_on(orch, 0, KIT_LONG, hang_spin_kernel, s), 0);
        for (int i = 0; i < 5; i++)
            KIT_EXPECT_EQUAL(hang_submit_on(orch, 0, KIT_LONG, kit_nop_kernel, NULL), 0);
    }
}

static void run_spinner(uint32_t threads, uint32_t exec, const char *fault)
{
    static struct hang_spinner s;
    struct simpler_call_config config = kit_config(threads);
    /* The scope's ring. */
    const char *id = hang_on_hbg() ? "0x0000000000000000" : "0x0000000100000000";
    char words[128];

    memset(&s, 0, sizeof(s));
    config.exec = exec;
    uint64_t before = kit_now_ns();
    int rc = hang_run(spin_and_wait, &s, &config);
    uint64_t took_ms = (kit_now_ns() - before) / 1000000;
    assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    assert_int_equal(atomic_load(&s.inside), 1);
    assert_in_range(took_ms, HANG_BUDGET_MS, 10 * HANG_BUDGET_MS);
    hang_must_say("orch_error_code=0 sched_error_code=100 runtime_status=-100");
    (void)snprintf(words, sizeof(words), "is still inside kernel kit_aiv (func_id 193) of task %s",
                   id);
    hang_must_say(words);
    (void)snprintf(words, sizeof(words),
                   "remedy: if the kernel is only slow, set SIMPLER_SCHEDULER_TIMEOUT_MS to more "
                   "than %u, which",
                   HANG_BUDGET_MS);
    hang_must_say(words);
    hang_must_say("submitted at ");
    hang_must_say("hang_rig.c:");
    assert_true(hang_was_logged("[STALL thread=", "state=RUNNING"));
    assert_true(
        hang_was_logged("[SHUTDOWN_SNAPSHOT trigger_thread=", "sub_class=S1:running-stalled"));
    if (config.aicpu_thread_num == 1 && !hang_on_hbg()) {
        /* It runs while it is submitted: the others do not exist yet.  (A chip has two threads.) */
        hang_must_say("1 of 1 task is not done: 1 running, 0 ready, 0 waiting");
        hang_must_say(
            "the oldest unfinished: kernel kit_aiv (func_id 193) of task 0x0000000100000000");
        hang_must_say("it runs on the orchestrator thread");
    } else {
        hang_must_say("6 of 6 tasks are not done: 1 running, 0 ready, 5 waiting");
        (void)snprintf(words, sizeof(words),
                       "the oldest unfinished: task %s, kernel kit_aiv (func_id 193)", id);
        hang_must_say(words);
        hang_must_say("in a scope of depth 1 that has ended; it runs on ");
        assert_true(hang_was_logged("[STALL thread=", "state=WAIT"));
        (void)snprintf(words, sizeof(words), "stuck_task_id=%s", id);
        assert_true(hang_was_logged(words, "completed=0/6 running=1"));
    }

    /* Busy while the kernel is inside; nothing else may run meanwhile. */
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 1000000), SIMPLER_ETIMEDOUT);
    assert_int_equal(hang_run(spin_and_wait, &s, &config), SIMPLER_EBUSY);
    hang_must_say("kernel kit_aiv");
    assert_int_equal(atomic_load(&s.inside), 1);
    const char *device = fault_device(hang_kit.worker);
    int next = hang_result.status;
    atomic_store(&s.let_go, 1);
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 0), 0);
    const char *afterwards = fault_device(hang_kit.worker);
    hang_next_runs_are_right();
    fault_saw(fault, "status=%s device=%s run=%s afterwards=%s next=right ms=%d",
              simpler_status_name(rc), device, simpler_status_name(next), afterwards, (int)took_ms);
}

static void a_kernel_that_spins_on_a_scheduler(void **state)
{
    (void)state;
    run_spinner(2, SIMPLER_EXEC_INLINE, "spin-on-scheduler");
    run_spinner(4, SIMPLER_EXEC_INLINE, "spin-on-scheduler");
}

static void a_kernel_that_spins_on_the_orchestrator(void **state)
{
    (void)state;
    /* Alone, the orchestrator runs every kernel; a chip has a scheduler as well. */
    if (kit_threads(1) != 1)
        skip();
    run_spinner(1, SIMPLER_EXEC_INLINE, "spin-on-only-thread");
}

static void a_kernel_that_spins_on_a_core_thread(void **state)
{
    (void)state;
    run_spinner(2, SIMPLER_EXEC_THREADS, "spin-on-core-thread");
    run_spinner(3, SIMPLER_EXEC_THREADS, "spin-on-core-thread");
}

/* A run on a busy device looks whether the kernel has come back meanwhile. */
static void a_kernel_that_comes_back_frees_the_device(void **state)
{
    (void)state;
    static struct hang_spinner s;
    struct simpler_call_config config = kit_config(2);

    memset(&s, 0, sizeof(s));
    assert_int_equal(hang_run(spin_and_wait, &s, &config), -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    atomic_store(&s.let_go, 1);
    int rc = SIMPLER_EBUSY;
    for (int i = 0; i < 1000 && rc == SIMPLER_EBUSY; i++) {
        kit_sleep_ns(1000000);
        rc = hang_run(spin_and_wait, &s, &config);
    }
    assert_int_equal(rc, 0);
    fault_saw("kernel-comes-back", "next=%s", simpler_status_name(rc));
}

/* ---- an orchestration that never returns ---- */

static void never_return(struct simpler_orch *orch, void *user)
{
    struct hang_never *n = user;
    if (n->with_task)
        KIT_EXPECT_EQUAL(hang_submit_on(orch, 1, KIT_LONG, kit_nop_kernel, NULL), 0);
    atomic_store(&n->inside, 1);
    while (!atomic_load_explicit(&n->let_go, memory_order_acquire))
        kit_sleep_ns(100000);
    n->answer = hang_submit_on(orch, 1, KIT_LONG, kit_nop_kernel, NULL);
}

static void an_orchestration_that_never_returns(void **state)
{
    (void)state;
    static struct hang_never n;
    if (hang_on_hbg())
        skip();
    for (int i = 0; i < 3; i++) {
        struct simpler_call_config config = kit_config(i == 2 ? 1 : 3);
        memset(&n, 0, sizeof(n));
        n.with_task = i == 1;
        int rc = hang_run(never_return, &n, &config);
        assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        hang_must_say("sched_error_code=100");
        hang_must_say("orchestrator thread");
        hang_must_say("has not come back from the orchestration's own code");
        assert_true(hang_was_logged("[SHUTDOWN_SNAPSHOT", "sub_class=S5:orchestrator-starvation"));
        assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 0), SIMPLER_ETIMEDOUT);
        const char *device = fault_device(hang_kit.worker);
        atomic_store(&n.let_go, 1);
        assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
        /* What came back was told that its run is over. */
        assert_int_equal(n.answer, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        hang_next_runs_are_right();
        fault_saw("orchestration-hangs", "status=%s device=%s later_calls=%s next=right",
                  simpler_status_name(rc), device, simpler_status_name(n.answer));
    }
}

static void a_deadline_ends_an_orchestration_that_never_calls(void **state)
{
    (void)state;
    static struct hang_never n;
    struct simpler_call_config config = kit_config(2);
    if (hang_on_hbg())
        skip();
    memset(&n, 0, sizeof(n));
    config.deadline_ns = 50000000;
    int rc = hang_run(never_return, &n, &config);
    assert_int_equal(rc, SIMPLER_ETIMEDOUT);
    hang_must_say(" ms after the deadline; ");
    hang_must_say("has not come back from the orchestration's own code");
    atomic_store(&n.let_go, 1);
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
    assert_int_equal(n.answer, SIMPLER_ETIMEDOUT);
    fault_saw("orchestration-past-deadline", "status=%s later_calls=%s", simpler_status_name(rc),
              simpler_status_name(n.answer));
}

/* ---- slow is no hang ---- */

static int sleep_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_sleep_ns(600000000);
    return 0;
}

static void slow(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (int i = 0; i < 5; i++)
        KIT_EXPECT_EQUAL(hang_submit_on(orch, 2, KIT_LONG, sleep_kernel, NULL), 0);
}

static void slow_kernels_are_no_hang(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    kit_close(&hang_kit);
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", "2000", 1);
    hang_open_worker(NULL);
    int rc = hang_run(slow, NULL, &config);
    if (rc != 0)
        fail_msg("%s", hang_result.message);
    assert_int_equal(hang_result.message[0], '\0');
    fault_saw("slow-kernels", "status=%s", simpler_status_name(rc));
}

static int block_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_sleep_ns(100000000);
    return 0;
}

static void slow_blocks(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor tensor = kit_tensor(hang_cells[2], 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    simpler_task_args_set_block_num(&args, 16);
    KIT_EXPECT_EQUAL(kit_submit_variant(orch, KIT_LONG, &args, block_kernel, NULL, NULL), 0);
}

static int long_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_sleep_ns(1200000000);
    return 0;
}

static void one_long_kernel(struct simpler_orch *orch, void *user)
{
    (void)user;
    KIT_EXPECT_EQUAL(hang_submit_on(orch, 2, KIT_LONG, long_kernel, NULL), 0);
}

/* Each of them is quicker than the budget, all of them together are not. */
static void slow_blocks_are_no_hang(void **state)
{
    struct simpler_call_config config = kit_config(2);

    (void)state;
    assert_int_equal(hang_run(slow_blocks, NULL, &config), 0);
    assert_true(hang_result.stats.wall_ns > HANG_BUDGET_MS * 1000000u);
    assert_int_equal(hang_result.stats.blocks_run, 16);
    fault_saw("slow-kernels", "status=%s", simpler_status_name(hang_result.status));
}

/* A cancel gives the kernels inside a budget of their own, however long they have run. */
static void a_deadline_waits_for_the_kernel_inside(void **state)
{
    struct simpler_call_config config = kit_config(2);

    (void)state;
    kit_close(&hang_kit);
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", "1000", 1);
    hang_open_worker(NULL);
    config.deadline_ns = 800000000;
    assert_int_equal(hang_run(one_long_kernel, NULL, &config), SIMPLER_ETIMEDOUT);
    /* It did not hang: it was done 400 ms after the deadline, and the device is free. */
    assert_null(strstr(hang_result.message, "hung"));
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 0), 0);
    fault_saw("deadline-in-kernel", "status=%s device=%s", simpler_status_name(hang_result.status),
              fault_device(hang_kit.worker));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HANG_TEST(a_kernel_that_spins_on_a_scheduler),
        HANG_TEST(a_kernel_that_spins_on_the_orchestrator),
        HANG_TEST(a_kernel_that_spins_on_a_core_thread),
        HANG_TEST(a_kernel_that_comes_back_frees_the_device),
        HANG_TEST(an_orchestration_that_never_returns),
        HANG_TEST(a_deadline_ends_an_orchestration_that_never_calls),
        HANG_TEST(slow_kernels_are_no_hang),
        HANG_TEST(slow_blocks_are_no_hang),
        HANG_TEST(a_deadline_waits_for_the_kernel_inside),
    };
    return hang_main(tests, sizeof(tests) / sizeof(tests[0]));
}
