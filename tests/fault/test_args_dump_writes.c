/* SPDX-License-Identifier: Apache-2.0 */
// ctest: TIMEOUT 120
/*
 * A dump never changes a run, whatever the disk does: each write and each other step
 * that can fail fails.  The counts are true and the manifest, where there is one, is
 * right (AD-25, decision 30).  Needs a debug build.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cm.h"
#include "base/testpoint.h"
#include "dump_rig.h"
#include "failing_alloc.h"
#include "faults.h"
#include "simpler/log.h"

#if defined(SIMPLER_DEBUG)
/* Of the last run, whose computation was right. */
static void saw(const char *fault)
{
    fault_saw(fault, "run=%s dump=%s manifest=%s", simpler_status_name(dump_result.status),
              simpler_status_name(dump_result.args_dump.status),
              fault_yes(dump_exists("args_dump.json")));
}

static void payload_writes_fail(void **state)
{
    struct kit kit;

    (void)state;
    dump_open_small(&kit);
    for (int64_t nth = 0; nth < 8; nth++) {
        struct dump_chain chain = {.tasks = 40};
        uint32_t truncated;
        dump_fail_from(SIMPLER_TESTPOINT_DUMP_BIN_WRITE, nth);
        assert_int_equal(dump_run(&kit, dump_chain_graph, &chain, dump_prefix, 2), 0);
        simpler_testpoint_set(NULL, NULL);
        assert_int_equal(chain.cells[DUMP_CELLS - 1], 40);
        /* Neighbouring payloads are written at once: there may be fewer writes than nth. */
        bool fired = dump_failed();
        assert_true(fired || nth > 0);
        if (!fired) {
            assert_int_equal(dump_result.args_dump.status, 0);
            break;
        }
        assert_int_equal(dump_result.args_dump.status, SIMPLER_EPARTIAL);
        assert_true(dump_result.args_dump.has_manifest && dump_result.args_dump.counts_known);
        assert_int_equal(dump_result.args_dump.records, 40 * 4);
        dump_check_chain(&truncated);
        assert_true(truncated != 0 && truncated == dump_result.args_dump.truncated);
        assert_true(nth != 0 || truncated == 80);
        saw("dump-payload-write");
    }
    kit_close(&kit);
}

static void manifest_writes_fail(void **state)
{
    struct kit kit;
    struct dump_chain chain = {.tasks = 10};
    uint32_t truncated;

    (void)state;
    dump_open_small(&kit);
    assert_int_equal(dump_run(&kit, dump_chain_graph, &chain, dump_prefix, 2), 0);
    assert_int_equal(dump_result.args_dump.status, 0);
    dump_check_chain(&truncated);
    dump_fail_from(SIMPLER_TESTPOINT_DUMP_MANIFEST_WRITE, 0);
    assert_int_equal(dump_run(&kit, dump_chain_graph, &chain, dump_prefix, 2), 0);
    simpler_testpoint_set(NULL, NULL);
    assert_int_equal(dump_result.args_dump.status, SIMPLER_EIO);
    assert_false(dump_result.args_dump.has_manifest);
    assert_int_equal(dump_result.args_dump.write_failed, 40);
    /* The manifest of the run before would be taken for this one's. */
    assert_false(dump_exists("args_dump.json") || dump_exists("args_dump.json.partial") ||
                 dump_exists(".spool"));
    saw("dump-manifest-write");
    kit_close(&kit);
}

static void spool_writes_fail(void **state)
{
    struct kit kit;
    struct dump_chain chain = {.tasks = 10000};

    (void)state;
    kit_open(&kit);
    dump_fail_from(SIMPLER_TESTPOINT_DUMP_SPOOL_WRITE, 1);
    assert_int_equal(dump_run(&kit, dump_chain_graph, &chain, dump_prefix, 2), 0);
    simpler_testpoint_set(NULL, NULL);
    /* One piece of each shard is in the spool at most, the rest cannot be sorted there. */
    assert_int_equal(chain.cells[0], 10000);
    assert_true(dump_result.args_dump.status != 0);
    assert_int_equal(dump_result.args_dump.records + dump_result.args_dump.write_failed, 40000);
    assert_true(!dump_exists(".spool") && !dump_exists("args_dump.json.partial"));
    assert_int_equal(dump_exists("args_dump.json"), dump_result.args_dump.has_manifest);
    saw("dump-spool-write");
    kit_close(&kit);
}

/* Whatever allocation, mapping or thread cannot be had: the run goes on, or says why not. */
static void every_step_fails(void **state)
{
    struct dump_chain earlier = {.tasks = 2};
    uint64_t nth = 0;
    bool fired = true;
    struct kit other;

    (void)state;
    dump_open_small(&other);
    assert_int_equal(dump_run(&other, dump_chain_graph, &earlier, dump_prefix, 2), 0);
    kit_close(&other);
    for (; fired; nth++) {
        struct dump_chain chain = {.tasks = 20};
        struct kit kit;
        dump_open_small(&kit);
        failing_alloc_arm(nth);
        int rc = dump_run(&kit, dump_chain_graph, &chain, dump_prefix, 2);
        fired = failing_alloc_fired();
        failing_alloc_disarm();
        assert_int_equal(chain.cells[0], rc == 0 ? 20 : chain.cells[0]);
        assert_true(rc == 0 || rc == SIMPLER_ENOMEM || rc == SIMPLER_ETHREAD);
        assert_true(dump_result.args_dump.status == 0 || fired);
        int dump = dump_result.args_dump.status;
        /* A run without a dump does not keep that of the run before. */
        bool is_stale =
            rc == 0 && !dump_result.args_dump.has_manifest && dump_exists("args_dump.json");
        assert_false(is_stale);
        chain = (struct dump_chain){.tasks = 20};
        assert_int_equal(dump_run(&kit, dump_chain_graph, &chain, dump_prefix, 2), 0);
        assert_int_equal(dump_result.args_dump.status, 0);
        fault_saw_times("dump-step", fired, "run=%s dump=%s stale=%s next=%s",
                        simpler_status_name(rc), simpler_status_name(dump), fault_yes(is_stale),
                        simpler_status_name(dump_result.args_dump.status));
        kit_close(&kit);
    }
    assert_true(nth > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DUMP_TEST(payload_writes_fail),
        DUMP_TEST(manifest_writes_fail),
        DUMP_TEST(spool_writes_fail),
        DUMP_TEST(every_step_fails),
    };
    simpler_log_set_level(SIMPLER_LOG_WARN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    (void)puts("what fails on demand takes a debug build");
    return 77;
}
#endif
