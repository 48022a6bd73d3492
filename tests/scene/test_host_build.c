/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SY-02, SS-01, SS-18: host_build_graph has no rings: sizes that are too small are found at
 * once and the report names what would do; data of tensors; scope stats have no samples.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "faults.h"
#include "kit.h"
#include "scope_file.h"

static struct kit kit;
static struct simpler_run_result result;

static struct simpler_call_config host_build(void)
{
    struct simpler_call_config config = kit_config(2);
    config.runtime = "host_build_graph";
    return config;
}

/* ---- limits ---- */

#define TASKS 100u

static uint64_t cells[TASKS];
static int orchestrated; /* submits of the last run that were accepted */

/* Each with an output of 1 KiB and a view of its own, a third of them in scopes. */
static void graph(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor all = kit_tensor(cells, TASKS, SIMPLER_DTYPE_UINT64);
    struct simpler_create_info info = kit_info(8, SIMPLER_DTYPE_FLOAT32);
    struct simpler_task_args args;

    (void)user;
    orchestrated = 0;
    for (uint32_t i = 0; i < TASKS; i++) {
        struct simpler_tensor cell = kit_cell(&all, i);
        bool scoped = i % 3 == 0 && simpler_orch_scope_begin(orch, SIMPLER_SCOPE_AUTO) == 0;
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &cell);
        simpler_task_args_add_create(&args, &info);
        orchestrated += kit_submit(orch, &args, kit_nop_kernel, NULL, NULL) == 0;
        if (scoped)
            (void)simpler_orch_scope_end(orch);
    }
}

/* The number behind "remedy: KNOB = ". */
static uint64_t advised(const char *knob)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "remedy: %s = ", knob);
    const char *at = strstr(result.message, text);
    if (at == NULL)
        fail_msg("'%s' does not hold '%s'", result.message, text);
    return strtoull(at + strlen(text), NULL, 10);
}

static void ends_with(const struct simpler_call_config *config, int code)
{
    assert_int_equal(kit_run(&kit, graph, NULL, config, &result), -code);
    if (code == 0)
        assert_int_equal(result.stats.tasks_run, TASKS);
    else
        assert_true(result.stats.tasks_run < TASKS);
}

/* The last run had the next lower value. */
static void saw(const char *fault, int advised)
{
    char id[64];

    (void)snprintf(id, sizeof(id), "%s@host_build_graph", fault);
    fault_saw(id, "status=%s advised=%s", simpler_status_name(result.status),
              simpler_status_name(advised));
}

static void a_size_that_is_too_small_is_named_with_what_would_do(void **state)
{
    (void)state;
    struct simpler_call_config config = host_build();

    struct simpler_call_config copy = config;
    copy.runtime_env.ring_task_window[0] = 16;
    ends_with(&copy, SIMPLER_CODE_FLOW_CONTROL_DEADLOCK);
    assert_int_equal(advised("ring_task_window[0]"), 128);
    copy.runtime_env.ring_task_window[0] = 128;
    ends_with(&copy, 0);
    int advised_window = result.status;
    copy.runtime_env.ring_task_window[0] = 64;
    ends_with(&copy, SIMPLER_CODE_FLOW_CONTROL_DEADLOCK);
    saw("graph-window", advised_window);

    copy = config;
    copy.runtime_env.ring_heap[0] = 4096;
    ends_with(&copy, SIMPLER_CODE_HEAP_RING_DEADLOCK);
    assert_non_null(strstr(result.message, "Graph Heap Exhausted"));
    assert_int_equal(advised("ring_heap[0]"), TASKS * 1024);
    copy.runtime_env.ring_heap[0] = TASKS * 1024;
    ends_with(&copy, 0);
    int advised_heap = result.status;
    copy.runtime_env.ring_heap[0] = TASKS * 1024 - 1024;
    ends_with(&copy, SIMPLER_CODE_HEAP_RING_DEADLOCK);
    saw("graph-heap", advised_heap);

    copy = config;
    copy.runtime_env.tensormap = 20;
    ends_with(&copy, SIMPLER_CODE_TENSORMAP_OVERFLOW);
    assert_int_equal(advised("tensormap"), TASKS);
    copy.runtime_env.tensormap = TASKS;
    ends_with(&copy, 0);
    int advised_map = result.status;
    copy.runtime_env.tensormap = TASKS - 1;
    ends_with(&copy, SIMPLER_CODE_TENSORMAP_OVERFLOW);
    saw("graph-tensormap", advised_map);
}

