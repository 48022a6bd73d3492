/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker that collects across runs, on the real engine: a run's file is
 * written while the next run's kernels run, flush is the barrier, nothing is replaced, the
 * first failure stays.
 *
 * SS-24 SS-25 SS-26 SS-28 SY-06 AD-09
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/testpoint.h"
#include "cm.h"
#include "faults.h"
#include "kit.h"
#include "scope_file.h"
#include "simpler/log.h"

static char base[128];
static struct kit kit;
static struct simpler_run_result result;

/* ---- runs ---- */

/* Scopes within the root scope, a counted task in each. */
struct job {
    int scopes;
    _Atomic int tasks;
    _Atomic uint64_t ran_ns; /* when its last kernel ran */
};

static int job_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    struct job *job = user;

    (void)args;
    (void)tensors;
    atomic_fetch_add(&job->tasks, 1);
    atomic_store(&job->ran_ns, kit_now_ns());
    return 0;
}

static void job_graph(struct simpler_orch *orch, void *user)
{
    struct job *job = user;
    struct simpler_task_args args;

    for (int i = 0; i < job->scopes; i++) {
        SIMPLER_SCOPE(orch)
        {
            simpler_task_args_reset(&args);
            kit_submit(orch, &args, job_kernel, job, NULL);
        }
    }
}

static void name(char prefix[160], const char *run)
{
    (void)snprintf(prefix, 160, "%s/%s", base, run);
}

static int run_to(const char *prefix, struct job *job)
{
    struct simpler_call_config config = kit_config(2);

    config.enable_scope_stats = 1;
    config.output_prefix = prefix;
    return kit_run(&kit, job_graph, job, &config, &result);
}

static int run(const char *run_name, struct job *job)
{
    char prefix[160];

    name(prefix, run_name);
    return run_to(prefix, job);
}

static bool is_there(const char *run_name)
{
    char prefix[160];

    name(prefix, run_name);
    return scope_file_exists(prefix);
}

static int flush(void)
{
    return simpler_worker_flush_diagnostics(kit.worker, UINT64_MAX);
}

/* What a whole file says of @job's run; @window: of each ring, 0 any. */
static void check_file(const char *run_name, const struct job *job, uint32_t window)
{
    char prefix[160], text[160];
    int samples = 2 * (job->scopes + 1);

    name(prefix, run_name);
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, samples);
    (void)snprintf(text, sizeof(text), "{\"fatal\": false, \"dropped\": 0, \"total\": %d, ",
                   samples);
    assert_memory_equal(file.metadata, text, strlen(text));
    (void)snprintf(text, sizeof(text),
                   "\"collection_verdict\": \"published\", \"counts_unknown\": false, "
                   "\"host_received_records\": %d, \"host_retained_records\": %d}",
                   samples, samples);
    assert_string_equal(strstr(file.metadata, "\"collection_verdict"), text);
    (void)snprintf(text, sizeof(text), "\"task_window_max\": [%u, %u, %u, %u]", window, window,
                   window, window);
    if (window != 0)
        assert_non_null(strstr(file.metadata, text));
    for (uint32_t i = 1; i < file.count; i++)
        assert_int_equal(file.samples[i].run_epoch, file.samples[0].run_epoch);
    scope_file_free(&file);
}

/* ---- args dump ---- */

#define ELEMENTS 16

/* A chain of tasks on one tensor; the first of them marks it. */
struct chain {
    int tasks;
    int64_t data[ELEMENTS];
};

static int chain_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    int64_t *data = simpler_kernel_data((int64_t *)(uintptr_t)args, 0);

    (void)tensors;
    (void)user;
    for (int i = 0; i < ELEMENTS; i++)
        data[i]++;
    return 0;
}

