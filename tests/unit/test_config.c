/* SPDX-License-Identifier: Apache-2.0 */
/* SY-06: config entry before environment before default; what is refused and what is ignored. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "host/config.h"
#include "simpler/info.h"
#include "simpler/log.h"

static const char *const variables[] = {
    "SIMPLER_RING_TASK_WINDOW",
    "SIMPLER_RING_HEAP",
    "SIMPLER_RING_DEP_POOL",
    "SIMPLER_TENSORMAP",
    "SIMPLER_SCHEDULER_TIMEOUT_MS",
    "SIMPLER_OP_EXECUTE_TIMEOUT_US",
    "SIMPLER_STREAM_SYNC_TIMEOUT_MS",
    "PTO2_RING_TASK_WINDOW",
    "PTO2_RING_HEAP",
    "PTO2_RING_DEP_POOL",
    "PTO2_TENSORMAP",
};
static struct simpler_runtime_env environment;
static char last_line[1024];
static int line_count;
static char message[512];

static void keep_line(void *user, int level, const char *line)
{
    (void)user;
    assert_int_equal(level, SIMPLER_LOG_WARN);
    line_count++;
    (void)snprintf(last_line, sizeof(last_line), "%s", line);
}

static int clean(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        (void)unsetenv(variables[i]);
    memset(&environment, 0, sizeof(environment));
    line_count = 0;
    simpler_log_set_callback(keep_line, NULL);
    return 0;
}

static const struct simpler_platform *platform(void)
{
    static const struct simpler_platform chip = {.name = "chip",
                                                 .min_threads = 2,
                                                 .max_threads = 4,
                                                 .max_clusters = 24,
                                                 .default_clusters = 8,
                                                 .device_count = 1,
                                                 .default_hazards = SIMPLER_HAZARDS_RAW};
    return &chip;
}

static int resolve(const struct simpler_call_config *config, struct simpler_call_config *out)
{
    message[0] = '\0';
    return simpler_config_resolve(platform(), config, &environment, out, message, sizeof(message));
}

static void defaults_are_the_documented_ones(void **state)
{
    (void)state;
    struct simpler_call_config c;

    assert_int_equal(resolve(NULL, &c), 0);
    for (int i = 0; i < CHIP_MAX_RING_DEPTH; i++) {
        assert_int_equal(c.runtime_env.ring_task_window[i], 16384);
        assert_int_equal(c.runtime_env.ring_heap[i], 268435456);
        assert_int_equal(c.runtime_env.ring_dep_pool[i], 16384);
    }
    assert_int_equal(c.runtime_env.tensormap, 65536);
    assert_int_equal(c.cluster_count, 8);
    assert_in_range(c.aicpu_thread_num, 2, 4);
    assert_int_equal(c.hazards, SIMPLER_HAZARDS_RAW);
    assert_int_equal(c.exec, SIMPLER_EXEC_INLINE);
    assert_int_equal(c.deadline_ns, 0);
}

static void an_entry_goes_before_the_environment(void **state)
{
    (void)state;
    struct simpler_call_config c, config = SIMPLER_CALL_CONFIG_INIT;

    (void)setenv("SIMPLER_RING_TASK_WINDOW", "8,16,0,64", 1);
    (void)setenv("SIMPLER_RING_HEAP", " 2048 ", 1);
    (void)setenv("SIMPLER_TENSORMAP", "32", 1);
    simpler_config_read_environment(&environment, true);
    config.runtime_env.ring_task_window[1] = 1024;
    config.runtime_env.ring_heap[3] = 1024;
    assert_int_equal(resolve(&config, &c), 0);
    const uint64_t window[] = {8, 1024, 16384, 64};
    const uint64_t heap[] = {2048, 2048, 2048, 1024};
    assert_memory_equal(c.runtime_env.ring_task_window, window, sizeof(window));
    assert_memory_equal(c.runtime_env.ring_heap, heap, sizeof(heap));
    assert_int_equal(c.runtime_env.tensormap, 32);
    assert_int_equal(c.runtime_env.ring_dep_pool[0], 16384);
    config.runtime_env.tensormap = 64;
    assert_int_equal(resolve(&config, &c), 0);
    assert_int_equal(c.runtime_env.tensormap, 64);
    assert_int_equal(line_count, 0);
}

static void the_earlier_spelling_counts_below_ours(void **state)
{
    (void)state;
    (void)setenv("PTO2_RING_TASK_WINDOW", "128", 1);
    (void)setenv("PTO2_RING_DEP_POOL", "4,5,6,7", 1);
    (void)setenv("SIMPLER_RING_HEAP", "", 1);
    (void)setenv("PTO2_RING_HEAP", "4096", 1);
    (void)setenv("PTO2_TENSORMAP", "17", 1);
    simpler_config_read_environment(&environment, true);
    assert_int_equal(environment.ring_task_window[3], 128);
    assert_int_equal(environment.ring_dep_pool[2], 6);
    assert_int_equal(environment.ring_heap[0], 4096);
    assert_int_equal(environment.tensormap, 0);
    (void)setenv("SIMPLER_RING_TASK_WINDOW", "256", 1);
    simpler_config_read_environment(&environment, true);
    assert_int_equal(environment.ring_task_window[3], 256);
    assert_int_equal(line_count, 0);
}

/* Ignored whole, one warning with the variable's name and @word. */
static void ignored(const char *name, const char *text, const char *word)
{
    clean(NULL);
    (void)setenv(name, text, 1);
    simpler_config_read_environment(&environment, true);
    for (int i = 0; i < CHIP_MAX_RING_DEPTH; i++) {
        assert_int_equal(environment.ring_task_window[i], 0);
        assert_int_equal(environment.ring_heap[i], 0);
        assert_int_equal(environment.ring_dep_pool[i], 0);
    }
    assert_int_equal(environment.tensormap, 0);
    assert_int_equal(line_count, 1);
    if (strstr(last_line, name) == NULL || strstr(last_line, word) == NULL)
        fail_msg("'%s' does not name %s and '%s'", last_line, name, word);
}