/* The same graph, but it returns at the first submit that fails. */
static void graph_that_gives_up(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor all = kit_tensor(cells, TASKS, SIMPLER_DTYPE_UINT64);
    struct simpler_create_info info = kit_info(8, SIMPLER_DTYPE_FLOAT32);
    struct simpler_task_args args;

    (void)user;
    for (uint32_t i = 0; i < TASKS; i++) {
        struct simpler_tensor cell = kit_cell(&all, i);
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &cell);
        simpler_task_args_add_create(&args, &info);
        if (kit_submit(orch, &args, kit_nop_kernel, NULL, NULL) != 0)
            return;
    }
}

/* The number behind "the KNOB to try next is ", 0 if there is none. */
static uint64_t next_to_try(const char *knob)
{
    char text[64];

    (void)snprintf(text, sizeof(text), "the %s to try next is ", knob);
    const char *at = strstr(result.message, text);
    return at == NULL ? 0 : strtoull(at + strlen(text), NULL, 10);
}

/* Runs until it passes with what was to be tried next; at most @rounds times. */
static uint64_t enough_of(const char *knob, uint64_t *size, struct simpler_call_config *config,
                          int rounds)
{
    while (kit_run(&kit, graph_that_gives_up, NULL, config, &result) != 0) {
        if (rounds-- == 0)
            fail_msg("many rounds, and %s = %llu is not enough", knob, (unsigned long long)*size);
        assert_true(advised(knob) > *size);
        *size = next_to_try(knob) != 0 ? next_to_try(knob) : advised(knob);
    }
    return *size;
}

static void who_gives_up_needs_few_rounds(void **state)
{
    (void)state;
    struct simpler_call_config config = host_build();
    uint64_t *heap = &config.runtime_env.ring_heap[0], *map = &config.runtime_env.tensormap;

    *heap = 4096;
    assert_in_range(enough_of("ring_heap[0]", heap, &config, 5), TASKS * 1024, 2 * TASKS * 1024);
    *map = 16;
    assert_in_range(enough_of("tensormap", map, &config, 3), TASKS, 2 * TASKS);
    config.runtime_env.ring_task_window[0] = 4;
    (void)enough_of("ring_task_window[0]", &config.runtime_env.ring_task_window[0], &config, 5);
    assert_int_equal(config.runtime_env.ring_task_window[0], 128);

    /* Who goes on is told the exact size alone. */
    *heap = (TASKS - 10) * 1024;
    ends_with(&config, SIMPLER_CODE_HEAP_RING_DEADLOCK);
    assert_int_equal(next_to_try("ring_heap[0]"), 0);
}

/* Long kernels, and on threads: each task is a grain of its own. */
static void wide(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;

    for (uint32_t i = 0; i < TASKS; i++) {
        simpler_task_args_reset(&args);
        (void)kit_submit_variant(orch, KIT_LONG, &args, kit_long_count_kernel, user, NULL);
    }
}

static void a_full_ready_queue_is_code_104(void **state)
{
    (void)state;
    struct simpler_call_config config = host_build();
    _Atomic int count = 0;

    config.exec = SIMPLER_EXEC_THREADS;
    config.cluster_count = 1;
    config.runtime_env.ready_queue = 8;
    assert_int_equal(kit_run(&kit, wide, (void *)&count, &config, &result),
                     -SIMPLER_CODE_READY_QUEUE_OVERFLOW);
    assert_int_equal(result.sched_error_code, SIMPLER_CODE_READY_QUEUE_OVERFLOW);
    assert_true(count < (int)TASKS);
    int rc = result.status;
    config.runtime_env.ready_queue = advised("ready_queue");
    assert_int_equal(config.runtime_env.ready_queue, TASKS);
    count = 0;
    assert_int_equal(kit_run(&kit, wide, (void *)&count, &config, &result), 0);
    assert_int_equal(count, TASKS);
    fault_saw("ready-queue-full@host_build_graph", "status=%s advised=%s", simpler_status_name(rc),
              simpler_status_name(result.status));
}

/* ---- data ---- */

static float data[4] = {1, 2, 3, 4};

static void data_before_any_task(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(data, 4, SIMPLER_DTYPE_FLOAT32);
    struct simpler_task_args args;
    uint32_t two = 2;
    float value = 0;

    (void)user;
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &t, &two, &value), 0);
    KIT_EXPECT(value == 3);
    value = 7;
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_data(orch, &t, &two, &value), 0);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &t);
    (void)kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
    /* A reader does not hinder a reader. */
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &t, &two, &value), 0);
}

