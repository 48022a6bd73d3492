/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each code that a device latches, provoked; its report; and the value that the
 * report advises: a run with it passes, one with the next lower legal value
 * fails with the same code (SY-01, SY-05, SY-06).
 */
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "faults.h"
#include "graph_gen.h"

static struct kit kit;
static struct simpler_run_result result;
static uint64_t cells[256][8];

/* ---- reports ---- */

/* The last "NAME[ring] = value" or "NAME = value" of a message: the remedy comes last. */
static bool find_advice(const char *message, const char *name, uint32_t *ring, uint64_t *value)
{
    bool found = false;
    for (const char *at = message; (at = strstr(at, name)) != NULL;) {
        at += strlen(name);
        const char *p = at;
        char *end;
        uint32_t number = 0;
        if (*p == '[') {
            number = (uint32_t)strtoul(p + 1, &end, 10);
            p = *end == ']' ? end + 1 : end;
        }
        if (strncmp(p, " = ", 3) != 0)
            continue;
        uint64_t advised = strtoull(p + 3, &end, 10);
        if (end == p + 3 || number >= CHIP_MAX_RING_DEPTH)
            continue;
        *ring = number;
        *value = advised;
        found = true;
    }
    return found;
}

/* A line for machines, one that explains, and @lines in all at least. */
static void check_report(int code, int lines)
{
    char machine[96];
    snprintf(machine, sizeof(machine), "orch_error_code=%d sched_error_code=%d runtime_status=%d",
             result.orch_error_code, result.sched_error_code, result.status);
    if (strstr(result.message, machine) == NULL)
        fail_msg("no line '%s' in: %s", machine, result.message);
    assert_int_equal(result.status, -code);
    assert_int_equal(result.orch_error_code, code);
    int count = 0;
    for (char *line = result.message; line != NULL && *line != '\0';) {
        count++;
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    if (count < lines)
        fail_msg("%d lines where %d are promised: %s", count, lines, result.message);
}

/* ---- knobs ---- */

struct knob {
    const char *name;
    uint64_t *(*entry)(struct simpler_runtime_env *env, uint32_t ring);
    uint64_t (*lower)(uint64_t value);
};

static uint64_t *window_entry(struct simpler_runtime_env *env, uint32_t ring)
{
    return &env->ring_task_window[ring];
}

static uint64_t *heap_entry(struct simpler_runtime_env *env, uint32_t ring)
{
    return &env->ring_heap[ring];
}

static uint64_t *pool_entry(struct simpler_runtime_env *env, uint32_t ring)
{
    return &env->ring_dep_pool[ring];
}

static uint64_t *map_entry(struct simpler_runtime_env *env, uint32_t ring)
{
    (void)ring;
    return &env->tensormap;
}

static uint64_t half(uint64_t value)
{
    return value / 2;
}

static uint64_t less_1024(uint64_t value)
{
    return value - 1024;
}

static uint64_t less_1(uint64_t value)
{
    return value - 1;
}

static const struct knob window = {"ring_task_window", window_entry, half};
static const struct knob heap = {"ring_heap", heap_entry, less_1024};
static const struct knob pool = {"ring_dep_pool", pool_entry, less_1};
static const struct knob map = {"tensormap", map_entry, less_1};

static int run_with(kit_orch fn, void *user, const struct simpler_call_config *config)
{
    memset(&result, 0, sizeof(result));
    int rc = kit_run(&kit, fn, user, config, &result);
    assert_int_equal(rc, result.status);
    return rc;
}

/* After a failed run the same worker is as good as new. */
static void next_run_is_right(void)
{
    struct graph_options options = {.calm = true};
    static uint64_t seed = 500000;
    for (int i = 0; i < 5; i++)
        assert_true(graph_try_seed(seed++, &kit, &options));
}

static void advice_is_exact(const char *fault, kit_orch fn, void *user,
                            struct simpler_call_config config, int code, const struct knob *knob,
                            uint32_t ring)
{
    uint32_t advised_ring = 99;
    uint64_t value = 0;
    int first = run_with(fn, user, &config);
    check_report(code, 3);
    if (!find_advice(result.message, knob->name, &advised_ring, &value))
        fail_msg("no advice on %s in: %s", knob->name, result.message);
    if (knob != &map)
        assert_int_equal(advised_ring, ring);
    next_run_is_right();
    uint64_t *entry = knob->entry(&config.runtime_env, ring);
    assert_true(value > *entry);
    *entry = value;
    int advised = run_with(fn, user, &config);
    if (advised != 0)
        fail_msg("the advised %s = %llu fails: %s", knob->name, (unsigned long long)value,
                 result.message);
    *entry = knob->lower(value);
    if (run_with(fn, user, &config) == 0)
        fail_msg("%s = %llu is enough, %llu was advised", knob->name, (unsigned long long)*entry,
                 (unsigned long long)value);
    check_report(code, 3);
    int lower = result.status;
    next_run_is_right();
    fault_saw(fault, "status=%s advised=%s lower=%s next=right", simpler_status_name(first),
              simpler_status_name(advised), simpler_status_name(lower));
}

/* ---- tasks ---- */

static int create(struct simpler_orch *orch, uint32_t bytes)
{
    struct simpler_create_info info = kit_info(bytes, SIMPLER_DTYPE_UINT8);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add_create(&args, &info);
    return kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
}

static int touch(struct simpler_orch *orch, uint32_t cell)
{
    struct simpler_tensor tensor = kit_tensor(cells[cell], 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    return kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
}

/* @depth scopes, @plain tasks without OUTPUT that stream, then @outputs of @bytes. */
struct shape {
    uint32_t depth, plain, outputs, bytes, after;
};

static void outputs_in_a_scope(struct simpler_orch *orch, void *user)
{
    const struct shape *shape = user;
    for (uint32_t i = 0; i < shape->depth; i++)
        simpler_orch_scope_begin(orch, SIMPLER_SCOPE_AUTO);
    for (uint32_t i = 0; i < shape->plain; i++)
        touch(orch, i % 256);
    for (uint32_t i = 0; i < shape->outputs; i++)
        create(orch, shape->bytes);
    for (uint32_t i = 0; i < shape->after; i++)
        touch(orch, i % 256);
    for (uint32_t i = 0; i < shape->depth; i++)
        simpler_orch_scope_end(orch);
}

/* ---- code 1 ---- */

static void scope_holds_its_window(void **state)
{
    (void)state;
    static const struct {
        struct shape shape;
        uint64_t window;
    } cases[] = {
        {{0, 0, 4, 8, 0}, 4},   {{1, 40, 8, 8, 0}, 8},      {{1, 3, 16, 1024, 0}, 16},
        {{2, 0, 64, 8, 0}, 64}, {{3, 200, 32, 8, 0}, 32},   {{1, 50, 1, 8, 7}, 8},
        {{0, 50, 2, 8, 2}, 4},  {{3, 20, 5, 2000, 11}, 16},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct shape shape = cases[i].shape;
        struct simpler_call_config config = kit_config(2);
        kit_set_window(&config, cases[i].window);
        advice_is_exact("task-window", outputs_in_a_scope, &shape, config,
                        SIMPLER_CODE_SCOPE_DEADLOCK, &window, shape.depth);
    }
}

/* One task fewer than the window can hold passes: the limit is not below its promise. */
static void a_full_scope_passes(void **state)
{
    (void)state;
    for (uint32_t size = 4; size <= 64; size *= 2) {
        for (uint32_t depth = 0; depth < 5; depth++) {
            struct shape shape = {depth, 100, size - 1, 8, 0};
            struct simpler_call_config config = kit_config(2);
            kit_set_window(&config, size);
            assert_int_equal(run_with(outputs_in_a_scope, &shape, &config), 0);
            assert_int_equal(result.stats.ring[depth < 3 ? depth : 3].task_window_max, size);
        }
    }
}

/* Following the advice again and again leads to a size that is enough. */
static void advice_leads_to_the_end(void **state)
{
    (void)state;
    struct shape shape = {1, 0, 100, 8, 0};
    struct simpler_call_config config = kit_config(2);
    kit_set_window(&config, 4);
    int runs = 0;
    while (run_with(outputs_in_a_scope, &shape, &config) != 0 && runs++ < 10) {
        uint32_t ring = 0;
        uint64_t value = 0;
        check_report(SIMPLER_CODE_SCOPE_DEADLOCK, 3);
        assert_true(find_advice(result.message, "ring_task_window", &ring, &value));
        assert_true(value > config.runtime_env.ring_task_window[ring]);
        config.runtime_env.ring_task_window[ring] = value;
    }
    assert_int_equal(result.status, 0);
    assert_int_equal(config.runtime_env.ring_task_window[1], 128);
}

/* ---- code 2 ---- */

static void scope_holds_its_heap(void **state)
{
    (void)state;
    static const struct {
        struct shape shape;
        uint64_t heap;
    } cases[] = {
        {{0, 0, 5, 1024, 0}, 4096},    {{1, 10, 3, 1000, 0}, 2048}, {{2, 0, 1, 10000, 0}, 4096},
        {{3, 0, 1, 1025, 0}, 1024},    {{4, 0, 9, 2048, 0}, 16384}, {{1, 0, 1, 1000000, 0}, 1024},
        {{0, 0, 17, 1, 0}, 16 * 1024},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct shape shape = cases[i].shape;
        struct simpler_call_config config = kit_config(2);
        kit_set_heap(&config, cases[i].heap);
        advice_is_exact("heap-ring", outputs_in_a_scope, &shape, config,
                        SIMPLER_CODE_HEAP_RING_DEADLOCK, &heap, shape.depth < 3 ? shape.depth : 3);
    }
}

/* Blocks of several sizes, scope after scope, so that the ring's end is met at every place. */
static void odd_blocks(struct simpler_orch *orch, void *user)
{
    const struct shape *shape = user;
    for (uint32_t i = 0; i < 20; i++) {
        SIMPLER_SCOPE(orch)
        {
            create(orch, 1024 * (1 + i % 3));
            create(orch, 1024);
        }
    }
    SIMPLER_SCOPE(orch)
    {
        for (uint32_t i = 0; i < shape->outputs; i++)
            create(orch, shape->bytes);
    }
}

static void advice_passes_where_blocks_do_not_fit_the_end(void **state)
{
    (void)state;
    for (uint32_t outputs = 2; outputs < 6; outputs++) {
        struct shape shape = {0, 0, outputs, 3072, 0};
        struct simpler_call_config config = kit_config(2);
        kit_set_heap(&config, 5 * 1024);
        uint32_t ring = 0;
        uint64_t value = 0;
        int runs = 0;
        while (run_with(odd_blocks, &shape, &config) != 0 && runs++ < 8) {
            check_report(SIMPLER_CODE_HEAP_RING_DEADLOCK, 3);
            assert_true(find_advice(result.message, "ring_heap", &ring, &value));
            assert_int_equal(ring, 1);
            assert_true(value > config.runtime_env.ring_heap[1]);
            config.runtime_env.ring_heap[1] = value;
        }
        assert_int_equal(result.status, 0);
        /* All blocks, the largest gap at the end, and no more. */
        assert_true(config.runtime_env.ring_heap[1] <= (outputs + 1) * 3072 + 1024);
    }
}

/* ---- code 3 ---- */

/* An outer scope of ring 3 keeps @bytes outputs, an inner one submits. */
static void outer_scope_holds(struct simpler_orch *orch, void *user)
{
    const struct shape *shape = user;
    for (uint32_t i = 0; i < 3; i++)
        simpler_orch_scope_begin(orch, SIMPLER_SCOPE_AUTO);
    for (uint32_t i = 0; i < shape->outputs; i++)
        create(orch, 8);
    for (uint32_t i = 3; i < shape->depth; i++)
        simpler_orch_scope_begin(orch, SIMPLER_SCOPE_AUTO);
    for (uint32_t i = 0; i < shape->after; i++)
        touch(orch, i % 256);
    for (uint32_t i = 0; i < shape->depth; i++)
        simpler_orch_scope_end(orch);
}

static void outer_scope_holds_the_window(void **state)
{
    (void)state;
    static const struct {
        struct shape shape;
        uint64_t window;
    } cases[] = {{{4, 0, 2, 0, 2}, 4}, {{5, 0, 1, 0, 7}, 8}, {{9, 0, 10, 0, 6}, 16}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct shape shape = cases[i].shape;
        struct simpler_call_config config = kit_config(2);
        kit_set_window(&config, cases[i].window);
        advice_is_exact("outer-window", outer_scope_holds, &shape, config,
                        SIMPLER_CODE_FLOW_CONTROL_DEADLOCK, &window, 3);
    }
}

/* ---- code 4 ---- */

/* @outputs cells are written by tasks that wait for a gate; one task of another ring reads all. */
static void many_pending_producers(struct simpler_orch *orch, void *user)
{
    static struct kit_gate gate;
    const struct shape *shape = user;
    struct simpler_tensor start = kit_tensor(cells[255], 8, SIMPLER_DTYPE_UINT64);
    struct simpler_tensor cell[SIMPLER_MAX_TENSORS];
    struct simpler_task_args args;
    kit_gate_close(&gate);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &start);
    kit_submit_variant(orch, KIT_LONG, &args, kit_gate_kernel, &gate, NULL);
    KIT_EXPECT(kit_gate_wait(&gate, 1));
    for (uint32_t i = 0; i < shape->outputs; i++) {
        cell[i] = kit_tensor(cells[i], 8, SIMPLER_DTYPE_UINT64);
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &start);
        simpler_task_args_add_inout(&args, &cell[i]);
        kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
    }
    SIMPLER_SCOPE(orch)
    {
        simpler_task_args_reset(&args);
        for (uint32_t i = 0; i < shape->outputs; i++)
            simpler_task_args_add_input(&args, &cell[i]);
        kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
    }
    kit_gate_open(&gate);
}

