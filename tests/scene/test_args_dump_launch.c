/* SPDX-License-Identifier: Apache-2.0 */
// ctest: TIMEOUT 240
/*
 * What an args dump says of a task's outputs is what its last kernel left, on whatever
 * thread that ran: plain tasks, blocks, mixed tasks and sync_start cohorts in one chain,
 * kernels inline and on core threads, kernels that end at different times and such
 * that write around the cache.  The fence behind a kernel depends on the flag in its
 * thread's copy of the handshake alone (AD-18).
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cm.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "dump_rig.h"
#include "simpler/log.h"

#define TASKS 60

/* A way to run a task of one tensor. */
struct form {
    int32_t blocks;
    uint32_t lanes; /* 1: AIV alone */
    bool sync_start;
};
static const struct form forms[] = {{1, 1, false}, {16, 1, false}, {1, 3, false},
                                    {4, 3, false}, {2, 2, false},  {2, 1, true},
                                    {2, 3, true},  {1, 2, false},  {64, 1, false}};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static void put(int32_t *cell, int32_t value)
{
#if defined(__SSE2__)
    _mm_stream_si32(cell, value);
#else
    *cell = value;
#endif
}

/* Adds one to its part of the cells; the last block is the slowest. */
static int increment_part(const int64_t *args, uint32_t tensors, void *user)
{
    const struct form *form = user;
    int32_t *cells = simpler_kernel_data(args, 0);
    uint32_t kernels = (uint32_t)form->blocks * form->lanes;
    uint32_t lane = simpler_kernel_lane(args) % form->lanes;
    uint32_t k = (uint32_t)simpler_kernel_block_idx(args) * form->lanes + lane;

    (void)tensors;
    KIT_EXPECT(kernels <= DUMP_CELLS && k < kernels);
    kit_spin_ns(k * 500);
    for (uint32_t i = k * DUMP_CELLS / kernels; i < (k + 1) * DUMP_CELLS / kernels; i++)
        put(&cells[i], cells[i] + 1);
    return 0;
}

static int submit_form(struct simpler_orch *orch, struct simpler_task_args *args,
                       const struct form *form)
{
    static const int32_t aiv = 1, aic = 1 + KIT_VARIANT * KIT_AIV_VARIANTS;
    static const struct simpler_mixed_kernels two = {aic, aiv, -1}, three = {aic, aiv, aiv};

    kit_add_call(args, increment_part, (void *)(uintptr_t)form);
    simpler_task_args_set_block_num(args, form->blocks);
    simpler_task_args_set_require_sync_start(args, form->sync_start);
    if (form->lanes == 1)
        return simpler_orch_submit_aiv(orch, (uint32_t)aiv, args, NULL);
    return simpler_orch_submit_mixed(orch, form->lanes == 2 ? &two : &three, args, NULL);
}

static void graph(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(user, DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_task_args args;

    for (uint32_t i = 0; i < TASKS; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &t);
        KIT_EXPECT_EQUAL(submit_form(orch, &args, &forms[i % FORMS]), 0);
    }
}

static int run(struct kit *kit, int32_t *cells, uint32_t threads, uint32_t exec, uint32_t level)
{
    struct simpler_call_config config = kit_config(threads);

    memset(cells, 0, DUMP_CELLS * sizeof(*cells));
    config.exec = exec;
    config.enable_dump_args = level;
    config.output_prefix = dump_prefix;
    return kit_run(kit, graph, cells, &config, &dump_result);
}

static void outputs_are_what_the_last_kernel_left(void **state)
{
    static int32_t cells[DUMP_CELLS];
    struct kit kit;
    uint32_t truncated;

    (void)state;
    dump_open_small(&kit);
    for (uint32_t threads = 1; threads <= 4; threads++) {
        for (uint32_t exec = SIMPLER_EXEC_INLINE; exec <= SIMPLER_EXEC_THREADS; exec++) {
            assert_int_equal(run(&kit, cells, threads, exec, 2), 0);
            for (uint32_t i = 0; i < DUMP_CELLS; i++)
                assert_int_equal(cells[i], TASKS);
            assert_int_equal(dump_result.args_dump.status, 0);
            assert_int_equal(dump_result.args_dump.records, TASKS * 4);
            dump_check_chain(&truncated);
            assert_int_equal(truncated, 0);
        }
    }
    kit_close(&kit);
}

#if defined(SIMPLER_DEBUG)
static uint32_t kernels_of_a_run(void)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < TASKS; i++)
        n += (uint32_t)forms[i % FORMS].blocks * forms[i % FORMS].lanes;
    return n;
}

static uint64_t barriers_of(struct kit *kit, uint32_t exec, uint32_t level)
{
    static int32_t cells[DUMP_CELLS];

    simpler_testpoint_reset_hits();
    assert_int_equal(run(kit, cells, 3, exec, level), 0);
    assert_int_equal(cells[0], TASKS);
    return simpler_testpoint_hits(SIMPLER_TESTPOINT_DUMP_BARRIER);
}

/* One behind each kernel while the dump is on; none without it, and none without the flag. */
static void the_fence_is_gated(void **state)
{
    struct kit kit;

    (void)state;
    dump_open_small(&kit);
    for (uint32_t exec = SIMPLER_EXEC_INLINE; exec <= SIMPLER_EXEC_THREADS; exec++) {
        uint32_t kernels = kernels_of_a_run();
        assert_int_equal(barriers_of(&kit, exec, 0), 0);
        assert_int_equal(barriers_of(&kit, exec, 3), kernels);
        assert_int_equal(barriers_of(&kit, exec, 1), kernels);
        dump_fail_from(SIMPLER_TESTPOINT_DUMP_CLEAR_HANDSHAKE, 0);
        assert_int_equal(barriers_of(&kit, exec, 2), 0);
        assert_int_equal(dump_result.args_dump.records, TASKS * 4);
        simpler_testpoint_set(NULL, NULL);
        assert_int_equal(barriers_of(&kit, exec, 2), kernels);
        assert_int_equal(barriers_of(&kit, exec, 0), 0);
    }
    kit_close(&kit);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        DUMP_TEST(outputs_are_what_the_last_kernel_left),
#if defined(SIMPLER_DEBUG)
        DUMP_TEST(the_fence_is_gated),
#endif
    };
    simpler_log_set_level(SIMPLER_LOG_WARN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