static void set_behind_a_reader(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(data, 4, SIMPLER_DTYPE_FLOAT32);
    uint32_t two = 2;
    float value = 9;

    data_before_any_task(orch, user);
    KIT_EXPECT(simpler_orch_set_tensor_data(orch, &t, &two, &value) != 0);
}

static void get_behind_a_writer(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(data, 4, SIMPLER_DTYPE_FLOAT32);
    struct simpler_task_args args;
    uint32_t two = 2;
    float value;

    (void)user;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    (void)kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
    KIT_EXPECT(simpler_orch_get_tensor_data(orch, &t, &two, &value) != 0);
}

static void data_is_there_while_no_task_uses_it(void **state)
{
    (void)state;
    for (uint32_t hazards = 1; hazards <= 2; hazards++) {
        struct simpler_call_config config = host_build();
        config.hazards = hazards;
        assert_int_equal(kit_run(&kit, data_before_any_task, NULL, &config, &result), 0);
        assert_true(data[2] == 7);
        data[2] = 3;
        assert_int_equal(kit_run(&kit, set_behind_a_reader, NULL, &config, &result),
                         -SIMPLER_CODE_INVALID_ARGS);
        assert_true(data[2] == 7);
        assert_non_null(strstr(result.message, "set_tensor_data of a tensor that a submitted"));
        data[2] = 3;
        assert_int_equal(kit_run(&kit, get_behind_a_writer, NULL, &config, &result),
                         -SIMPLER_CODE_INVALID_ARGS);
        assert_non_null(strstr(result.message, "no task runs before the orchestration has ended"));
    }
}

/* ---- scope stats ---- */

static void scope_stats_are_metadata_alone(void **state)
{
    (void)state;
    struct simpler_call_config config = host_build();
    char prefix[128];

    scope_file_make_prefix(prefix);
    config.enable_scope_stats = 1;
    config.output_prefix = prefix;
    assert_int_equal(kit_run(&kit, graph, NULL, &config, &result), 0);
    assert_int_equal(result.scope_stats.status, 0);
    assert_int_equal(result.scope_stats.has_file, 1);
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, 0);
    assert_non_null(strstr(file.metadata, "\"fatal\": false"));
    assert_non_null(strstr(file.metadata, "\"dropped\": 0"));
    assert_non_null(strstr(file.metadata, "\"total\": 0"));
    uint32_t nulls = 0;
    for (const char *at = file.metadata; (at = strstr(at, ": null")) != NULL; at++)
        nulls++;
    assert_int_equal(nulls, 4);
    scope_file_free(&file);
    scope_file_remove_prefix(prefix);
}

/* SS-13: the file says how its run ended, and none of an earlier one is there meanwhile. */
static int fail_when_told(const int64_t *args, uint32_t tensors, void *user)
{
    const char *prefix = user;

    (void)args;
    (void)tensors;
    KIT_EXPECT(!scope_file_exists(prefix));
    return 7;
}

struct ending {
    const char *prefix;
    int code; /* of the orchestration's own; 1: its kernel fails; 2: it is canceled */
};

static void end_in_any_way(struct simpler_orch *orch, void *user)
{
    const struct ending *ending = user;
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    if (ending->code == 1)
        KIT_EXPECT_EQUAL(
            kit_submit(orch, &args, fail_when_told, (void *)(uintptr_t)ending->prefix, NULL), 0);
    else if (ending->code == 2)
        simpler_worker_cancel(kit.worker);
    else if (ending->code != 0)
        simpler_orch_report_fatal(orch, (int)ending->code, "for a test");
}

static void scope_stats_say_how_the_run_ended(void **state)
{
    static const struct {
        int code, status;
        bool fatal;
    } cases[] = {
        {SIMPLER_CODE_EXPLICIT_ORCH_FATAL, -SIMPLER_CODE_EXPLICIT_ORCH_FATAL, true},
        {1, SIMPLER_EKERNEL, false},
        {SIMPLER_CODE_EXPLICIT_ORCH_FATAL, -SIMPLER_CODE_EXPLICIT_ORCH_FATAL, true},
        {2, SIMPLER_ECANCELED, false},
        {0, 0, false},
    };
    char prefix[128];

    (void)state;
    scope_file_make_prefix(prefix);
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct simpler_call_config config = host_build();
        struct ending ending = {prefix, cases[i].code};
        config.enable_scope_stats = 1;
        config.output_prefix = prefix;
        assert_int_equal(kit_run(&kit, end_in_any_way, &ending, &config, &result), cases[i].status);
        assert_int_equal(result.scope_stats.status, 0);
        assert_int_equal(result.scope_stats.has_file, 1);
        struct scope_file file = scope_file_read(prefix);
        assert_int_equal(file.count, 0);
        assert_non_null(strstr(file.metadata,
                               cases[i].fatal ? "{\"fatal\": true, \"dropped\": 0, \"total\": 0"
                                              : "{\"fatal\": false, \"dropped\": 0, \"total\": 0"));
        scope_file_free(&file);
    }
    scope_file_remove_prefix(prefix);
}

