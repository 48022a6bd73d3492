/* SPDX-License-Identifier: Apache-2.0 */
#include "passing_rig.h"

#include "tmr/passing.h"

void passing_all_short(struct simpler_orch *orch)
{
    passing_short_below(orch, UINT64_MAX);
}

void passing_short_below(struct simpler_orch *orch, uint64_t ns)
{
    orch->all_solo = true; /* the round trip is not measured: that would set another threshold */
    orch->solo_below_ns = ns;
}

bool passing_is_open(const struct simpler_orch *orch)
{
    return orch->passing.until != 0;
}

uint32_t passing_left(const struct simpler_orch *orch)
{
    if (!passing_is_open(orch))
        return 0;
    return (uint32_t)(orch->passing.last - simpler_passing_completed(orch));
}

int passing_nop(struct simpler_orch *orch, uint32_t variant, struct simpler_task_outputs *out)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    return kit_submit_variant(orch, variant, &args, kit_nop_kernel, NULL, out);
}

uint32_t passing_open(struct simpler_orch *orch, uint32_t variant, uint32_t left)
{
    for (uint32_t n = 0; n < 2000; n++) {
        if (passing_left(orch) >= left)
            return n;
        KIT_EXPECT_EQUAL(passing_nop(orch, variant, NULL), 0);
    }
    KIT_EXPECT(passing_left(orch) >= left);
    return 2000;
}