static void chain_graph(struct simpler_orch *orch, void *user)
{
    struct chain *chain = user;
    struct simpler_tensor tensor = kit_tensor(chain->data, ELEMENTS, SIMPLER_DTYPE_INT64);

    for (int i = 0; i < chain->tasks; i++) {
        struct simpler_task_args args;
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &tensor);
        if (i == 0)
            simpler_task_args_dump(&args, &tensor);
        kit_submit(orch, &args, chain_kernel, chain, NULL);
    }
}

static int run_chain(const char *run_name, struct chain *chain, uint32_t level, uint32_t threads)
{
    struct simpler_call_config config = kit_config(threads);
    char prefix[160];

    name(prefix, run_name);
    config.enable_dump_args = level;
    config.enable_scope_stats = level == 2;
    config.output_prefix = prefix;
    return kit_run(&kit, chain_graph, chain, &config, &result);
}

static char *read_all(const char *run_name, const char *file, size_t *bytes)
{
    char path[256], prefix[160];

    name(prefix, run_name);
    (void)snprintf(path, sizeof(path), "%s/args_dump/%s", prefix, file);
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return NULL;
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    *bytes = fread(text, 1, (1 << 20) - 1, in);
    (void)fclose(in);
    return text;
}

static int compare_first(const void *a, const void *b)
{
    return (int)(*(const int64_t *)a - *(const int64_t *)b);
}

/* Manifest and payload of @chain's run: two entries a task and tensor, scalars from level 2 on. */
static void check_dump(const char *run_name, const struct chain *chain, uint32_t level)
{
    int tasks = level == 1 ? 1 : chain->tasks, with_bytes = level == 3 ? 1 : tasks;
    int records = 2 * tasks + (level == 1 ? 0 : 2 * tasks); /* a kit task has two scalars */
    char expected[128];
    size_t bytes;
    char *text = read_all(run_name, "args_dump.json", &bytes);

    assert_non_null(text);
    (void)snprintf(expected, sizeof(expected), "\"dump_args_level\": %u,\n  \"total_args\": %d,",
                   level, records);
    assert_non_null(strstr(text, expected));
    assert_non_null(strstr(text, "\"dropped_records\": 0,"));
    assert_string_equal(text + bytes - 6, "  ]\n}\n");
    free(text);
    int64_t *data = (int64_t *)(void *)read_all(run_name, "args.bin", &bytes);
    assert_non_null(data);
    assert_int_equal(bytes, 2 * with_bytes * ELEMENTS * (int)sizeof(int64_t));
    /* Each task's before and after, in the order in which the lanes were collected. */
    qsort(data, (size_t)(2 * with_bytes), ELEMENTS * sizeof(int64_t), compare_first);
    for (int i = 0; i < 2 * with_bytes; i++)
        assert_int_equal(data[i * ELEMENTS + ELEMENTS - 1], (i + 1) / 2);
    free(data);
}

/* ---- the writer, held ---- */

/* The run behind the failure, whether the failed one has a file, and the close that says so. */
static void saw_and_close(const char *fault, int next, int status, bool has_file)
{
    int closed = simpler_worker_close(kit.worker);

    kit.worker = NULL;
    assert_int_equal(closed, status);
    fault_saw(fault, "next=%s file=%s close=%s", simpler_status_name(next), fault_yes(has_file),
              simpler_status_name(closed));
}

#if defined(SIMPLER_DEBUG)
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
    kit_open_across_runs(&kit);
    return 0;
}

static int close_held(void **state)
{
    (void)state;
    if (kit.worker != NULL)
        kit_close(&kit);
    simpler_testpoint_set(NULL, NULL);
    return 0;
}

