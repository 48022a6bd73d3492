/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that end early or late: a kernel's status and what depends on it, cancel,
 * deadline, a run without tasks, slow tasks that are no deadlock (SY-01, SY-05).
 */
#include <pthread.h>
#include <string.h>

#include "cm.h"
#include "faults.h"
#include "graph_gen.h"

static struct kit kit;
static struct simpler_run_result result;
static uint64_t cells[64][8];

static int fail_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    if (user != NULL)
        atomic_fetch_add((_Atomic int *)user, 1);
    return 7;
}

static struct simpler_tensor cell(uint32_t index)
{
    return kit_tensor(cells[index], 8, SIMPLER_DTYPE_UINT64);
}

static int submit_cell(struct simpler_orch *orch, enum simpler_tensor_use use, uint32_t index,
                       kit_kernel fn, void *user, struct simpler_task_outputs *out)
{
    struct simpler_tensor tensor = cell(index);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add(&args, &tensor, use);
    return kit_submit(orch, &args, fn, user, out);
}

static int submit_after(struct simpler_orch *orch, struct simpler_task_id id, void *counter)
{
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_set_dependencies(&args, &id, 1);
    return kit_submit(orch, &args, kit_count_kernel, counter, NULL);
}

static void next_run_is_right(void)
{
    struct graph_options options = {.calm = true};
    static uint64_t seed = 600000;
    for (int i = 0; i < 10; i++)
        assert_true(graph_try_seed(seed++, &kit, &options));
}

/* ---- a kernel's status ---- */

struct counts {
    _Atomic int dependent, independent, failing;
    int fail_line;
    bool held; /* the task fails when its successors are there */
};

static struct kit_gate fail_gate;

static int fail_behind_the_gate(const int64_t *args, uint32_t tensors, void *user)
{
    kit_gate_kernel(args, tensors, &fail_gate);
    return fail_kernel(args, tensors, user);
}

static void one_fails(struct simpler_orch *orch, void *user)
{
    struct counts *counts = user;
    struct simpler_task_outputs out;
    struct simpler_tensor first = cell(0);
    struct simpler_task_args args;
    submit_cell(orch, SIMPLER_USE_INOUT, 1, kit_count_kernel, (void *)&counts->independent, NULL);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &first);
    kit_gate_close(&fail_gate);
    if (counts->held) {
        counts->fail_line = __LINE__ + 1;
        kit_submit_variant(orch, KIT_LONG, &args, fail_behind_the_gate, (void *)&counts->failing,
                           &out);
        KIT_EXPECT(kit_gate_wait(&fail_gate, 1));
    } else {
        counts->fail_line = __LINE__ + 1;
        kit_submit(orch, &args, fail_kernel, (void *)&counts->failing, &out);
    }
    /* By data, by an explicit dependency, through a dummy, and two steps away. */
    submit_cell(orch, SIMPLER_USE_INOUT, 0, kit_count_kernel, (void *)&counts->dependent, NULL);
    submit_after(orch, out.id, (void *)&counts->dependent);
    struct simpler_tensor third = cell(3);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &first);
    simpler_task_args_add_inout(&args, &third);
    simpler_orch_submit_dummy(orch, &args, NULL);
    submit_cell(orch, SIMPLER_USE_INPUT, 3, kit_count_kernel, (void *)&counts->dependent, NULL);
    submit_cell(orch, SIMPLER_USE_INPUT, 0, kit_count_kernel, (void *)&counts->dependent, NULL);
    for (uint32_t i = 0; i < 20; i++)
        submit_cell(orch, SIMPLER_USE_INOUT, 1, kit_count_kernel, (void *)&counts->independent,
                    NULL);
    kit_gate_open(&fail_gate);
}

static void a_failed_task_takes_its_successors_with_it(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t threads = 1 + i / 2;
        struct counts counts = {0, 0, 0, 0, threads > 1 && i % 2 == 1};
        struct simpler_call_config config = kit_config(threads);
        assert_int_equal(kit_run(&kit, one_fails, &counts, &config, &result), SIMPLER_EKERNEL);
        assert_int_equal(result.status, SIMPLER_EKERNEL);
        assert_int_equal(atomic_load(&counts.failing), 1);
        assert_int_equal(atomic_load(&counts.dependent), 0);
        assert_int_equal(atomic_load(&counts.independent), 21);
        assert_int_equal(result.stats.tasks_failed, 1);
        assert_int_equal(result.stats.tasks_poisoned, 5);
        assert_int_equal(result.stats.tasks_run, 21);
        char site[64];
        snprintf(site, sizeof(site), "test_failures.c:%d", counts.fail_line);
        if (strstr(result.message, site) == NULL || strstr(result.message, "kit_aiv") == NULL ||
            strstr(result.message, "task") == NULL || strstr(result.message, "7") == NULL)
            fail_msg("task, kernel, status or site (%s) missing in: %s", site, result.message);
        next_run_is_right();
        fault_saw("kernel-fails", "status=%s dependents_run=%d others_run=%d next=right",
                  simpler_status_name(result.status), atomic_load(&counts.dependent),
                  atomic_load(&counts.independent));
    }
}

