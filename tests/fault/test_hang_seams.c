/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 300
 * runtimes: all
 * Hangs that only a seam makes: a lost edge, a cycle, a
 * thread that is held between two tasks, kernels that return just at the time-out.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "faults.h"
#include "hang_rig.h"

#if defined(SIMPLER_DEBUG)
/* ---- seams ---- */

static _Atomic int dropped, held;

static bool drop_one(void *user, enum simpler_testpoint point)
{
    return point == *(enum simpler_testpoint *)user && atomic_fetch_add(&dropped, 1) == 0;
}

static int sleep_a_moment(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_sleep_ns(20000000);
    return 0;
}

static void chain_of_three(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (int i = 0; i < 3; i++)
        KIT_EXPECT_EQUAL(hang_submit_on(orch, 3, KIT_LONG, sleep_a_moment, NULL), 0);
}

/* The file of samples is whole; that of host_build_graph has none. */
static void check_samples(void)
{
    const char *scope = hang_read_file("scope_stats/scope_stats.jsonl");

    assert_int_equal(hang_result.scope_stats.status, 0);
    assert_non_null(scope);
    assert_non_null(strstr(scope, "{\"fatal\": true, \"dropped\": 0"));
    assert_int_equal(hang_count_of(scope, "\n"), 1 + hang_result.scope_stats.records);
}

static void run_with_seam(enum simpler_testpoint seam)
{
    struct simpler_call_config config = hang_with_diagnostics(2);
    atomic_store(&dropped, 0);
    simpler_testpoint_set(drop_one, &seam);
    int rc = hang_run(chain_of_three, NULL, &config);
    simpler_testpoint_set(NULL, NULL);
    assert_true(atomic_load(&dropped) != 0);
    assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    /* Whole files: every task that ran has its tensor twice and two scalars, no other has any. */
    assert_int_equal(hang_result.args_dump.status, 0);
    assert_int_equal(hang_result.args_dump.counts_known, 1);
    assert_int_equal(hang_result.args_dump.records, 4 * hang_result.stats.tasks_run);
    if (hang_result.stats.tasks_run != 0)
        assert_int_equal(
            hang_count_of(hang_read_file("args_dump/args_dump.json"), "after_completion\","),
            hang_result.stats.tasks_run);
    check_samples();
    /* Nobody is inside: the device is free. */
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 0), 0);
}

static void a_lost_edge_is_named(void **state)
{
    (void)state;
    run_with_seam(SIMPLER_TESTPOINT_DROP_EDGE);
    hang_must_say("is in no queue and waits for no unfinished task");
    assert_null(strstr(hang_result.message, "remedy:"));
    hang_saw("lost-edge");
    hang_next_runs_are_right();
}

static void a_cycle_is_named(void **state)
{
    (void)state;
    /* There a task depends on earlier ones alone. */
    if (hang_on_hbg())
        skip();
    run_with_seam(SIMPLER_TESTPOINT_MAKE_CYCLE);
    hang_must_say("a cycle of dependencies: task 0x");
    hang_must_say("; which waits for task 0x");
    hang_must_say("; which waits for the first");
    assert_null(strstr(hang_result.message, "remedy:"));
    assert_true(hang_was_logged("[SHUTDOWN_SNAPSHOT", "sub_class=S4:dependency-deadlock"));
    hang_saw("dependency-cycle");
    hang_next_runs_are_right();
}

/* ---- one of three schedulers is held ---- */

static _Atomic(pthread_t) orchestrator;

static bool hold_one(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point != SIMPLER_TESTPOINT_COMPLETE_BEFORE_CLOSE ||
        pthread_equal(atomic_load(&orchestrator), pthread_self()) ||
        atomic_fetch_add(&held, 1) != 0)
        return false;
    while (!atomic_load_explicit(&hang_hold, memory_order_acquire))
        kit_sleep_ns(100000);
    return false;
}

/* Its own pause, so that a scheduler takes the first task. */
static void chain_with_pause(struct simpler_orch *orch, void *user)
{
    atomic_store(&orchestrator, pthread_self());
    chain_of_three(orch, user);
    kit_sleep_ns(100000000);
}

