/* SPDX-License-Identifier: Apache-2.0 */
/* What a careless caller does: each is answered as the headers say, and nothing hangs. */
#include <string.h>
#include <sys/resource.h>

#include "base/testpoint.h"
#include "cm.h"
#include "faults.h"
#include "kit.h"

static struct kit kit;
static struct simpler_run_result result;

KIT_FIXTURE(kit)

static void begin_odd_scope(struct simpler_orch *orch, void *user)
{
    int mode = *(int *)user;
    KIT_EXPECT_EQUAL(simpler_orch_scope_begin(orch, (enum simpler_scope_mode)mode),
                     -SIMPLER_CODE_INVALID_ARGS);
}

static void a_scope_mode_that_does_not_exist_is_code_5(void **state)
{
    int modes[] = {2, 7, -1};

    (void)state;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(kit_run(&kit, begin_odd_scope, &modes[i], NULL, &result),
                         -SIMPLER_CODE_INVALID_ARGS);
        assert_non_null(strstr(result.message, "no scope mode"));
    }
}

struct fatal {
    int code;
    const char *format;
};

static void report_fatal(struct simpler_orch *orch, void *user)
{
    const struct fatal *fatal = user;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    simpler_orch_report_fatal(orch, fatal->code, fatal->format, "two\nlines\x01");
#pragma GCC diagnostic pop
}

static void a_reported_code_is_a_device_code(void **state)
{
    /* 1000 would be SIMPLER_EINVAL, which a run answers when it did not begin. */
    static const int odd[] = {0, -5, INT32_MIN, 1000, 1005, INT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        struct fatal fatal = {odd[i], "%s"};
        assert_int_equal(kit_run(&kit, report_fatal, &fatal, NULL, &result),
                         -SIMPLER_CODE_EXPLICIT_ORCH_FATAL);
        assert_int_equal(result.orch_error_code, SIMPLER_CODE_EXPLICIT_ORCH_FATAL);
    }
}

static void a_reported_text_stays_on_its_line(void **state)
{
    struct fatal fatal = {SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "%s"};
    struct fatal silent = {SIMPLER_CODE_EXPLICIT_ORCH_FATAL, NULL};

    (void)state;
    assert_int_equal(kit_run(&kit, report_fatal, &fatal, NULL, &result), -9);
    assert_non_null(strstr(result.message, ": two lines \n"));
    assert_int_equal(kit_run(&kit, report_fatal, &silent, NULL, &result), -9);
}

static void submit_many(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;

    for (int i = 0; i < *(int *)user; i++) {
        simpler_task_args_reset(&args);
        kit_submit_variant(orch, KIT_LONG, &args, kit_nop_kernel, NULL, NULL);
    }
}

static void the_longest_deadline_does_not_pass(void **state)
{
    static const uint64_t deadlines[] = {UINT64_MAX, UINT64_MAX - 1, INT64_MAX};
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    int tasks = 100;

    (void)state;
    for (size_t i = 0; i < sizeof(deadlines) / sizeof(deadlines[0]); i++) {
        config.deadline_ns = deadlines[i];
        assert_int_equal(kit_run(&kit, submit_many, &tasks, &config, &result), 0);
        assert_int_equal(result.stats.tasks_run, tasks);
    }
}

#if defined(SIMPLER_DEBUG)
static bool cancel_at_mapping(void *user, enum simpler_testpoint point)
{
    if (point == SIMPLER_TESTPOINT_MAP_MEMORY)
        simpler_worker_cancel(user);
    return false;
}

static void a_cancel_while_memory_is_made_ends_the_run(void **state)
{
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    int tasks = 100;

    (void)state;
    kit_set_window(&config, 64);
    simpler_testpoint_reset_hits();
    simpler_testpoint_set(cancel_at_mapping, kit.worker);
    int rc = kit_run(&kit, submit_many, &tasks, &config, &result);
    simpler_testpoint_set(NULL, NULL);
    assert_true(simpler_testpoint_hits(SIMPLER_TESTPOINT_MAP_MEMORY) > 0);
    assert_int_equal(rc, SIMPLER_ECANCELED);
    /* And the next one is another run. */
    int next = kit_run(&kit, submit_many, &tasks, &config, &result);
    assert_int_equal(next, 0);
    fault_saw("canceled-before-start", "status=%s next=%s", simpler_status_name(rc),
              simpler_status_name(next));
}
#endif

/* Many schedulers wait for one core: each task that ends is for one of them. */
static void a_freed_core_wakes_one_waiter(void **state)
{
    struct simpler_call_config config = kit_config(64);
    struct rusage before, after;
    int tasks = 2000;

    (void)state;
    config.exec = SIMPLER_EXEC_THREADS;
    config.cluster_count = 1;
    assert_int_equal(kit_run(&kit, submit_many, &tasks, &config, &result), 0);
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    assert_int_equal(kit_run(&kit, submit_many, &tasks, &config, &result), 0);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_int_equal(result.stats.tasks_run, tasks);
    /* Two or three parks a task; a wake of all 63 costs at least 60. */
    long parks = after.ru_nvcsw - before.ru_nvcsw;
    if (parks > 20L * tasks)
        fail_msg("%ld parks for %d tasks", parks, tasks);
}