/* ---- threads ---- */

static struct {
    pthread_mutex_t lock;
    pthread_t of[64];
    uint32_t count;
} workers = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int note_thread(const int64_t *args, uint32_t tensors, void *user)
{
    uint32_t i = 0;

    (void)args;
    (void)tensors;
    (void)user;
    (void)pthread_mutex_lock(&workers.lock);
    while (i < workers.count && !pthread_equal(workers.of[i], pthread_self()))
        i++;
    if (i == workers.count && i < 64)
        workers.of[workers.count++] = pthread_self();
    (void)pthread_mutex_unlock(&workers.lock);
    kit_sleep_ns(1000000);
    return 0;
}

static void sleepers(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;

    (void)user;
    for (uint32_t i = 0; i < 60; i++) {
        simpler_task_args_reset(&args);
        (void)kit_submit_variant(orch, KIT_LONG, &args, note_thread, NULL, NULL);
    }
}

/* Kernels that sleep leave the CPU to every other thread there is: none takes part unasked. */
static void kernels_run_on_as_many_threads_as_asked(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct simpler_call_config config = host_build();
        config.aicpu_thread_num = kit_threads(threads);
        workers.count = 0;
        assert_int_equal(kit_run(&kit, sleepers, NULL, &config, &result), 0);
        assert_in_range(workers.count, 1, config.aicpu_thread_num);
    }
}

/* ---- tensor infos ---- */

static void with_tensor_infos(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(data, 4, SIMPLER_DTYPE_FLOAT32);
    struct simpler_tensor other = kit_tensor(data, 2, SIMPLER_DTYPE_FLOAT32);
    struct simpler_create_info info = kit_info(6, SIMPLER_DTYPE_INT16);
    struct simpler_tensor infos[2];
    struct simpler_task_outputs out;
    struct simpler_task_args args;

    (void)user;
    infos[0] = t;
    KIT_EXPECT_EQUAL(simpler_tensor_init(&infos[1], NULL, SIMPLER_DIMS(6), SIMPLER_DTYPE_INT16), 0);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &t);
    simpler_task_args_add_create(&args, &info);
    kit_add_call(&args, kit_nop_kernel, NULL);
    KIT_EXPECT_EQUAL(
        simpler_orch_add_task_with_tensor_info(orch, SIMPLER_CORE_AIV, 2, &args, infos, 2, &out),
        0);
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_info_to_task(orch, out.id, infos, 2), 0);
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_info_to_task(orch, out.id, infos, 1), 0);
    /* A wrong one is said, and the task stays. */
    infos[0] = other;
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_info_to_task(orch, out.id, infos, 2), SIMPLER_EINVAL);
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_info_to_task(orch, out.id, infos, 3), SIMPLER_EINVAL);
    out.id.raw = 77;
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_info_to_task(orch, out.id, infos, 1), SIMPLER_EINVAL);
}

/* AD-31 */
static void tensor_infos_are_checked_and_never_required(void **state)
{
    (void)state;
    struct simpler_call_config config = host_build();

    assert_int_equal(kit_run(&kit, with_tensor_infos, NULL, &config, &result), 0);
    assert_int_equal(result.stats.tasks_run, 1);
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_that_is_too_small_is_named_with_what_would_do),
        cmocka_unit_test(who_gives_up_needs_few_rounds),
        cmocka_unit_test(a_full_ready_queue_is_code_104),
        cmocka_unit_test(data_is_there_while_no_task_uses_it),
        cmocka_unit_test(scope_stats_are_metadata_alone),
        cmocka_unit_test(scope_stats_say_how_the_run_ended),
        cmocka_unit_test(kernels_run_on_as_many_threads_as_asked),
        cmocka_unit_test(tensor_infos_are_checked_and_never_required),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