static void a_bad_variable_is_ignored_whole(void **state)
{
    (void)state;
    ignored("SIMPLER_RING_TASK_WINDOW", "8,16,32,63", "power of two from 4 to 33554432");
    ignored("SIMPLER_RING_TASK_WINDOW", "2", "power of two");
    ignored("SIMPLER_RING_TASK_WINDOW", "134217728", "power of two");
    ignored("SIMPLER_RING_TASK_WINDOW", "8,16,32", "'8,16,32' is not one number or four");
    ignored("SIMPLER_RING_TASK_WINDOW", "-8", "'-8' is not");
    ignored("SIMPLER_RING_HEAP", "1536", "multiple of 1024");
    ignored("SIMPLER_RING_HEAP", "4096k", "'4096k' is not");
    ignored("SIMPLER_RING_DEP_POOL", "3", "from 4 to 268435456");
    ignored("PTO2_RING_DEP_POOL", "268435457", "from 4 to 268435456");
    ignored("SIMPLER_TENSORMAP", "15", "from 16 to 67108864");
    ignored("SIMPLER_TENSORMAP", "16,16,16,16", "not one number");
    clean(NULL);
    (void)setenv("SIMPLER_TENSORMAP", "15", 1);
    simpler_config_read_environment(&environment, false);
    assert_int_equal(line_count, 0);
}

/* The field's message names @words; the result is as it was. */
static void refused(const struct simpler_call_config *config, const char *field, const char *legal)
{
    struct simpler_call_config out, before;

    memset(&out, 0x5a, sizeof(out));
    memcpy(&before, &out, sizeof(out));
    assert_int_equal(resolve(config, &out), SIMPLER_EINVAL);
    assert_memory_equal(&out, &before, sizeof(out));
    if (strstr(message, field) == NULL || strstr(message, legal) == NULL)
        fail_msg("'%s' does not hold '%s' and '%s'", message, field, legal);
}

#define REFUSED(member, value, field, legal)                           \
    do {                                                               \
        struct simpler_call_config config_ = SIMPLER_CALL_CONFIG_INIT; \
        config_.member = (value);                                      \
        refused(&config_, field, legal);                               \
    } while (0)

