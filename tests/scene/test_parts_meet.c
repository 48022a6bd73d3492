/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SY-02: what parts of a run on host_build_graph do to each other: one goes along tracks, one is
 * cut anew, one ends meanwhile, one holds a thread for long.
 */
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "kit.h"

static struct kit kit;
static struct simpler_run_result result;
static uint64_t acell[16], bcell[2], ucell[4];
static struct simpler_async_counter counter;
static _Atomic uint32_t b2_started, registered, c_ran, a_ran, u_started;
static _Atomic uint64_t c_at, b_at;

#if defined(SIMPLER_DEBUG)
static bool force(void *user, enum simpler_testpoint point)
{
    (void)user;
    return point == SIMPLER_TESTPOINT_PLAN_TRACKS;
}

#endif

static void wait_for(_Atomic uint32_t *flag)
{
    uint64_t end = kit_now_ns() + UINT64_C(3000000000);
    while (atomic_load(flag) == 0 && kit_now_ns() < end)
        kit_sleep_ns(10000);
}

static int a0(const int64_t *args, uint32_t tensors, void *user)
{
    struct simpler_async_condition condition = {SIMPLER_ASYNC_EVENT, 0, &counter, 0};
    (void)tensors;
    (void)user;
    wait_for(&b2_started);
    int rc = simpler_kernel_defer(args, &condition);
    atomic_store(&registered, 1);
    return rc;
}
static int a(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    atomic_fetch_add(&a_ran, 1);
    return 0;
}
static int b1(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    return 0;
}
static int b2(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    atomic_store(&b2_started, 1);
    wait_for(&registered);
    return 0;
}
static int c(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    atomic_fetch_add(&c_ran, 1);
    kit_sleep_ns(2000000);
    simpler_async_counter_add(&counter, 1);
    return 0;
}

static struct simpler_tensor cell(const struct simpler_tensor *all, uint32_t i)
{
    return kit_cell(all, i);
}
static void add(struct simpler_orch *orch, const struct simpler_tensor *all, uint32_t out, int in,
                kit_kernel fn)
{
    struct simpler_task_args args;
    struct simpler_tensor o = cell(all, out), i = cell(all, in >= 0 ? (uint32_t)in : 0);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &o);
    if (in >= 0)
        simpler_task_args_add_input(&args, &i);
    kit_add_call(&args, fn, NULL);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, in >= 0 ? 2 : 1, &args, NULL), 0);
}
static void graph_a(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    add(orch, &g->tensor[0], 0, -1, a0);
    for (uint32_t i = 1; i < 9; i++)
        add(orch, &g->tensor[0], i, 0, a);
}
static void graph_b(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    add(orch, &g->tensor[0], 0, -1, b1);
    add(orch, &g->tensor[0], 1, 0, b2);
}
static void call(struct simpler_orch *orch, simpler_graph_fn fn, struct simpler_tensor *t)
{
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, t);
    KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, fn, &args, NULL, 0), 0);
}
static void handed(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor ta = kit_tensor(acell, 16, SIMPLER_DTYPE_UINT64);
    struct simpler_tensor tb = kit_tensor(bcell, 2, SIMPLER_DTYPE_UINT64);
    (void)user;
    call(orch, graph_a, &ta);
    call(orch, graph_b, &tb);
    add(orch, &tb, 1, -1, c);
}

/* Part A defers in its first task and is cut anew while B's last task ends: its consumer runs once.
 */
static void what_ends_during_a_cut_is_not_lost(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct simpler_call_config config = kit_config(2);
        kit_open(&kit);
        config.runtime = "host_build_graph";
        atomic_store(&b2_started, 0);
        atomic_store(&registered, 0);
        atomic_store(&c_ran, 0);
        atomic_store(&a_ran, 0);
        memset(&counter, 0, sizeof(counter));
#if defined(SIMPLER_DEBUG)
        simpler_testpoint_set(force, NULL);
#endif
        int rc = kit_run(&kit, handed, NULL, &config, &result);
        simpler_testpoint_set(NULL, NULL);
        if (rc != 0)
            fail_msg("%s", result.message);
        assert_int_equal(atomic_load(&c_ran), 1);
        assert_int_equal(atomic_load(&a_ran), 8);
        kit_close(&kit);
    }
}

