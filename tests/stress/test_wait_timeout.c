/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code 8: a get whose producer never finishes, while nothing runs.  Only a lost
 * edge does that, so a failpoint loses one; the wait takes its 15 seconds (SY-01).
 */
#include <stdio.h>
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "faults.h"
#include "kit.h"
#include "report/dump_manifest.h"
#include "scope_file.h"

#if defined(SIMPLER_DEBUG)
static struct simpler_run_result result;
static uint64_t cell[8];
static _Atomic int dropped;

static bool drop_one_edge(void *user, enum simpler_testpoint point)
{
    (void)user;
    return point == SIMPLER_TESTPOINT_DROP_EDGE && atomic_fetch_add(&dropped, 1) == 0;
}

static int sleep_50_ms(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_sleep_ns(50000000);
    return 0;
}

static void get_what_never_comes(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor tensor = kit_tensor(cell, 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    uint32_t index = 0;
    uint64_t value;
    int *answer = user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    kit_submit_variant(orch, KIT_LONG, &args, sleep_50_ms, NULL, NULL);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    kit_submit_variant(orch, KIT_LONG, &args, sleep_50_ms, NULL, NULL);
    *answer = simpler_orch_get_tensor_data(orch, &tensor, &index, &value);
}

static void ignore(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
}

/* The root scope has begun and not ended: after a code nothing is told any more. */
static void check_scope_stats(const char *prefix)
{
    struct scope_file file = scope_file_read(prefix);

    assert_int_equal(result.scope_stats.status, 0);
    assert_non_null(strstr(file.metadata, "{\"fatal\": true, \"dropped\": 0, \"total\": 1, "));
    assert_int_equal(file.count, 1);
    assert_string_equal(file.samples[0].phase, "begin");
    assert_int_equal(file.samples[0].depth, 0);
    scope_file_free(&file);
}

/* The first task alone has run: its tensor twice and two scalars. */
static void check_dump(const char *prefix)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    uint32_t entries = 0, after = 0;
    char path[160];

    assert_int_equal(result.args_dump.status, 0);
    assert_int_equal(result.args_dump.counts_known, 1);
    (void)snprintf(path, sizeof(path), "%s/args_dump/args_dump.json", prefix);
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    for (; simpler_dump_manifest_next(m, &e) > 0; entries++) {
        assert_int_equal(e.task_id, 0);
        after += e.stage == SIMPLER_DUMP_AFTER;
    }
    assert_string_equal(simpler_dump_manifest_error(m), "");
    simpler_dump_manifest_close(m);
    assert_int_equal(entries, 4);
    assert_int_equal(after, 1);
    assert_int_equal(result.args_dump.records, 4);
}

static void must_say(const char *text)
{
    if (strstr(result.message, text) == NULL)
        fail_msg("'%s' is not in:\n%s", text, result.message);
}
#endif

static void a_wait_for_nothing_ends_with_code_8(void **state)
{
    (void)state;
#if defined(SIMPLER_DEBUG)
    struct kit kit;
    struct simpler_call_config config = kit_config(2);
    int answer = 0;
    char prefix[128];
    scope_file_make_prefix(prefix);
    config.enable_scope_stats = 1;
    config.enable_dump_args = 2;
    config.output_prefix = prefix;
    simpler_log_set_callback(ignore, NULL);
    simpler_testpoint_set(drop_one_edge, NULL);
    kit_open(&kit);
    uint64_t start = kit_now_ns();
    int rc = kit_run(&kit, get_what_never_comes, &answer, &config, &result);
    double seconds = (double)(kit_now_ns() - start) / 1e9;
    simpler_testpoint_set(NULL, NULL);
    assert_int_equal(rc, -SIMPLER_CODE_TENSOR_WAIT_TIMEOUT);
    assert_int_equal(answer, -SIMPLER_CODE_TENSOR_WAIT_TIMEOUT);
    assert_int_equal(result.orch_error_code, SIMPLER_CODE_TENSOR_WAIT_TIMEOUT);
    must_say("orch_error_code=8 sched_error_code=0 runtime_status=-8\n");
    must_say(
        "task 0x0000000000000001, which a tensor's data waits for, is not done, and for 15 s no "
        "task ran or was ready");
    must_say("is in no queue and waits for no unfinished task");
    check_scope_stats(prefix);
    check_dump(prefix);
    scope_file_remove_prefix(prefix);
    assert_true(seconds > 14 && seconds < 30);
    /* The worker is good for the next run. */
    config = kit_config(2);
    int next = kit_run(&kit, get_what_never_comes, &answer, &config, &result);
    assert_int_equal(next, 0);
    assert_int_equal(answer, 0);
    fault_saw("tensor-never-comes", "status=%s next=%s seconds=%.1f", simpler_status_name(rc),
              simpler_status_name(next), seconds);
    kit_close(&kit);
#else
    SKIP_TEST("the failpoint is in debug builds");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_wait_for_nothing_ends_with_code_8)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
