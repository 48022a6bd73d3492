/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker on the real engine survives the failure of each allocation, mapping
 * and thread start between open and the end of its first run: the status says
 * so, nothing leaks (run under ASan), and the same worker runs well afterwards.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cm.h"
#include "failing_alloc.h"
#include "faults.h"
#include "kit.h"
#include "simpler/simpler.h"

#define STEPS 20

static int64_t number;

static int increment(int64_t *args)
{
    int64_t *from = simpler_kernel_data(args, 0), *to = simpler_kernel_data(args, 1);

    *to = *from + 1;
    return 0;
}

/* STEPS tasks, each with an output of its own, then one that writes the number. */
static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    struct simpler_create_info info;
    struct simpler_task_outputs out;
    struct simpler_tensor from = args->tensor[0];
    uint32_t one[] = {1};

    (void)simpler_create_info_init(&info, one, 1, SIMPLER_DTYPE_INT64);
    SIMPLER_SCOPE(orch)
    {
        for (int i = 0; i < STEPS; i++) {
            struct simpler_task_args task;
            simpler_task_args_reset(&task);
            simpler_task_args_add_input(&task, &from);
            simpler_task_args_add_create(&task, &info);
            if (simpler_orch_submit_aiv(orch, 0, &task, &out) != 0)
                return;
            from = out.tensor[0];
        }
        struct simpler_task_args last;
        simpler_task_args_reset(&last);
        simpler_task_args_add_input(&last, &from);
        simpler_task_args_add_inout(&last, &args->tensor[0]);
        (void)simpler_orch_submit_aic(orch, 1, &last, NULL);
    }
}

static const struct simpler_kernel kernels[] = {
    {.func_id = 0, .core_type = SIMPLER_CORE_AIV, .fn = increment},
    {.func_id = 1, .core_type = SIMPLER_CORE_AIC, .fn = increment},
};
static const struct simpler_callable callable = {
    .name = "steps", .orchestrate = orchestrate, .kernels = kernels, .kernel_count = 2};

static int run_once(struct simpler_worker *worker, uint32_t handle,
                    const struct simpler_call_config *config)
{
    struct simpler_tensor tensor;
    struct simpler_orch_args args = {.tensor = &tensor, .tensor_count = 1};
    struct simpler_run_result result;
    uint32_t one[] = {1};

    number = 0;
    assert_int_equal(simpler_tensor_init(&tensor, &number, one, 1, SIMPLER_DTYPE_INT64), 0);
    int rc = simpler_worker_run(worker, handle, &args, config, &result);
    assert_int_equal(rc, result.status);
    if (rc == 0)
        assert_int_equal(number, STEPS + 1);
    return rc;
}

/* The first step that fails decides the status. */
static int use_worker(const struct simpler_call_config *config, int *next)
{
    struct simpler_worker *worker = NULL;
    uint32_t handle = 0;

    int rc = kit_worker_open(NULL, &worker);
    if (rc != 0) {
        assert_null(worker);
        return rc;
    }
    rc = simpler_worker_register(worker, &callable, &handle);
    if (rc == 0) {
        rc = run_once(worker, handle, config);
        failing_alloc_disarm();
        if (rc != 0)
            *next = run_once(worker, handle, config);
        assert_int_equal(*next, 0);
    }
    simpler_worker_close(worker);
    return rc;
}

static void sweep(uint32_t exec)
{
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    uint64_t failures = 0, passed = 0;

    if (!failing_alloc_available())
        skip();
    config.aicpu_thread_num = 4;
    config.exec = exec;
    for (;; failures++) {
        failing_alloc_arm(failures);
        int next = 0; /* of the run behind a failed one */
        int rc = use_worker(&config, &next);
        failing_alloc_disarm();
        if (!failing_alloc_fired()) {
            assert_int_equal(rc, 0);
            break;
        }
        /* A core without its thread is left out: such a run passes. */
        if (rc == 0)
            passed++;
        else if (rc != SIMPLER_ENOMEM && rc != SIMPLER_ETHREAD)
            fail_msg("step %d: status %d", (int)failures, rc);
        fault_saw("worker-step", "status=%s next=%s", simpler_status_name(rc),
                  simpler_status_name(next));
    }
    /* At the least: worker, device, two for the callable, an arena, three threads. */
    print_message("%d steps, %d of them dispensable\n", (int)failures, (int)passed);
    assert_true(exec == SIMPLER_EXEC_THREADS || passed == 0);
    assert_true(failures >= 8);
}

static void each_step_may_fail_inline(void **state)
{
    (void)state;
    sweep(SIMPLER_EXEC_INLINE);
}

static void each_step_may_fail_with_core_threads(void **state)
{
    (void)state;
    sweep(SIMPLER_EXEC_THREADS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_may_fail_inline),
        cmocka_unit_test(each_step_may_fail_with_core_threads),
    };
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
