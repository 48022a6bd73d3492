// SPDX-License-Identifier: Apache-2.0
// Every way to mark arguments for the args dump: tensors, a create-info, scalar
// lvalues, the same scalar twice, the whole task, and a task without a mark.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_BLEND 0

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
    const ChipTensor &x = orch_args.tensor(0);
    const ChipTensor &y = orch_args.tensor(1);
    const ChipTensor &z = orch_args.tensor(2);
    TensorCreateInfo blend_ci(x.shapes, 1, DataType::FLOAT32);
    float wx = 0.75f;
    float wy = 0.25f;

    CoreTaskArgs first; // selected tensors and one scalar
    first.add_input(x, y);
    first.add_output(blend_ci);
    first.add_scalar(wx, wy);
    first.dump(x, blend_ci, wy);
    TaskOutputTensors a = rt_submit_aiv_task(FUNC_BLEND, first);

    CoreTaskArgs second; // whole task, the literals included
    second.add_input(a.get_ref(0), y);
    second.add_output(blend_ci);
    second.add_scalar(2.0f, -1.0f);
    second.dump();
    TaskOutputTensors b = rt_submit_aiv_task(FUNC_BLEND, second);

    CoreTaskArgs third; // one lvalue added twice: the first slot is selected
    third.add_input(a.get_ref(0), b.get_ref(0));
    third.add_output(blend_ci);
    third.add_scalar(wx, wx);
    third.dump(wx);
    third.dump(b.get_ref(0));
    TaskOutputTensors c = rt_submit_aiv_task(FUNC_BLEND, third);

    CoreTaskArgs fourth; // no mark
    fourth.add_input(b.get_ref(0), c.get_ref(0));
    fourth.add_output(z);
    fourth.add_scalar(wy, wx);
    rt_submit_aiv_task(FUNC_BLEND, fourth);

    fourth.clear(); // the object can be filled again; an in-out this time
    fourth.add_input(x);
    fourth.add_inout(z);
    fourth.add_output(blend_ci);
    fourth.add_scalar(1.0f, 1.0f);
    fourth.dump(z);
    rt_submit_aiv_task(FUNC_BLEND, fourth);
}

} // extern "C"
