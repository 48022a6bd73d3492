// SPDX-License-Identifier: Apache-2.0
// A polynomial by Horner's rule, one task a coefficient; each task has its own
// timing slot, as long as there are slots.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_HORNER 0

static constexpr uint32_t SLOTS = 16;

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
    if (orch_args.tensor_count() != 3 || orch_args.scalar_count() != 0) {
        LOG_ERROR("horner: %d tensors and %d scalars, not 3 and 0",
                  static_cast<int>(orch_args.tensor_count()),
                  static_cast<int>(orch_args.scalar_count()));
        return;
    }
    const ChipTensor &x = orch_args.tensor(0);
    const ChipTensor &coefficients = orch_args.tensor(1); // highest power first
    const ChipTensor &y = orch_args.tensor(2);
    uint32_t terms = coefficients.shapes[0];
    if (terms > SLOTS)
        LOG_WARN("horner: %u terms, only %u timing slots", terms, SLOTS);

    for (uint32_t i = 0; i < terms; i++) {
        uint32_t at[1] = {i};
        double coefficient = get_tensor_data<float>(coefficients, 1, at);
        LOG_DEBUG("horner: term %u is %f", i, coefficient);

        CoreTaskArgs args;
        args.add_input(x);
        args.add_inout(y);
        args.add_scalar(coefficient);
        if (i < SLOTS)
            args.set_task_timing_slot(static_cast<int>(i));
        rt_submit_aiv_task(FUNC_HORNER, args);
    }
    LOG_TIMING("horner: %u tasks submitted", terms);
}

} // extern "C"
