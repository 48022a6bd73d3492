/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SY-05: a cohort that cannot have its threads is given up by a core's thread.  What becomes ready
 * by that is everybody's: the run ends with SIMPLER_ETHREAD, and does not hang besides.
 */
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "kit.h"

static struct kit kit;
static struct simpler_run_result result;
static uint64_t cells[2][8];
static _Atomic int failing, submitted;

#if defined(SIMPLER_DEBUG)
static bool no_threads(void *user, enum simpler_testpoint point)
{
    (void)user;
    return point == SIMPLER_TESTPOINT_THREAD_START && atomic_load(&failing) != 0;
}
#endif

/* From now on no thread starts; ends when all is submitted and what is to wait for it waits. */
static int first(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    atomic_store(&failing, 1);
    while (!atomic_load(&submitted))
        kit_sleep_ns(1000000);
    kit_sleep_ns(100000000);
    return 0;
}

static void submit(struct simpler_orch *orch, int cell, int32_t blocks, kit_kernel fn)
{
    struct simpler_tensor t = kit_tensor(cells[cell], 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    if (blocks != 0) {
        simpler_task_args_set_block_num(&args, blocks);
        simpler_task_args_set_require_sync_start(&args, 1);
    }
    (void)kit_submit(orch, &args, fn, NULL, NULL);
}

static void graph(struct simpler_orch *orch, void *user)
{
    (void)user;
    submit(orch, 0, 1, first);
    while (!atomic_load(&failing))
        kit_sleep_ns(1000000);
    submit(orch, 1, 2, kit_nop_kernel);
    for (int i = 0; i < 3; i++)
        submit(orch, 1, 0, kit_nop_kernel);
    atomic_store(&submitted, 1);
}

static void what_a_core_gives_up_is_not_stranded(void **state)
{
    struct simpler_call_config config = kit_config(3);
    (void)state;

#if !defined(SIMPLER_DEBUG)
    SKIP_TEST("a release build has no test points");
#else
    config.cluster_count = 1;
    simpler_testpoint_set(no_threads, NULL);
    assert_int_equal(kit_run(&kit, graph, NULL, &config, &result), SIMPLER_ETHREAD);
    simpler_testpoint_set(NULL, NULL);
    if (strstr(result.message, "hung") != NULL)
        fail_msg("%s", result.message);
#endif
    (void)graph;
    (void)config;
    (void)result;
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_core_gives_up_is_not_stranded)};

    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
