/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codes that a call of the orchestration latches: invalid arguments (5) and a fatal
 * error that it reports itself (9); their reports (SY-01, SY-06).
 */
#include <string.h>

#include "cm.h"
#include "code_rig.h"
#include "faults.h"
#include "kit.h"
#include "simpler/log.h"

static struct kit kit;
static struct simpler_run_result result;
static uint64_t cell[8];

/* ---- code 5 ---- */

static void expect_invalid(struct simpler_orch *orch, int rc)
{
    KIT_EXPECT_EQUAL(rc, -SIMPLER_CODE_INVALID_ARGS);
    KIT_EXPECT(simpler_orch_is_fatal(orch));
    /* Everything after it answers at once, with the run's status. */
    KIT_EXPECT_EQUAL(code_rig_touch(orch, cell), -SIMPLER_CODE_INVALID_ARGS);
    KIT_EXPECT_EQUAL(simpler_orch_scope_begin(orch, SIMPLER_SCOPE_AUTO),
                     -SIMPLER_CODE_INVALID_ARGS);
}

static void too_many_tensors(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_tensor tensor = kit_tensor(cell, 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    struct simpler_task_outputs out;
    simpler_task_args_reset(&args);
    for (uint32_t i = 0; i < 33; i++)
        simpler_task_args_add_input(&args, &tensor);
    int rc = simpler_orch_submit_aiv(orch, 32, &args, &out);
    KIT_EXPECT(out.id.raw == SIMPLER_TASK_ID_NONE);
    KIT_EXPECT_EQUAL(out.count, 0);
    expect_invalid(orch, rc);
}

static void unknown_kernel(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    expect_invalid(orch, simpler_orch_submit_aiv(orch, 1000, &args, NULL));
}

static void wrong_core(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    expect_invalid(orch, simpler_orch_submit_aic(orch, 0, &args, NULL));
}

static void no_such_dependency(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_task_id none = {SIMPLER_TASK_ID_NONE};
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_set_dependencies(&args, &none, 1);
    expect_invalid(orch, kit_submit(orch, &args, kit_nop_kernel, NULL, NULL));
}

static void future_dependency(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_task_id later = {7};
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_set_dependencies(&args, &later, 1);
    expect_invalid(orch, kit_submit(orch, &args, kit_nop_kernel, NULL, NULL));
}

static void no_such_ring(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_task_id other = {UINT64_C(5) << 32};
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_set_dependencies(&args, &other, 1);
    expect_invalid(orch, kit_submit(orch, &args, kit_nop_kernel, NULL, NULL));
}

static void empty_alloc(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_create_info info = kit_info(8, SIMPLER_DTYPE_INT8);
    struct simpler_task_outputs out;
    expect_invalid(orch, simpler_orch_alloc_tensors(orch, &info, 0, &out));
}

static void auto_in_manual(struct simpler_orch *orch, void *user)
{
    (void)user;
    KIT_EXPECT_EQUAL(simpler_orch_scope_begin(orch, SIMPLER_SCOPE_MANUAL), 0);
    KIT_EXPECT_EQUAL(simpler_orch_scope_begin(orch, SIMPLER_SCOPE_MANUAL), 0);
    expect_invalid(orch, simpler_orch_scope_begin_at(orch, SIMPLER_SCOPE_AUTO, __FILE__, __LINE__));
}

static void invalid_arguments(void **state)
{
    (void)state;
    static const kit_orch cases[] = {too_many_tensors,   unknown_kernel,    wrong_core,
                                     no_such_dependency, future_dependency, no_such_ring,
                                     empty_alloc,        auto_in_manual};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct simpler_call_config config = kit_config(2);
        code_rig_run(&kit, cases[i], NULL, &config, &result);
        code_rig_check_report(&result, SIMPLER_CODE_INVALID_ARGS, 2);
        bool has_site = strstr(result.message, "test_codes_calls.c:") != NULL;
        int rc = result.status;
        code_rig_next_run_is_right(&kit);
        fault_saw("invalid-argument", "status=%s site=%s next=right", simpler_status_name(rc),
                  fault_yes(has_site));
    }
    struct simpler_call_config config = kit_config(2);
    code_rig_run(&kit, too_many_tensors, NULL, &config, &result);
    if (strstr(result.message, "32") == NULL ||
        strstr(result.message, "test_codes_calls.c") == NULL)
        fail_msg("neither limit nor site in: %s", result.message);
}

/* ---- code 9 ---- */

static void fatal(struct simpler_orch *orch, void *user)
{
    _Atomic int *count = user;
    struct simpler_task_args args;
    simpler_orch_report_fatal(orch, SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "%s is %d", "answer", 42);
    KIT_EXPECT(simpler_orch_is_fatal(orch));
    simpler_task_args_reset(&args);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_count_kernel, (void *)count, NULL),
                     -SIMPLER_CODE_EXPLICIT_ORCH_FATAL);
    /* The first one stays. */
    simpler_orch_report_fatal(orch, SIMPLER_CODE_INVALID_ARGS, "second");
}

static void explicit_fatal(void **state)
{
    (void)state;
    static _Atomic int count;
    struct simpler_call_config config = kit_config(2);
    code_rig_run(&kit, fatal, (void *)&count, &config, &result);
    code_rig_check_report(&result, SIMPLER_CODE_EXPLICIT_ORCH_FATAL, 2);
    if (strstr(result.message, "answer is 42") == NULL)
        fail_msg("not the orchestration's text: %s", result.message);
    assert_int_equal(atomic_load(&count), 0);
    code_rig_next_run_is_right(&kit);
    fault_saw("orchestration-fatal", "status=%s ran_after=%d next=right",
              simpler_status_name(result.status), atomic_load(&count));
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invalid_arguments),
        cmocka_unit_test(explicit_fatal),
    };
    /* Each failure is provoked; its text is in the result. */
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
