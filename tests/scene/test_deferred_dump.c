/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an args dump says of a deferred task (SY-05): its outputs when its conditions have held,
 * and none when the run was stopped before that.
 * runtimes: all
 */
#include <stdatomic.h>
#include <string.h>

#include "cm.h"
#include "dump_rig.h"
#include "report/dump_manifest.h"

enum form { PLAIN, OUTPUT, BLOCKS, MIXED, FORMS };
/* By what the run is ended, while the counters are raised or not. */
enum end { CANCEL, CODE, ENDS };

static struct kit kit;
static struct plan {
    enum form form;
    enum end end;
    uint32_t conditions, raised;
} plan;
static struct simpler_async_counter counters[2];
static _Atomic uint32_t entered; /* kernels of the deferred task */
static const uint32_t kernels[FORMS] = {[PLAIN] = 1, [OUTPUT] = 1, [BLOCKS] = 4, [MIXED] = 3};
static int32_t first[DUMP_CELLS], second[DUMP_CELLS];

static int defer(const int64_t *args, uint32_t tensors, void *user)
{
    int rc = 0;

    (void)tensors;
    (void)user;
    if (simpler_kernel_block_idx(args) == simpler_kernel_block_num(args) - 1 &&
        (plan.form != MIXED || simpler_kernel_lane(args) == 0)) {
        for (uint32_t i = 0; i < plan.conditions && rc == 0; i++) {
            struct simpler_async_condition condition = {SIMPLER_ASYNC_EVENT, 0, &counters[i], 0};
            rc = simpler_kernel_defer(args, &condition);
        }
    }
    atomic_fetch_add(&entered, 1);
    return rc;
}

/* Another task; the counters that are raised are so before the run is to stop. */
static int stop(const int64_t *args, uint32_t tensors, void *user)
{
    struct simpler_async_condition none = {SIMPLER_ASYNC_EVENT, 0, NULL, 0};
    uint64_t end = kit_now_ns() + UINT64_C(5000000000);

    (void)tensors;
    (void)user;
    while (atomic_load(&entered) != kernels[plan.form] && kit_now_ns() < end)
        kit_sleep_ns(100000);
    for (uint32_t i = 0; i < plan.raised; i++)
        simpler_async_counter_add(&counters[i], 1);
    if (plan.end == CANCEL)
        simpler_worker_cancel(kit.worker);
    else
        (void)simpler_kernel_defer(args, &none); /* code 101 */
    return 0;
}

static void submit_deferred(struct simpler_orch *orch)
{
    struct simpler_tensor t = kit_tensor(first, DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_create_info info = kit_info(DUMP_CELLS, SIMPLER_DTYPE_INT32);
    const int32_t tensors = 1;
    struct simpler_mixed_kernels mixed = {tensors + (int32_t)(KIT_VARIANT * KIT_AIV_VARIANTS),
                                          tensors + (int32_t)KIT_VARIANT, tensors};
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    if (plan.form == OUTPUT)
        simpler_task_args_add_create(&args, &info);
    if (plan.form == BLOCKS)
        simpler_task_args_set_block_num(&args, 4);
    kit_add_call(&args, defer, NULL);
    if (plan.form == MIXED)
        KIT_EXPECT_EQUAL(simpler_orch_submit_mixed(orch, &mixed, &args, NULL), 0);
    else
        KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, args.tensor_count, &args, NULL), 0);
}

static void graph(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor other = kit_tensor(second, DUMP_CELLS, SIMPLER_DTYPE_INT32);
    struct simpler_task_args args;

    (void)user;
    submit_deferred(orch);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &other);
    (void)kit_submit_variant(orch, KIT_LONG, &args, stop, NULL, NULL);
}

/* Tensor entries of the deferred task, the first one, by stage. */
static void count_entries(uint32_t count[2])
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    char path[256];

    count[0] = count[1] = 0;
    dump_path(path, sizeof(path), "args_dump.json");
    assert_int_equal(simpler_dump_manifest_open(path, &m), 0);
    while (simpler_dump_manifest_next(m, &e) > 0) {
        if (e.kind != SIMPLER_DUMP_SCALAR && e.task_id == 0)
            count[e.stage == SIMPLER_DUMP_AFTER]++;
    }
    assert_string_equal(simpler_dump_manifest_error(m), "");
    simpler_dump_manifest_close(m);
}

static void try_plan(void)
{
    int status = plan.end == CANCEL ? SIMPLER_ECANCELED : -SIMPLER_CODE_ASYNC_COMPLETION_INVALID;
    uint32_t count[2];

    memset(counters, 0, sizeof(counters));
    atomic_store(&entered, 0);
    assert_int_equal(dump_run(&kit, graph, NULL, dump_prefix, 2), status);
    assert_int_equal(dump_result.args_dump.status, 0);
    count_entries(count);
    assert_int_equal(count[0], 1);
    if (plan.raised < plan.conditions)
        assert_int_equal(count[1], 0);
    else
        assert_int_equal(count[1], plan.form == OUTPUT ? 2 : 1);
}

static void a_stop_leaves_no_outputs_of_what_is_held(void **state)
{
    (void)state;
    kit_open(&kit);
    for (int form = 0; form < FORMS; form++) {
        for (int end = 0; end < ENDS; end++) {
            for (uint32_t conditions = 1; conditions <= 2; conditions++) {
                for (uint32_t raised = 0; raised <= conditions; raised++) {
                    plan = (struct plan){(enum form)form, (enum end)end, conditions, raised};
                    try_plan();
                }
            }
        }
    }
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DUMP_TEST(a_stop_leaves_no_outputs_of_what_is_held),
    };

    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
