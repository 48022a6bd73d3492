// SPDX-License-Identifier: Apache-2.0
// Sum of a vector: a tree of pairwise sums in each group, nested scopes, and
// one last task over the groups' results.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_SUM      0
#define FUNC_ADD_PAIR 1

static constexpr uint32_t CHUNK = 64;
static constexpr uint32_t LEAVES = 8; // chunks a group

static void sum_group(const ChipTensor &x, uint32_t first, const ChipTensor &result)
{
    uint32_t one[1] = {1};
    TensorCreateInfo partial_ci(one, 1, DataType::FLOAT32);
    const ChipTensor *level[LEAVES];

    for (uint32_t i = 0; i < LEAVES; i++) {
        uint32_t shapes[1] = {CHUNK};
        uint32_t offsets[1] = {first + i * CHUNK};
        ChipTensor chunk = x.view(shapes, offsets);
        CoreTaskArgs args;
        args.add_input(chunk);
        args.add_output(partial_ci);
        level[i] = &rt_submit_aiv_task(FUNC_SUM, args).get_ref(0);
    }
    for (uint32_t width = LEAVES; width > 2; width /= 2) {
        for (uint32_t i = 0; i < width / 2; i++) {
            CoreTaskArgs args;
            args.add_input(*level[2 * i], *level[2 * i + 1]);
            args.add_output(partial_ci);
            level[i] = &rt_submit_aiv_task(FUNC_ADD_PAIR, args).get_ref(0);
        }
    }
    CoreTaskArgs args;
    args.add_input(*level[0], *level[1]);
    args.add_output(result);
    rt_submit_aiv_task(FUNC_ADD_PAIR, args);
}

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
    const ChipTensor &sum = orch_args.tensor(1);
    uint32_t groups = x.shapes[0] / (CHUNK * LEAVES);

    SIMPLER_SCOPE()
    {
        uint32_t shapes[1] = {groups};
        TensorCreateInfo results_ci(shapes, 1, DataType::FLOAT32);
        TaskOutputTensors results = alloc_tensors(results_ci);

        for (uint32_t g = 0; g < groups; g++) {
            SIMPLER_SCOPE()
            {
                uint32_t one[1] = {1};
                uint32_t at[1] = {g};
                ChipTensor result = results.get_ref(0).view(one, at);
                sum_group(x, g * CHUNK * LEAVES, result);
            }
        }
        CoreTaskArgs args;
        args.add_input(results.get_ref(0));
        args.add_output(sum);
        rt_submit_aiv_task(FUNC_SUM, args);
    }
}

} // extern "C"
