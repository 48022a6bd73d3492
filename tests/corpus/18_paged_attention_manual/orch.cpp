// SPDX-License-Identifier: Apache-2.0
// The same attention in MANUAL scopes: each edge is named, nothing is looked
// up. A manual scope for all batches, and one for each inside it.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_QK      0
#define FUNC_SOFTMAX 1
#define FUNC_PV      2
#define FUNC_UPDATE  3
#define FUNC_FINISH  4

static void attend(const ChipTensor &q, const ChipTensor &o, const ChipTaskArgs &orch_args,
                   uint32_t b)
{
    const ChipTensor &keys = orch_args.tensor(1);
    const ChipTensor &values = orch_args.tensor(2);
    float scale = from_u64<float>(orch_args.scalar(0));
    uint32_t page = keys.shapes[1], dim = keys.shapes[2];
    uint32_t score_shapes[2] = {q.shapes[0], page};
    uint32_t page_shapes[2] = {page, dim};
    uint32_t len_at[1] = {b};
    uint32_t left = static_cast<uint32_t>(get_tensor_data<int32_t>(orch_args.tensor(4), 1, len_at));
    TensorCreateInfo score_ci(score_shapes, 2), row_ci(q.shapes, 1), tile_ci(q.shapes, 2);
    TensorCreateInfo max_ci(q.shapes, 1), sum_ci(q.shapes, 1), acc_ci(q.shapes, 2);
    max_ci.set_initial_value(-1e30f);
    sum_ci.set_initial_value(0.0f);
    acc_ci.set_initial_value(0.0f);
    TaskOutputTensors state = alloc_tensors(max_ci, sum_ci, acc_ci);
    PTO2TaskId last = state.task_id();

    for (uint32_t j = 0; left > 0; j++) {
        uint32_t used = left < page ? left : page;
        uint32_t table_at[2] = {b, j};
        uint32_t block =
            static_cast<uint32_t>(get_tensor_data<int32_t>(orch_args.tensor(3), 2, table_at));
        uint32_t kv_shapes[3] = {1, page, dim};
        uint32_t kv_at[3] = {block, 0, 0};
        ChipTensor k = keys.view(kv_shapes, kv_at).reshape(page_shapes, 2);
        ChipTensor v = values.view(kv_shapes, kv_at).reshape(page_shapes, 2);

        CoreTaskArgs qk;
        qk.add_input(q, k);
        qk.add_output(score_ci);
        qk.add_scalar(scale);
        TaskOutputTensors scores = rt_submit_aic_task(FUNC_QK, qk);

        CoreTaskArgsWithDeps<1> softmax;
        softmax.add_input(scores.get_ref(0));
        softmax.add_output(score_ci, row_ci, row_ci);
        softmax.add_scalar(used);
        softmax.add_dep(scores.task_id());
        TaskOutputTensors p = rt_submit_aiv_task(FUNC_SOFTMAX, softmax);

        CoreTaskArgsWithDeps<1> pv;
        pv.add_input(p.get_ref(0), v);
        pv.add_output(tile_ci);
        pv.add_dep(p.task_id());
        TaskOutputTensors partial = rt_submit_aic_task(FUNC_PV, pv);

        CoreTaskArgs update;
        update.add_input(p.get_ref(1), p.get_ref(2), partial.get_ref(0));
        update.add_inout(state.get_ref(0), state.get_ref(1), state.get_ref(2));
        PTO2TaskId before[3] = {p.task_id(), partial.task_id(), last};
        update.set_dependencies(before, 3);
        last = rt_submit_aiv_task(FUNC_UPDATE, update).task_id();
        left -= used;
    }

    CoreTaskArgs finish;
    finish.add_input(state.get_ref(1), state.get_ref(2));
    finish.add_output(o);
    PTO2TaskId before_finish[2] = {last, state.task_id()}; // the state lives until here
    finish.set_dependencies(before_finish, 2);
    rt_submit_aiv_task(FUNC_FINISH, finish);
}

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 7,
    };
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args)
{
    const ChipTensor &query = orch_args.tensor(0);
    const ChipTensor &out = orch_args.tensor(5);
    uint32_t tile_shapes[2] = {query.shapes[1], query.shapes[2]};
    uint32_t q_shapes[3] = {1, query.shapes[1], query.shapes[2]};

    SIMPLER_SCOPE(PTO2ScopeMode::MANUAL)
    {
        for (uint32_t b = 0; b < query.shapes[0]; b++) {
            uint32_t at[3] = {b, 0, 0};
            ChipTensor q = query.view(q_shapes, at).reshape(tile_shapes, 2);
            ChipTensor o = out.view(q_shapes, at).reshape(tile_shapes, 2);
            PTO2_SCOPE(PTO2ScopeMode::MANUAL)
            {
                attend(q, o, orch_args, b);
            }
        }
    }
}

} // extern "C"
