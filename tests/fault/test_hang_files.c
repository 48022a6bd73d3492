/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 300
 * runtimes: all
 * What the diagnostics of a hung run leave (AD-29, SS-19, SS-20, SS-21).
 */
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "hang_rig.h"

/* What a kernel wrote before it began to spin: told to the sanitizer through its counter. */
#if defined(SIMPLER_DEBUG)
static bool see_the_kernel(void *user, enum simpler_testpoint point)
{
    struct hang_spinner *s = user;
    if (point == SIMPLER_TESTPOINT_PARTIAL_BEFORE_CAPTURE)
        (void)atomic_load_explicit(&s->inside, memory_order_acquire);
    return false;
}
#endif

static void one_done_one_stuck(struct simpler_orch *orch, void *user)
{
    SIMPLER_SCOPE(orch)
    {
        KIT_EXPECT_EQUAL(hang_submit_on(orch, 6, KIT_LONG, kit_nop_kernel, NULL), 0);
        KIT_EXPECT_EQUAL(hang_submit_on(orch, 7, KIT_LONG, hang_spin_kernel, user), 0);
        KIT_EXPECT_EQUAL(hang_submit_on(orch, 7, KIT_LONG, kit_nop_kernel, NULL), 0);
        KIT_EXPECT_EQUAL(hang_submit_on(orch, 7, KIT_LONG, kit_nop_kernel, NULL), 0);
    }
}

/*
 * Every lane is complete or stopped: the files are whole.  The dump has the inputs of
 * both tasks, the output of the finished one, and what the stuck one has written so far.
 */
static void a_stuck_kernel_leaves_whole_files(void **state)
{
    (void)state;
    static struct hang_spinner s;
    static const uint32_t execs[] = {SIMPLER_EXEC_INLINE, SIMPLER_EXEC_THREADS,
                                     SIMPLER_EXEC_INLINE};
    /* With one thread the tasks pass through. */
    static const uint32_t threads[] = {2, 2, 1};
    for (int i = 0; i < 3; i++) {
        struct simpler_call_config config = hang_with_diagnostics(threads[i]);
        config.exec = execs[i];
        memset(&s, 0, sizeof(s));
        hang_cells[7][0] = 0;
#if defined(SIMPLER_DEBUG)
        simpler_testpoint_set(see_the_kernel, &s);
#endif
        int rc = hang_run(one_done_one_stuck, &s, &config);
        assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        assert_int_equal(hang_result.scope_stats.status, 0);
        assert_int_equal(hang_result.scope_stats.has_file, 1);
        assert_int_equal(hang_result.args_dump.status, 0);
        assert_int_equal(hang_result.args_dump.counts_known, 1);
        /* One tensor in, two scalars, one tensor out, for two tasks. */
        assert_int_equal(hang_result.args_dump.records, 8);
        const char *manifest = hang_read_file("args_dump/args_dump.json");
        assert_non_null(manifest);
        assert_int_equal(hang_count_of(manifest, "\"stage\": \"after_completion\""), 2);
        /* The stuck task's output holds 42 already. */
        const char *entry = hang_on_hbg() ? "\"task_id\": \"0x0000000000000001\""
                                          : "\"task_id\": \"0x0000000100000001\"";
        const char *after = strstr(manifest, entry);
        while (after != NULL && strstr(after, "after_completion") != NULL &&
               strstr(after, "after_completion") > strchr(after, '\n'))
            after = strstr(after + 1, entry);
        assert_non_null(after);
        const char *offset = strstr(after, "\"bin_offset\": ");
        assert_non_null(offset);
        long at = strtol(offset + strlen("\"bin_offset\": "), NULL, 10);
        const char *bin = hang_read_file("args_dump/args.bin");
        assert_non_null(bin);
        uint64_t value;
        memcpy(&value, bin + at, sizeof(value));
        assert_int_equal(value, 42);
        const char *scope = hang_read_file("scope_stats/scope_stats.jsonl");
        assert_non_null(scope);
        /* There the file is metadata alone, written before the run. */
        assert_non_null(
            strstr(scope, hang_on_hbg() ? "\"dropped\": 0" : "{\"fatal\": true, \"dropped\": 0"));
        hang_saw("hang-with-diagnostics");
        atomic_store(&s.let_go, 1);
        assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
        /* What came back late wrote nothing into the next run's files. */
        struct simpler_call_config next = hang_with_diagnostics(threads[i]);
        next.exec = execs[i];
        assert_int_equal(hang_run(one_done_one_stuck, &s, &next), 0);
        assert_int_equal(hang_result.args_dump.refused_epoch, 0);
        assert_int_equal(hang_result.scope_stats.refused_epoch, 0);
        assert_int_equal(hang_result.args_dump.counts_known, 1);
        assert_int_equal(hang_result.args_dump.records, 16);
        assert_int_equal(hang_result.scope_stats.status, 0);
    }
}

/* Marked tasks alone, and the stuck one is none: with one thread it has no slot either. */
static void one_marked_one_stuck(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(hang_cells[6], 1, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    simpler_task_args_dump(&args, &t);
    KIT_EXPECT_EQUAL(kit_submit_variant(orch, KIT_LONG, &args, kit_nop_kernel, NULL, NULL), 0);
    KIT_EXPECT_EQUAL(hang_submit_on(orch, 7, KIT_LONG, hang_spin_kernel, user), 0);
}

static void a_stuck_kernel_that_is_not_marked(void **state)
{
    (void)state;
    static struct hang_spinner s;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct simpler_call_config config = hang_with_diagnostics(threads);
        config.enable_dump_args = 1;
        memset(&s, 0, sizeof(s));
        int rc = hang_run(one_marked_one_stuck, &s, &config);
        assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        assert_int_equal(hang_result.args_dump.status, 0);
        assert_int_equal(hang_result.args_dump.records, 2);
        atomic_store(&s.let_go, 1);
        assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
    }
}

