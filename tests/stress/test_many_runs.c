/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One worker for a long time: 100,000 small runs with scope stats on each, fewer
 * with an args dump too and fewer without collection across runs.  No file is missing,
 * and memory, descriptors and threads stay what they were after the first 1,000.
 *
 * SS-24 SS-28
 * ctest: TIMEOUT 1800
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm.h"
#include "kit.h"
#include "scope_file.h"
#include "simpler/log.h"
#include "usage.h"

#define BATCH 1000
/* What the allocator and the page cache of the kernel may add, none of it by run. */
#define SLACK_BYTES (3 << 20)

static char base[128];
static struct kit kit;
static int counter;

static void graph(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;
    struct simpler_tensor cell = kit_tensor(user, 1, SIMPLER_DTYPE_INT64);

    SIMPLER_SCOPE(orch)
    {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &cell);
        kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
    }
}

static void name(char *path, size_t bytes, int number, const char *file)
{
    (void)snprintf(path, bytes, "%s/%d%s", base, number, file);
}

/* ---- files ---- */

/* Two samples of the root scope and two of the other, of one run. */
static void check_samples(int number)
{
    char path[192], text[4096], run[64];

    name(path, sizeof(path), number, "/scope_stats/scope_stats.jsonl");
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        fail_msg("%s is missing", path);
    ssize_t bytes = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    assert_true(bytes > 0);
    text[bytes] = '\0';
    assert_non_null(strstr(text, "\"dropped\": 0, \"total\": 4,"));
    char *epoch = strstr(text, "\"run_epoch\": ");
    assert_non_null(epoch);
    (void)snprintf(run, sizeof(run), "%.*s", (int)strcspn(epoch, ","), epoch);
    int lines = 0;
    for (char *at = text; (at = strstr(at, run)) != NULL; at++)
        lines++;
    assert_int_equal(lines, 4);
}

static void remove_file(int number, const char *file, bool required)
{
    char path[192];

    name(path, sizeof(path), number, file);
    if (remove(path) != 0 && required)
        fail_msg("%s is missing", path);
}

static void check_and_remove(int number, bool dump)
{
    check_samples(number);
    remove_file(number, "/scope_stats/scope_stats.jsonl", true);
    remove_file(number, "/scope_stats", true);
    if (dump) {
        remove_file(number, "/args_dump/args_dump.json", true);
        remove_file(number, "/args_dump/args.bin", true);
        remove_file(number, "/args_dump", true);
    }
    remove_file(number, "", true);
}

/* ---- runs ---- */

static void run_batch(bool dump)
{
    struct simpler_call_config config = kit_config(2);
    struct simpler_run_result result;
    static int64_t cell;
    char prefix[160];
    int first = counter;

    config.enable_scope_stats = 1;
    config.enable_dump_args = dump ? 2 : 0;
    config.output_prefix = prefix;
    for (int i = 0; i < BATCH; i++) {
        name(prefix, sizeof(prefix), counter++, "");
        assert_int_equal(kit_run(&kit, graph, &cell, &config, &result), 0);
        assert_int_equal(result.scope_stats.status, 0);
        assert_int_equal(result.args_dump.status, 0);
    }
    assert_int_equal(simpler_worker_flush_diagnostics(kit.worker, UINT64_MAX), 0);
    for (int i = first; i < counter; i++)
        check_and_remove(i, dump);
}

static void many(int count, bool dump)
{
    struct usage after_first = {0};
    uint64_t start = kit_now_ns();

    count = kit_is_sanitized() ? count / 20 : count; /* under a sanitizer a run takes ms */
    count = count < 3 * BATCH ? 3 * BATCH : count;
    for (int done = 0; done < count; done += BATCH) {
        run_batch(dump);
        if (done == 0)
            after_first = usage_now();
    }
    struct usage at_end = usage_now();
    print_message("%d runs, %.0f us each with checks; resident %ld KiB after %d, %+ld KiB since\n",
                  count, (double)(kit_now_ns() - start) / 1e3 / count, after_first.resident / 1024,
                  BATCH, (at_end.resident - after_first.resident) / 1024);
    assert_int_equal(at_end.descriptors, after_first.descriptors);
    assert_int_equal(at_end.threads, after_first.threads);
    if (!kit_is_sanitized())
        assert_true(at_end.resident - after_first.resident < SLACK_BYTES);
    assert_int_equal(simpler_worker_close(kit.worker), 0);
}

static void across_runs(void **state)
{
    (void)state;
    kit_open_across_runs(&kit);
    many(100000, false);
}

static void across_runs_with_a_dump(void **state)
{
    (void)state;
    kit_open_across_runs(&kit);
    many(10000, true);
}

static void each_run_for_itself(void **state)
{
    (void)state;
    kit_open(&kit);
    many(10000, false);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(across_runs),
        cmocka_unit_test(across_runs_with_a_dump),
        cmocka_unit_test(each_run_for_itself),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
