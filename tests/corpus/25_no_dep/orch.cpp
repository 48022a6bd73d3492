// SPDX-License-Identifier: Apache-2.0
// A histogram: many tasks add to the same bins with atomic operations in any
// order, so the bins are NO_DEP; the last task names all of them.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_COUNT    0
#define FUNC_CUMULATE 1

static constexpr uint32_t MAX_TASKS = 64;

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
    const ChipTensor &cumulated = orch_args.tensor(1);
    uint32_t chunk = static_cast<uint32_t>(orch_args.scalar(0));
    uint32_t tasks = (x.shapes[0] + chunk - 1) / chunk;
    if (tasks > MAX_TASKS) {
        rt_report_fatal(9, "%u chunks, at most %u", tasks, MAX_TASKS);
        return;
    }

    TensorCreateInfo bins_ci(cumulated.shapes, 1, DataType::UINT32);
    bins_ci.set_initial_value<uint32_t>(0);
    TaskOutputTensors outs = alloc_tensors(bins_ci);
    const ChipTensor &bins = outs.get_ref(0);
    PTO2TaskId counted[MAX_TASKS];

    for (uint32_t i = 0; i < tasks; i++) {
        uint32_t end = (i + 1) * chunk < x.shapes[0] ? (i + 1) * chunk : x.shapes[0];
        ChipTensor part = x.slice(0, i * chunk, end);
        CoreTaskArgs args;
        args.add_input(part);
        args.add_no_dep(bins);
        counted[i] = rt_submit_aiv_task(FUNC_COUNT, args).task_id();
    }

    CoreTaskArgs args;
    args.add_input(bins);
    args.add_output(cumulated);
    args.set_dependencies(counted, tasks);
    rt_submit_aiv_task(FUNC_CUMULATE, args);
}

} // extern "C"