static void pool_holds_pending_edges(void **state)
{
    (void)state;
    static const uint32_t producers[] = {5, 9, 17, 32};
    static const uint32_t capacity[] = {4, 4, 16, 31};
    for (size_t i = 0; i < 4; i++) {
        struct shape shape = {0, 0, producers[i], 0, 0};
        struct simpler_call_config config = kit_config(4);
        config.runtime_env.ring_dep_pool[1] = capacity[i];
        advice_is_exact("dep-pool", many_pending_producers, &shape, config,
                        SIMPLER_CODE_DEP_POOL_OVERFLOW, &pool, 1);
        config.runtime_env.ring_dep_pool[1] = producers[i];
        assert_int_equal(run_with(many_pending_producers, &shape, &config), 0);
        assert_int_equal(result.stats.ring[1].dep_pool_peak, producers[i]);
    }
}

/* ---- code 5 ---- */

static void expect_invalid(struct simpler_orch *orch, int rc)
{
    KIT_EXPECT_EQUAL(rc, -SIMPLER_CODE_INVALID_ARGS);
    KIT_EXPECT(simpler_orch_is_fatal(orch));
    /* Everything after it answers at once, with the run's status. */
    KIT_EXPECT_EQUAL(touch(orch, 0), -SIMPLER_CODE_INVALID_ARGS);
    KIT_EXPECT_EQUAL(simpler_orch_scope_begin(orch, SIMPLER_SCOPE_AUTO),
                     -SIMPLER_CODE_INVALID_ARGS);
}

