// SPDX-License-Identifier: Apache-2.0
// Row sums with as many blocks as there are vector cores (a5 spells the setter
// set_core_num).
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_ROW_SUM 0

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
    const ChipTensor &sums = orch_args.tensor(1);
    int32_t cores = rt_available_aiv_count();
    if (static_cast<uint32_t>(cores) > x.shapes[0])
        cores = static_cast<int32_t>(x.shapes[0]);

    LOG_INFO("row sums on %d vector cores", cores);
    CoreTaskArgs args;
    args.add_input(x);
    args.add_output(sums);
    args.launch_spec.set_core_num(static_cast<int16_t>(cores));
    rt_submit_aiv_task(FUNC_ROW_SUM, args);
}

} // extern "C"