/* The memory of a run is replaced while the cores of the run before go to sleep (TSan). */
static void runs_of_different_sizes_follow_at_once(void **state)
{
    struct simpler_call_config config = kit_config(2);
    int tasks = 50;

    (void)state;
    config.exec = SIMPLER_EXEC_THREADS;
    config.cluster_count = 2;
    for (int i = 0; i < 200; i++) {
        kit_set_window(&config, 16u << i % 3);
        assert_int_equal(kit_run(&kit, submit_many, &tasks, &config, &result), 0);
        assert_int_equal(result.stats.tasks_run, tasks);
        assert_int_equal(result.stats.ring[0].task_window_max, 16u << i % 3);
    }
}

/* ---- what a task's arguments share with what it gives back ---- */

static int add_one(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    (void)user;
    *(int64_t *)simpler_kernel_data(args, 0) = *(int64_t *)simpler_kernel_data(args, 1) + 1;
    return 0;
}

/* x = f(x) through one outputs object, the new x before the old one. */
static void iterate(struct simpler_orch *orch, void *user)
{
    struct simpler_create_info info = kit_info(1, SIMPLER_DTYPE_INT64);
    struct simpler_task_outputs x;
    struct simpler_task_args args;
    int64_t value = 0;

    simpler_create_info_set_initial_value(&info, &value);
    KIT_EXPECT_EQUAL(simpler_orch_alloc_tensors(orch, &info, 1, &x), 0);
    for (int i = 0; i < 100; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_create(&args, &info);
        simpler_task_args_add_input(&args, &x.tensor[0]);
        KIT_EXPECT_EQUAL(kit_submit_variant(orch, *(uint32_t *)user, &args, add_one, NULL, &x), 0);
    }
    uint32_t index = 0;
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &x.tensor[0], &index, &value), 0);
    KIT_EXPECT_EQUAL(value, 100);
}

static void outputs_may_be_the_inputs_of_the_same_submit(void **state)
{
    (void)state;
    for (uint32_t variant = 0; variant < KIT_VARIANTS; variant++)
        kit_pass(&kit, iterate, &variant);
}

/* ---- a kernel that uses its argument array as scratch ---- */

static _Atomic int wrong;

static int overwrite(const int64_t *args, uint32_t tensors, void *user)
{
    const struct simpler_tensor *tensor = simpler_kernel_tensor(args, 0);

    (void)tensors;
    (void)user;
    if (simpler_kernel_block_num(args) != 1 || simpler_kernel_block_idx(args) != 0 ||
        tensor->ndims != 1)
        atomic_fetch_add(&wrong, 1);
    memset((void *)(uintptr_t)args, 0, SIMPLER_KERNEL_ARGS * sizeof(*args));
    return 0;
}

static void submit_overwriters(struct simpler_orch *orch, void *user)
{
    static int64_t cell;
    struct simpler_tensor tensor = kit_tensor(&cell, 1, SIMPLER_DTYPE_INT64);
    struct simpler_task_args args;

    for (int i = 0; i < 200; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_no_dep(&args, &tensor);
        KIT_EXPECT_EQUAL(kit_submit_variant(orch, *(uint32_t *)user, &args, overwrite, NULL, NULL),
                         0);
    }
}

static void each_kernel_gets_its_arguments_anew(void **state)
{
    struct simpler_call_config config = kit_config(2);
    uint32_t variant = KIT_LONG;

    (void)state;
    atomic_store(&wrong, 0);
    for (uint32_t exec = 0; exec < 2; exec++) {
        config.exec = exec;
        assert_int_equal(kit_run(&kit, submit_overwriters, &variant, &config, &result), 0);
    }
    assert_int_equal(atomic_load(&wrong), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_scope_mode_that_does_not_exist_is_code_5, open_kit,
                                        close_kit),
        cmocka_unit_test_setup_teardown(a_reported_code_is_a_device_code, open_kit, close_kit),
        cmocka_unit_test_setup_teardown(a_reported_text_stays_on_its_line, open_kit, close_kit),
        cmocka_unit_test_setup_teardown(the_longest_deadline_does_not_pass, open_kit, close_kit),
#if defined(SIMPLER_DEBUG)
        cmocka_unit_test_setup_teardown(a_cancel_while_memory_is_made_ends_the_run, open_kit,
                                        close_kit),
#endif
        cmocka_unit_test_setup_teardown(runs_of_different_sizes_follow_at_once, open_kit,
                                        close_kit),
        cmocka_unit_test_setup_teardown(outputs_may_be_the_inputs_of_the_same_submit, open_kit,
                                        close_kit),
        cmocka_unit_test_setup_teardown(each_kernel_gets_its_arguments_anew, open_kit, close_kit),
        cmocka_unit_test_setup_teardown(a_freed_core_wakes_one_waiter, open_kit, close_kit),
    };
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