static void too_many_tensors(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_tensor tensor = kit_tensor(cells[0], 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    struct simpler_task_outputs out;
    simpler_task_args_reset(&args);
    for (uint32_t i = 0; i < 33; i++)
        simpler_task_args_add_input(&args, &tensor);
    int rc = simpler_orch_submit_aiv(orch, 32, &args, &out);
    KIT_EXPECT(out.id.raw == SIMPLER_TASK_ID_NONE);
    KIT_EXPECT_EQUAL(out.count, 0);
    expect_invalid(orch, rc);
}

static void unknown_kernel(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    expect_invalid(orch, simpler_orch_submit_aiv(orch, 1000, &args, NULL));
}

static void wrong_core(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    expect_invalid(orch, simpler_orch_submit_aic(orch, 0, &args, NULL));
}

static void no_such_dependency(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_task_id none = {SIMPLER_TASK_ID_NONE};
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_set_dependencies(&args, &none, 1);
    expect_invalid(orch, kit_submit(orch, &args, kit_nop_kernel, NULL, NULL));
}

static void future_dependency(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_task_id later = {7};
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_set_dependencies(&args, &later, 1);
    expect_invalid(orch, kit_submit(orch, &args, kit_nop_kernel, NULL, NULL));
}

static void no_such_ring(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_task_id other = {UINT64_C(5) << 32};
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_set_dependencies(&args, &other, 1);
    expect_invalid(orch, kit_submit(orch, &args, kit_nop_kernel, NULL, NULL));
}

static void empty_alloc(struct simpler_orch *orch, void *user)
{
    (void)user;
    struct simpler_create_info info = kit_info(8, SIMPLER_DTYPE_INT8);
    struct simpler_task_outputs out;
    expect_invalid(orch, simpler_orch_alloc_tensors(orch, &info, 0, &out));
}

static void auto_in_manual(struct simpler_orch *orch, void *user)
{
    (void)user;
    KIT_EXPECT_EQUAL(simpler_orch_scope_begin(orch, SIMPLER_SCOPE_MANUAL), 0);
    KIT_EXPECT_EQUAL(simpler_orch_scope_begin(orch, SIMPLER_SCOPE_MANUAL), 0);
    expect_invalid(orch, simpler_orch_scope_begin_at(orch, SIMPLER_SCOPE_AUTO, __FILE__, __LINE__));
}

static void invalid_arguments(void **state)
{
    (void)state;
    static const kit_orch cases[] = {too_many_tensors,   unknown_kernel,    wrong_core,
                                     no_such_dependency, future_dependency, no_such_ring,
                                     empty_alloc,        auto_in_manual};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct simpler_call_config config = kit_config(2);
        run_with(cases[i], NULL, &config);
        check_report(SIMPLER_CODE_INVALID_ARGS, 2);
        bool has_site = strstr(result.message, "test_codes.c:") != NULL;
        int rc = result.status;
        next_run_is_right();
        fault_saw("invalid-argument", "status=%s site=%s next=right", simpler_status_name(rc),
                  fault_yes(has_site));
    }
    struct simpler_call_config config = kit_config(2);
    run_with(too_many_tensors, NULL, &config);
    if (strstr(result.message, "32") == NULL || strstr(result.message, "test_codes.c") == NULL)
        fail_msg("neither limit nor site in: %s", result.message);
}

