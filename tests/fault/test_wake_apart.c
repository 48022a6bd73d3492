/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A waker that is about to move a sleeper aside while the device's threads are stopped: it
 * must not use the handle of a thread that has been joined.  Each second run wants other
 * threads, so each stops those of the one before.
 * ctest: TIMEOUT 120
 */
#include <stdatomic.h>

#include "base/testpoint.h"
#include "cm.h"
#include "faults.h"
#include "kit.h"
#include "platform/platform.h"

#if defined(SIMPLER_DEBUG)
static struct kit kit;
static struct simpler_run_result result;
static uint64_t cells[8][8];
static _Atomic int hits;

/* Long enough for a run to end and its threads to be joined. */
static bool be_late(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point == SIMPLER_TESTPOINT_APART_BEFORE_SET) {
        atomic_fetch_add(&hits, 1);
        kit_sleep_ns(3000000);
    }
    return false;
}

static void some_tasks(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (int i = 0; i < 24; i++) {
        struct simpler_tensor tensor = kit_tensor(cells[i % 8], 8, SIMPLER_DTYPE_UINT64);
        struct simpler_task_args args;
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &tensor);
        KIT_EXPECT_EQUAL(kit_submit_variant(orch, KIT_LONG, &args, kit_nop_kernel, NULL, NULL), 0);
    }
}

static void threads_are_stopped_under_a_waker(void **state)
{
    uint32_t cpus = simpler_platform_usable_cpus();

    (void)state;
    if (cpus < 2)
        SKIP_TEST("with one CPU nobody is moved aside");
    simpler_testpoint_set(be_late, NULL);
    for (uint32_t i = 0; i < 150; i++) {
        struct simpler_call_config config = kit_config(cpus + i % 2);
        config.exec = i / 2 % 2 == 0 ? SIMPLER_EXEC_THREADS : SIMPLER_EXEC_INLINE;
        assert_int_equal(kit_run(&kit, some_tasks, NULL, &config, &result), 0);
        assert_int_equal(result.stats.tasks_run, 24);
    }
    simpler_testpoint_set(NULL, NULL);
    assert_true(atomic_load(&hits) > 0);
    fault_saw_times("waker-is-late", (uint64_t)atomic_load(&hits), "run=%s",
                    simpler_status_name(result.status));
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_stopped_under_a_waker),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
#else
int main(void)
{
    return 77;
}
#endif
