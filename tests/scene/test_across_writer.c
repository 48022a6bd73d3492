/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker that collects across runs whose writer is held or fails: a run's file is written
 * while the next run's kernels run, flush is the barrier, nothing is replaced, the first
 * failure stays.
 *
 * SS-24 SS-25 SS-26 SS-28 SY-06 AD-09
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "across_rig.h"
#include "base/testpoint.h"
#include "cm.h"
#include "faults.h"
#include "scope_file.h"

#if defined(SIMPLER_DEBUG)
static struct across_rig rig;

static struct {
    _Atomic bool hold;
    _Atomic int waiting;
    _Atomic uint64_t since_ns, until_ns; /* of the last file before it got its name */
    _Atomic int fail_from, fail_to;      /* numbers of the writes that fail */
    _Atomic int writes;
} writer;

static bool hold_writer(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point == SIMPLER_TESTPOINT_SCOPE_FILE_WRITE) {
        int n = atomic_fetch_add(&writer.writes, 1);
        return n >= atomic_load(&writer.fail_from) && n < atomic_load(&writer.fail_to);
    }
    if (point != SIMPLER_TESTPOINT_SCOPE_FILE_BEFORE_PUBLISH &&
        point != SIMPLER_TESTPOINT_RETAINED_BEFORE_MANIFEST)
        return false;
    atomic_store(&writer.since_ns, kit_now_ns());
    atomic_fetch_add(&writer.waiting, 1);
    while (atomic_load(&writer.hold))
        kit_sleep_ns(100000);
    atomic_fetch_sub(&writer.waiting, 1);
    atomic_store(&writer.until_ns, kit_now_ns());
    return false;
}

static void fail_writes(int from, int to)
{
    atomic_store(&writer.writes, 0);
    atomic_store(&writer.fail_from, from);
    atomic_store(&writer.fail_to, to);
}

static void wait_for_writer(void)
{
    for (int i = 0; i < 100000 && atomic_load(&writer.waiting) == 0; i++)
        kit_sleep_ns(100000);
    assert_int_equal(atomic_load(&writer.waiting), 1);
}

static int open_held(void **state)
{
    (void)state;
    atomic_store(&writer.hold, true);
    atomic_store(&writer.waiting, 0);
    fail_writes(0, 0);
    simpler_testpoint_set(hold_writer, NULL);
    kit_open_across_runs(&rig.kit);
    return 0;
}

static int close_held(void **state)
{
    (void)state;
    if (rig.kit.worker != NULL)
        kit_close(&rig.kit);
    simpler_testpoint_set(NULL, NULL);
    return 0;
}

/* Timestamps: the kernels of run N+1 run while the file of run N is being written. */
static void device_work_overlaps_the_writing(void **state)
{
    (void)state;
    struct across_job first = {.scopes = 3}, second = {.scopes = 5};

    assert_int_equal(across_run(&rig, "overlap_1", &first), 0);
    assert_true(rig.result.scope_stats.enabled && rig.result.scope_stats.pending);
    assert_false(rig.result.scope_stats.has_file);
    assert_int_equal(rig.result.scope_stats.status, 0);
    wait_for_writer();
    assert_int_equal(across_run(&rig, "overlap_2", &second), 0);
    assert_false(across_is_there(&rig, "overlap_1"));
    assert_int_equal(simpler_worker_flush_diagnostics(rig.kit.worker, 1000000), SIMPLER_ETIMEDOUT);
    uint64_t since_ns = atomic_load(&writer.since_ns);
    atomic_store(&writer.hold, false);
    for (int i = 0; i < 100000 && !across_is_there(&rig, "overlap_1"); i++)
        kit_sleep_ns(100000);
    assert_true(across_is_there(&rig, "overlap_1"));
    assert_true(since_ns < atomic_load(&second.ran_ns));
    assert_true(atomic_load(&second.ran_ns) < atomic_load(&writer.until_ns));
    assert_int_equal(across_flush(&rig), 0);
    across_check_file(&rig, "overlap_1", &first, 0);
    across_check_file(&rig, "overlap_2", &second, 0);
}

static void *flush_in_thread(void *status)
{
    *(int *)status = across_flush(&rig);
    return NULL;
}

static void flush_waits_and_may_be_repeated(void **state)
{
    (void)state;
    struct across_job job = {.scopes = 2};
    pthread_t thread;
    int status = 1;

    assert_int_equal(across_run(&rig, "flush_1", &job), 0);
    wait_for_writer();
    assert_int_equal(pthread_create(&thread, NULL, flush_in_thread, &status), 0);
    kit_sleep_ns(5000000);
    assert_int_equal(simpler_worker_flush_diagnostics(rig.kit.worker, 0), SIMPLER_ETIMEDOUT);
    atomic_store(&writer.hold, false);
    assert_int_equal(across_flush(&rig), 0);
    assert_true(across_is_there(&rig, "flush_1"));
    (void)pthread_join(thread, NULL);
    assert_int_equal(status, 0);
    assert_int_equal(across_flush(&rig), 0);
    assert_int_equal(simpler_worker_flush_diagnostics(rig.kit.worker, 0), 0);
}

