/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code 8: a get whose producer never finishes, while nothing runs.  Only a lost
 * edge does that, so a failpoint loses one; the wait takes its 15 seconds (SY-01).
 */
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "faults.h"
#include "kit.h"

#if defined(SIMPLER_DEBUG)
static struct simpler_run_result result;
static uint64_t cell[8];
static _Atomic int dropped;

static bool drop_one_edge(void *user, enum simpler_testpoint point)
{
    (void)user;
    return point == SIMPLER_TESTPOINT_DROP_EDGE && atomic_fetch_add(&dropped, 1) == 0;
}

static int sleep_50_ms(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_sleep_ns(50000000);
    return 0;
}

static void get_what_never_comes(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor tensor = kit_tensor(cell, 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    uint32_t index = 0;
    uint64_t value;
    int *answer = user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    kit_submit_variant(orch, KIT_LONG, &args, sleep_50_ms, NULL, NULL);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    kit_submit_variant(orch, KIT_LONG, &args, sleep_50_ms, NULL, NULL);
    *answer = simpler_orch_get_tensor_data(orch, &tensor, &index, &value);
}

static void ignore(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
}
#endif

static void a_wait_for_nothing_ends_with_code_8(void **state)
{
    (void)state;
#if defined(SIMPLER_DEBUG)
    struct kit kit;
    struct simpler_call_config config = kit_config(2);
    int answer = 0;
    simpler_log_set_callback(ignore, NULL);
    simpler_testpoint_set(drop_one_edge, NULL);
    kit_open(&kit);
    uint64_t start = kit_now_ns();
    int rc = kit_run(&kit, get_what_never_comes, &answer, &config, &result);
    double seconds = (double)(kit_now_ns() - start) / 1e9;
    simpler_testpoint_set(NULL, NULL);
    assert_int_equal(rc, -SIMPLER_CODE_TENSOR_WAIT_TIMEOUT);
    assert_int_equal(answer, -SIMPLER_CODE_TENSOR_WAIT_TIMEOUT);
    assert_int_equal(result.orch_error_code, SIMPLER_CODE_TENSOR_WAIT_TIMEOUT);
    assert_non_null(strstr(result.message, "orch_error_code=8 "));
    assert_true(seconds > 14 && seconds < 30);
    /* The worker is good for the next run. */
    int next = kit_run(&kit, get_what_never_comes, &answer, &config, &result);
    assert_int_equal(next, 0);
    assert_int_equal(answer, 0);
    fault_saw("tensor-never-comes", "status=%s next=%s seconds=%.1f", simpler_status_name(rc),
              simpler_status_name(next), seconds);
    kit_close(&kit);
#else
    SKIP_TEST("the failpoint is in debug builds");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_wait_for_nothing_ends_with_code_8)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