static void a_bad_config_is_refused_by_name(void **state)
{
    (void)state;
    REFUSED(runtime_env.ring_task_window[2], 5, "runtime_env.ring_task_window[2] is 5;",
            "a power of two from 4 to 33554432");
    REFUSED(runtime_env.ring_task_window[0], 2, "ring_task_window[0] is 2", "power of two");
    REFUSED(runtime_env.ring_task_window[0], 1u << 27, "134217728", "power of two");
    REFUSED(runtime_env.ring_heap[3], 1025, "ring_heap[3] is 1025", "a multiple of 1024");
    REFUSED(runtime_env.ring_heap[3], UINT64_MAX - 1023, "ring_heap[3]", "to 17592186044416");
    REFUSED(runtime_env.ring_dep_pool[1], 3, "ring_dep_pool[1] is 3", "4 to 268435456");
    REFUSED(runtime_env.tensormap, 15, "runtime_env.tensormap is 15", "16 to 67108864");
    REFUSED(runtime_env.ready_queue, 3, "runtime_env.ready_queue is 3", "4 to 33554432");
    REFUSED(aicpu_thread_num, 1, "aicpu_thread_num is 1", "chip takes 2 to 4");
    REFUSED(aicpu_thread_num, 5, "aicpu_thread_num is 5", "chip takes 2 to 4");
    REFUSED(cluster_count, 25, "cluster_count is 25", "1 to 24");
    REFUSED(hazards, 3, "hazards is 3", "1 (all) or 2 (raw)");
    REFUSED(exec, 2, "exec is 2", "0 (inline) or 1 (threads)");
    REFUSED(check_hazards, 2, "check_hazards is 2", "0 or 1");
    REFUSED(runtime, "graph", "there is no runtime 'graph'", "tensormap_and_ringbuffer");
    REFUSED(enable_scope_stats, 2, "enable_scope_stats is 2", "0 or 1");
}

static void the_ends_of_each_range_are_legal(void **state)
{
    (void)state;
    struct simpler_call_config c, config = SIMPLER_CALL_CONFIG_INIT;

    config.aicpu_thread_num = 2;
    config.cluster_count = 1;
    config.hazards = SIMPLER_HAZARDS_ALL;
    config.exec = SIMPLER_EXEC_THREADS;
    config.deadline_ns = 77;
    config.runtime_env.ring_task_window[0] = 4;
    config.runtime_env.ring_task_window[1] = 1u << 25;
    config.runtime_env.ring_heap[0] = 1024;
    config.runtime_env.ring_heap[1] = 1ull << 44;
    config.runtime_env.ring_dep_pool[0] = 4;
    config.runtime_env.ring_dep_pool[1] = 1u << 28;
    config.runtime_env.tensormap = 16;
    assert_int_equal(resolve(&config, &c), 0);
    assert_int_equal(c.aicpu_thread_num, 2);
    assert_int_equal(c.hazards, SIMPLER_HAZARDS_ALL);
    assert_int_equal(c.deadline_ns, 77);
    assert_int_equal(c.runtime_env.ring_heap[1], 1ull << 44);
    config.aicpu_thread_num = 4;
    config.cluster_count = 24;
    config.runtime_env.tensormap = 1u << 26;
    assert_int_equal(resolve(&config, &c), 0);
}

static void info_lists_what_is_set(void **state)
{
    (void)state;
    struct simpler_variable_info v;
    struct simpler_size_info size;
    struct simpler_platform_info p;
    struct simpler_call_config c;

    assert_int_equal(simpler_info_variable(0, &v), SIMPLER_ENOENT);
    (void)setenv("PTO2_RING_HEAP", "4096", 1);
    (void)setenv("SIMPLER_TENSORMAP", "x", 1);
    assert_int_equal(simpler_info_variable(0, &v), 0);
    assert_string_equal(v.name, "PTO2_RING_HEAP");
    assert_string_equal(v.value, "4096");
    assert_string_equal(v.problem, "");
    assert_int_equal(simpler_info_variable(1, &v), 0);
    assert_string_equal(v.name, "SIMPLER_TENSORMAP");
    assert_non_null(strstr(v.problem, "'x' is not one number"));
    assert_int_equal(simpler_info_variable(2, &v), SIMPLER_ENOENT);
    assert_int_equal(simpler_info_size(3, &size), 0);
    assert_string_equal(size.field, "tensormap");
    assert_int_equal(size.count, 1);
    assert_int_equal(simpler_info_size(4, &size), 0);
    assert_string_equal(size.field, "ready_queue");
    assert_int_equal(simpler_info_size(5, &size), SIMPLER_ENOENT);
    assert_int_equal(simpler_info_platform(0, &p), 0);
    assert_string_equal(p.name, "cpu");
    assert_int_equal(simpler_info_platform(100, &p), SIMPLER_ENOENT);
    assert_int_equal(simpler_info_platform(0, NULL), SIMPLER_EINVAL);
    assert_int_equal(simpler_info_resolve_config(NULL, NULL, &c, message, sizeof(message)), 0);
    assert_int_equal(c.runtime_env.ring_heap[2], 4096);
    assert_int_equal(c.runtime_env.tensormap, 65536);
    assert_int_equal(c.hazards, SIMPLER_HAZARDS_ALL);
    assert_int_equal(simpler_info_resolve_config("moon", NULL, &c, message, sizeof(message)),
                     SIMPLER_ENOENT);
    assert_non_null(strstr(message, "'moon'"));
    assert_int_equal(line_count, 0);
}