static void *release_soon(void *unused)
{
    (void)unused;
    kit_sleep_ns(20000000);
    atomic_store(&writer.hold, false);
    return NULL;
}

static void close_writes_what_is_left(void **state)
{
    (void)state;
    struct across_job jobs[3] = {{.scopes = 1}, {.scopes = 2}, {.scopes = 3}};
    pthread_t thread;

    assert_int_equal(across_run(&rig, "close_1", &jobs[0]), 0);
    wait_for_writer();
    assert_int_equal(across_run(&rig, "close_2", &jobs[1]), 0);
    assert_int_equal(across_run(&rig, "close_3", &jobs[2]), 0);
    assert_int_equal(pthread_create(&thread, NULL, release_soon, NULL), 0);
    assert_int_equal(simpler_worker_close(rig.kit.worker), 0);
    rig.kit.worker = NULL;
    (void)pthread_join(thread, NULL);
    across_check_file(&rig, "close_1", &jobs[0], 0);
    across_check_file(&rig, "close_2", &jobs[1], 0);
    across_check_file(&rig, "close_3", &jobs[2], 0);
}

/* Another run's file that is not there yet is taken as well. */
static void a_destination_in_flight_is_refused(void **state)
{
    (void)state;
    struct across_job first = {.scopes = 1}, second = {.scopes = 1};

    assert_int_equal(across_run(&rig, "flight", &first), 0);
    wait_for_writer();
    int in_flight = across_run(&rig, "flight", &second);
    assert_int_equal(in_flight, SIMPLER_EEXIST);
    assert_int_equal(atomic_load(&second.tasks), 0);
    fault_saw("across-taken-name", "run=%s tasks=%d", simpler_status_name(in_flight),
              atomic_load(&second.tasks));
    atomic_store(&writer.hold, false);
    assert_int_equal(across_flush(&rig), 0); /* a refusal is no failure of a collection */
    across_check_file(&rig, "flight", &first, 0);
    assert_int_equal(across_run(&rig, "flight", &second), SIMPLER_EEXIST);
    assert_int_equal(atomic_load(&second.tasks), 0);
}

/* It comes after admission: the run is right, its collection failed, and that stays. */
static void a_destination_that_comes_late_stays(void **state)
{
    (void)state;
    struct across_job first = {.scopes = 1}, second = {.scopes = 2};
    char path[256], text[16] = "";

    assert_int_equal(across_run(&rig, "late", &first), 0);
    wait_for_writer();
    across_name(&rig, path, "late/scope_stats/scope_stats.jsonl");
    FILE *other = fopen(path, "w");
    assert_non_null(other);
    (void)fputs("theirs\n", other);
    (void)fclose(other);
    atomic_store(&writer.hold, false);
    assert_int_equal(across_flush(&rig), SIMPLER_EEXIST);
    other = fopen(path, "r");
    assert_non_null(fgets(text, sizeof(text), other));
    (void)fclose(other);
    assert_string_equal(text, "theirs\n");
    int rc = across_run(&rig, "late_2", &second);
    assert_int_equal(rc, 0);
    assert_int_equal(across_flush(&rig), SIMPLER_EEXIST);
    across_check_file(&rig, "late_2", &second, 0);
    across_saw_and_close(&rig, "across-late-name", rc, SIMPLER_EEXIST, true);
}

/* The disk takes no sample, then it takes the metadata: the file says what is missing. */
static void a_full_disk_is_said(void **state)
{
    (void)state;
    struct across_job first = {.scopes = 4}, second = {.scopes = 2};
    char prefix[160];

    atomic_store(&writer.hold, false);
    fail_writes(1, 2);
    assert_int_equal(across_run(&rig, "full_1", &first), 0);
    assert_int_equal(rig.result.scope_stats.status, 0); /* not known yet */
    assert_int_equal(across_flush(&rig), SIMPLER_EPARTIAL);
    across_name(&rig, prefix, "full_1");
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, 0);
    assert_non_null(strstr(file.metadata, "\"dropped\": 0, \"total\": 10, "));
    assert_non_null(strstr(file.metadata,
                           "\"partial_safe\", \"counts_unknown\": false, "
                           "\"host_received_records\": 10, \"host_retained_records\": 0}"));
    scope_file_free(&file);
    fail_writes(0, 0);
    int rc = across_run(&rig, "full_2", &second);
    assert_int_equal(rc, 0);
    assert_int_equal(across_flush(&rig), SIMPLER_EPARTIAL); /* the first failure stays */
    across_check_file(&rig, "full_2", &second, 0);
    across_saw_and_close(&rig, "across-full-disk", rc, SIMPLER_EPARTIAL,
                         across_is_there(&rig, "full_1"));
}

