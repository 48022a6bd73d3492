// SPDX-License-Identifier: Apache-2.0
// C = A x B in tiles; the tiles along K accumulate into the same tile of C.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_MATMUL_TILE 0

static constexpr uint32_t TILE = 16;

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
    const ChipTensor &a = orch_args.tensor(0);
    const ChipTensor &b = orch_args.tensor(1);
    const ChipTensor &c = orch_args.tensor(2);
    uint32_t m = a.shapes[0];
    uint32_t k = a.shapes[1];
    uint32_t n = b.shapes[1];
    uint32_t tile[2] = {TILE, TILE};

    for (uint32_t i = 0; i < m; i += TILE) {
        for (uint32_t j = 0; j < n; j += TILE) {
            uint32_t at_c[2] = {i, j};
            ChipTensor c_tile = c.view(tile, at_c);
            for (uint32_t p = 0; p < k; p += TILE) {
                uint32_t at_a[2] = {i, p};
                uint32_t at_b[2] = {p, j};
                ChipTensor a_tile = a.view(tile, at_a);
                ChipTensor b_tile = b.view(tile, at_b);
                CoreTaskArgs args;
                args.add_input(a_tile, b_tile);
                if (p == 0)
                    args.add_output(c_tile);
                else
                    args.add_inout(c_tile);
                args.add_scalar(p == 0 ? 0 : 1);
                rt_submit_aic_task(FUNC_MATMUL_TILE, args);
            }
        }
    }
}

} // extern "C"