/* AD-29: the three budgets, on a simulator and on board. */
static void time_outs_of_the_environment(void **state)
{
    struct simpler_config_timeouts t;
    const uint64_t ms = 1000000;
    (void)state;

    for (int onboard = 0; onboard < 2; onboard++) {
        simpler_config_read_timeouts(onboard, &t, true);
        assert_true(t.scheduler_ns == 20000 * ms && t.op_execute_ns == 45000 * ms &&
                    t.stream_sync_ns == 50000 * ms);
    }
    assert_int_equal(line_count, 0);

    /* The continuous-integration values of the documents. */
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", "2000", 1);
    (void)setenv("SIMPLER_OP_EXECUTE_TIMEOUT_US", "3000000", 1);
    (void)setenv("SIMPLER_STREAM_SYNC_TIMEOUT_MS", "4000", 1);
    for (int onboard = 0; onboard < 2; onboard++) {
        simpler_config_read_timeouts(onboard, &t, true);
        assert_true(t.scheduler_ns == 2000 * ms && t.op_execute_ns == 3000 * ms &&
                    t.stream_sync_ns == 4000 * ms);
    }
    assert_int_equal(line_count, 0);

    /* Out of order, and less than 1.5 s between the first and the last. */
    static const char *const bad[][3] = {
        {"3000", "3000000", "9000"}, {"2000", "9000000", "9000"}, {"2000", "3000000", "3499"}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", bad[i][0], 1);
        (void)setenv("SIMPLER_OP_EXECUTE_TIMEOUT_US", bad[i][1], 1);
        (void)setenv("SIMPLER_STREAM_SYNC_TIMEOUT_MS", bad[i][2], 1);
        line_count = 0;
        simpler_config_read_timeouts(true, &t, true);
        assert_int_equal(t.scheduler_ns, 20000 * ms);
        assert_int_equal(t.stream_sync_ns, 50000 * ms);
        assert_int_equal(line_count, 1);
        simpler_config_read_timeouts(false, &t, true);
        assert_int_equal(t.scheduler_ns, (uint64_t)atoi(bad[i][0]) * ms);
        assert_int_equal(line_count, 1);
    }

    static const char *const no_numbers[] = {"0", "-1", "1.5", "20s", "999999999999999999999", " "};
    for (size_t i = 0; i < sizeof(no_numbers) / sizeof(no_numbers[0]); i++) {
        (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", no_numbers[i], 1);
        line_count = 0;
        simpler_config_read_timeouts(false, &t, true);
        assert_int_equal(t.scheduler_ns, 20000 * ms);
        assert_int_equal(line_count, 1);
        assert_non_null(strstr(last_line, "SIMPLER_SCHEDULER_TIMEOUT_MS"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(defaults_are_the_documented_ones, clean),
        cmocka_unit_test_setup(an_entry_goes_before_the_environment, clean),
        cmocka_unit_test_setup(the_earlier_spelling_counts_below_ours, clean),
        cmocka_unit_test_setup(a_bad_variable_is_ignored_whole, clean),
        cmocka_unit_test_setup(a_bad_config_is_refused_by_name, clean),
        cmocka_unit_test_setup(the_ends_of_each_range_are_legal, clean),
        cmocka_unit_test_setup(time_outs_of_the_environment, clean),
        cmocka_unit_test_setup(info_lists_what_is_set, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