static int quick_b(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    wait_for(&u_started);
    atomic_store(&b_at, kit_now_ns());
    return 0;
}
static int quick_c(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    atomic_store(&c_at, kit_now_ns());
    return 0;
}
static int long_u(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    atomic_fetch_add(&u_started, 1);
    kit_sleep_ns(300000000);
    return 0;
}
static void graph_q(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    add(orch, &g->tensor[0], 0, -1, quick_b);
    add(orch, &g->tensor[0], 1, 0, quick_b);
}
static void behind(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor tb = kit_tensor(bcell, 2, SIMPLER_DTYPE_UINT64);
    struct simpler_tensor tu = kit_tensor(ucell, 4, SIMPLER_DTYPE_UINT64);
    (void)user;
    call(orch, graph_q, &tb);
    add(orch, &tb, 1, -1, quick_c);
    for (uint32_t i = 0; i < 3; i++)
        add(orch, &tu, i, -1, long_u);
}
/* Kernels of 300 ms that nothing depends on are on the way; the call's consumer has its turn at
 * once. */
static void a_part_that_is_done_waits_for_no_other(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct simpler_call_config config = kit_config(2);
        kit_open(&kit);
        config.runtime = "host_build_graph";
        atomic_store(&u_started, 0);
#if defined(SIMPLER_DEBUG)
        simpler_testpoint_set(i == 1 ? force : NULL, NULL);
#endif
        assert_int_equal(kit_run(&kit, behind, NULL, &config, &result), 0);
        simpler_testpoint_set(NULL, NULL);
        assert_true(atomic_load(&c_at) < atomic_load(&b_at) + 150000000);
        kit_close(&kit);
    }
}

#if defined(SIMPLER_DEBUG)
/* ---- blocks ---- */

static _Atomic uint32_t blocks_begun, blocks_late;

/* Until c_ran, which needs the thread that has ended Q. */
static int hold_a(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    wait_for(&c_ran);
    return 0;
}
static int end_q(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    wait_for(&blocks_begun);
    return 0;
}
static int block_u(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    atomic_store(&blocks_begun, 1);
    wait_for(&c_ran);
    if (atomic_load(&c_ran) == 0)
        atomic_store(&blocks_late, 1);
    return 0;
}
static int after_q(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    atomic_store(&c_ran, 1);
    return 0;
}
static void graph_p(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    add(orch, &g->tensor[0], 0, -1, hold_a);
    for (uint32_t i = 1; i < 16; i++)
        add(orch, &g->tensor[0], i, 0, a);
}
static void graph_e(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    add(orch, &g->tensor[0], 0, -1, b1);
    add(orch, &g->tensor[0], 1, 0, end_q);
}
static void beside_blocks(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor tp = kit_tensor(acell, 16, SIMPLER_DTYPE_UINT64);
    struct simpler_tensor tq = kit_tensor(bcell, 2, SIMPLER_DTYPE_UINT64);
    struct simpler_tensor tu = kit_tensor(ucell, 4, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    (void)user;
    call(orch, graph_p, &tp);
    call(orch, graph_e, &tq);
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tu);
    simpler_task_args_set_block_num(&args, 4);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, block_u, NULL, NULL), 0);
    add(orch, &tq, 1, -1, after_q);
}
/*
 * P goes along tracks, and all of them wait for its first task.  The thread that ends Q meanwhile
 * has more to do of P, so it could owe the count of Q; but there are blocks to help with, in which
 * it would stay: Q's consumer has its turn before.
 */
static void who_helps_with_blocks_owes_nothing(void **state)
{
    (void)state;
    if (kit_threads(3) != 3)
        skip();
    for (int i = 0; i < 20; i++) {
        struct simpler_call_config config = kit_config(3);
        kit_open(&kit);
        config.runtime = "host_build_graph";
        atomic_store(&c_ran, 0);
        atomic_store(&blocks_begun, 0);
        atomic_store(&blocks_late, 0);
        simpler_testpoint_set(force, NULL);
        int rc = kit_run(&kit, beside_blocks, NULL, &config, &result);
        simpler_testpoint_set(NULL, NULL);
        if (rc != 0)
            fail_msg("%s", result.message);
        assert_int_equal(atomic_load(&blocks_late), 0);
        kit_close(&kit);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ends_during_a_cut_is_not_lost),
        cmocka_unit_test(a_part_that_is_done_waits_for_no_other),
#if defined(SIMPLER_DEBUG)
        cmocka_unit_test(who_helps_with_blocks_owes_nothing),
#endif
    };

    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
