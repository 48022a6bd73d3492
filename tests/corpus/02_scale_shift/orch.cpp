// SPDX-License-Identifier: Apache-2.0
// z = scale * x + shift in chunks; the scalars come with the run's arguments.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_SCALE_SHIFT 0

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
    const ChipTensor &x = orch_args.tensor(0);
    const ChipTensor &z = orch_args.tensor(1);
    float scale = from_u64<float>(orch_args.scalar(0));
    float shift = from_u64<float>(orch_args.scalar(1));
    uint32_t chunk = static_cast<uint32_t>(orch_args.scalar(2));
    uint32_t total = x.shapes[0];

    for (uint32_t at = 0; at < total; at += chunk) {
        uint32_t shapes[1] = {total - at < chunk ? total - at : chunk};
        uint32_t offsets[1] = {at};
        ChipTensor x_chunk = x.view(shapes, offsets);
        ChipTensor z_chunk = z.view(shapes, offsets);

        CoreTaskArgs args;
        args.add_input(x_chunk);
        args.add_output(z_chunk);
        args.add_scalar(scale, shift);
        args.dump(x_chunk, z_chunk, scale);
        rt_submit_aiv_task(FUNC_SCALE_SHIFT, args);
    }
}

} // extern "C"
