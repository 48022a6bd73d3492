// SPDX-License-Identifier: Apache-2.0
// Layer norm over the last axis of a bfloat16 matrix with float32 parameters:
// statistics in one task a block of rows, then the normalisation.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_STATISTICS 0
#define FUNC_NORMALISE  1

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 4, // at least
    };
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args)
{
    const ChipTensor &x = orch_args.tensor(0);
    const ChipTensor &gamma = orch_args.tensor(1);
    const ChipTensor &beta = orch_args.tensor(2);
    const ChipTensor &y = orch_args.tensor(3);
    float epsilon = from_u64<float>(orch_args.scalar(0));
    const uint32_t rows = 8;

    for (uint32_t row = 0; row < x.shapes[0]; row += rows) {
        SIMPLER_SCOPE_GUARD();
        uint32_t block_rows = x.shapes[0] - row < rows ? x.shapes[0] - row : rows;
        ChipTensor x_rows = x.slice(0, row, row + block_rows, 1);
        ChipTensor y_rows = y.slice(0, row, row + block_rows);
        uint32_t statistics_shapes[2] = {block_rows, 2};
        TensorCreateInfo statistics_ci(statistics_shapes, 2, DataType::FLOAT32);

        CoreTaskArgs statistics;
        statistics.add_input(x_rows);
        statistics.add_output(statistics_ci);
        statistics.add_scalar(epsilon);
        TaskOutputTensors outs = rt_submit_aiv_task(FUNC_STATISTICS, statistics);

        CoreTaskArgs normalise;
        normalise.add_input(x_rows, outs.get_ref(0), gamma, beta);
        normalise.add_output(y_rows);
        rt_submit_aiv_task(FUNC_NORMALISE, normalise);
    }
}

} // extern "C"
