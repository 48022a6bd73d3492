/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes: all
 * Calls of an orchestration inside a run with what a hostile caller gives: each is refused
 * with code 5, or without harm to the run; nothing of the arguments is followed.
 */
#include <limits.h>
#include <string.h>

#include "cm.h"
#include "faults.h"
#include "kit.h"
#include "simpler/log.h"

static void no_tasks(struct simpler_orch *orch, const struct simpler_graph_args *args)
{
    (void)orch;
    (void)args;
}

static int32_t cell[4];

/* What a call has at hand; @out must have no tensors when it has been refused. */
struct hostile {
    struct simpler_task_args args, garbage;
    struct simpler_task_outputs out;
    struct simpler_create_info infos[SIMPLER_MAX_TENSORS + 1];
    struct simpler_tensor tensor;
};

/* ---- calls that are refused with code 5; each returns its status ---- */

static int submit_nothing(struct simpler_orch *orch, struct hostile *h)
{
    return simpler_orch_submit_aiv(orch, 0, NULL, &h->out);
}

static int submit_no_kernel(struct simpler_orch *orch, struct hostile *h)
{
    return simpler_orch_submit_aic(orch, UINT32_MAX, &h->args, &h->out);
}

static int submit_garbage(struct simpler_orch *orch, struct hostile *h)
{
    return simpler_orch_submit_aiv(orch, 0, &h->garbage, &h->out);
}

static int submit_dummy_of_nothing(struct simpler_orch *orch, struct hostile *h)
{
    return simpler_orch_submit_dummy(orch, NULL, &h->out);
}

static int submit_dummy_of_garbage(struct simpler_orch *orch, struct hostile *h)
{
    return simpler_orch_submit_dummy(orch, &h->garbage, &h->out);
}

static int submit_mixed_without_kernels(struct simpler_orch *orch, struct hostile *h)
{
    return simpler_orch_submit_mixed(orch, NULL, &h->args, &h->out);
}

static int submit_mixed_of_no_kernel(struct simpler_orch *orch, struct hostile *h)
{
    struct simpler_mixed_kernels none = {-1, -1, -1};

    return simpler_orch_submit_mixed(orch, &none, &h->args, &h->out);
}

static int submit_mixed_of_wild_kernels(struct simpler_orch *orch, struct hostile *h)
{
    struct simpler_mixed_kernels far = {INT_MAX, INT_MIN, 1 << 16};

    return simpler_orch_submit_mixed(orch, &far, &h->args, &h->out);
}

static int depend_on_nobody(struct simpler_orch *orch, struct hostile *h)
{
    struct simpler_task_id nobody[] = {{SIMPLER_TASK_ID_NONE}, {0}};
    uint8_t kinds[] = {255, 255};

    simpler_task_args_set_dependencies_with_kinds(&h->args, nobody, kinds, 2);
    return simpler_orch_submit_dummy(orch, &h->args, &h->out);
}

static int add_a_wild_tensor(struct simpler_orch *orch, struct hostile *h)
{
    memset(&h->tensor, 0xff, sizeof(h->tensor));
    simpler_task_args_add_inout(&h->args, &h->tensor);
    return simpler_orch_submit_dummy(orch, &h->args, &h->out);
}

static int create_a_wild_tensor(struct simpler_orch *orch, struct hostile *h)
{
    simpler_task_args_add_create(&h->args, memset(h->infos, 0xff, sizeof(h->infos)));
    return simpler_orch_submit_dummy(orch, &h->args, &h->out);
}

static int alloc_nothing(struct simpler_orch *orch, struct hostile *h)
{
    return simpler_orch_alloc_tensors(orch, NULL, 1, &h->out);
}

static int alloc_none(struct simpler_orch *orch, struct hostile *h)
{
    return simpler_orch_alloc_tensors(orch, h->infos, 0, &h->out);
}

static int alloc_too_many(struct simpler_orch *orch, struct hostile *h)
{
    return simpler_orch_alloc_tensors(orch, h->infos, SIMPLER_MAX_TENSORS + 1, &h->out);
}

