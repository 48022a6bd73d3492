// SPDX-License-Identifier: Apache-2.0
// y = x / max|x| in one task: the blocks meet at a barrier inside the kernel,
// which is only sound when all of them are resident (require_sync_start).
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_NORMALISE 0

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 2,
    };
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args)
{
    const ChipTensor &x = orch_args.tensor(0);
    const ChipTensor &y = orch_args.tensor(1);
    int32_t blocks = rt_available_cluster_count();
    if (blocks > 4)
        blocks = 4;

    uint32_t partial_shapes[1] = {static_cast<uint32_t>(blocks)};
    uint32_t counter_shapes[1] = {1};
    TensorCreateInfo partial_ci(partial_shapes, 1, DataType::FLOAT32);
    TensorCreateInfo counter_ci(counter_shapes, 1, DataType::INT32);
    counter_ci.set_initial_value<int32_t>(0);

    CoreTaskArgs args;
    args.add_input(x);
    args.add_output(partial_ci, counter_ci);
    args.add_output(y);
    args.launch_spec.set_block_num(static_cast<int16_t>(blocks));
    args.launch_spec.set_require_sync_start(true);
    rt_submit_aiv_task(FUNC_NORMALISE, args);
}

} // extern "C"