static void one_of_three_schedulers_is_held(void **state)
{
    (void)state;
    struct simpler_call_config config = hang_with_diagnostics(4);
    atomic_store(&held, 0);
    atomic_store(&hang_hold, 0);
    simpler_testpoint_set(hold_one, NULL);
    int rc = hang_run(chain_with_pause, NULL, &config);
    assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    hang_must_say("a thread that took it has not come back");
    hang_must_say("the device is busy");
    /* Its lane is not read; the orchestrator's is complete. */
    assert_int_equal(hang_result.args_dump.status, SIMPLER_EPARTIAL);
    assert_int_equal(hang_result.args_dump.counts_known, 0);
    check_samples();
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 1000000), SIMPLER_ETIMEDOUT);
    hang_saw("held-scheduler");
    atomic_store(&hang_hold, 1);
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
    simpler_testpoint_set(NULL, NULL);
    hang_next_runs_are_right();
}

/* ---- at the time-out ---- */

static _Atomic int answers;
static struct kit_random chance;

/* The kernel returns when the monitor has decided to end the run, give or take some. */
static bool let_go_at_the_timeout(void *user, enum simpler_testpoint point)
{
    struct hang_spinner *s = user;
    if (point == SIMPLER_TESTPOINT_KERNEL_ASKED)
        atomic_fetch_add(&answers, 1);
    if (point != SIMPLER_TESTPOINT_MONITOR_BEFORE_CLAIM &&
        point != SIMPLER_TESTPOINT_REVOKE_AFTER_ASK)
        return false;
    /* Of the monitor's thread alone. */
    uint32_t way = kit_random_below(&chance, 8);
    if (point == SIMPLER_TESTPOINT_MONITOR_BEFORE_CLAIM ? way != 0 : way <= 2)
        return false; /* later: at the next point, or by the caller */
    atomic_store_explicit(&s->let_go, 1, memory_order_release);
    if (way >= 5)
        kit_spin_ns(kit_random_below(&chance, 3000));
    return false;
}

static int spin_hot(const int64_t *args, uint32_t tensors, void *user)
{
    struct hang_spinner *s = user;
    (void)tensors;
    (*(uint64_t *)simpler_kernel_data(args, 0))++;
    atomic_fetch_add_explicit(&s->inside, 1, memory_order_acq_rel);
    uint64_t end = s->own_ns != 0 ? kit_now_ns() + s->own_ns : UINT64_MAX;
    while (!atomic_load_explicit(&s->let_go, memory_order_acquire) && kit_now_ns() < end)
        ;
    return 0;
}

static void spin_hot_graph(struct simpler_orch *orch, void *user)
{
    /* The run may have ended before the second. */
    (void)hang_submit_on(orch, 4, KIT_LONG, spin_hot, user);
    (void)hang_submit_on(orch, 4, KIT_LONG, spin_hot, user);
}

/* Entries of a directory of /proc/self. */
static int entries_of(const char *path)
{
    int n = 0;
    DIR *directory = opendir(path);
    assert_non_null(directory);
    while (readdir(directory) != NULL)
        n++;
    (void)closedir(directory);
    return n;
}

