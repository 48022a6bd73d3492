/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each size that may be too small (codes 1 to 4, 10, 11); the code's report; and the value
 * that the report advises: a run with it passes, one with the next lower legal value fails
 * with the same code (SY-01, SY-05, SY-06).
 */
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "code_rig.h"
#include "faults.h"
#include "kit.h"
#include "simpler/log.h"

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

static void advice_is_exact(const char *fault, kit_orch fn, void *user,
                            struct simpler_call_config config, int code, const struct knob *knob,
                            uint32_t ring)
{
    uint32_t advised_ring = 99;
    uint64_t value = 0;
    int first = code_rig_run(&kit, fn, user, &config, &result);
    code_rig_check_report(&result, code, 3);
    if (!find_advice(result.message, knob->name, &advised_ring, &value))
        fail_msg("no advice on %s in: %s", knob->name, result.message);
    if (knob != &map)
        assert_int_equal(advised_ring, ring);
    code_rig_next_run_is_right(&kit);
    uint64_t *entry = knob->entry(&config.runtime_env, ring);
    assert_true(value > *entry);
    *entry = value;
    int advised = code_rig_run(&kit, fn, user, &config, &result);
    if (advised != 0)
        fail_msg("the advised %s = %llu fails: %s", knob->name, (unsigned long long)value,
                 result.message);
    *entry = knob->lower(value);
    if (code_rig_run(&kit, fn, user, &config, &result) == 0)
        fail_msg("%s = %llu is enough, %llu was advised", knob->name, (unsigned long long)*entry,
                 (unsigned long long)value);
    code_rig_check_report(&result, code, 3);
    int lower = result.status;
    code_rig_next_run_is_right(&kit);
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
        code_rig_touch(orch, cells[i % 256]);
    for (uint32_t i = 0; i < shape->outputs; i++)
        create(orch, shape->bytes);
    for (uint32_t i = 0; i < shape->after; i++)
        code_rig_touch(orch, cells[i % 256]);
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
            assert_int_equal(code_rig_run(&kit, outputs_in_a_scope, &shape, &config, &result), 0);
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
    while (code_rig_run(&kit, outputs_in_a_scope, &shape, &config, &result) != 0 && runs++ < 10) {
        uint32_t ring = 0;
        uint64_t value = 0;
        code_rig_check_report(&result, SIMPLER_CODE_SCOPE_DEADLOCK, 3);
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
        while (code_rig_run(&kit, odd_blocks, &shape, &config, &result) != 0 && runs++ < 8) {
            code_rig_check_report(&result, SIMPLER_CODE_HEAP_RING_DEADLOCK, 3);
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
        code_rig_touch(orch, cells[i % 256]);
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
        assert_int_equal(code_rig_run(&kit, many_pending_producers, &shape, &config, &result), 0);
        assert_int_equal(result.stats.ring[1].dep_pool_peak, producers[i]);
    }
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
    code_rig_run(&kit, outputs_in_a_scope, &shape, &config, &result);
    simpler_testpoint_set(NULL, NULL);
    code_rig_check_report(&result, SIMPLER_CODE_SCOPE_TASKS_OVERFLOW, 2);
    code_rig_next_run_is_right(&kit);
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
            code_rig_touch(orch, cells[i]);
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
        code_rig_touch(orch, cells[i % 256]);
}

static void views_stream_through_a_small_map(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    config.runtime_env.tensormap = 16;
    assert_int_equal(code_rig_run(&kit, many_views_stream, NULL, &config, &result), 0);
    assert_true(result.stats.tensormap_peak <= 16);
    kit_set_window(&config, 4);
    kit_set_dep_pool(&config, 4);
    kit_set_heap(&config, 1024);
    assert_int_equal(code_rig_run(&kit, many_views_stream, NULL, &config, &result), 0);
}

KIT_FIXTURE(kit)

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
        cmocka_unit_test(scope_record_is_full),
        cmocka_unit_test(map_holds_live_views),
        cmocka_unit_test(views_stream_through_a_small_map),
    };
    /* Each failure is provoked; its text is in the result. */
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
