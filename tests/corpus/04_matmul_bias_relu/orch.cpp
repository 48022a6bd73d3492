// SPDX-License-Identifier: Apache-2.0
// y = relu(x W + bias): per block of rows one cube task and one vector task,
// the product between them is allocated by the runtime and dies with the scope.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_MATMUL    0
#define FUNC_BIAS_RELU 1

static constexpr uint32_t ROWS = 8;

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 4,
    };
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args)
{
    const ChipTensor &x = orch_args.tensor(0);
    const ChipTensor &weight = orch_args.tensor(1);
    const ChipTensor &bias = orch_args.tensor(2);
    const ChipTensor &y = orch_args.tensor(3);
    uint32_t k = x.shapes[1];
    uint32_t n = weight.shapes[1];
    uint32_t product_shapes[2] = {ROWS, n};
    TensorCreateInfo product_ci(product_shapes, 2, DataType::FLOAT32);

    for (uint32_t row = 0; row < x.shapes[0]; row += ROWS) {
        PTO2_SCOPE()
        {
            uint32_t at[2] = {row, 0};
            uint32_t x_shapes[2] = {ROWS, k};
            ChipTensor x_rows = x.view(x_shapes, at);
            ChipTensor y_rows = y.view(product_shapes, at);

            CoreTaskArgs matmul;
            matmul.add_input(x_rows);
            matmul.add_input(weight);
            matmul.add_output(product_ci);
            TaskOutputTensors outs = rt_submit_aic_task(FUNC_MATMUL, matmul);

            CoreTaskArgs activation;
            activation.add_input(outs.get_ref(0));
            activation.add_input(bias);
            activation.add_output(y_rows);
            rt_submit_aiv_task(FUNC_BIAS_RELU, activation);
        }
    }
}

} // extern "C"
