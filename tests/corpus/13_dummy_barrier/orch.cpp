// SPDX-License-Identifier: Apache-2.0
// Many producers fill parts of one buffer, a dummy task joins them, and the
// readers depend on the dummy alone. Manual scope: only named edges count.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_SQUARE  0
#define FUNC_STENCIL 1

static constexpr uint32_t PARTS = 8;

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
    const ChipTensor &squares = orch_args.tensor(1);
    const ChipTensor &y = orch_args.tensor(2);
    uint32_t part = x.shapes[0] / PARTS;
    uint32_t shapes[1] = {part};
    PTO2TaskId producers[PARTS];

    PTO2_SCOPE(PTO2ScopeMode::MANUAL)
    {
        for (uint32_t i = 0; i < PARTS; i++) {
            uint32_t offsets[1] = {i * part};
            ChipTensor x_part = x.view(shapes, offsets);
            ChipTensor squares_part = squares.view(shapes, offsets);
            CoreTaskArgs args;
            args.add_input(x_part);
            args.add_output(squares_part);
            producers[i] = rt_submit_aiv_task(FUNC_SQUARE, args).task_id();
        }

        CoreTaskArgs join;
        join.set_dependencies(producers, PARTS);
        PTO2TaskId joined = rt_submit_dummy_task(join).task_id();

        for (uint32_t i = 0; i < PARTS; i++) {
            uint32_t offsets[1] = {i * part};
            ChipTensor y_part = y.view(shapes, offsets);
            CoreTaskArgs args;
            args.add_input(squares); // a reader looks beyond its own part
            args.add_output(y_part);
            args.add_scalar(i * part);
            args.set_dependencies(&joined, 1);
            rt_submit_aiv_task(FUNC_STENCIL, args);
        }
    }
}

} // extern "C"
