// SPDX-License-Identifier: Apache-2.0
// Scopes in every form: block and guard, both spellings, the two functions,
// nesting beyond the number of rings, and return, break and continue out.
#include <stdint.h>

#include "pto_orchestration_api.h"

#define FUNC_INCREMENT 0

static void increment(const ChipTensor &counter)
{
    CoreTaskArgs args;
    args.add_inout(counter);
    rt_submit_aiv_task(FUNC_INCREMENT, args);
}

// Leaves two scopes by return once it has counted to limit.
static bool count_to(const ChipTensor &counter, int32_t limit)
{
    int32_t done = 0;
    while (true) {
        PTO2_SCOPE()
        {
            increment(counter);
            done++;
            SIMPLER_SCOPE()
            {
                if (done == limit)
                    return true;
                increment(counter);
                done++;
                if (done == limit)
                    return false;
            }
        }
    }
}

// One scope a level, depth levels; the guard ends with the function.
static void nest(const ChipTensor &counter, uint32_t depth)
{
    SIMPLER_SCOPE_GUARD();
    increment(counter);
    if (depth > 1)
        nest(counter, depth - 1);
}

extern "C" {

__attribute__((visibility("default"))) PTO2OrchestrationConfig
aicpu_orchestration_config(const ChipTaskArgs &orch_args)
{
    (void)orch_args;
    return PTO2OrchestrationConfig{
        .expected_arg_count = 0, // not checked
    };
}

__attribute__((visibility("default"))) void aicpu_orchestration_entry(const ChipTaskArgs &orch_args)
{
    const ChipTensor &counters = orch_args.tensor(0); // [4] int32
    int32_t limit = from_u64<int32_t>(orch_args.scalar(0));
    uint32_t one[1] = {1};
    uint32_t at[4][1] = {{0}, {1}, {2}, {3}};
    ChipTensor returned = counters.view(one, at[0]);
    ChipTensor nested = counters.view(one, at[1]);
    ChipTensor looped = counters.view(one, at[2]);
    ChipTensor guarded = counters.view(one, at[3]);

    bool inner = count_to(returned, limit);
    LOG_INFO("left from the %s scope", inner ? "inner" : "outer");
    nest(nested, 10);

    for (int32_t i = 0; i < 10; i++) {
        PTO2_SCOPE_GUARD();
        if (i % 2 == 1)
            continue;
        increment(looped);
        if (i == 6)
            break;
    }

    rt_scope_begin();
    {
        PTO2_SCOPE_GUARD(PTO2ScopeMode::AUTO);
        SIMPLER_SCOPE(PTO2ScopeMode::MANUAL)
        {
            increment(guarded);
        }
    }
    rt_scope_end();
}

} // extern "C"
