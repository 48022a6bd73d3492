// SPDX-License-Identifier: Apache-2.0
// Softmax over the last axis in three steps: max, exp and sum, divide.
#include <stdint.h>

#include "pto_orchestration_api.h"

enum : int32_t { FUNC_ROW_MAX = 10, FUNC_EXP_SUM = 11, FUNC_DIVIDE = 12 };

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{2};
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args)
{
    const ChipTensor &x = orch_args.tensor(0);
    const ChipTensor &y = orch_args.tensor(1);
    TensorCreateInfo row_ci(x.shapes, 1);
    TensorCreateInfo exp_ci(x.shapes, x.ndims, DataType::FLOAT32);

    CoreTaskArgs max_args;
    max_args.add_input(x);
    max_args.add_output(row_ci);
    TaskOutputTensors max_outs = rt_submit_aiv_task(FUNC_ROW_MAX, max_args);
    const ChipTensor &row_max = max_outs.get_ref(0);

    CoreTaskArgs exp_args;
    exp_args.add_input(x, row_max);
    exp_args.add_output(exp_ci, row_ci);
    TaskOutputTensors exp_outs = rt_submit_aiv_task(FUNC_EXP_SUM, exp_args);

    CoreTaskArgs div_args;
    div_args.add_input(exp_outs.get_ref(0), exp_outs.get_ref(1));
    div_args.add_output(y);
    rt_submit_aiv_task(FUNC_DIVIDE, div_args);
}

} // extern "C"