/* Timestamps: the kernels of run N+1 run while the file of run N is being written. */
static void device_work_overlaps_the_writing(void **state)
{
    (void)state;
    struct job first = {.scopes = 3}, second = {.scopes = 5};

    assert_int_equal(run("overlap_1", &first), 0);
    assert_true(result.scope_stats.enabled && result.scope_stats.pending);
    assert_false(result.scope_stats.has_file);
    assert_int_equal(result.scope_stats.status, 0);
    wait_for_writer();
    assert_int_equal(run("overlap_2", &second), 0);
    assert_false(is_there("overlap_1"));
    assert_int_equal(simpler_worker_flush_diagnostics(kit.worker, 1000000), SIMPLER_ETIMEDOUT);
    uint64_t since_ns = atomic_load(&writer.since_ns);
    atomic_store(&writer.hold, false);
    for (int i = 0; i < 100000 && !is_there("overlap_1"); i++)
        kit_sleep_ns(100000);
    assert_true(is_there("overlap_1"));
    assert_true(since_ns < atomic_load(&second.ran_ns));
    assert_true(atomic_load(&second.ran_ns) < atomic_load(&writer.until_ns));
    assert_int_equal(flush(), 0);
    check_file("overlap_1", &first, 0);
    check_file("overlap_2", &second, 0);
}

static void *flush_in_thread(void *status)
{
    *(int *)status = flush();
    return NULL;
}

static void flush_waits_and_may_be_repeated(void **state)
{
    (void)state;
    struct job job = {.scopes = 2};
    pthread_t thread;
    int status = 1;

    assert_int_equal(run("flush_1", &job), 0);
    wait_for_writer();
    assert_int_equal(pthread_create(&thread, NULL, flush_in_thread, &status), 0);
    kit_sleep_ns(5000000);
    assert_int_equal(simpler_worker_flush_diagnostics(kit.worker, 0), SIMPLER_ETIMEDOUT);
    atomic_store(&writer.hold, false);
    assert_int_equal(flush(), 0);
    assert_true(is_there("flush_1"));
    (void)pthread_join(thread, NULL);
    assert_int_equal(status, 0);
    assert_int_equal(flush(), 0);
    assert_int_equal(simpler_worker_flush_diagnostics(kit.worker, 0), 0);
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
    struct job jobs[3] = {{.scopes = 1}, {.scopes = 2}, {.scopes = 3}};
    pthread_t thread;

    assert_int_equal(run("close_1", &jobs[0]), 0);
    wait_for_writer();
    assert_int_equal(run("close_2", &jobs[1]), 0);
    assert_int_equal(run("close_3", &jobs[2]), 0);
    assert_int_equal(pthread_create(&thread, NULL, release_soon, NULL), 0);
    assert_int_equal(simpler_worker_close(kit.worker), 0);
    kit.worker = NULL;
    (void)pthread_join(thread, NULL);
    check_file("close_1", &jobs[0], 0);
    check_file("close_2", &jobs[1], 0);
    check_file("close_3", &jobs[2], 0);
}

/* Another run's file that is not there yet is taken as well. */
static void a_destination_in_flight_is_refused(void **state)
{
    (void)state;
    struct job first = {.scopes = 1}, second = {.scopes = 1};

    assert_int_equal(run("flight", &first), 0);
    wait_for_writer();
    int in_flight = run("flight", &second);
    assert_int_equal(in_flight, SIMPLER_EEXIST);
    assert_int_equal(atomic_load(&second.tasks), 0);
    fault_saw("across-taken-name", "run=%s tasks=%d", simpler_status_name(in_flight),
              atomic_load(&second.tasks));
    atomic_store(&writer.hold, false);
    assert_int_equal(flush(), 0); /* a refusal is no failure of a collection */
    check_file("flight", &first, 0);
    assert_int_equal(run("flight", &second), SIMPLER_EEXIST);
    assert_int_equal(atomic_load(&second.tasks), 0);
}

