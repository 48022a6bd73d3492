// SPDX-License-Identifier: Apache-2.0
// z = x + y, one task.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_ADD 0

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

    LOG_INFO("vector_add: %u elements", x.shapes[0]);

    CoreTaskArgs args;
    args.add_input(x);
    args.add_input(y);
    args.add_output(z);
    rt_submit_aiv_task(FUNC_ADD, args);
}

} // extern "C"
