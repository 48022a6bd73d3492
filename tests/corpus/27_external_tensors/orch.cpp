// SPDX-License-Identifier: Apache-2.0
// Tensors made by hand over memory the caller owns: the same buffer under
// another shape, and the real and imaginary parts of complex numbers as two
// strided tensors. The imaginary part starts at another address, so the runtime
// sees no overlap with the rest and its edge is named.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_POLAR_TO_PARTS 0
#define FUNC_ROTATE         1

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
    const ChipTensor &radius = orch_args.tensor(0); // [rows, columns]
    const ChipTensor &angle = orch_args.tensor(1);  // [rows, columns]
    const ChipTensor &z = orch_args.tensor(2);      // [rows, columns, 2]
    uint32_t n = radius.shapes[0] * radius.shapes[1];

    // flat views of the inputs
    uint32_t flat[1] = {n};
    ChipTensor r = make_tensor_external(reinterpret_cast<void *>(radius.buffer.addr), flat, 1,
                                        DataType::FLOAT32);
    ChipTensor phi = make_tensor_external(reinterpret_cast<void *>(angle.buffer.addr), flat, 1);

    // the parts of z
    uint32_t step[1] = {2};
    ChipTensor re = make_tensor_strided(reinterpret_cast<void *>(z.buffer.addr), flat, step, 1,
                                        DataType::FLOAT32);
    ChipTensor im = make_tensor_strided(reinterpret_cast<void *>(z.buffer.addr + sizeof(float)),
                                        flat, step, 1, DataType::FLOAT32);

    CoreTaskArgs parts;
    parts.add_input(r, phi);
    parts.add_output(re, im);
    PTO2TaskId written = rt_submit_aiv_task(FUNC_POLAR_TO_PARTS, parts).task_id();

    CoreTaskArgs rotate; // by a right angle: (re, im) becomes (-im, re)
    rotate.add_inout(z);
    rotate.set_dependencies(&written, 1);
    rt_submit_aiv_task(FUNC_ROTATE, rotate);
}

} // extern "C"
