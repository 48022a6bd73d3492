// SPDX-License-Identifier: Apache-2.0
// y = gelu(x), one task of many logical blocks; there may be more blocks than
// cores, the runtime dispatches them in waves.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_GELU 0

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
    CoreTaskArgs args;
    args.add_input(orch_args.tensor(0));
    args.add_output(orch_args.tensor(1));
    args.launch_spec.set_block_num(static_cast<int16_t>(orch_args.scalar(0)));
    TaskOutputTensors outs = rt_submit_aiv_task(FUNC_GELU, args);
    LOG_INFO("gelu is task %s", outs.task_id().is_valid() ? "valid" : "invalid");
}

} // extern "C"
