// SPDX-License-Identifier: Apache-2.0
// int8 matmul with int32 sums, then back to int8 with a scale for each column
// and a mask of the values that were cut off. MIX task: cube and one vector core.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_MATMUL_I8  0
#define FUNC_CLEAR_MASK 1
#define FUNC_REQUANTISE 2

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 5,
    };
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args)
{
    const ChipTensor &a = orch_args.tensor(0);      // [m, k] int8
    const ChipTensor &b = orch_args.tensor(1);      // [k, n] int8
    const ChipTensor &scales = orch_args.tensor(2); // [n] float32
    const ChipTensor &y = orch_args.tensor(3);      // [m, n] int8
    const ChipTensor &cut = orch_args.tensor(4);    // [m, n] bool
    uint32_t sum_shapes[2] = {a.shapes[0], b.shapes[1]};
    TensorCreateInfo sum_ci(sum_shapes, 2, DataType::INT32);

    // The mask is cleared while the cube core multiplies.
    MixedKernels kernels;
    kernels.aic_kernel_id = FUNC_MATMUL_I8;
    kernels.aiv0_kernel_id = FUNC_CLEAR_MASK;
    kernels.aiv1_kernel_id = -1;
    CoreTaskArgs matmul;
    matmul.add_input(a, b);
    matmul.add_output(sum_ci);
    matmul.add_output(cut);
    TaskOutputTensors outs = rt_submit_task(kernels, matmul);

    CoreTaskArgs requantise;
    requantise.add_input(outs.get_ref(0), scales);
    requantise.add_output(y);
    requantise.add_inout(cut);
    requantise.launch_spec.set_block_num(static_cast<int16_t>(a.shapes[0]));
    rt_submit_aiv_task(FUNC_REQUANTISE, requantise);
}

} // extern "C"