static int alloc_for_nobody(struct simpler_orch *orch, struct hostile *h)
{
    h->out.count = 0;
    return simpler_orch_alloc_tensors(orch, h->infos, 1, NULL);
}

static int alloc_wild_tensors(struct simpler_orch *orch, struct hostile *h)
{
    memset(h->infos, 0xff, sizeof(h->infos));
    return simpler_orch_alloc_tensors(orch, h->infos, 2, &h->out);
}

static int graph_without_function(struct simpler_orch *orch, struct hostile *h)
{
    h->out.count = 0;
    return simpler_orch_submit_graph(orch, NULL, &h->args, NULL, 0);
}

static int graph_without_arguments(struct simpler_orch *orch, struct hostile *h)
{
    h->out.count = 0;
    return simpler_orch_submit_graph(orch, no_tasks, NULL, NULL, 0);
}

static int graph_with_a_wild_size(struct simpler_orch *orch, struct hostile *h)
{
    h->out.count = 0;
    return simpler_orch_submit_graph(orch, no_tasks, &h->args, NULL, SIZE_MAX);
}

static int graph_with_garbage(struct simpler_orch *orch, struct hostile *h)
{
    h->out.count = 0;
    return simpler_orch_submit_graph(orch, no_tasks, &h->garbage, NULL, 0);
}

static int info_for_no_core(struct simpler_orch *orch, struct hostile *h)
{
    return simpler_orch_add_task_with_tensor_info(orch, 7, 0, &h->args, NULL, 0, &h->out);
}

static int info_without_arguments(struct simpler_orch *orch, struct hostile *h)
{
    return simpler_orch_add_task_with_tensor_info(orch, 1, 0, NULL, &h->tensor, 1, &h->out);
}

static int info_with_garbage(struct simpler_orch *orch, struct hostile *h)
{
    return simpler_orch_add_task_with_tensor_info(orch, 0, 0, &h->garbage, &h->tensor, 1, &h->out);
}

static int end_the_root_scope(struct simpler_orch *orch, struct hostile *h)
{
    h->out.count = 0;
    return simpler_orch_scope_end(orch);
}

static int (*const hostile_calls[])(struct simpler_orch *orch, struct hostile *h) = {
    submit_nothing,
    submit_no_kernel,
    submit_garbage,
    submit_dummy_of_nothing,
    submit_dummy_of_garbage,
    submit_mixed_without_kernels,
    submit_mixed_of_no_kernel,
    submit_mixed_of_wild_kernels,
    depend_on_nobody,
    add_a_wild_tensor,
    create_a_wild_tensor,
    alloc_nothing,
    alloc_none,
    alloc_too_many,
    alloc_for_nobody,
    alloc_wild_tensors,
    graph_without_function,
    graph_without_arguments,
    graph_with_a_wild_size,
    graph_with_garbage,
    info_for_no_core,
    info_without_arguments,
    info_with_garbage,
    end_the_root_scope,
};
#define HOSTILE_CALLS (int)(sizeof(hostile_calls) / sizeof(hostile_calls[0]))

/* The call whose number *@user is; nothing behind the last one. */
static void hostile_call(struct simpler_orch *orch, void *user)
{
    static struct hostile hostile;
    int number = *(const int *)user;

    if (number == HOSTILE_CALLS)
        return;
    memset(&hostile, 0, sizeof(hostile));
    hostile.tensor = kit_tensor(cell, 4, SIMPLER_DTYPE_INT32);
    simpler_task_args_reset(&hostile.args);
    for (uint32_t i = 0; i <= SIMPLER_MAX_TENSORS; i++)
        hostile.infos[i] = kit_info(4, SIMPLER_DTYPE_INT32);
    hostile.garbage.tensor_count = 0x41414141;
    hostile.garbage.scalar_count = 0x41414141;
    memset(&hostile.out, 7, sizeof(hostile.out));
    KIT_EXPECT_EQUAL(hostile_calls[number](orch, &hostile), -SIMPLER_CODE_INVALID_ARGS);
    KIT_EXPECT_EQUAL(hostile.out.count, 0);
    KIT_EXPECT(simpler_orch_is_fatal(orch));
}