/* ---- code 9 ---- */

static void fatal(struct simpler_orch *orch, void *user)
{
    _Atomic int *count = user;
    struct simpler_task_args args;
    simpler_orch_report_fatal(orch, SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "%s is %d", "answer", 42);
    KIT_EXPECT(simpler_orch_is_fatal(orch));
    simpler_task_args_reset(&args);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_count_kernel, (void *)count, NULL),
                     -SIMPLER_CODE_EXPLICIT_ORCH_FATAL);
    /* The first one stays. */
    simpler_orch_report_fatal(orch, SIMPLER_CODE_INVALID_ARGS, "second");
}

static void explicit_fatal(void **state)
{
    (void)state;
    static _Atomic int count;
    struct simpler_call_config config = kit_config(2);
    run_with(fatal, (void *)&count, &config);
    check_report(SIMPLER_CODE_EXPLICIT_ORCH_FATAL, 2);
    if (strstr(result.message, "answer is 42") == NULL)
        fail_msg("not the orchestration's text: %s", result.message);
    assert_int_equal(atomic_load(&count), 0);
    next_run_is_right();
    fault_saw("orchestration-fatal", "status=%s ran_after=%d next=right",
              simpler_status_name(result.status), atomic_load(&count));
}

/* ---- code 10 ---- */