/* The dependent task is submitted when the failed one is long done. */
static void late_dependents(struct simpler_orch *orch, void *user)
{
    struct counts *counts = user;
    struct simpler_task_outputs out;
    struct simpler_tensor tensor = cell(0);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    kit_submit(orch, &args, fail_kernel, (void *)&counts->failing, &out);
    kit_sleep_ns(20000000);
    for (uint32_t i = 0; i < 100; i++)
        submit_cell(orch, SIMPLER_USE_INOUT, 1 + i % 8, kit_count_kernel,
                    (void *)&counts->independent, NULL);
    submit_cell(orch, SIMPLER_USE_INOUT, 0, kit_count_kernel, (void *)&counts->dependent, NULL);
    submit_after(orch, out.id, (void *)&counts->dependent);
}

static void a_late_dependent_does_not_run_either(void **state)
{
    (void)state;
    static const uint64_t windows[] = {4, 16, 16384};
    for (size_t i = 0; i < 3; i++) {
        struct counts counts = {0, 0, 0, 0, false};
        struct simpler_call_config config = kit_config(2);
        kit_set_window(&config, windows[i]);
        assert_int_equal(kit_run(&kit, late_dependents, &counts, &config, &result),
                         SIMPLER_EKERNEL);
        assert_int_equal(atomic_load(&counts.dependent), 0);
        assert_int_equal(result.stats.tasks_failed, 1);
        next_run_is_right();
        /* A failed task keeps its slot; a window that is full behind it ends the run. */
        if (windows[i] < 200)
            continue;
        assert_int_equal(result.stats.tasks_poisoned, 2);
        assert_int_equal(atomic_load(&counts.independent), 100);
    }
}

/* Waiting for a value that will never come ends with the run's status. */
static void get_of_a_failed_task(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor tensor = cell(0);
    uint32_t index = 0;
    uint64_t value;
    submit_cell(orch, SIMPLER_USE_INOUT, 0, fail_kernel, NULL, NULL);
    submit_cell(orch, SIMPLER_USE_INOUT, 0, kit_count_kernel, user, NULL);
    KIT_EXPECT((simpler_orch_get_tensor_data(orch, &tensor, &index, &value)) != 0);
}

static void a_get_of_a_failed_task_ends(void **state)
{
    (void)state;
    static _Atomic int count;
    struct simpler_call_config config = kit_config(2);
    uint64_t start = kit_now_ns();
    assert_int_equal(kit_run(&kit, get_of_a_failed_task, (void *)&count, &config, &result),
                     SIMPLER_EKERNEL);
    assert_true(kit_now_ns() - start < 5000000000u);
    assert_int_equal(atomic_load(&count), 0);
    next_run_is_right();
    fault_saw("get-of-failed-task", "status=%s dependents_run=%d next=right",
              simpler_status_name(result.status), atomic_load(&count));
}

/* ---- cancel and deadline ---- */

static int slow_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    kit_sleep_ns(200000);
    atomic_fetch_add((_Atomic int *)user, 1);
    return 0;
}

/* Submits until the run has ended. */
static void endless(struct simpler_orch *orch, void *user)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0; i++)
        rc = submit_cell(orch, SIMPLER_USE_INOUT, i % 64, slow_kernel, user, NULL);
    KIT_EXPECT(simpler_orch_is_fatal(orch));
}

static void *cancel_soon(void *user)
{
    kit_sleep_ns(20000000);
    simpler_worker_cancel(user);
    return NULL;
}

