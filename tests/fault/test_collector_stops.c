/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 120
 * A thread of the collection that never comes back: the run ends all the same, its result says
 * what is missing, and the next run is collected by others.
 *
 * SS-19 SS-27
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/testpoint.h"
#include "cm.h"
#include "collect/args_dump/args_dump_collector.h"
#include "collect/scope_stats/scope_stats_aicpu.h"
#include "collect/scope_stats/scope_stats_collector.h"
#include "faults.h"
#include "kit.h"
#include "usage.h"

#if defined(SIMPLER_DEBUG)
#define SCOPES 600 /* more samples than the first buffer has records */
#define TASKS  400 /* whose records fit the buffers: nobody waits */

static struct kit kit;
static char prefix[] = "/tmp/test_collector_stops.XXXXXX";
static uint64_t cell[8];
static _Atomic int parked, let_go, run_over;
static _Atomic int stopped_logged;

static void keep_line(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    if (strstr(line, "has shown no sign of life for") != NULL)
        atomic_fetch_add(&stopped_logged, 1);
}

/* Where they stop; whether the backstop is cut short. */
static _Atomic int stop_at;
static _Atomic bool clock_runs;
/* Who calls the run: it drains lanes whose threads have not stopped, and must not stop there. */
static pthread_t caller;

/* Every collection thread that comes there stays, until the test is over. */
static bool stop_there(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point == SIMPLER_TESTPOINT_SESSION_PATIENCE)
        return !atomic_load(&clock_runs);
    if ((int)point != atomic_load(&stop_at) || atomic_load(&run_over) ||
        pthread_equal(pthread_self(), caller))
        return false;
    atomic_fetch_add(&parked, 1);
    while (!atomic_load_explicit(&let_go, memory_order_acquire))
        kit_sleep_ns(1000000);
    return false;
}

static void many_records(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (int i = 0; i < SCOPES; i++)
        SIMPLER_SCOPE(orch)
        {
        }
    for (int i = 0; i < TASKS; i++) {
        struct simpler_tensor tensor = kit_tensor(cell, 8, SIMPLER_DTYPE_UINT64);
        struct simpler_task_args args;
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &tensor);
        KIT_EXPECT_EQUAL(kit_submit_variant(orch, KIT_LONG, &args, kit_nop_kernel, NULL, NULL), 0);
    }
    /* The drain sees what was published while the run lives. */
    for (int i = 0; i < 2000 && atomic_load(&parked) < 2; i++)
        kit_sleep_ns(1000000);
}

static struct simpler_call_config config_at(const char *place)
{
    static char path[128];
    struct simpler_call_config config = kit_config(2);
    (void)snprintf(path, sizeof(path), "%s/%s", prefix, place);
    config.enable_scope_stats = 1;
    config.enable_dump_args = 2;
    config.output_prefix = path;
    return config;
}

static bool exists(const char *place, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s/%s", prefix, place, name);
    return access(path, F_OK) == 0;
}