#if defined(SIMPLER_DEBUG)
static bool fail_scope_tasks(void *user, enum simpler_testpoint point)
{
    (void)user;
    return point == SIMPLER_TESTPOINT_SCOPE_TASKS;
}
#endif

static void scope_record_is_full(void **state)
{
    (void)state;
#if defined(SIMPLER_DEBUG)
    struct shape shape = {1, 0, 3, 8, 0};
    struct simpler_call_config config = kit_config(2);
    simpler_testpoint_set(fail_scope_tasks, NULL);
    run_with(outputs_in_a_scope, &shape, &config);
    simpler_testpoint_set(NULL, NULL);
    check_report(SIMPLER_CODE_SCOPE_TASKS_OVERFLOW, 2);
    next_run_is_right();
    fault_saw("scope-record", "status=%s next=right", simpler_status_name(result.status));
#else
    SKIP_TEST("the failpoint is in debug builds");
#endif
}

/* ---- code 11 ---- */

/* One output keeps the scope's tasks live; each other task writes a cell of its own. */
static void live_views(struct simpler_orch *orch, void *user)
{
    const struct shape *shape = user;
    SIMPLER_SCOPE(orch)
    {
        create(orch, 8);
        for (uint32_t i = 0; i < shape->outputs; i++)
            touch(orch, i);
    }
}