/* It comes after admission: the run is right, its collection failed, and that stays. */
static void a_destination_that_comes_late_stays(void **state)
{
    (void)state;
    struct job first = {.scopes = 1}, second = {.scopes = 2};
    char path[256], text[16] = "";

    assert_int_equal(run("late", &first), 0);
    wait_for_writer();
    name(path, "late/scope_stats/scope_stats.jsonl");
    FILE *other = fopen(path, "w");
    assert_non_null(other);
    (void)fputs("theirs\n", other);
    (void)fclose(other);
    atomic_store(&writer.hold, false);
    assert_int_equal(flush(), SIMPLER_EEXIST);
    other = fopen(path, "r");
    assert_non_null(fgets(text, sizeof(text), other));
    (void)fclose(other);
    assert_string_equal(text, "theirs\n");
    int rc = run("late_2", &second);
    assert_int_equal(rc, 0);
    assert_int_equal(flush(), SIMPLER_EEXIST);
    check_file("late_2", &second, 0);
    saw_and_close("across-late-name", rc, SIMPLER_EEXIST, true);
}

/* The disk takes no sample, then it takes the metadata: the file says what is missing. */
static void a_full_disk_is_said(void **state)
{
    (void)state;
    struct job first = {.scopes = 4}, second = {.scopes = 2};
    char prefix[160];

    atomic_store(&writer.hold, false);
    fail_writes(1, 2);
    assert_int_equal(run("full_1", &first), 0);
    assert_int_equal(result.scope_stats.status, 0); /* not known yet */
    assert_int_equal(flush(), SIMPLER_EPARTIAL);
    name(prefix, "full_1");
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, 0);
    assert_non_null(strstr(file.metadata, "\"dropped\": 0, \"total\": 10, "));
    assert_non_null(strstr(file.metadata,
                           "\"partial_safe\", \"counts_unknown\": false, "
                           "\"host_received_records\": 10, \"host_retained_records\": 0}"));
    scope_file_free(&file);
    fail_writes(0, 0);
    int rc = run("full_2", &second);
    assert_int_equal(rc, 0);
    assert_int_equal(flush(), SIMPLER_EPARTIAL); /* the first failure stays */
    check_file("full_2", &second, 0);
    saw_and_close("across-full-disk", rc, SIMPLER_EPARTIAL, is_there("full_1"));
}

/* Nor does it take the metadata: there is no file. */
static void a_dead_disk_is_said(void **state)
{
    (void)state;
    struct job first = {.scopes = 4}, second = {.scopes = 2};

    atomic_store(&writer.hold, false);
    fail_writes(1, 100);
    assert_int_equal(run("dead_1", &first), 0);
    assert_int_equal(flush(), SIMPLER_EIO);
    assert_false(is_there("dead_1"));
    fail_writes(0, 0);
    int rc = run("dead_2", &second);
    assert_int_equal(rc, 0);
    assert_int_equal(flush(), SIMPLER_EIO);
    check_file("dead_2", &second, 0);
    saw_and_close("across-dead-disk", rc, SIMPLER_EIO, is_there("dead_1"));
}

/* The manifest of run N is written while run N+1 has the device; the same barrier. */
static void dumps_overlap_as_well(void **state)
{
    (void)state;
    struct chain first = {.tasks = 3}, second = {.tasks = 4};
    size_t bytes;

    assert_int_equal(run_chain("dump_overlap_1", &first, 3, 2), 0);
    assert_true(result.args_dump.pending);
    assert_false(result.args_dump.has_manifest);
    assert_int_equal(result.args_dump.records, 12);
    wait_for_writer();
    assert_int_equal(run_chain("dump_overlap_2", &second, 1, 2), 0);
    assert_int_equal(second.data[0], 4);
    assert_null(read_all("dump_overlap_1", "args_dump.json", &bytes));
    assert_int_equal(run_chain("dump_overlap_1", &second, 1, 2), SIMPLER_EEXIST);
    assert_int_equal(simpler_worker_flush_diagnostics(kit.worker, 0), SIMPLER_ETIMEDOUT);
    atomic_store(&writer.hold, false);
    assert_int_equal(flush(), 0);
    check_dump("dump_overlap_1", &first, 3);
    check_dump("dump_overlap_2", &second, 1);
    assert_int_equal(run_chain("dump_overlap_1", &second, 1, 2), SIMPLER_EEXIST);
    assert_int_equal(second.data[0], 4);
}