static void a_cancel_ends_the_run(void **state)
{
    (void)state;
    for (uint64_t window = 4; window <= 16384; window *= 64) {
        static _Atomic int count;
        struct simpler_call_config config = kit_config(2);
        kit_set_window(&config, window);
        atomic_store(&count, 0);
        pthread_t thread;
        uint64_t start = kit_now_ns();
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, kit.worker), 0);
        int rc = kit_run(&kit, endless, (void *)&count, &config, &result);
        pthread_join(thread, NULL);
        assert_int_equal(rc, SIMPLER_ECANCELED);
        assert_int_equal(result.status, SIMPLER_ECANCELED);
        uint64_t took = kit_now_ns() - start;
        assert_true(took < 3000000000u);
        /* What ran to its end is counted. */
        assert_int_equal(result.stats.tasks_run, atomic_load(&count));
        next_run_is_right();
        fault_saw("run-canceled", "status=%s ms=%d next=right", simpler_status_name(rc),
                  (int)(took / 1000000));
    }
}

/* One long kernel: the orchestration waits in a get when the cancel comes. */
static int until_released(const int64_t *args, uint32_t tensors, void *user)
{
    return kit_gate_kernel(args, tensors, user);
}

static void get_behind_a_gate(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor tensor = cell(0);
    uint32_t index = 0;
    uint64_t value;
    submit_cell(orch, SIMPLER_USE_INOUT, 0, until_released, user, NULL);
    /* The orchestration may be the one that runs the kernel: then the value is there. */
    int rc = simpler_orch_get_tensor_data(orch, &tensor, &index, &value);
    KIT_EXPECT(rc == SIMPLER_ECANCELED || rc == 0);
    KIT_EXPECT_EQUAL(submit_cell(orch, SIMPLER_USE_INOUT, 0, kit_nop_kernel, NULL, NULL),
                     SIMPLER_ECANCELED);
}

static struct kit_gate gate;

static void *cancel_then_open(void *user)
{
    kit_gate_wait(&gate, 1);
    kit_sleep_ns(5000000);
    simpler_worker_cancel(user);
    kit_sleep_ns(5000000);
    kit_gate_open(&gate);
    return NULL;
}

static void a_cancel_ends_a_wait(void **state)
{
    (void)state;
    pthread_t thread;
    struct simpler_call_config config = kit_config(2);
    kit_gate_close(&gate);
    assert_int_equal(pthread_create(&thread, NULL, cancel_then_open, kit.worker), 0);
    int rc = kit_run(&kit, get_behind_a_gate, &gate, &config, &result);
    pthread_join(thread, NULL);
    assert_int_equal(rc, SIMPLER_ECANCELED);
    next_run_is_right();
    fault_saw("canceled-in-wait", "status=%s next=right", simpler_status_name(rc));
}

static void a_cancel_without_a_run_does_nothing(void **state)
{
    (void)state;
    simpler_worker_cancel(kit.worker);
    next_run_is_right();
}

static void a_deadline_ends_the_run(void **state)
{
    (void)state;
    static _Atomic int count;
    struct simpler_call_config config = kit_config(2);
    config.deadline_ns = 30000000;
    uint64_t start = kit_now_ns();
    assert_int_equal(kit_run(&kit, endless, (void *)&count, &config, &result), SIMPLER_ETIMEDOUT);
    uint64_t took = kit_now_ns() - start;
    assert_true(took >= 30000000 && took < 3000000000u);
    next_run_is_right();
    fault_saw("deadline-passes", "status=%s ms=%d next=right", simpler_status_name(result.status),
              (int)(took / 1000000));
    /* A deadline that is not reached changes nothing. */
    config.deadline_ns = 3600000000000u;
    assert_int_equal(
        kit_run(&kit, one_fails, &(struct counts){0, 0, 0, 0, false}, &config, &result),
        SIMPLER_EKERNEL);
}

/* ---- ends ---- */

static void no_task(struct simpler_orch *orch, void *user)
{
    (void)orch;
    (void)user;
}

static void empty_scopes(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (int i = 0; i < 100; i++)
        SIMPLER_SCOPE(orch)
        {
        }
}

static void a_run_without_tasks_ends_at_once(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 8; threads++) {
        struct simpler_call_config config = kit_config(threads);
        kit_run(&kit, no_task, NULL, &config, &result);
        uint64_t start = kit_now_ns();
        assert_int_equal(kit_run(&kit, no_task, NULL, &config, &result), 0);
        assert_int_equal(kit_run(&kit, empty_scopes, NULL, &config, &result), 0);
        assert_true(kit_now_ns() - start < 100000000u);
        assert_int_equal(result.stats.tasks, 0);
        assert_string_equal(result.message, "");
    }
}

/* ---- slow is not dead ---- */

static int sleep_700_ms(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_sleep_ns(700000000);
    return 0;
}

