/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AD-21: what is copied is proportional to what was recorded.  Whole runs over a
 * transport that counts: of an arena exactly the bytes that records name, of the
 * buffers exactly the records, towards the device a few words a buffer; and a worker
 * that has nothing to do copies nothing, a run that records nothing hardly looks.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cm.h"
#include "collect/args_dump/args_dump_wire.h"
#include "collect/scope_stats/scope_stats_wire.h"
#include "kit.h"
#include "kit_transport.h"
#include "transport_counting.h"

#define CELLS 25 /* bytes of each tensor: nothing is aligned */

static struct simpler_run_result result;
static char prefix[64];
static struct kit kit;

static int set_up(void **state)
{
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;

    (void)state;
    (void)snprintf(prefix, sizeof(prefix), "/tmp/test_transport_XXXXXX");
    if (mkdtemp(prefix) == NULL)
        return -1;
    config.dump.records_per_buffer = 16;
    config.dump.buffers_per_thread = 4;
    config.dump.avg_tensor_bytes = 100;
    kit_open_config(&kit, &config);
    kit_set_transport(kit.worker, &transport_counting);
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    kit_close(&kit);
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", prefix);
    return system(command);
}

struct graph {
    uint8_t cells[CELLS];
    uint32_t tasks;
    uint32_t marked_one_in; /* 0: none */
    uint64_t sleep_ns;      /* of each kernel */
};

static int increment(const int64_t *args, uint32_t tensors, void *user)
{
    const struct graph *graph = user;
    uint8_t *cells = simpler_kernel_data(args, 0);

    (void)tensors;
    if (graph->sleep_ns != 0)
        kit_sleep_ns(graph->sleep_ns);
    for (int i = 0; i < CELLS; i++)
        cells[i]++;
    return 0;
}

static void submit(struct simpler_orch *orch, void *user)
{
    struct graph *graph = user;
    struct simpler_tensor t = kit_tensor(graph->cells, CELLS, SIMPLER_DTYPE_UINT8);
    struct simpler_task_args args;

    for (uint32_t i = 0; i < graph->tasks; i++) {
        SIMPLER_SCOPE(orch)
        {
            simpler_task_args_reset(&args);
            simpler_task_args_add_inout(&args, &t);
            if (graph->marked_one_in != 0 && i % graph->marked_one_in == 0)
                simpler_task_args_dump(&args, &t);
            kit_submit_variant(orch, KIT_LONG, &args, increment, graph, NULL);
        }
    }
}

static struct transport_counts run(struct graph *graph, uint32_t level, bool scopes)
{
    struct simpler_call_config config = kit_config(2);

    config.enable_dump_args = level;
    config.enable_scope_stats = scopes;
    config.output_prefix = prefix;
    transport_counting_reset();
    assert_int_equal(kit_run(&kit, submit, graph, &config, &result), 0);
    if (level != 0) {
        assert_int_equal(result.args_dump.status, 0);
        assert_int_equal(result.args_dump.truncated, 0);
    }
    return transport_counting_get();
}

/* The first run opens the collectors. */
static void warm_up(void)
{
    struct graph graph = {.tasks = 1};
    (void)run(&graph, 2, true);
}

static void a_dump_costs_what_it_records(void **state)
{
    (void)state;
    warm_up();
    for (uint32_t tasks = 10; tasks <= 1000; tasks *= 10) {
        struct graph graph = {.tasks = tasks};
        struct transport_counts c = run(&graph, 2, false);
        /* INOUT before and after; the two scalars before. */
        uint64_t records = 4 * tasks;
        assert_int_equal(result.args_dump.records, records);
        assert_int_equal(c.viewed, 2 * (uint64_t)tasks * CELLS);
        assert_int_equal(c.viewed, result.args_dump.payload_bytes);
        assert_int_equal(c.fetched_bulk, records * sizeof(struct args_dump_record));
        print_message("%u tasks: %llu bytes flushed\n", tasks, (unsigned long long)c.flushed);
        /* A slot, two indices and an acknowledgement a payload: words. */
        assert_true(c.flushed <= 512 + records * 64);
    }
}

static void metadata_alone_touches_no_arena(void **state)
{
    struct graph graph = {.tasks = 100};

    (void)state;
    warm_up();
    struct transport_counts c = run(&graph, 3, false);
    assert_int_equal(result.args_dump.records, 400);
    assert_int_equal(c.viewed, 0);
    graph.marked_one_in = 10;
    c = run(&graph, 3, false);
    assert_int_equal(c.viewed, 2 * 10 * CELLS);
    c = run(&graph, 1, false);
    assert_int_equal(result.args_dump.records, 20);
    assert_int_equal(c.viewed, 2 * 10 * CELLS);
    assert_int_equal(c.fetched_bulk, 20 * sizeof(struct args_dump_record));
}

static void scope_stats_cost_their_records(void **state)
{
    (void)state;
    warm_up();
    for (uint32_t tasks = 100; tasks <= 2000; tasks *= 20) {
        struct graph graph = {.tasks = tasks};
        struct transport_counts c = run(&graph, 0, true);
        /* The root scope's two and two each. */
        assert_int_equal(result.scope_stats.records, 2 * tasks + 2);
        assert_int_equal(c.viewed, 0);
        assert_in_range(c.fetched_bulk, result.scope_stats.records * 80,
                        result.scope_stats.records * 80 + sizeof(struct scope_stats_block));
        assert_true(c.flushed <= 512 + result.scope_stats.records);
    }
}

static double cpu_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Between runs nobody looks at the device's memory at all. */
static void an_idle_worker_copies_nothing(void **state)
{
    (void)state;
    warm_up();
    kit_sleep_ns(50000000); /* the drains' last poll */
    transport_counting_reset();
    double before = cpu_ms();
    kit_sleep_ns(200000000);
    assert_int_equal(transport_counting_get().calls, 0);
    print_message("%.3f ms of CPU time in 200 ms\n", cpu_ms() - before);
    if (!kit_is_sanitized())
        assert_true(cpu_ms() - before < 2);
}

/* A kernel that runs for half a second: looks become rare, and none was too late. */
static void a_long_kernel_is_hardly_disturbed(void **state)
{
    struct graph graph = {.tasks = 1, .sleep_ns = 500000000};

    (void)state;
    warm_up();
    double before = cpu_ms();
    struct transport_counts c = run(&graph, 2, true);
    double used = cpu_ms() - before;
    print_message("%llu calls, %.2f ms of CPU time in 500 ms\n", (unsigned long long)c.calls, used);
    assert_int_equal(result.args_dump.records, 4);
    /* Some 110 looks of three drains, which begin with 33 in a row. */
    assert_true(c.calls < 1500);
    if (!kit_is_sanitized())
        assert_true(used < 25);
}

int main(void)
{
#define WITH_WORKER(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_WORKER(a_dump_costs_what_it_records),
        WITH_WORKER(metadata_alone_touches_no_arena),
        WITH_WORKER(scope_stats_cost_their_records),
        WITH_WORKER(an_idle_worker_copies_nothing),
        WITH_WORKER(a_long_kernel_is_hardly_disturbed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