/* A manifest that comes after admission stays, and this run's args.bin goes. */
static void a_manifest_that_comes_late_stays(void **state)
{
    (void)state;
    struct chain chain = {.tasks = 3};
    char path[256];
    size_t bytes;

    assert_int_equal(run_chain("dump_late", &chain, 1, 2), 0);
    wait_for_writer();
    name(path, "dump_late/args_dump/args_dump.json");
    FILE *other = fopen(path, "w");
    assert_non_null(other);
    (void)fputs("theirs\n", other);
    (void)fclose(other);
    atomic_store(&writer.hold, false);
    assert_int_equal(flush(), SIMPLER_EEXIST);
    char *text = read_all("dump_late", "args_dump.json", &bytes);
    assert_string_equal(text, "theirs\n");
    free(text);
    assert_null(read_all("dump_late", "args.bin", &bytes));
    int flushed = flush();
    assert_int_equal(flushed, SIMPLER_EEXIST);
    fault_saw("across-late-manifest", "flush=%s", simpler_status_name(flushed));
}

/* More runs than the writer has places: the next one waits for it and nothing is lost. */
static void a_full_house_waits(void **state)
{
    (void)state;
    struct job job = {.scopes = 1};
    char run_name[32];
    pthread_t thread;

    for (int i = 0; i < 256; i++) {
        (void)snprintf(run_name, sizeof(run_name), "house_%d", i);
        assert_int_equal(run(run_name, &job), 0);
    }
    assert_int_equal(pthread_create(&thread, NULL, release_soon, NULL), 0);
    uint64_t start = kit_now_ns();
    int rc = run("house_256", &job);
    assert_int_equal(rc, 0);
    assert_true(kit_now_ns() - start > 10000000);
    (void)pthread_join(thread, NULL);
    assert_int_equal(flush(), 0);
    for (int i = 0; i <= 256; i++) {
        (void)snprintf(run_name, sizeof(run_name), "house_%d", i);
        check_file(run_name, &job, 0);
    }
    fault_saw("across-full-house", "run=%s files=whole", simpler_status_name(rc));
}
#endif

/* ---- without seams ---- */

static int open_plain(void **state)
{
    (void)state;
    kit_open_across_runs(&kit);
    return 0;
}

static int close_plain(void **state)
{
    (void)state;
    if (kit.worker != NULL)
        kit_close(&kit);
    return 0;
}

static void level_2_refuses_it(void **state)
{
    (void)state;
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;
    struct simpler_worker *worker = NULL;

    config.collect_across_runs = 1;
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    config.level = 2;
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    config.level = 4;
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_ENOSYS);
    config.level = 5;
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    config.level = 3;
    config.crash_safe = 1; /* what waits for the writer is in the process's own memory */
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    config.collect_across_runs = 0;
    config.crash_safe = 2;
    assert_int_equal(simpler_worker_open(&config, &worker), SIMPLER_EINVAL);
    assert_null(worker);
    config.crash_safe = 0;
    assert_int_equal(simpler_worker_open(&config, &worker), 0);
    assert_int_equal(simpler_worker_flush_diagnostics(worker, UINT64_MAX), 0);
    assert_int_equal(simpler_worker_close(worker), 0);
}