/* One task with that many tensors. */
static void wide_task(struct simpler_orch *orch, void *user)
{
    const struct shape *shape = user;
    struct simpler_tensor tensor[SIMPLER_MAX_TENSORS];
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    for (uint32_t i = 0; i < shape->outputs; i++) {
        tensor[i] = kit_tensor(cells[i], 8, SIMPLER_DTYPE_UINT64);
        simpler_task_args_add_inout(&args, &tensor[i]);
    }
    kit_submit(orch, &args, kit_nop_kernel, NULL, NULL);
}

static void map_holds_live_views(void **state)
{
    (void)state;
    struct shape shape = {0, 0, 17, 0, 0};
    struct simpler_call_config config = kit_config(2);
    config.runtime_env.tensormap = 16;
    advice_is_exact("tensormap-full", live_views, &shape, config, SIMPLER_CODE_TENSORMAP_OVERFLOW,
                    &map, 0);
    shape.outputs = 201;
    config.runtime_env.tensormap = 200;
    advice_is_exact("tensormap-full", live_views, &shape, config, SIMPLER_CODE_TENSORMAP_OVERFLOW,
                    &map, 0);
    shape.outputs = 32;
    config.runtime_env.tensormap = 16;
    advice_is_exact("tensormap-full", wide_task, &shape, config, SIMPLER_CODE_TENSORMAP_OVERFLOW,
                    &map, 0);
}

/* Ten thousand views stream through a map of 16. */
static void many_views_stream(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (uint32_t i = 0; i < 10000; i++)
        touch(orch, i % 256);
}

static void views_stream_through_a_small_map(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    config.runtime_env.tensormap = 16;
    assert_int_equal(run_with(many_views_stream, NULL, &config), 0);
    assert_true(result.stats.tensormap_peak <= 16);
    kit_set_window(&config, 4);
    kit_set_dep_pool(&config, 4);
    kit_set_heap(&config, 1024);
    assert_int_equal(run_with(many_views_stream, NULL, &config), 0);
}

KIT_FIXTURE(kit)

static void quiet(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scope_holds_its_window),
        cmocka_unit_test(a_full_scope_passes),
        cmocka_unit_test(advice_leads_to_the_end),
        cmocka_unit_test(scope_holds_its_heap),
        cmocka_unit_test(advice_passes_where_blocks_do_not_fit_the_end),
        cmocka_unit_test(outer_scope_holds_the_window),
        cmocka_unit_test(pool_holds_pending_edges),
        cmocka_unit_test(invalid_arguments),
        cmocka_unit_test(explicit_fatal),
        cmocka_unit_test(scope_record_is_full),
        cmocka_unit_test(map_holds_live_views),
        cmocka_unit_test(views_stream_through_a_small_map),
    };
    /* Each failure is provoked; its text is in the result. */
    simpler_log_set_callback(quiet, NULL);
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
