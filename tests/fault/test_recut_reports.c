/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SY-05: a run on host_build_graph that is cut anew, and who looks at it meanwhile: the report of
 * a run that goes on, and the end of one that hangs just then.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "kit.h"

#define TASKS 9u

static struct kit kit;
static struct simpler_run_result result;
static uint64_t cells[TASKS];
static _Atomic uint32_t reports, ran;

static struct simpler_call_config config_of(void)
{
    struct simpler_call_config config = kit_config(2);

    config.runtime = "host_build_graph";
    return config;
}

/* The last line of a report. */
static void note_line(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    if (strstr(line, "SUMMARY") != NULL)
        atomic_fetch_add_explicit(&reports, 1, memory_order_relaxed);
}

/* relaxed: it orders nothing between who sets the flag and who waits. */
static bool wait_for(_Atomic uint32_t *flag)
{
    uint64_t end = kit_now_ns() + UINT64_C(10000000000);

    while (atomic_load_explicit(flag, memory_order_relaxed) == 0 && kit_now_ns() < end)
        kit_sleep_ns(100000);
    return atomic_load_explicit(flag, memory_order_relaxed) != 0;
}

static void submit(struct simpler_orch *orch, const struct simpler_tensor *all, uint32_t cell,
                   uint32_t func_id, kit_kernel fn)
{
    struct simpler_task_args args;
    struct simpler_tensor own = kit_cell(all, cell), first = kit_cell(all, 0);

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &own);
    if (cell != 0)
        simpler_task_args_add_input(&args, &first);
    kit_add_call(&args, fn, NULL);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, func_id + args.tensor_count, &args, NULL), 0);
}

static int count(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    atomic_fetch_add(&ran, 1);
    return 0;
}

/* ---- what a report reads is written meanwhile ---- */

/* What this kernel's failure leaves is written after the report, with nothing in between. */
static int report_and_fail(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    simpler_worker_report(kit.worker);
    KIT_EXPECT(wait_for(&reports));
    return 7;
}

static void fail_first(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor all = kit_tensor(cells, TASKS, SIMPLER_DTYPE_UINT64);

    (void)user;
    submit(orch, &all, 0, KIT_VARIANT, report_and_fail);
    for (uint32_t i = 1; i < TASKS; i++)
        submit(orch, &all, i, 0, count);
}

static void a_report_reads_what_tasks_write(void **state)
{
    struct simpler_call_config config = config_of();

    (void)state;
    for (int i = 0; i < 3; i++) {
        atomic_store(&reports, 0);
        atomic_store(&ran, 0);
        assert_int_equal(kit_run(&kit, fail_first, NULL, &config, &result), SIMPLER_EKERNEL);
        assert_int_equal(atomic_load(&reports), 1);
        assert_int_equal(atomic_load(&ran), 0);
        assert_int_equal(result.stats.tasks_poisoned, TASKS - 1);
    }
}

#if defined(SIMPLER_DEBUG)
/* ---- a cut ---- */

static struct simpler_async_counter counter;
static _Atomic uint32_t held, let_go, registered, visited, refused;
static _Atomic bool report_first;
static enum simpler_testpoint hold_at;
static pthread_t caller;
static _Atomic uint32_t cut_by_caller;

static bool hook(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point == SIMPLER_TESTPOINT_PLAN_TRACKS)
        return true;
    if (point == hold_at) {
        atomic_store(&held, 1);
        (void)wait_for(&let_go);
    }
    if (point == SIMPLER_TESTPOINT_VISIT_REFUSED)
        atomic_store(&refused, 1);
    if (point == SIMPLER_TESTPOINT_RECUT_CLAIMED && pthread_equal(pthread_self(), caller))
        atomic_store(&cut_by_caller, 1);
    if (point == SIMPLER_TESTPOINT_VISIT_INSIDE && atomic_load(&report_first)) {
        atomic_store(&visited, 1);
        (void)wait_for(&registered);
        kit_sleep_ns(2000000); /* for the threads to leave; the test asks whether they have */
    }
    return false;
}

static int defer(const int64_t *args, uint32_t tensors, void *user)
{
    struct simpler_async_condition condition = {SIMPLER_ASYNC_EVENT, 0, &counter, 0};

    (void)tensors;
    (void)user;
    if (atomic_load(&report_first)) {
        simpler_worker_report(kit.worker);
        KIT_EXPECT(wait_for(&visited));
    }
    int rc = simpler_kernel_defer(args, &condition);
    atomic_store(&registered, 1);
    return rc;
}

/* The first one defers, which nobody knew: with tracks the run is cut anew. */
static void graph(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    submit(orch, &g->tensor[0], 0, KIT_VARIANT, defer);
    for (uint32_t i = 1; i < TASKS; i++)
        submit(orch, &g->tensor[0], i, 0, count);
}

static void call(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor all = kit_tensor(cells, TASKS, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &all);
    KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, graph, &args, NULL, 0), 0);
}

