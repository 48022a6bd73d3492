// SPDX-License-Identifier: Apache-2.0
// Jacobi relaxation between two buffers from alloc_tensors; every form of the
// call is used once.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_LOAD  0
#define FUNC_RELAX 1
#define FUNC_STORE 2

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
    int32_t steps = from_u64<int32_t>(orch_args.scalar(0));
    uint32_t n = x.shapes[0];
    uint32_t shapes[1] = {n};
    uint32_t log_shapes[1] = {static_cast<uint32_t>(steps)};

    TensorCreateInfo ping_ci(shapes, 1, DataType::FLOAT32);
    TensorCreateInfo pong_ci(shapes, 1, DataType::FLOAT32);
    TaskOutputTensors buffers = alloc_tensors(ping_ci, pong_ci);

    TensorCreateInfo log_ci[1] = {TensorCreateInfo(log_shapes, 1, DataType::INT32)};
    log_ci[0].set_initial_value(-1);
    TaskOutputTensors log = alloc_tensors(log_ci, 1);

    CoreTaskArgs alloc_args;
    alloc_args.add_output(ping_ci);
    TaskOutputTensors scratch = alloc_tensors(alloc_args);

    CoreTaskArgs load;
    load.add_input(x);
    load.add_output(buffers.get_ref(0));
    PTO2TaskId after[2] = {buffers.task_id(), scratch.task_id()};
    load.set_dependencies(after, 2);
    rt_submit_aiv_task(FUNC_LOAD, load);

    for (int32_t s = 0; s < steps; s++) {
        uint32_t one[1] = {1};
        uint32_t at[1] = {static_cast<uint32_t>(s)};
        ChipTensor entry = log.get_ref(0).view(one, at);
        CoreTaskArgs args;
        args.add_input(buffers.get_ref(s % 2));
        args.add_inout(buffers.get_ref((s + 1) % 2));
        args.add_inout(scratch.get_ref(0), entry);
        args.add_scalar(s);
        rt_submit_aiv_task(FUNC_RELAX, args);
    }

    CoreTaskArgs store;
    store.add_input(buffers.get_ref(steps % 2), log.get_ref(0));
    store.add_output(y);
    rt_submit_aiv_task(FUNC_STORE, store);
}

} // extern "C"
