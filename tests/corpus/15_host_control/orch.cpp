// SPDX-License-Identifier: Apache-2.0
// Control flow that depends on data: Collatz steps until every number is 1.
// The orchestration reads a count with get_tensor_data after each step and
// hands the step's number to the kernel with set_tensor_data.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_COLLATZ 0

static constexpr int32_t MAX_STEPS = 500;

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 3,
    };
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args)
{
    const ChipTensor &values = orch_args.tensor(0);
    const ChipTensor &reached = orch_args.tensor(1); // step at which it became 1
    const ChipTensor &steps = orch_args.tensor(2);   // [1]
    uint32_t one[1] = {1};
    uint32_t first[1] = {0};
    TensorCreateInfo cell_ci(one, 1, DataType::INT32);
    TaskOutputTensors cells = alloc_tensors(cell_ci, cell_ci);
    const ChipTensor &step_cell = cells.get_ref(0);
    const ChipTensor &left_cell = cells.get_ref(1);

    int32_t step = 0;
    int32_t left = 1;
    while (left > 0 && step < MAX_STEPS) {
        step++;
        set_tensor_data<int32_t>(step_cell, 1, first, step);
        CoreTaskArgs args;
        args.add_input(step_cell);
        args.add_inout(values, reached, left_cell);
        rt_submit_aiv_task(FUNC_COLLATZ, args);
        left = get_tensor_data<int32_t>(left_cell, 1, first);
    }
    if (left > 0)
        LOG_WARN("collatz: %d numbers have not reached 1 after %d steps", left, step);
    set_tensor_data<int32_t>(steps, 1, first, step);
}

} // extern "C"
