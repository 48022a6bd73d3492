/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short tasks before which nothing is unfinished pass through: no slot, no map
 * entry.  What must be the same nevertheless (SY-01): ids, the order behind an
 * unfinished task, what follows a failure; and that they do pass.
 */
#include <string.h>

#include "cm.h"
#include "kit.h"

#define TRAINING 500
#define MANY     20000

static struct kit kit;
static struct simpler_run_result result;
static uint64_t cells[64];

static struct simpler_tensor cell(uint32_t index)
{
    return kit_tensor(&cells[index], 1, SIMPLER_DTYPE_UINT64);
}

static int submit_cell(struct simpler_orch *orch, enum simpler_tensor_use use, uint32_t index,
                       kit_kernel fn, void *user, struct simpler_task_outputs *out)
{
    struct simpler_tensor tensor = cell(index);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add(&args, &tensor, use);
    return kit_submit(orch, &args, fn, user, out);
}

static int triple_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    uint64_t *value = simpler_kernel_data(args, tensors - 1);
    *value = *value * 3 + (uint64_t)(uintptr_t)user;
    return 0;
}

/* Until the kernels of one tensor are known to be short and all of these are done. */
static void train(struct simpler_orch *orch)
{
    uint64_t value;
    uint32_t index = 0;
    struct simpler_tensor tensor = cell(63);
    for (uint32_t i = 0; i < TRAINING; i++)
        submit_cell(orch, SIMPLER_USE_INOUT, 63, triple_kernel, NULL, NULL);
    simpler_orch_get_tensor_data(orch, &tensor, &index, &value);
    for (uint32_t i = 0; i < TRAINING; i++)
        submit_cell(orch, SIMPLER_USE_INOUT, 63, triple_kernel, NULL, NULL);
}

/* ---- they pass, and the last of them can be named ---- */

static void chains(struct simpler_orch *orch, void *user)
{
    struct simpler_task_outputs out;
    struct simpler_task_args args;
    uint64_t before = 0;
    (void)user;
    for (uint32_t i = 0; i < MANY; i++) {
        KIT_EXPECT_EQUAL(
            submit_cell(orch, SIMPLER_USE_INOUT, i % 7, triple_kernel, (void *)(uintptr_t)i, &out),
            0);
        KIT_EXPECT(i == 0 || out.id.raw == before + 1);
        KIT_EXPECT_EQUAL(out.count, 0);
        before = out.id.raw;
    }
    simpler_task_args_reset(&args);
    simpler_task_args_set_dependencies(&args, &out.id, 1);
    KIT_EXPECT_EQUAL(simpler_orch_submit_dummy(orch, &args, &out), 0);
    KIT_EXPECT(out.id.raw == before + 1);
}

static void short_tasks_leave_nothing_behind(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct simpler_call_config config = kit_config(threads);
        uint64_t expected[7] = {0};
        memset(cells, 0, sizeof(cells));
        assert_int_equal(kit_run(&kit, chains, NULL, &config, &result), 0);
        for (uint32_t i = 0; i < MANY; i++)
            expected[i % 7] = expected[i % 7] * 3 + i;
        assert_memory_equal(cells, expected, sizeof(expected));
        assert_int_equal(result.stats.tasks, MANY + 1);
        assert_int_equal(result.stats.tasks_run, MANY);
        assert_int_equal(result.stats.ring[0].tasks, MANY + 1);
        if (config.aicpu_thread_num != 1)
            continue;
        assert_int_equal(result.stats.ring[0].task_window_peak, 1);
        assert_int_equal(result.stats.tensormap_peak, 0);
        assert_int_equal(result.stats.edges, 0);
    }
}

/* ---- a task that is done as its submit ends had a slot ---- */

static void one_task(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    if (user != NULL)
        submit_cell(orch, SIMPLER_USE_INOUT, 0, triple_kernel, NULL, NULL);
    else
        KIT_EXPECT_EQUAL(simpler_orch_submit_dummy(orch, &args, NULL), 0);
}

static void one_task_is_a_peak_of_one(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 60; i++) {
        struct simpler_call_config config = kit_config(1 + i % 3);
        /* Under the check none passes through. */
        config.hazards = SIMPLER_HAZARDS_RAW;
        config.check_hazards = i / 3 % 2;
        assert_int_equal(kit_run(&kit, one_task, i % 4 < 2 ? cells : NULL, &config, &result), 0);
        assert_int_equal(result.stats.ring[0].tasks, 1);
        assert_int_equal(result.stats.ring[0].task_window_peak, 1);
    }
}

/* ---- behind an unfinished task ---- */

static struct kit_gate gate;

static int copy_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)tensors;
    (void)user;
    *(uint64_t *)simpler_kernel_data(args, 1) = *(uint64_t *)simpler_kernel_data(args, 0);
    return 0;
}

static int gated_store(const int64_t *args, uint32_t tensors, void *user)
{
    kit_gate_kernel(args, tensors, &gate);
    *(uint64_t *)simpler_kernel_data(args, 0) = (uint64_t)(uintptr_t)user;
    return 0;
}

