/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SY-05: a cohort that cannot have its threads is given up by a core's thread.  What becomes ready
 * by that is everybody's: the run ends with SIMPLER_ETHREAD, and does not hang besides.
 */
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "dump_rig.h"
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

/* ---- given up by a core, when a block that ran has failed ---- */

#if defined(SIMPLER_DEBUG)
static _Atomic int inside_wide, both_there, failed_lanes, held_lanes, gave_up;
static _Thread_local bool hold_me;

static bool hold_what_failed(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point == SIMPLER_TESTPOINT_THREAD_START && atomic_load(&failing) != 0) {
        atomic_store(&gave_up, 1);
        return true;
    }
    if (point != SIMPLER_TESTPOINT_CORE_BEFORE_LEAVE || !hold_me)
        return false;
    hold_me = false;
    atomic_fetch_add(&held_lanes, 1);
    for (int i = 0; i < 5000 && !atomic_load(&gave_up); i++)
        kit_sleep_ns(1000000);
    return false;
}

/* On every AIV core: the first block leaves when the task with lanes was submitted, the others
 * when its first block has failed and its cores are not free yet. */
static int hold_cores(const int64_t *args, uint32_t tensors, void *user)
{
    bool is_first = simpler_kernel_block_idx(args) == 0;

    (void)tensors;
    (void)user;
    atomic_fetch_add(&inside_wide, 1);
    for (int i = 0;
         i < 5000 && (is_first ? !atomic_load(&both_there) : atomic_load(&held_lanes) != 2); i++)
        kit_sleep_ns(1000000);
    return 0;
}

static int fail_lane(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    hold_me = true;
    atomic_fetch_add(&failed_lanes, 1);
    return 7;
}

static void submit_lanes(struct simpler_orch *orch, int cell, int32_t blocks, kit_kernel fn)
{
    struct simpler_mixed_kernels mixed = {1 + (int32_t)(KIT_VARIANT * KIT_AIV_VARIANTS), 1, -1};
    struct simpler_tensor t = kit_tensor(cells[cell], 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    simpler_task_args_set_block_num(&args, blocks);
    kit_add_call(&args, fn, NULL);
    KIT_EXPECT_EQUAL(simpler_orch_submit_mixed(orch, &mixed, &args, NULL), 0);
}

/* The cores of one cluster have threads; the other one's AIC core gets none. */
static void give_up_behind_a_failure(struct simpler_orch *orch, void *user)
{
    (void)user;
    submit_lanes(orch, 0, 1, kit_nop_kernel);
    submit(orch, 0, 4, hold_cores);
    while (atomic_load(&inside_wide) != 4)
        kit_sleep_ns(1000000);
    atomic_store(&failing, 1);
    submit_lanes(orch, 1, 2, fail_lane);
    atomic_store(&both_there, 1);
}

static void what_a_core_gives_up_is_captured(void **state)
{
    struct simpler_call_config config = kit_config(3);

    (void)state;
    config.cluster_count = 2;
    config.enable_dump_args = 2;
    config.output_prefix = dump_prefix;
    atomic_store(&failing, 0);
    kit_close(&kit);
    kit_open(&kit);
    simpler_testpoint_set(hold_what_failed, NULL);
    int rc = kit_run(&kit, give_up_behind_a_failure, NULL, &config, &result);
    simpler_testpoint_set(NULL, NULL);
    assert_int_equal(rc, SIMPLER_ETHREAD);
    assert_int_equal(atomic_load(&failed_lanes), 2);
    assert_int_equal(atomic_load(&held_lanes), 2);
    assert_int_equal(result.args_dump.status, 0);
    assert_int_equal(result.args_dump.counts_known, 1);
    /* A tensor twice and two scalars, of three tasks. */
    assert_int_equal(result.args_dump.records, 12);
}
#endif

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_core_gives_up_is_not_stranded),
#if defined(SIMPLER_DEBUG)
        DUMP_TEST(what_a_core_gives_up_is_captured),
#endif
    };

    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