/* A worker that knows of no deferral, and a counter that is @value. */
static void begin(enum simpler_testpoint at, uint32_t value, bool report)
{
    kit_close(&kit);
    kit_open(&kit);
    memset(&counter, 0, sizeof(counter));
    simpler_async_counter_add(&counter, value);
    atomic_store(&reports, 0);
    atomic_store(&ran, 0);
    atomic_store(&held, 0);
    atomic_store(&let_go, 0);
    atomic_store(&registered, 0);
    atomic_store(&visited, 0);
    atomic_store(&refused, 0);
    atomic_store(&report_first, report);
    atomic_store(&cut_by_caller, 0);
    hold_at = at;
    caller = pthread_self();
    simpler_testpoint_reset_hits();
    simpler_testpoint_set(hook, NULL);
}

/* The run was given up; its thread comes back, and the device runs on. */
static void end_hung(uint64_t cuts)
{
    struct simpler_call_config config = config_of();

    atomic_store(&let_go, 1);
    assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
    assert_int_equal(simpler_testpoint_hits(SIMPLER_TESTPOINT_RECUT_CLAIMED), cuts);
    hold_at = SIMPLER_TESTPOINT_NUM;
    simpler_async_counter_add(&counter, 1);
    atomic_store(&ran, 0);
    assert_int_equal(kit_run(&kit, call, NULL, &config, &result), 0);
    assert_int_equal(atomic_load(&ran), TASKS - 1);
    simpler_testpoint_set(NULL, NULL);
}

static void must_say(const char *text, bool said)
{
    if ((strstr(result.message, text) != NULL) != said)
        fail_msg("'%s' is %sin:\n%s", text, said ? "not " : "", result.message);
}

/* Who ends the run waits for the cut as long as for any thread, then leaves alone what it has. */
static void a_hang_during_a_cut_reads_nothing(void **state)
{
    struct simpler_call_config config = config_of();

    (void)state;
    begin(SIMPLER_TESTPOINT_RECUT_CLAIMED, 0, false);
    assert_int_equal(kit_run(&kit, call, NULL, &config, &result), -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    assert_int_equal(atomic_load(&held), 1);
    must_say("nothing was finished for ", true);
    must_say("the thread that cuts the run anew for it does not come on", true);
    must_say(" has not come back; what it was at may be done", true);
    must_say("the oldest unfinished", false);
    must_say("deferred completions open", false);
    end_hung(1);
}

/* A thread that is held before it has claimed its cut makes none any more. */
static void a_run_that_hangs_is_not_cut(void **state)
{
    struct simpler_call_config config = config_of();

    (void)state;
    begin(SIMPLER_TESTPOINT_RECUT_BEFORE_CLAIM, 0, false);
    assert_int_equal(kit_run(&kit, call, NULL, &config, &result), -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    assert_int_equal(atomic_load(&held), 1);
    must_say("9 of 9 tasks are not done", true);
    must_say("1 condition of deferred completions open: task 0x0000000000000000", true);
    must_say(" has not come back; what it was at may be done", true);
    end_hung(0);
}

static void *ask(void *user)
{
    (void)user;
    if (!wait_for(&held))
        return NULL;
    simpler_worker_report(kit.worker);
    /* It was looked at: nobody may read yet. */
    bool was_refused = wait_for(&refused);
    bool none = atomic_load(&reports) == 0;
    atomic_store(&let_go, 1);
    bool told = wait_for(&reports);
    simpler_async_counter_add(&counter, 1);
    return was_refused && none && told ? &kit : NULL;
}

static void a_report_waits_for_a_cut(void **state)
{
    struct simpler_call_config config = config_of();
    pthread_t thread;
    void *right;

    (void)state;
    begin(SIMPLER_TESTPOINT_RECUT_CLAIMED, 0, false);
    assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
    int rc = kit_run(&kit, call, NULL, &config, &result);
    assert_int_equal(pthread_join(thread, &right), 0);
    assert_int_equal(rc, 0);
    assert_non_null(right);
    assert_int_equal(atomic_load(&ran), TASKS - 1);
    simpler_testpoint_set(NULL, NULL);
}

/* While the caller looks the threads leave: the last one out is the caller, and cuts. */
static void a_cut_waits_for_a_report(void **state)
{
    struct simpler_call_config config = config_of();
    uint32_t found = 0;

    (void)state;
    for (int i = 0; i < 100 && found == 0; i++) {
        begin(SIMPLER_TESTPOINT_NUM, 1, true);
        int rc = kit_run(&kit, call, NULL, &config, &result);
        simpler_testpoint_set(NULL, NULL);
        assert_int_equal(rc, 0);
        assert_int_equal(atomic_load(&reports), 1);
        assert_int_equal(atomic_load(&ran), TASKS - 1);
        found += atomic_load(&cut_by_caller);
    }
    assert_int_equal(found, 1);
}
#endif

static int open_quick_kit(void **state)
{
    (void)state;
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", "300", 1);
    simpler_log_set_callback(note_line, NULL);
    kit_open(&kit);
    return 0;
}

static int close_kit(void **state)
{
    (void)state;
    kit_close(&kit);
    simpler_log_set_callback(NULL, NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_reads_what_tasks_write),
#if defined(SIMPLER_DEBUG)
        cmocka_unit_test(a_hang_during_a_cut_reads_nothing),
        cmocka_unit_test(a_run_that_hangs_is_not_cut),
        cmocka_unit_test(a_report_waits_for_a_cut),
        cmocka_unit_test(a_cut_waits_for_a_report),
#endif
    };
    return cmocka_run_group_tests(tests, open_quick_kit, close_kit);
}
