/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 300
 * runtimes: all
 * What the diagnostics of a hung run leave (AD-29, SS-19, SS-20, SS-21).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/testpoint.h"
#include "hang_rig.h"
#include "report/dump_manifest.h"
#include "scope_file.h"

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
        /* On host_build_graph the file is metadata alone. */
        assert_non_null(strstr(scope, "{\"fatal\": true, \"dropped\": 0"));
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

/* Which writes fail; 0: none does. */
struct full_disk {
    int samples, payload, manifest;
    struct hang_spinner spinner;
    _Atomic int seen[3];
};

static bool is_full(_Atomic int *seen, int from)
{
    return atomic_fetch_add(seen, 1) + 1 >= from && from != 0;
}

static bool disk_is_full(void *user, enum simpler_testpoint point)
{
    struct full_disk *d = user;
    if (point == SIMPLER_TESTPOINT_SCOPE_FILE_WRITE)
        return atomic_fetch_add(&d->seen[0], 1) + 1 == d->samples;
    if (point == SIMPLER_TESTPOINT_DUMP_BIN_WRITE)
        return is_full(&d->seen[1], d->payload);
    if (point == SIMPLER_TESTPOINT_DUMP_MANIFEST_WRITE)
        return is_full(&d->seen[2], d->manifest);
    return see_the_kernel(&d->spinner, point);
}

static long size_of(const char *name)
{
    char path[256];
    struct stat info;
    (void)snprintf(path, sizeof(path), "%s/%s", hang_prefix, name);
    return stat(path, &info) == 0 ? (long)info.st_size : -1;
}

/* Every sample that was made is in the file, or counted as one that the disk did not take. */
static void check_full_scope_stats(void)
{
    const struct simpler_scope_stats_result *r = &hang_result.scope_stats;
    char wanted[64];
    assert_int_equal(size_of("scope_stats/scope_stats.jsonl.partial"), -1);
    assert_int_equal(r->dropped_no_free + r->dropped_ready_full + r->dropped_too_deep, 0);
    if (!r->has_file) {
        assert_int_equal(r->status, SIMPLER_EIO);
        assert_int_equal(r->records, 0);
        assert_int_equal(size_of("scope_stats/scope_stats.jsonl"), -1);
        return;
    }
    struct scope_file file = scope_file_read(hang_prefix);
    assert_int_equal(r->status, r->write_failed == 0 ? 0 : SIMPLER_EPARTIAL);
    assert_int_equal(file.count, r->records);
    (void)snprintf(wanted, sizeof(wanted), "\"dropped\": %d, \"total\": %d,", (int)r->write_failed,
                   (int)(r->records + r->write_failed));
    assert_non_null(strstr(file.metadata, hang_on_hbg() ? "\"dropped\": 0" : wanted));
    scope_file_free(&file);
}

/* Each entry's payload is there or labelled. */
static void check_full_manifest(void)
{
    const struct simpler_args_dump_result *r = &hang_result.args_dump;
    struct simpler_dump_bin_info bin = {.name = "args.bin", .is_there = true};
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    uint32_t entries = 0, truncated = 0;
    char path[256];
    assert_int_equal(size_of("args_dump/args.bin"), r->payload_bytes);
    bin.bytes = r->payload_bytes;
    (void)snprintf(path, sizeof(path), "%s/args_dump/args_dump.json", hang_prefix);
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    for (; simpler_dump_manifest_next(m, &e) > 0; entries++) {
        assert_true(simpler_dump_entry_state(&e, &bin) < SIMPLER_DUMP_FAULTS);
        truncated += e.truncated;
    }
    assert_string_equal(simpler_dump_manifest_error(m), "");
    assert_int_equal(simpler_dump_manifest_header(m)->count[SIMPLER_DUMP_COUNT_DROPPED], 0);
    simpler_dump_manifest_close(m);
    assert_int_equal(entries, r->records);
    assert_int_equal(truncated, r->truncated);
}

/* One tensor in, two scalars, one tensor out, for two tasks. */
static void check_full_dump(void)
{
    const struct simpler_args_dump_result *r = &hang_result.args_dump;
    assert_int_equal(r->counts_known, 1);
    assert_int_equal(r->dropped_no_free + r->dropped_ready_full + r->dropped_arena, 0);
    assert_int_equal(r->records + r->write_failed, 8);
    assert_int_equal(size_of("args_dump/args_dump.json.partial"), -1);
    assert_int_equal(size_of("args_dump/.spool"), -1);
    if (r->has_manifest) {
        assert_int_equal(r->status, r->truncated == 0 ? 0 : SIMPLER_EPARTIAL);
        assert_int_equal(r->write_failed, 0);
        check_full_manifest();
    } else {
        assert_int_equal(r->status, SIMPLER_EIO);
        assert_int_equal(size_of("args_dump/args_dump.json"), -1);
    }
}

/* The run ends in time with its own code; each diagnostic says what it has lost. */
static void hang_on_full_disk(struct full_disk *d)
{
    struct simpler_call_config config = hang_with_diagnostics(2);
    simpler_testpoint_set(disk_is_full, d);
    uint64_t before = kit_now_ns();
    int rc = hang_run(one_done_one_stuck, &d->spinner, &config);
    uint64_t took_ms = (kit_now_ns() - before) / 1000000;
    simpler_testpoint_set(NULL, NULL);
    assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    assert_in_range(took_ms, HANG_BUDGET_MS, 30000);
    hang_must_say("is still inside kernel kit_aiv");
    check_full_scope_stats();
    check_full_dump();
    if (d->samples == 1 && d->payload == 1)
        hang_saw("hang-on-full-disk");
    atomic_store(&d->spinner.let_go, 1);
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
}

static void a_stuck_kernel_on_a_full_disk(void **state)
{
    (void)state;
    /* The nth write of the samples' file: its room, its lines, its metadata.  Payload and manifest
     * from the nth write on. */
    static const int ways[][3] = {{1, 1, 0}, {2, 2, 0}, {3, 1, 0}, {1, 0, 1}, {0, 1, 1}};
    static struct full_disk disk;
    bool lines = false, no_file = false, no_manifest = false, cut = false;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        memset(&disk, 0, sizeof(disk));
        disk.samples = ways[i][0];
        disk.payload = ways[i][1];
        disk.manifest = ways[i][2];
        hang_on_full_disk(&disk);
        no_file |= !hang_result.scope_stats.has_file;
        lines |= hang_result.scope_stats.has_file && hang_result.scope_stats.write_failed != 0;
        no_manifest |= !hang_result.args_dump.has_manifest;
        cut |= hang_result.args_dump.has_manifest && hang_result.args_dump.truncated != 0;
    }
    assert_true(no_file && no_manifest && cut);
    assert_true(lines || hang_on_hbg());
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
