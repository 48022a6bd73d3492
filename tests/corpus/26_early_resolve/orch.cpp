// SPDX-License-Identifier: Apache-2.0
// A pipeline over chunks (differences, clip, running sum) whose tasks may be
// staged before their producers end.
#include <stdint.h>

#include "pto_orchestration_api.h"

enum Func : int32_t { FUNC_DIFFERENCES, FUNC_CLIP, FUNC_RUNNING_SUM };

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
    const ChipTensor &y = orch_args.tensor(1);
    uint32_t chunk = from_u64<uint32_t>(orch_args.scalar(0));
    int16_t limit = from_u64<int16_t>(orch_args.scalar(1));
    uint32_t shapes[1] = {chunk};
    TensorCreateInfo chunk_ci(shapes, 1, DataType::INT16);

    for (uint32_t at = 0; at + chunk <= x.shapes[0]; at += chunk) {
        SIMPLER_SCOPE()
        {
            uint32_t offsets[1] = {at};
            ChipTensor x_chunk = x.view(shapes, offsets);
            ChipTensor y_chunk = y.view(shapes, offsets);

            CoreTaskArgs diff;
            diff.add_input(x_chunk);
            diff.add_output(chunk_ci);
            diff.set_allow_early_resolve(true);
            TaskOutputTensors d = rt_submit_aiv_task(FUNC_DIFFERENCES, diff);

            CoreTaskArgs clip;
            clip.add_input(d.get_ref(0));
            clip.add_output(chunk_ci);
            clip.add_scalar(limit);
            clip.set_allow_early_resolve(true);
            TaskOutputTensors c = rt_submit_aiv_task(FUNC_CLIP, clip);

            CoreTaskArgs sum;
            sum.add_input(c.get_ref(0));
            sum.add_output(y_chunk);
            sum.set_allow_early_resolve(true);
            rt_submit_aiv_task(FUNC_RUNNING_SUM, sum);
        }
    }
}

} // extern "C"