static void scopes_then_never(struct simpler_orch *orch, void *user)
{
    struct hang_never *n = user;
    /* More samples than the first buffer has records. */
    for (int i = 0; n->with_task && i < 600; i++)
        SIMPLER_SCOPE(orch)
        {
        }
    atomic_store(&n->inside, 1);
    while (!atomic_load_explicit(&n->let_go, memory_order_acquire))
        kit_sleep_ns(100000);
    SIMPLER_SCOPE(orch)
    {
    }
}

/*
 * The orchestrator's lane is unproved: scope stats say what the host received, or, when that is
 * nothing, there is no file, and no older one either.
 */
static void an_orchestration_that_never_returns_is_unproved(void **state)
{
    (void)state;
    static struct hang_never n;
    if (hang_on_hbg())
        skip();
    for (int with = 1; with >= 0; with--) {
        struct simpler_call_config config = hang_with_diagnostics(2);
        memset(&n, 0, sizeof(n));
        n.with_task = with != 0;
        assert_int_equal(hang_run(scopes_then_never, &n, &config), -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        assert_int_equal(hang_result.scope_stats.status, SIMPLER_EPARTIAL);
        assert_int_equal(hang_result.scope_stats.counts_known, 0);
        assert_int_equal(hang_result.scope_stats.has_file, with);
        const char *scope = hang_read_file("scope_stats/scope_stats.jsonl");
        if (with != 0) {
            assert_non_null(scope);
            assert_non_null(strstr(
                scope,
                "{\"fatal\": null, \"dropped\": null, \"total\": null, \"task_window_max\": ["));
            assert_non_null(strstr(scope, "\"collection_verdict\": \"partial_cut_unknown\", "
                                          "\"counts_unknown\": true, "
                                          "\"host_received_records\": 1024, "
                                          "\"host_retained_records\": 1024}"));
            assert_int_equal(hang_count_of(scope, "\n"), 1 + 1024);
        } else {
            assert_null(scope);
        }
        hang_saw("orchestration-hangs-unproved");
        atomic_store(&n.let_go, 1);
        assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
    }
    /* Proved late: the next run has its own numbers alone. */
    struct simpler_call_config config = hang_with_diagnostics(2);
    memset(&n, 0, sizeof(n));
    n.let_go = 1;
    assert_int_equal(hang_run(scopes_then_never, &n, &config), 0);
    assert_int_equal(hang_result.scope_stats.status, 0);
    assert_int_equal(hang_result.scope_stats.records, 4);
    /* The sample that the late orchestrator published when it came back (SS-22). */
    assert_int_equal(hang_result.scope_stats.refused_epoch, 1);
}

#if defined(SIMPLER_DEBUG)
/* ---- a full disk at the same moment ---- */

static bool disk_is_full(void *user, enum simpler_testpoint point)
{
    struct hang_spinner *s = user;
    if (point == SIMPLER_TESTPOINT_PARTIAL_BEFORE_CAPTURE)
        (void)atomic_load_explicit(&s->inside, memory_order_acquire);
    return point == SIMPLER_TESTPOINT_SCOPE_FILE_WRITE || point == SIMPLER_TESTPOINT_DUMP_BIN_WRITE;
}

/* The run ends in time with its own code; each diagnostic says that it is not whole. */
static void a_stuck_kernel_on_a_full_disk(void **state)
{
    (void)state;
    static struct hang_spinner s;
    struct simpler_call_config config = hang_with_diagnostics(2);
    memset(&s, 0, sizeof(s));
    simpler_testpoint_reset_hits();
    simpler_testpoint_set(disk_is_full, &s);
    uint64_t before = kit_now_ns();
    int rc = hang_run(one_done_one_stuck, &s, &config);
    uint64_t took_ms = (kit_now_ns() - before) / 1000000;
    simpler_testpoint_set(NULL, NULL);
    assert_true(simpler_testpoint_hits(SIMPLER_TESTPOINT_SCOPE_FILE_WRITE) > 0);
    assert_true(simpler_testpoint_hits(SIMPLER_TESTPOINT_DUMP_BIN_WRITE) > 0);
    assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    assert_in_range(took_ms, HANG_BUDGET_MS, 30000);
    hang_must_say("is still inside kernel kit_aiv");
    assert_true(hang_result.scope_stats.status != 0);
    assert_true(hang_result.args_dump.status != 0);
    assert_true(hang_result.args_dump.truncated > 0 || hang_result.args_dump.write_failed > 0);
    hang_saw("hang-on-full-disk");
    atomic_store(&s.let_go, 1);
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
    hang_next_runs_are_right();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        HANG_TEST(a_stuck_kernel_leaves_whole_files),
        HANG_TEST(a_stuck_kernel_that_is_not_marked),
        HANG_TEST(an_orchestration_that_never_returns_is_unproved),
#if defined(SIMPLER_DEBUG)
        HANG_TEST(a_stuck_kernel_on_a_full_disk),
#endif
    };
    return hang_main(tests, sizeof(tests) / sizeof(tests[0]));
}
