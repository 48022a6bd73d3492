// SPDX-License-Identifier: Apache-2.0
// Views of one matrix without a copy: transpose, permute after reshape, slice
// with a step, view. One kernel copies any strided view into any other.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_COPY 0

static void copy(const ChipTensor &from, const ChipTensor &to)
{
    CoreTaskArgs args;
    args.add_input(from);
    args.add_output(to);
    rt_submit_aiv_task(FUNC_COPY, args);
}

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
    const ChipTensor &x = orch_args.tensor(0); // [6, 8]
    uint32_t rows = x.shapes[0];
    uint32_t columns = x.shapes[1];

    // x transposed
    ChipTensor transposed = x.transpose(0, 1);
    copy(transposed, orch_args.tensor(1));

    // [6, 8] as [2, 3, 8], then the last dimension first
    uint32_t split[3] = {2, rows / 2, columns};
    uint32_t order[3] = {2, 0, 1};
    ChipTensor permuted = x.reshape(split, 3).permute(order);
    copy(permuted, orch_args.tensor(2));

    // every third column from the second on, into every second column
    ChipTensor thirds = x.slice(1, 1, columns, 3);
    ChipTensor target = orch_args.tensor(3).slice(1, 0, 2 * thirds.shapes[1], 2);
    copy(thirds, target);

    // an inner window, and its transpose into the other half
    uint32_t window[2] = {3, 3};
    uint32_t from[2] = {2, 4};
    ChipTensor inner = x.view(window, from);
    ChipTensor inner_transposed = inner.transpose(1, 0);
    uint32_t left[2] = {0, 0};
    uint32_t right[2] = {0, 3};
    ChipTensor out_left = orch_args.tensor(4).view(window, left);
    ChipTensor out_right = orch_args.tensor(4).view(window, right);
    copy(inner, out_left);
    copy(inner_transposed, out_right);
}

} // extern "C"