/* Whatever the runs came to, they leave no thread and no descriptor behind. */
static void a_kernel_returns_at_the_timeout(void **state)
{
    (void)state;
    static struct hang_spinner s;
    struct simpler_call_config config = kit_config(2);
    int ended[2] = {0, 0};
    const char *wanted = getenv("SIMPLER_TEST_ROUNDS");
    int rounds = wanted != NULL ? atoi(wanted) : 300;

    kit_close(&hang_kit);
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", "1", 1);
    hang_open_worker(NULL);
    int threads = 0, descriptors = 0;
    simpler_testpoint_reset_hits();
    chance.state = 77;
    atomic_store(&answers, 0);
    for (int i = 0; i < rounds; i++) {
        memset(&s, 0, sizeof(s));
        hang_cells[4][0] = 0;
        /* Every second one returns by itself around the budget of 1 ms. */
        s.own_ns = i % 2 == 0 ? 0 : 200000 + (uint64_t)(i % 20) * 100000;
        simpler_testpoint_set(let_go_at_the_timeout, &s);
        int rc = hang_run(spin_hot_graph, &s, &config);
        assert_true(rc == 0 || rc == -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        ended[rc != 0]++;
        atomic_store_explicit(&s.let_go, 1, memory_order_release);
        assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
        simpler_testpoint_set(NULL, NULL);
        /* Each kernel ran once or, behind the end of the run, not at all. */
        assert_int_equal(hang_cells[4][0], atomic_load(&s.inside));
        assert_in_range(hang_cells[4][0], rc == 0 ? 2 : 0, 2);
        assert_true(hang_result.stats.tasks_run <= hang_cells[4][0]);
        if (i == 0) {
            threads = entries_of("/proc/self/task");
            descriptors = entries_of("/proc/self/fd");
        }
    }
    /* After a run that ended by itself the device's two threads stay. */
    assert_in_range(entries_of("/proc/self/task"), threads - 2, threads + 2);
    assert_int_equal(entries_of("/proc/self/fd"), descriptors);
    fault_saw_times("kernel-returns-at-timeout", (uint64_t)ended[1], "descriptors_left=%d",
                    entries_of("/proc/self/fd") - descriptors);
    /* All of it happened: ends by itself, ends by the monitor, revoked, and asked in vain. */
    assert_true(ended[0] > 0);
    assert_true(ended[1] > 0);
    assert_true(atomic_load(&answers) > 0);
    assert_true(simpler_testpoint_hits(SIMPLER_TESTPOINT_REVOKE_AFTER_ASK) > 0);
    print_message("%d ended by themselves, %d by the monitor, %d met the question\n", ended[0],
                  ended[1], atomic_load(&answers));
}

/* ---- a run that ends as it is taken away, under a hazard check ---- */

static _Atomic uint32_t claimed, returned;

static bool end_when_claimed(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point != SIMPLER_TESTPOINT_HANG_CLAIMED)
        return false;
    atomic_store(&claimed, 1);
    uint64_t end = kit_now_ns() + UINT64_C(5000000000);
    while (!atomic_load(&returned) && kit_now_ns() < end)
        kit_sleep_ns(100000);
    kit_sleep_ns(5000000); /* for its thread to leave the word around it */
    return false;
}

static int read_until_claimed(const int64_t *args, uint32_t tensors, void *user)
{
    uint64_t end = kit_now_ns() + UINT64_C(10000000000);

    (void)args;
    (void)tensors;
    (void)user;
    while (!atomic_load(&claimed) && kit_now_ns() < end)
        kit_sleep_ns(100000);
    atomic_store(&returned, 1);
    return 0;
}

/* Hazards raw leave a reader and a later writer unordered. */
static void reader_and_writer(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(hang_cells[5], 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &t);
    KIT_EXPECT_EQUAL(kit_submit_variant(orch, KIT_LONG, &args, read_until_claimed, NULL, NULL), 0);
    simpler_task_args_reset(&args);
    simpler_task_args_add_output(&args, &t);
    KIT_EXPECT_EQUAL(kit_submit_variant(orch, KIT_LONG, &args, kit_nop_kernel, NULL, NULL), 0);
}

static void a_hazard_check_ends_as_it_is_taken_away(void **state)
{
    struct simpler_call_config config = kit_config(2);
    bool seen = false;

    (void)state;
    /* There the check is not made. */
    if (hang_on_hbg())
        skip();
    config.hazards = SIMPLER_HAZARDS_RAW;
    config.check_hazards = 1;
    /* On a busy machine the kernel's thread may not come back in time. */
    for (int i = 0; i < 20 && !seen; i++) {
        atomic_store(&claimed, 0);
        atomic_store(&returned, 0);
        simpler_testpoint_reset_hits();
        simpler_testpoint_set(end_when_claimed, NULL);
        int rc = hang_run(reader_and_writer, NULL, &config);
        assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
        simpler_testpoint_set(NULL, NULL);
        seen = simpler_testpoint_hits(SIMPLER_TESTPOINT_HANG_TAKEN_BACK) != 0;
        assert_int_equal(rc, seen ? 0 : -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        /* Told either way. */
        assert_int_equal(hang_result.stats.unordered_pairs, 1);
        hang_must_say("unordered: task 0x0000000000000000 (");
    }
    assert_true(seen);
    hang_next_runs_are_right();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HANG_TEST(a_hazard_check_ends_as_it_is_taken_away),
        HANG_TEST(a_lost_edge_is_named),
        HANG_TEST(a_cycle_is_named),
        HANG_TEST(one_of_three_schedulers_is_held),
        HANG_TEST(a_kernel_returns_at_the_timeout),
    };
    return hang_main(tests, sizeof(tests) / sizeof(tests[0]));
}
#else
int main(void)
{
    return 77;
}
#endif