static void hostile_arguments_of_a_submit_are_code_5(void **state)
{
    struct simpler_call_config config = kit_config(2);
    struct simpler_run_result result;
    struct kit kit;

    (void)state;
    kit_open(&kit);
    for (int i = 0; i < HOSTILE_CALLS; i++) {
        assert_int_equal(kit_run(&kit, hostile_call, &i, &config, &result),
                         -SIMPLER_CODE_INVALID_ARGS);
        assert_true(result.message[0] != '\0');
        fault_saw("hostile-argument", "status=%s", simpler_status_name(result.status));
    }
    kit_pass(&kit, hostile_call, &(int){HOSTILE_CALLS});
    kit_close(&kit);
}

/* After a heap that is too small the rest of the orchestration is counted, whatever it submits. */
static void hostile_after_overflow(struct simpler_orch *orch, void *user)
{
    static struct simpler_task_args garbage;
    struct simpler_create_info info = kit_info(1000, SIMPLER_DTYPE_INT32);
    struct simpler_task_outputs out;
    int status = 0;

    (void)user;
    garbage.tensor_count = 0x41414141;
    garbage.scalar_count = 0x41414141;
    for (int i = 0; i < 4 && status == 0; i++)
        status = simpler_orch_alloc_tensors(orch, &info, 1, &out);
    KIT_EXPECT_EQUAL(status, -SIMPLER_CODE_HEAP_RING_DEADLOCK);
    KIT_EXPECT_EQUAL(simpler_orch_submit_dummy(orch, &garbage, NULL), status);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, 0, &garbage, NULL), status);
    KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, no_tasks, &garbage, NULL, 0), status);
    KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, NULL, NULL, NULL, 0), status);
}

static void garbage_is_not_counted_after_an_overflow(void **state)
{
    struct simpler_run_result result;
    struct simpler_call_config config = kit_config(2);
    struct kit kit;

    (void)state;
    kit_open(&kit);
    kit_set_heap(&config, 8192);
    assert_int_equal(kit_run(&kit, hostile_after_overflow, NULL, &config, &result),
                     -SIMPLER_CODE_HEAP_RING_DEADLOCK);
    kit_close(&kit);
}

/* Refused without harm to the run. */
static void ask_for_nothing(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor tensor = kit_tensor(cell, 4, SIMPLER_DTYPE_INT32), odd;
    uint32_t zero = 0, beyond = 4, far = UINT32_MAX;
    int32_t value = 5;

    (void)user;
    memset(&odd, 0xff, sizeof(odd));
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, NULL, &zero, &value), SIMPLER_EINVAL);
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &tensor, NULL, &value), SIMPLER_EINVAL);
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &tensor, &zero, NULL), SIMPLER_EINVAL);
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &tensor, &beyond, &value), SIMPLER_EINVAL);
    KIT_EXPECT_EQUAL(simpler_orch_get_tensor_data(orch, &odd, &zero, &value), SIMPLER_EINVAL);
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_data(orch, NULL, &zero, &value), SIMPLER_EINVAL);
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_data(orch, &tensor, NULL, &value), SIMPLER_EINVAL);
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_data(orch, &tensor, &zero, NULL), SIMPLER_EINVAL);
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_data(orch, &tensor, &far, &value), SIMPLER_EINVAL);
    struct simpler_task_id id = {SIMPLER_TASK_ID_NONE};
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_info_to_task(orch, id, NULL, 3), SIMPLER_EINVAL);
    KIT_EXPECT_EQUAL(simpler_orch_set_tensor_info_to_task(orch, id, NULL, 0), 0);
    KIT_EXPECT(!simpler_orch_is_fatal(orch));
    KIT_EXPECT_EQUAL(value, 5);
}

static void hostile_questions_are_refused_and_the_run_passes(void **state)
{
    struct kit kit;

    (void)state;
    kit_open(&kit);
    kit_pass(&kit, ask_for_nothing, NULL);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_arguments_of_a_submit_are_code_5),
        cmocka_unit_test(garbage_is_not_counted_after_an_overflow),
        cmocka_unit_test(hostile_questions_are_refused_and_the_run_passes),
    };
    /* Each refusal is provoked. */
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