/* Sizes that differ from run to run, runs without diagnostics between: files of their own. */
static void configurations_differ_back_to_back(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    struct job jobs[12];
    char prefix[160], run_name[32];

    for (int i = 0; i < 12; i++) {
        jobs[i] = (struct job){.scopes = 10 + i};
        (void)snprintf(run_name, sizeof(run_name), "differ_%d", i);
        name(prefix, run_name);
        config.aicpu_thread_num = 2 + (uint32_t)i % 3;
        config.enable_scope_stats = i % 4 != 3;
        config.output_prefix = prefix;
        kit_set_window(&config, 16u << i % 3);
        assert_int_equal(kit_run(&kit, job_graph, &jobs[i], &config, &result), 0);
        assert_int_equal(atomic_load(&jobs[i].tasks), jobs[i].scopes);
    }
    assert_int_equal(flush(), 0);
    for (int i = 0; i < 12; i++) {
        (void)snprintf(run_name, sizeof(run_name), "differ_%d", i);
        if (i % 4 == 3)
            assert_false(is_there(run_name));
        else
            check_file(run_name, &jobs[i], 16u << i % 3);
    }
}

/* Levels and thread counts change from run to run, off among them; files of each run. */
static void dump_levels_differ_back_to_back(void **state)
{
    (void)state;
    struct chain chains[24];
    char run_name[32];
    size_t bytes;

    for (int i = 0; i < 24; i++) {
        chains[i] = (struct chain){.tasks = 2 + i % 5};
        (void)snprintf(run_name, sizeof(run_name), "levels_%d", i);
        assert_int_equal(run_chain(run_name, &chains[i], (uint32_t)i % 4, 2 + (uint32_t)i / 8), 0);
        assert_int_equal(chains[i].data[ELEMENTS - 1], chains[i].tasks);
    }
    assert_int_equal(flush(), 0);
    for (int i = 0; i < 24; i++) {
        (void)snprintf(run_name, sizeof(run_name), "levels_%d", i);
        if (i % 4 == 0)
            assert_null(read_all(run_name, "args_dump.json", &bytes));
        else
            check_dump(run_name, &chains[i], (uint32_t)i % 4);
        assert_int_equal(is_there(run_name), i % 4 == 2);
    }
}

/* args.bin alone is in the way as well. */
static void a_payload_file_is_in_the_way(void **state)
{
    (void)state;
    struct chain chain = {.tasks = 2};
    char path[256];

    name(path, "in_the_way");
    assert_int_equal(mkdir(path, 0777), 0);
    name(path, "in_the_way/args_dump");
    assert_int_equal(mkdir(path, 0777), 0);
    name(path, "in_the_way/args_dump/args.bin");
    FILE *other = fopen(path, "w");
    assert_non_null(other);
    (void)fclose(other);
    assert_int_equal(run_chain("in_the_way", &chain, 1, 2), SIMPLER_EEXIST);
    assert_int_equal(chain.data[0], 0);
    assert_int_equal(flush(), 0);
}

static void fail_graph(struct simpler_orch *orch, void *user)
{
    (void)user;
    simpler_orch_report_fatal(orch, SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "on purpose");
}

/* A device code makes flush fail for good; its file and later ones are there. */
static void a_fatal_stays(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    struct job job = {.scopes = 1};
    char prefix[160];

    name(prefix, "fatal");
    config.enable_scope_stats = 1;
    config.output_prefix = prefix;
    assert_int_equal(kit_run(&kit, fail_graph, NULL, &config, &result),
                     -SIMPLER_CODE_EXPLICIT_ORCH_FATAL);
    assert_int_equal(result.scope_stats.status, SIMPLER_EPARTIAL);
    int rc = run("after_fatal", &job);
    assert_int_equal(rc, 0);
    assert_int_equal(flush(), SIMPLER_EPARTIAL);
    check_file("after_fatal", &job, 0);
    struct scope_file file = scope_file_read(prefix);
    assert_non_null(strstr(file.metadata, "{\"fatal\": true,"));
    assert_non_null(strstr(file.metadata, "\"partial_safe\", \"counts_unknown\": false"));
    bool has_file = file.count != 0;
    scope_file_free(&file);
    saw_and_close("across-device-code", rc, SIMPLER_EPARTIAL, has_file);
}