/* Cell 0 is written behind the gate; cell 1 copies it, cell 2 has nothing to do with it. */
static void one_is_unfinished(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor from = cell(0), to = cell(1);
    struct simpler_task_args args;
    (void)user;
    train(orch);
    kit_gate_close(&gate);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &from);
    kit_submit_variant(orch, KIT_LONG, &args, gated_store, (void *)(uintptr_t)99, NULL);
    KIT_EXPECT(kit_gate_wait(&gate, 1));
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &from);
    simpler_task_args_add_output(&args, &to);
    kit_submit(orch, &args, copy_kernel, NULL, NULL);
    for (uint32_t i = 0; i < 200; i++)
        submit_cell(orch, SIMPLER_USE_INOUT, 2, triple_kernel, (void *)(uintptr_t)i, NULL);
    KIT_EXPECT_EQUAL(cells[1], 5);
    kit_gate_open(&gate);
    submit_cell(orch, SIMPLER_USE_INOUT, 1, triple_kernel, (void *)(uintptr_t)1, NULL);
}

static void a_short_task_waits_for_an_unfinished_one(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct simpler_call_config config = kit_config(2);
        uint64_t expected = 0;
        memset(cells, 0, sizeof(cells));
        cells[1] = 5;
        assert_int_equal(kit_run(&kit, one_is_unfinished, NULL, &config, &result), 0);
        assert_int_equal(cells[1], 99 * 3 + 1);
        for (uint32_t k = 0; k < 200; k++)
            expected = expected * 3 + k;
        assert_int_equal(cells[2], expected);
    }
}

/* ---- a failure ---- */

static int fail_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    return 7;
}

static void one_fails_as_it_passes(struct simpler_orch *orch, void *user)
{
    struct simpler_task_outputs out;
    struct simpler_task_args args;
    struct simpler_tensor tensor = cell(1);
    train(orch);
    submit_cell(orch, SIMPLER_USE_INOUT, 0, fail_kernel, NULL, &out);
    /* On a ring of its own, where nothing is before it. */
    SIMPLER_SCOPE(orch)
    submit_cell(orch, SIMPLER_USE_INPUT, 0, kit_count_kernel, user, NULL);
    submit_cell(orch, SIMPLER_USE_INPUT, 0, kit_count_kernel, user, NULL);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    simpler_task_args_set_dependencies(&args, &out.id, 1);
    kit_submit(orch, &args, kit_count_kernel, user, NULL);
    for (uint32_t i = 0; i < 200; i++)
        submit_cell(orch, SIMPLER_USE_INOUT, 2, triple_kernel, (void *)(uintptr_t)i, NULL);
    submit_cell(orch, SIMPLER_USE_INPUT, 1, kit_count_kernel, user, NULL);
    submit_cell(orch, SIMPLER_USE_INPUT, 0, kit_count_kernel, user, NULL);
}

static void a_failure_reaches_what_depends_on_it(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        static _Atomic int count;
        struct simpler_call_config config = kit_config(threads);
        atomic_store(&count, 0);
        memset(cells, 0, sizeof(cells));
        assert_int_equal(kit_run(&kit, one_fails_as_it_passes, (void *)&count, &config, &result),
                         SIMPLER_EKERNEL);
        assert_int_equal(atomic_load(&count), 0);
        assert_int_equal(result.stats.tasks_failed, 1);
        assert_int_equal(result.stats.tasks_poisoned, 5);
        assert_int_equal(result.stats.tasks_run, 2 * TRAINING + 200);
    }
}

/* ---- after a scope that held its ring ---- */

static void scopes(struct simpler_orch *orch, void *user)
{
    struct simpler_create_info info = kit_info(8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_outputs out;
    struct simpler_task_args args;
    (void)user;
    for (uint32_t i = 0; i < 2000; i++) {
        SIMPLER_SCOPE(orch)
        {
            simpler_task_args_reset(&args);
            simpler_task_args_add_create(&args, &info);
            kit_submit(orch, &args, triple_kernel, NULL, &out);
            submit_cell(orch, SIMPLER_USE_INOUT, 3, triple_kernel, (void *)(uintptr_t)i, NULL);
        }
        SIMPLER_SCOPE(orch)
        submit_cell(orch, SIMPLER_USE_INOUT, 3, triple_kernel, (void *)(uintptr_t)i, NULL);
        submit_cell(orch, SIMPLER_USE_INOUT, 3, triple_kernel, (void *)(uintptr_t)i, NULL);
    }
}

static void held_and_free_rings_take_turns(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct simpler_call_config config = kit_config(threads);
        uint64_t expected = 0;
        kit_set_window(&config, 4);
        kit_set_heap(&config, 1024);
        config.runtime_env.tensormap = 16;
        memset(cells, 0, sizeof(cells));
        assert_int_equal(kit_run(&kit, scopes, NULL, &config, &result), 0);
        for (uint32_t i = 0; i < 2000 * 3; i++)
            expected = expected * 3 + i / 3;
        assert_int_equal(cells[3], expected);
    }
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_tasks_leave_nothing_behind),
        cmocka_unit_test(one_task_is_a_peak_of_one),
        cmocka_unit_test(a_short_task_waits_for_an_unfinished_one),
        cmocka_unit_test(a_failure_reaches_what_depends_on_it),
        cmocka_unit_test(held_and_free_rings_take_turns),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
