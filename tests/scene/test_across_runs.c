/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker that collects across runs, on the real engine: configurations and levels that
 * differ from run to run, several threads that submit, runs that fail or are canceled; each
 * run has files of its own.  test_across_writer.c holds the writer.
 *
 * SS-24 SS-25 SS-26 SS-28 SY-06 AD-09
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "across_rig.h"
#include "cm.h"
#include "faults.h"
#include "scope_file.h"

static struct across_rig rig;

static int open_plain(void **state)
{
    (void)state;
    kit_open_across_runs(&rig.kit);
    return 0;
}

static int close_plain(void **state)
{
    (void)state;
    if (rig.kit.worker != NULL)
        kit_close(&rig.kit);
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
    struct across_job jobs[12];
    char prefix[160], run_name[32];

    for (int i = 0; i < 12; i++) {
        jobs[i] = (struct across_job){.scopes = 10 + i};
        (void)snprintf(run_name, sizeof(run_name), "differ_%d", i);
        across_name(&rig, prefix, run_name);
        config.aicpu_thread_num = 2 + (uint32_t)i % 3;
        config.enable_scope_stats = i % 4 != 3;
        config.output_prefix = prefix;
        kit_set_window(&config, 16u << i % 3);
        assert_int_equal(kit_run(&rig.kit, across_job_graph, &jobs[i], &config, &rig.result), 0);
        assert_int_equal(atomic_load(&jobs[i].tasks), jobs[i].scopes);
    }
    assert_int_equal(across_flush(&rig), 0);
    for (int i = 0; i < 12; i++) {
        (void)snprintf(run_name, sizeof(run_name), "differ_%d", i);
        if (i % 4 == 3)
            assert_false(across_is_there(&rig, run_name));
        else
            across_check_file(&rig, run_name, &jobs[i], 16u << i % 3);
    }
}

/* Levels and thread counts change from run to run, off among them; files of each run. */
static void dump_levels_differ_back_to_back(void **state)
{
    (void)state;
    struct across_chain chains[24];
    char run_name[32];
    size_t bytes;

    for (int i = 0; i < 24; i++) {
        chains[i] = (struct across_chain){.tasks = 2 + i % 5};
        (void)snprintf(run_name, sizeof(run_name), "levels_%d", i);
        assert_int_equal(
            across_run_chain(&rig, run_name, &chains[i], (uint32_t)i % 4, 2 + (uint32_t)i / 8), 0);
        assert_int_equal(chains[i].data[ACROSS_ELEMENTS - 1], chains[i].tasks);
    }
    assert_int_equal(across_flush(&rig), 0);
    for (int i = 0; i < 24; i++) {
        (void)snprintf(run_name, sizeof(run_name), "levels_%d", i);
        if (i % 4 == 0)
            assert_null(across_read_dump(&rig, run_name, "args_dump.json", &bytes));
        else
            across_check_dump(&rig, run_name, &chains[i], (uint32_t)i % 4);
        assert_int_equal(across_is_there(&rig, run_name), i % 4 == 2);
    }
}

/* args.bin alone is in the way as well. */
static void a_payload_file_is_in_the_way(void **state)
{
    (void)state;
    struct across_chain chain = {.tasks = 2};
    char path[256];

    across_name(&rig, path, "in_the_way");
    assert_int_equal(mkdir(path, 0777), 0);
    across_name(&rig, path, "in_the_way/args_dump");
    assert_int_equal(mkdir(path, 0777), 0);
    across_name(&rig, path, "in_the_way/args_dump/args.bin");
    FILE *other = fopen(path, "w");
    assert_non_null(other);
    (void)fclose(other);
    assert_int_equal(across_run_chain(&rig, "in_the_way", &chain, 1, 2), SIMPLER_EEXIST);
    assert_int_equal(chain.data[0], 0);
    assert_int_equal(across_flush(&rig), 0);
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
    struct across_job job = {.scopes = 1};
    char prefix[160];

    across_name(&rig, prefix, "fatal");
    config.enable_scope_stats = 1;
    config.output_prefix = prefix;
    assert_int_equal(kit_run(&rig.kit, fail_graph, NULL, &config, &rig.result),
                     -SIMPLER_CODE_EXPLICIT_ORCH_FATAL);
    assert_int_equal(rig.result.scope_stats.status, SIMPLER_EPARTIAL);
    int rc = across_run(&rig, "after_fatal", &job);
    assert_int_equal(rc, 0);
    assert_int_equal(across_flush(&rig), SIMPLER_EPARTIAL);
    across_check_file(&rig, "after_fatal", &job, 0);
    struct scope_file file = scope_file_read(prefix);
    assert_non_null(strstr(file.metadata, "{\"fatal\": true,"));
    assert_non_null(strstr(file.metadata, "\"partial_safe\", \"counts_unknown\": false"));
    bool has_file = file.count != 0;
    scope_file_free(&file);
    across_saw_and_close(&rig, "across-device-code", rc, SIMPLER_EPARTIAL, has_file);
}

#define THREADS 2
#define RUNS    50

struct submitter {
    int number;
    pthread_t thread;
    struct across_job jobs[RUNS];
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
        s->jobs[i] = (struct across_job){.scopes = 1 + i % 7};
        call = (struct kit_call){across_job_graph, &s->jobs[i]};
        (void)snprintf(run_name, sizeof(run_name), "thread_%d_%d", s->number, i);
        across_name(&rig, prefix, run_name);
        s->failed += kit_finish_run(kit_submit_run(&rig.kit, &call, &config)) != 0;
        if (i % 10 == 0)
            s->failed += across_flush(&rig) != 0;
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
    assert_int_equal(across_flush(&rig), 0);
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < RUNS; i++) {
            (void)snprintf(run_name, sizeof(run_name), "thread_%d_%d", t, i);
            across_check_file(&rig, run_name, &all[t].jobs[i], 0);
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
    struct across_job job = {.scopes = 1};
    struct kit_call calls[] = {{gate_graph, &gate}, {across_job_graph, &job}};
    char prefix[160];

    across_name(&rig, prefix, "canceled");
    config.output_prefix = prefix;
    for (int i = 0; i < 300; i++) { /* more than there are places */
        config.enable_scope_stats = 0;
        struct simpler_run *first = kit_submit_run(&rig.kit, &calls[0], &config);
        assert_true(kit_gate_wait(&gate, 1));
        config.enable_scope_stats = 1;
        struct simpler_run *second = kit_submit_run(&rig.kit, &calls[1], &config);
        simpler_run_cancel(second);
        kit_gate_open(&gate);
        assert_int_equal(kit_finish_run(first), 0);
        assert_int_equal(kit_finish_run(second), SIMPLER_ECANCELED);
        kit_gate_close(&gate);
    }
    assert_int_equal(atomic_load(&job.tasks), 0);
    assert_int_equal(across_run(&rig, "canceled", &job), 0);
    assert_int_equal(across_flush(&rig), 0);
    across_check_file(&rig, "canceled", &job, 0);
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

#define PLAIN(test) cmocka_unit_test_setup_teardown(test, open_plain, close_plain)

int main(void)
{
    const struct CMUnitTest tests[] = {
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
