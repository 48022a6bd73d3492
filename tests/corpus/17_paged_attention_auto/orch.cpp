// SPDX-License-Identifier: Apache-2.0
// Decode attention over a paged KV cache with the online softmax. Dependencies
// come from the tensors (AUTO scope); the block table is read on the way.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_QK      0
#define FUNC_SOFTMAX 1
#define FUNC_PV      2
#define FUNC_UPDATE  3
#define FUNC_FINISH  4

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
    const ChipTensor &query = orch_args.tensor(0);       // [batch, heads, dim]
    const ChipTensor &keys = orch_args.tensor(1);        // [pages, page, dim]
    const ChipTensor &values = orch_args.tensor(2);      // [pages, page, dim]
    const ChipTensor &block_table = orch_args.tensor(3); // [batch, max_pages] i32
    const ChipTensor &lengths = orch_args.tensor(4);     // [batch] i32
    const ChipTensor &out = orch_args.tensor(5);         // [batch, heads, dim]
    float scale = from_u64<float>(orch_args.scalar(0));
    uint32_t heads = query.shapes[1], dim = query.shapes[2], page = keys.shapes[1];

    uint32_t score_shapes[2] = {heads, page};
    uint32_t head_shapes[1] = {heads};
    uint32_t tile_shapes[2] = {heads, dim};
    uint32_t page_shapes[2] = {page, dim};
    TensorCreateInfo score_ci(score_shapes, 2), row_ci(head_shapes, 1), tile_ci(tile_shapes, 2);
    TensorCreateInfo max_ci(head_shapes, 1), sum_ci(head_shapes, 1), acc_ci(tile_shapes, 2);
    max_ci.set_initial_value(-1e30f);
    sum_ci.set_initial_value(0.0f);
    acc_ci.set_initial_value(0.0f);

    for (uint32_t b = 0; b < query.shapes[0]; b++) {
        PTO2_SCOPE()
        {
            uint32_t q_shapes[3] = {1, heads, dim};
            uint32_t q_at[3] = {b, 0, 0};
            ChipTensor q = query.view(q_shapes, q_at).reshape(tile_shapes, 2);
            ChipTensor o = out.view(q_shapes, q_at).reshape(tile_shapes, 2);
            uint32_t len_at[1] = {b};
            uint32_t left = static_cast<uint32_t>(get_tensor_data<int32_t>(lengths, 1, len_at));
            TaskOutputTensors state = alloc_tensors(max_ci, sum_ci, acc_ci);

            for (uint32_t j = 0; left > 0; j++) {
                uint32_t used = left < page ? left : page;
                uint32_t table_at[2] = {b, j};
                uint32_t block =
                    static_cast<uint32_t>(get_tensor_data<int32_t>(block_table, 2, table_at));
                uint32_t kv_shapes[3] = {1, page, dim};
                uint32_t kv_at[3] = {block, 0, 0};
                ChipTensor k = keys.view(kv_shapes, kv_at).reshape(page_shapes, 2);
                ChipTensor v = values.view(kv_shapes, kv_at).reshape(page_shapes, 2);

                CoreTaskArgs qk;
                qk.add_input(q, k);
                qk.add_output(score_ci);
                qk.add_scalar(scale);
                TaskOutputTensors scores = rt_submit_aic_task(FUNC_QK, qk);

                CoreTaskArgs softmax;
                softmax.add_input(scores.get_ref(0));
                softmax.add_output(score_ci, row_ci, row_ci);
                softmax.add_scalar(used);
                TaskOutputTensors p = rt_submit_aiv_task(FUNC_SOFTMAX, softmax);

                CoreTaskArgs pv;
                pv.add_input(p.get_ref(0), v);
                pv.add_output(tile_ci);
                TaskOutputTensors partial = rt_submit_aic_task(FUNC_PV, pv);

                CoreTaskArgs update;
                update.add_input(p.get_ref(1), p.get_ref(2), partial.get_ref(0));
                update.add_inout(state.get_ref(0), state.get_ref(1), state.get_ref(2));
                rt_submit_aiv_task(FUNC_UPDATE, update);
                left -= used;
            }

            CoreTaskArgs finish;
            finish.add_input(state.get_ref(1), state.get_ref(2));
            finish.add_output(o);
            rt_submit_aiv_task(FUNC_FINISH, finish);
        }
    }
}

} // extern "C"
