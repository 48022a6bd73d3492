// SPDX-License-Identifier: Apache-2.0
// One MIX task of several blocks: the cube core multiplies the block's rows,
// the two vector cores of the cluster apply relu to one half of them each.
// A second MIX task without the cube core doubles the result of the halves.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_MATMUL_ROWS 0
#define FUNC_RELU_HALF   1
#define FUNC_DOUBLE_HALF 2

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 6,
    };
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args)
{
    const ChipTensor &a = orch_args.tensor(0);
    const ChipTensor &b = orch_args.tensor(1);
    const ChipTensor &x = orch_args.tensor(2);
    const ChipTensor &c = orch_args.tensor(3);
    const ChipTensor &r = orch_args.tensor(4);
    int16_t blocks = static_cast<int16_t>(orch_args.scalar(0));

    MixedKernels all;
    all.aic_kernel_id = FUNC_MATMUL_ROWS;
    all.aiv0_kernel_id = FUNC_RELU_HALF;
    all.aiv1_kernel_id = FUNC_RELU_HALF;
    CoreTaskArgs args;
    args.add_input(a, b, x);
    args.add_output(c, r);
    args.launch_spec.set_block_num(blocks);
    rt_submit_task(all, args);

    MixedKernels vector_only;
    vector_only.aic_kernel_id = -1;
    vector_only.aiv0_kernel_id = FUNC_DOUBLE_HALF;
    vector_only.aiv1_kernel_id = FUNC_DOUBLE_HALF;
    CoreTaskArgs twice;
    twice.add_inout(r);
    twice.launch_spec.set_block_num(blocks);
    rt_submit_task(vector_only, twice);
}

} // extern "C"