/* The oldest task sleeps; all others wait behind it, more than anything holds. */
static void slow_oldest(struct simpler_orch *orch, void *user)
{
    _Atomic int *count = user;
    struct simpler_create_info info = kit_info(1024, SIMPLER_DTYPE_UINT8);
    struct simpler_tensor tensor = cell(0);
    struct simpler_task_args args;
    SIMPLER_SCOPE(orch)
    {
        submit_cell(orch, SIMPLER_USE_INOUT, 0, sleep_700_ms, NULL, NULL);
        for (uint32_t i = 0; i < 40; i++) {
            SIMPLER_SCOPE(orch)
            {
                simpler_task_args_reset(&args);
                simpler_task_args_add_create(&args, &info);
                simpler_task_args_add_input(&args, &tensor);
                kit_submit(orch, &args, kit_count_kernel, (void *)count, NULL);
            }
        }
    }
}

static void a_slow_task_is_no_deadlock(void **state)
{
    (void)state;
    for (int limit = 0; limit < 4; limit++) {
        static _Atomic int count;
        struct simpler_call_config config = kit_config(2);
        if (limit == 0)
            kit_set_window(&config, 4);
        else if (limit == 1)
            kit_set_heap(&config, 2048);
        else if (limit == 2)
            kit_set_dep_pool(&config, 4);
        else
            config.runtime_env.tensormap = 16;
        atomic_store(&count, 0);
        int rc = kit_run(&kit, slow_oldest, (void *)&count, &config, &result);
        if (rc != 0)
            fail_msg("limit %d: %s", limit, result.message);
        assert_int_equal(atomic_load(&count), 40);
        fault_saw("slow-oldest-task", "status=%s", simpler_status_name(rc));
    }
}

/* ---- deep ---- */

static void nest(struct simpler_orch *orch, uint32_t levels, _Atomic int *count)
{
    if (levels == 0)
        return;
    SIMPLER_SCOPE(orch)
    {
        submit_cell(orch, SIMPLER_USE_INOUT, levels % 64, kit_count_kernel, (void *)count, NULL);
        nest(orch, levels - 1, count);
        submit_cell(orch, SIMPLER_USE_INOUT, levels % 64, kit_count_kernel, (void *)count, NULL);
    }
}

static _Atomic int nested;

static void nest_64(struct simpler_orch *orch, void *user)
{
    (void)user;
    nest(orch, 64, &nested);
}

static void nest_1000(struct simpler_orch *orch, void *user)
{
    (void)user;
    nest(orch, 1000, &nested);
}

static void nest_with_outputs(struct simpler_orch *orch, void *user)
{
    uint32_t *levels = user;
    struct simpler_create_info info = kit_info(8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    struct simpler_task_outputs out;
    for (uint32_t i = 0; i < *levels; i++) {
        simpler_orch_scope_begin(orch, SIMPLER_SCOPE_AUTO);
        simpler_task_args_reset(&args);
        simpler_task_args_add_create(&args, &info);
        kit_submit(orch, &args, kit_count_kernel, (void *)&nested, &out);
        KIT_EXPECT_EQUAL(out.id.raw >> 32, i + 1 < 3 ? i + 1 : 3);
    }
    for (uint32_t i = 0; i < *levels; i++)
        simpler_orch_scope_end(orch);
}

static void scopes_nest_without_limit(void **state)
{
    (void)state;
    uint32_t levels = 1000;
    atomic_store(&nested, 0);
    kit_pass(&kit, nest_64, NULL);
    assert_int_equal(atomic_load(&nested), 128);
    kit_pass(&kit, nest_1000, NULL);
    assert_int_equal(atomic_load(&nested), 2128);
    kit_pass(&kit, nest_with_outputs, &levels);
    assert_int_equal(atomic_load(&nested), 3128);
}

KIT_FIXTURE(kit)

static void quiet(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_task_takes_its_successors_with_it),
        cmocka_unit_test(a_late_dependent_does_not_run_either),
        cmocka_unit_test(a_get_of_a_failed_task_ends),
        cmocka_unit_test(a_cancel_ends_the_run),
        cmocka_unit_test(a_cancel_ends_a_wait),
        cmocka_unit_test(a_cancel_without_a_run_does_nothing),
        cmocka_unit_test(a_deadline_ends_the_run),
        cmocka_unit_test(a_run_without_tasks_ends_at_once),
        cmocka_unit_test(a_slow_task_is_no_deadlock),
        cmocka_unit_test(scopes_nest_without_limit),
    };
    /* Each failure is provoked; its text is in the result. */
    simpler_log_set_callback(quiet, NULL);
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
