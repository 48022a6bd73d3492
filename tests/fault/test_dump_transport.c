/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dump through a transport whose nth call fails, once or from then on: the
 * computation is right, the dump is whole or says that it is not, and the next run of
 * the same worker has its dump (AD-21, AD-25).
 */
#include <stddef.h>
#include <stdint.h>

#include "cm.h"
#include "dump_rig.h"
#include "faults.h"
#include "kit.h"
#include "kit_transport.h"
#include "simpler/log.h"
#include "transport_rough.h"

#define TASKS   12u
#define RECORDS (4 * TASKS) /* INOUT before and after, and two scalars */

/* Nothing waits at a gate: five buffers and a third of the arena are enough. */
static void open_worker(struct kit *kit)
{
    dump_open(kit, &(struct simpler_dump_config){.records_per_buffer = 16,
                                                 .buffers_per_thread = 8,
                                                 .avg_tensor_bytes = 2 * DUMP_CELLS * 4});
    kit_set_transport(kit->worker, &transport_rough);
}

static int dump_a_chain(struct kit *kit)
{
    static struct dump_chain chain;

    chain = (struct dump_chain){.tasks = TASKS};
    int rc = dump_run(kit, dump_chain_graph, &chain, dump_prefix, 2);
    assert_int_equal(chain.cells[0], TASKS);
    assert_int_equal(chain.cells[DUMP_CELLS - 1], TASKS);
    return rc;
}

static bool is_whole(void)
{
    const struct simpler_args_dump_result *dump = &dump_result.args_dump;
    return dump->status == 0 && dump->records == RECORDS && dump->truncated == 0 &&
           dump->payload_bytes == 2 * TASKS * DUMP_CELLS * sizeof(int32_t);
}

/* False when the run ended without meeting the failure. */
static bool one_failure(uint64_t nth, uint64_t times, uint32_t *incomplete)
{
    struct kit kit;

    open_worker(&kit);
    transport_rough_fail(nth, times);
    assert_int_equal(dump_a_chain(&kit), 0);
    bool met = transport_rough_failed();
    int rc = dump_result.status;
    const char *dump = is_whole() ? "whole" : "said";
    if (!is_whole()) {
        assert_true(met);
        assert_int_not_equal(dump_result.args_dump.status, 0);
        (*incomplete)++;
    }
    transport_rough_fail(INT64_MAX, 0);
    assert_int_equal(dump_a_chain(&kit), 0);
    if (!is_whole())
        fail_msg("status %d, %d records, %d refused, %d bytes", dump_result.args_dump.status,
                 (int)dump_result.args_dump.records, (int)dump_result.args_dump.refused_epoch,
                 (int)dump_result.args_dump.payload_bytes);
    fault_saw_times("dump-transport-fails", met, "run=%s dump=%s next=%s", simpler_status_name(rc),
                    dump, simpler_status_name(dump_result.args_dump.status));
    kit_close(&kit);
    return met;
}

static void sweep(uint64_t times, uint64_t step)
{
    uint32_t incomplete = 0;
    uint64_t nth = 0;

    for (; nth < 300 && one_failure(nth, times, &incomplete); nth += step)
        ;
    print_message("%u dumps of %u were not whole, and said so\n", incomplete,
                  (unsigned)(nth / step));
    assert_true(incomplete > 10);
}

static void a_call_fails_once(void **state)
{
    (void)state;
    sweep(1, 2);
}

static void all_calls_fail_from_one_on(void **state)
{
    (void)state;
    sweep(INT64_MAX / 2, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DUMP_TEST(a_call_fails_once),
        DUMP_TEST(all_calls_fail_from_one_on),
    };
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