static void run_with_a_stop(enum simpler_testpoint at, const char *place, const char *fault)
{
    static struct simpler_run_result result;
    struct simpler_call_config config = config_at(place);

    atomic_store(&parked, 0);
    atomic_store(&let_go, 0);
    atomic_store(&run_over, 0);
    atomic_store(&stopped_logged, 0);
    atomic_store(&stop_at, at);
    atomic_store(&clock_runs, false);
    simpler_testpoint_set(stop_there, NULL);
    uint64_t before = kit_now_ns();
    int rc = kit_run(&kit, many_records, NULL, &config, &result);
    uint64_t took_ms = (kit_now_ns() - before) / 1000000;
    atomic_store(&run_over, 1);
    atomic_store(&clock_runs, true); /* for the threads that have not stopped */
    assert_int_equal(rc, 0);         /* the computation is right whatever becomes of its records */
    assert_in_range(took_ms, 0, 20000);
    assert_true(atomic_load(&parked) >= 2);
    assert_int_equal(atomic_load(&stopped_logged), 2);
    assert_int_equal(result.scope_stats.status, SIMPLER_EPARTIAL);
    assert_int_equal(result.scope_stats.counts_known, 0);
    assert_int_equal(result.scope_stats.has_file, 0);
    assert_false(exists(place, "scope_stats/scope_stats.jsonl"));
    assert_int_equal(result.args_dump.status, SIMPLER_EPARTIAL);
    assert_int_equal(result.args_dump.counts_known, 0);
    assert_int_equal(result.args_dump.has_manifest, 0);
    assert_false(exists(place, "args_dump/args_dump.json"));
    int scope = result.scope_stats.status, dump = result.args_dump.status;

    /* Others collect the next run while the first ones still stand there. */
    config = config_at("next");
    assert_int_equal(kit_run(&kit, many_records, NULL, &config, &result), 0);
    assert_int_equal(result.scope_stats.status, 0);
    assert_int_equal(result.scope_stats.counts_known, 1);
    assert_int_equal(result.scope_stats.records, 2 * (SCOPES + 1));
    assert_int_equal(result.args_dump.status, 0);
    assert_int_equal(result.args_dump.counts_known, 1);
    assert_int_equal(result.args_dump.records, 4 * TASKS);
    assert_true(exists("next", "scope_stats/scope_stats.jsonl"));

    /* What they had is nobody's file. */
    atomic_store_explicit(&let_go, 1, memory_order_release);
    kit_sleep_ns(20000000);
    bool has_files =
        exists(place, "scope_stats/scope_stats.jsonl") || exists(place, "args_dump/args_dump.json");
    assert_false(has_files);
    fault_saw(fault, "run=%s scope=%s dump=%s files=%s next=%s", simpler_status_name(rc),
              simpler_status_name(scope), simpler_status_name(dump), fault_yes(has_files),
              simpler_status_name(result.scope_stats.status));
}

static void a_collector_that_stops(void **state)
{
    (void)state;
    kit_open(&kit);
    run_with_a_stop(SIMPLER_TESTPOINT_COLLECTOR_BEFORE_COLLECT, "collector", "collector-stops");
    kit_close(&kit);
}

static void a_drain_that_stops(void **state)
{
    (void)state;
    kit_open(&kit);
    run_with_a_stop(SIMPLER_TESTPOINT_DRAIN_BEFORE_RELEASE, "drain", "drain-stops");
    kit_close(&kit);
}

/* The end's own clock, and counts by cause from what the producer has counted. */
static void the_end_waits_for_a_sign_of_life(void **state)
{
    (void)state;
    static const struct scope_stats_capacities capacities = {
        true, {8, 8, 8, 8}, {1024, 1024, 1024, 1024}, {4, 4, 4, 4}, 16};
    struct scope_stats_collector_config config = {.transport = &simpler_transport_mapped,
                                                  .backstop_ns = 300000000,
                                                  .buffers = 2,
                                                  .records_per_buffer = 4};
    static const enum simpler_lane_end ends[] = {SIMPLER_LANE_COMPLETE, SIMPLER_LANE_STOPPED,
                                                 SIMPLER_LANE_UNPROVED};

    for (int e = 0; e < 3; e++) {
        struct simpler_scope_stats_collector *collector;
        struct scope_stats_outcome outcome;
        atomic_store(&parked, 0);
        atomic_store(&let_go, 0);
        atomic_store(&run_over, 0);
        atomic_store(&stop_at, SIMPLER_TESTPOINT_COLLECTOR_BEFORE_COLLECT);
        atomic_store(&clock_runs, true);
        simpler_testpoint_set(stop_there, NULL);
        assert_int_equal(simpler_scope_stats_collector_open(&config, &collector), 0);
        assert_int_equal(simpler_scope_stats_collector_admit(collector, 1, prefix, &capacities), 0);
        set_scope_stats_enabled(true);
        scope_stats_set_run_epoch(1);
        set_platform_scope_stats_base(simpler_scope_stats_collector_device_base(collector));
        for (int r = 0; r < 4; r++)
            scope_stats_set_ring_capacity(r, 8, 1024, 4);
        scope_stats_set_tensormap_capacity(16);
        /* Two buffers of four: eight samples fit, the rest is dropped after a backstop. */
        for (int i = 0; i < 6; i++) {
            scope_stats_begin(0, 1, 2, 3, 4, 5, 6, 7);
            scope_stats_end(0, 1, 2, 3, 4, 5, 6, 7);
        }
        assert_int_equal(atomic_load(&parked), 1);
        set_scope_stats_enabled(false);
        uint64_t before = kit_now_ns();
        int rc = simpler_scope_stats_collector_settle(collector, ends[e], &outcome);
        uint64_t took_ms = (kit_now_ns() - before) / 1000000;
        atomic_store(&run_over, 1);
        assert_int_equal(rc, SIMPLER_EPARTIAL);
        assert_in_range(took_ms, 2900, 20000);
        assert_true(simpler_scope_stats_collector_is_lost(collector));
        assert_false(outcome.has_file);
        assert_false(outcome.counts_known);
        assert_int_equal(outcome.dropped_no_free + outcome.dropped_ready_full, e < 2 ? 4 : 0);
        fault_saw("end-without-life", "settle=%s file=%s counts=%s ms=%d", simpler_status_name(rc),
                  fault_yes(outcome.has_file), outcome.counts_known ? "known" : "unknown",
                  (int)took_ms);
        simpler_scope_stats_collector_close(collector); /* waits for nobody */
        atomic_store_explicit(&let_go, 1, memory_order_release);
        kit_sleep_ns(20000000);
        simpler_testpoint_set(NULL, NULL);
        char command[128];
        (void)snprintf(command, sizeof(command), "rm -rf %s/scope_stats", prefix);
        assert_int_equal(system(command), 0);
    }
}

