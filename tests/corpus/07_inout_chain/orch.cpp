// SPDX-License-Identifier: Apache-2.0
// y = start + sum of the rows of x: an accumulator whose initial value the
// runtime fills in, then a chain of INOUT tasks on it.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_ACCUMULATE 0
#define FUNC_COPY       1

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
    uint32_t row_shapes[2] = {1, x.shapes[1]};
    uint32_t at[2] = {0, 0};
    ChipTensor row = x.view(row_shapes, at);

    TensorCreateInfo acc_ci(row_shapes, 2, DataType::FLOAT32);
    acc_ci.set_initial_value(1.5f);

    // The first task gets the accumulator as its own output and adds to it.
    CoreTaskArgs first;
    first.add_input(row);
    first.add_output(acc_ci);
    TaskOutputTensors outs = rt_submit_aiv_task(FUNC_ACCUMULATE, first);
    const ChipTensor &acc = outs.get_ref(0);

    for (uint32_t i = 1; i < x.shapes[0]; i++) {
        at[0] = i;
        ChipTensor next = x.view(row_shapes, at);
        CoreTaskArgs args;
        args.add_input(next);
        args.add_inout(acc);
        rt_submit_aiv_task(FUNC_ACCUMULATE, args);
    }

    CoreTaskArgs copy;
    copy.add_input(acc);
    copy.add_output(y);
    rt_submit_aiv_task(FUNC_COPY, copy);
}

} // extern "C"
