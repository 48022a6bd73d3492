// SPDX-License-Identifier: Apache-2.0
// Checks its arguments as it goes and ends the run with a fatal error of its
// own when one is wrong; nothing is submitted after that.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_MULTIPLY 0

static constexpr int32_t EXPLICIT_FATAL = 9;

static void check_shapes(const ChipTensor &x, const ChipTensor &y)
{
    if (x.ndims != y.ndims) {
        rt_report_fatal(EXPLICIT_FATAL, "ranks differ: %u and %u", x.ndims, y.ndims);
        return;
    }
    for (uint32_t i = 0; i < x.ndims; i++)
        if (x.shapes[i] != y.shapes[i])
            rt_report_fatal(EXPLICIT_FATAL, "dimension %u differs: %u and %u", i, x.shapes[i],
                            y.shapes[i]);
}

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

    PTO2_SCOPE()
    {
        check_shapes(x, y);
        check_shapes(x, z);
        if (rt_is_fatal()) {
            LOG_ERROR("multiply: wrong arguments, nothing is computed");
            return; // out of the scope
        }
        CoreTaskArgs args;
        args.add_input(x, y);
        args.add_output(z);
        if (!rt_submit_aiv_task(FUNC_MULTIPLY, args).task_id().is_valid())
            LOG_ERROR("multiply: not submitted");
    }
}

} // extern "C"