#define THREADS 2
#define RUNS    50

struct submitter {
    int number;
    pthread_t thread;
    struct job jobs[RUNS];
    int failed;
};

static void *submit_many(void *user)
{
    struct submitter *s = user;
    struct kit_call call;
    struct simpler_call_config config = kit_config(2);
    char prefix[160], run_name[32];

    config.enable_scope_stats = 1;
    config.output_prefix = prefix;
    for (int i = 0; i < RUNS; i++) {
        s->jobs[i] = (struct job){.scopes = 1 + i % 7};
        call = (struct kit_call){job_graph, &s->jobs[i]};
        (void)snprintf(run_name, sizeof(run_name), "thread_%d_%d", s->number, i);
        name(prefix, run_name);
        s->failed += kit_finish_run(kit_submit_run(&kit, &call, &config)) != 0;
        if (i % 10 == 0)
            s->failed += flush() != 0;
    }
    return NULL;
}

static void two_threads_submit(void **state)
{
    (void)state;
    static struct submitter all[THREADS];
    char run_name[32];

    for (int t = 0; t < THREADS; t++) {
        all[t] = (struct submitter){.number = t};
        assert_int_equal(pthread_create(&all[t].thread, NULL, submit_many, &all[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        (void)pthread_join(all[t].thread, NULL);
        assert_int_equal(all[t].failed, 0);
    }
    assert_int_equal(flush(), 0);
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < RUNS; i++) {
            (void)snprintf(run_name, sizeof(run_name), "thread_%d_%d", t, i);
            check_file(run_name, &all[t].jobs[i], 0);
        }
    }
}

static void gate_graph(struct simpler_orch *orch, void *gate)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    kit_submit_variant(orch, KIT_LONG, &args, kit_gate_kernel, gate, NULL);
}

/* A run that is canceled before its turn gives its destination and its place back. */
static void a_canceled_run_claims_nothing(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    struct kit_gate gate = {0};
    struct job job = {.scopes = 1};
    struct kit_call calls[] = {{gate_graph, &gate}, {job_graph, &job}};
    char prefix[160];

    name(prefix, "canceled");
    config.output_prefix = prefix;
    for (int i = 0; i < 300; i++) { /* more than there are places */
        config.enable_scope_stats = 0;
        struct simpler_run *first = kit_submit_run(&kit, &calls[0], &config);
        assert_true(kit_gate_wait(&gate, 1));
        config.enable_scope_stats = 1;
        struct simpler_run *second = kit_submit_run(&kit, &calls[1], &config);
        simpler_run_cancel(second);
        kit_gate_open(&gate);
        assert_int_equal(kit_finish_run(first), 0);
        assert_int_equal(kit_finish_run(second), SIMPLER_ECANCELED);
        kit_gate_close(&gate);
    }
    assert_int_equal(atomic_load(&job.tasks), 0);
    assert_int_equal(run("canceled", &job), 0);
    assert_int_equal(flush(), 0);
    check_file("canceled", &job, 0);
}

static int make_base(void **state)
{
    (void)state;
    scope_file_make_prefix(base);
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return 0;
}

static int remove_base(void **state)
{
    (void)state;
    scope_file_remove_prefix(base);
    return 0;
}

#define PLAIN(test) cmocka_unit_test_setup_teardown(test, open_plain, close_plain)
#define HELD(test)  cmocka_unit_test_setup_teardown(test, open_held, close_held)

int main(void)
{
    const struct CMUnitTest tests[] = {
#if defined(SIMPLER_DEBUG)
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
#endif
        PLAIN(level_2_refuses_it),
        PLAIN(configurations_differ_back_to_back),
        PLAIN(dump_levels_differ_back_to_back),
        PLAIN(a_payload_file_is_in_the_way),
        PLAIN(a_fatal_stays),
        PLAIN(two_threads_submit),
        PLAIN(a_canceled_run_claims_nothing),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