/* Session threads that stand before their sleep as their collector is closed; then they go on, with
 * all that they use. */
static void close_while_they_stand(void (*close)(void *), void *collector, int threads,
                                   const struct usage *before)
{
    struct usage now;

    while (atomic_load(&parked) != threads)
        kit_sleep_ns(1000000);
    close(collector);
    atomic_store_explicit(&let_go, 1, memory_order_release);
    /* They end by themselves. */
    while (!usage_is_back(before, &now))
        kit_sleep_ns(1000000);
    atomic_store(&parked, 0);
    atomic_store(&let_go, 0);
}

static void close_scope_stats(void *collector)
{
    simpler_scope_stats_collector_close(collector);
}

static void close_args_dump(void *collector)
{
    simpler_args_dump_collector_close(collector);
}

static void a_thread_that_outlives_the_close(void **state)
{
    (void)state;
    struct scope_stats_collector_config scope = {.transport = &simpler_transport_mapped};
    struct args_dump_collector_config dump = {.transport = &simpler_transport_mapped, .lanes = 2};
    struct simpler_scope_stats_collector *scope_stats;
    struct simpler_args_dump_collector *args_dump;
    struct usage before = usage_now();

    atomic_store(&parked, 0);
    atomic_store(&let_go, 0);
    atomic_store(&run_over, 0);
    atomic_store(&stop_at, SIMPLER_TESTPOINT_PARK_BEFORE_WAIT);
    atomic_store(&clock_runs, false);
    simpler_testpoint_set(stop_there, NULL);
    assert_int_equal(simpler_scope_stats_collector_open(&scope, &scope_stats), 0);
    close_while_they_stand(close_scope_stats, scope_stats, 3, &before);
    assert_int_equal(simpler_args_dump_collector_open(&dump, &args_dump), 0);
    close_while_they_stand(close_args_dump, args_dump, 5, &before);
    simpler_testpoint_set(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_collector_that_stops),
        cmocka_unit_test(a_drain_that_stops),
        cmocka_unit_test(the_end_waits_for_a_sign_of_life),
        cmocka_unit_test(a_thread_that_outlives_the_close),
    };
    if (mkdtemp(prefix) == NULL)
        return 1;
    caller = pthread_self();
    simpler_log_set_callback(keep_line, NULL);
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    (void)snprintf(command, sizeof(command), "rm -rf %s", prefix);
    return system(command) != 0 ? 1 : rc;
}
#else
int main(void)
{
    return 77;
}
#endif
