/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope stats that cannot be had never change how a run ends: each allocation,
 * mapping and thread start between the call and its return fails once, then each
 * write.  The run passes without them, says so, and the next one has them.
 */
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "failing_alloc.h"
#include "faults.h"
#include "kit.h"
#include "scope_file.h"
#include "simpler/log.h"

static char prefix[128];
static struct simpler_run_result result;

static void quiet(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
}

static void graph(struct simpler_orch *orch, void *count)
{
    for (int i = 0; i < *(int *)count; i++) {
        struct simpler_task_args args;
        SIMPLER_SCOPE(orch)
        {
            simpler_task_args_reset(&args);
            KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_nop_kernel, NULL, NULL), 0);
        }
    }
}

static void run(struct kit *kit, int scopes, bool on)
{
    struct simpler_call_config config = kit_config(2);

    config.enable_scope_stats = on;
    config.output_prefix = prefix;
    assert_int_equal(kit_run(kit, graph, &scopes, &config, &result), 0);
}

static void is_whole(struct kit *kit)
{
    run(kit, 3, true);
    assert_int_equal(result.scope_stats.status, 0);
    assert_int_equal(result.scope_stats.records, 8);
}

static void a_run_goes_on_without_its_collector(void **state)
{
    (void)state;
    uint64_t failed = 0;

    if (!failing_alloc_available())
        SKIP_TEST("this build has no failpoints");
    for (uint64_t step = 0;; step++) {
        struct kit kit;
        kit_open(&kit);
        run(&kit, 3, false); /* the engine has all that it needs */
        failing_alloc_arm(step);
        run(&kit, 3, true);
        bool fired = failing_alloc_fired();
        failing_alloc_disarm();
        if (fired) {
            failed++;
            assert_int_equal(result.scope_stats.enabled, 1);
            assert_int_not_equal(result.scope_stats.status, 0);
            assert_int_equal(result.scope_stats.has_file, 0);
        }
        int rc = result.status, scope = result.scope_stats.status;
        bool has_file = scope_file_exists(prefix);
        /* Nor is there that of the run before. */
        assert_int_equal(has_file, !fired);
        is_whole(&kit);
        fault_saw_times("scope-stats-step", fired, "run=%s scope=%s file=%s next=%s",
                        simpler_status_name(rc), simpler_status_name(scope), fault_yes(has_file),
                        simpler_status_name(result.scope_stats.status));
        kit_close(&kit);
        if (!fired)
            break;
    }
    /* The collector, its buffers, its session's arrays, memory and three threads. */
    assert_true(failed > 8);
}

#if defined(SIMPLER_DEBUG)
static _Atomic int64_t writes_left;

static bool fail_writes(void *user, enum simpler_testpoint point)
{
    (void)user;
    return point == SIMPLER_TESTPOINT_SCOPE_FILE_WRITE && atomic_fetch_sub(&writes_left, 1) <= 0;
}

/* The disk takes @writes writes and then nothing. */
static void fail_after(struct kit *kit, int writes)
{
    atomic_store(&writes_left, writes);
    simpler_testpoint_set(fail_writes, NULL);
    run(kit, 10000, true);
    simpler_testpoint_set(NULL, NULL);
}

static void a_run_goes_on_when_its_disk_fails(void **state)
{
    (void)state;
    struct kit kit;
    bool whole = false;

    kit_open(&kit);
    /* The last writes are that of the remaining lines and that of the metadata. */
    for (int writes = 0; !whole; writes++) {
        fail_after(&kit, writes);
        whole = result.scope_stats.status == 0;
        assert_int_equal(result.scope_stats.has_file, whole);
        assert_int_equal(scope_file_exists(prefix), whole);
        if (!whole)
            assert_int_equal(result.scope_stats.status, SIMPLER_EIO);
        fault_saw_times("scope-stats-write", !whole, "run=%s scope=%s file=%s",
                        simpler_status_name(result.status),
                        simpler_status_name(result.scope_stats.status),
                        fault_yes(scope_file_exists(prefix)));
        assert_true(writes < 100);
    }
    is_whole(&kit);
    kit_close(&kit);
}
#else
static void a_run_goes_on_when_its_disk_fails(void **state)
{
    (void)state;
    SKIP_TEST("this build has no failpoints");
}
#endif

static int open_prefix(void **state)
{
    (void)state;
    simpler_log_set_callback(quiet, NULL);
    scope_file_make_prefix(prefix);
    return 0;
}

static int close_prefix(void **state)
{
    (void)state;
    scope_file_remove_prefix(prefix);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_goes_on_without_its_collector),
        cmocka_unit_test(a_run_goes_on_when_its_disk_fails),
    };
    return cmocka_run_group_tests(tests, open_prefix, close_prefix);
}