/* Nor does it take the metadata: there is no file. */
static void a_dead_disk_is_said(void **state)
{
    (void)state;
    struct across_job first = {.scopes = 4}, second = {.scopes = 2};

    atomic_store(&writer.hold, false);
    fail_writes(1, 100);
    assert_int_equal(across_run(&rig, "dead_1", &first), 0);
    assert_int_equal(across_flush(&rig), SIMPLER_EIO);
    assert_false(across_is_there(&rig, "dead_1"));
    fail_writes(0, 0);
    int rc = across_run(&rig, "dead_2", &second);
    assert_int_equal(rc, 0);
    assert_int_equal(across_flush(&rig), SIMPLER_EIO);
    across_check_file(&rig, "dead_2", &second, 0);
    across_saw_and_close(&rig, "across-dead-disk", rc, SIMPLER_EIO,
                         across_is_there(&rig, "dead_1"));
}

/* The manifest of run N is written while run N+1 has the device; the same barrier. */
static void dumps_overlap_as_well(void **state)
{
    (void)state;
    struct across_chain first = {.tasks = 3}, second = {.tasks = 4};
    size_t bytes;

    assert_int_equal(across_run_chain(&rig, "dump_overlap_1", &first, 3, 2), 0);
    assert_true(rig.result.args_dump.pending);
    assert_false(rig.result.args_dump.has_manifest);
    assert_int_equal(rig.result.args_dump.records, 12);
    wait_for_writer();
    assert_int_equal(across_run_chain(&rig, "dump_overlap_2", &second, 1, 2), 0);
    assert_int_equal(second.data[0], 4);
    assert_null(across_read_dump(&rig, "dump_overlap_1", "args_dump.json", &bytes));
    assert_int_equal(across_run_chain(&rig, "dump_overlap_1", &second, 1, 2), SIMPLER_EEXIST);
    assert_int_equal(simpler_worker_flush_diagnostics(rig.kit.worker, 0), SIMPLER_ETIMEDOUT);
    atomic_store(&writer.hold, false);
    assert_int_equal(across_flush(&rig), 0);
    across_check_dump(&rig, "dump_overlap_1", &first, 3);
    across_check_dump(&rig, "dump_overlap_2", &second, 1);
    assert_int_equal(across_run_chain(&rig, "dump_overlap_1", &second, 1, 2), SIMPLER_EEXIST);
    assert_int_equal(second.data[0], 4);
}

/* A manifest that comes after admission stays, and this run's args.bin goes. */
static void a_manifest_that_comes_late_stays(void **state)
{
    (void)state;
    struct across_chain chain = {.tasks = 3};
    char path[256];
    size_t bytes;

    assert_int_equal(across_run_chain(&rig, "dump_late", &chain, 1, 2), 0);
    wait_for_writer();
    across_name(&rig, path, "dump_late/args_dump/args_dump.json");
    FILE *other = fopen(path, "w");
    assert_non_null(other);
    (void)fputs("theirs\n", other);
    (void)fclose(other);
    atomic_store(&writer.hold, false);
    assert_int_equal(across_flush(&rig), SIMPLER_EEXIST);
    char *text = across_read_dump(&rig, "dump_late", "args_dump.json", &bytes);
    assert_string_equal(text, "theirs\n");
    free(text);
    assert_null(across_read_dump(&rig, "dump_late", "args.bin", &bytes));
    int flushed = across_flush(&rig);
    assert_int_equal(flushed, SIMPLER_EEXIST);
    fault_saw("across-late-manifest", "flush=%s", simpler_status_name(flushed));
}

/* More runs than the writer has places: the next one waits for it and nothing is lost. */
static void a_full_house_waits(void **state)
{
    (void)state;
    struct across_job job = {.scopes = 1};
    char run_name[32];
    pthread_t thread;

    for (int i = 0; i < 256; i++) {
        (void)snprintf(run_name, sizeof(run_name), "house_%d", i);
        assert_int_equal(across_run(&rig, run_name, &job), 0);
    }
    assert_int_equal(pthread_create(&thread, NULL, release_soon, NULL), 0);
    uint64_t start = kit_now_ns();
    int rc = across_run(&rig, "house_256", &job);
    assert_int_equal(rc, 0);
    assert_true(kit_now_ns() - start > 10000000);
    (void)pthread_join(thread, NULL);
    assert_int_equal(across_flush(&rig), 0);
    for (int i = 0; i <= 256; i++) {
        (void)snprintf(run_name, sizeof(run_name), "house_%d", i);
        across_check_file(&rig, run_name, &job, 0);
    }
    fault_saw("across-full-house", "run=%s files=whole", simpler_status_name(rc));
}

static int make_base(void **state)
{
    (void)state;
    across_open(&rig);
    return 0;
}

static int remove_base(void **state)
{
    (void)state;
    across_close(&rig);
    return 0;
}

#define HELD(test) cmocka_unit_test_setup_teardown(test, open_held, close_held)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HELD(device_work_overlaps_the_writing),
        HELD(flush_waits_and_may_be_repeated),
        HELD(close_writes_what_is_left),
        HELD(a_destination_in_flight_is_refused),
        HELD(a_destination_that_comes_late_stays),
        HELD(a_full_disk_is_said),
        HELD(a_dead_disk_is_said),
        HELD(dumps_overlap_as_well),
        HELD(a_manifest_that_comes_late_stays),
        HELD(a_full_house_waits),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
#else
int main(void)
{
    (void)puts("the writer is held at test points, which a release build does not have");
    return 77;
}
#endif
