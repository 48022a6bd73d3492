/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 120
 * A FIFO that nobody reads, or a directory, lies where a file of the diagnostics is to be: the run
 * ends with its own status, the diagnostic says that its file is not there, the other one is whole.
 *
 * SS-04
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm.h"
#include "faults.h"
#include "scope_file.h"
#include "kit.h"

static char prefix[128];
static uint64_t cell[8];
static struct simpler_run_result result;

static int begin(void **state)
{
    (void)state;
    scope_file_make_prefix(prefix);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scope_file_remove_prefix(prefix);
    return 0;
}

static void one_task(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor tensor = kit_tensor(cell, 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_nop_kernel, NULL, NULL), 0);
}

static void run_with(const char *directory, const char *name, bool fifo)
{
    char path[256];
    struct kit kit;
    struct simpler_call_config config = kit_config(2);

    (void)snprintf(path, sizeof(path), "%s/%s", prefix, directory);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/%s/%s", prefix, directory, name);
    assert_int_equal(fifo ? mkfifo(path, 0600) : mkdir(path, 0700), 0);
    config.enable_scope_stats = 1;
    config.enable_dump_args = 2;
    config.output_prefix = prefix;
    kit_open(&kit);
    (void)alarm(60); /* kills what waits for a reader */
    assert_int_equal(kit_run(&kit, one_task, NULL, &config, &result), 0);
    (void)alarm(0);
    kit_close(&kit);
}

static void saw(const char *of_fifo, const char *of_directory, bool fifo)
{
    fault_saw(fifo ? of_fifo : of_directory, "run=%s scope=%s dump=%s",
              simpler_status_name(result.status), simpler_status_name(result.scope_stats.status),
              simpler_status_name(result.args_dump.status));
}

static void in_place_of_the_samples(void **state)
{
    for (int fifo = 0; fifo < 2; fifo++) {
        run_with("scope_stats", "scope_stats.jsonl.partial", fifo != 0);
        assert_int_equal(result.scope_stats.status, SIMPLER_EIO);
        assert_int_equal(result.scope_stats.has_file, 0);
        assert_int_equal(result.args_dump.status, 0);
        assert_int_equal(result.args_dump.records, 4);
        saw("fifo-for-samples", "directory-for-samples", fifo != 0);
        (void)end(state);
        (void)begin(state);
    }
}

static void in_place_of_the_manifest(void **state)
{
    for (int fifo = 0; fifo < 2; fifo++) {
        run_with("args_dump", "args_dump.json.partial", fifo != 0);
        /* What an earlier run may have left is removed; a directory stays. */
        assert_int_equal(result.args_dump.status, fifo ? 0 : SIMPLER_EIO);
        assert_int_equal(result.args_dump.has_manifest, fifo);
        assert_int_equal(result.scope_stats.status, 0);
        assert_int_equal(result.scope_stats.records, 2);
        saw("fifo-for-manifest", "directory-for-manifest", fifo != 0);
        (void)end(state);
        (void)begin(state);
    }
}

/* Payload that cannot be written is missing in the entries, as on a full disk. */
static void in_place_of_the_payload(void **state)
{
    for (int fifo = 0; fifo < 2; fifo++) {
        run_with("args_dump", "args.bin", fifo != 0);
        assert_int_equal(result.args_dump.status, fifo ? 0 : SIMPLER_EPARTIAL);
        assert_int_equal(result.args_dump.payload_bytes, fifo ? 128 : 0);
        assert_int_equal(result.scope_stats.status, 0);
        saw("fifo-for-payload", "directory-for-payload", fifo != 0);
        (void)end(state);
        (void)begin(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)
        TEST(in_place_of_the_samples),
        TEST(in_place_of_the_manifest),
        TEST(in_place_of_the_payload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
