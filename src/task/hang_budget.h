/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_HANG_BUDGET_H
#define SIMPLER_TASK_HANG_BUDGET_H

/* The times of the no-progress clock, the same in every runtime. */
#include <stdint.h>

#include "simpler/status.h"

#define SIMPLER_HANG_LOOKS_A_BUDGET 16u
#define SIMPLER_HANG_MIN_LOOK_NS    1000000u
#define SIMPLER_HANG_MAX_LOOK_NS    1000000000u
/* How long a canceled run, or one behind its deadline, may go without progress. */
#define SIMPLER_HANG_CANCELED_NS 5000000000u
/* For threads that are not inside a kernel to leave a hung run. */
#define SIMPLER_HANG_MIN_GRACE_NS 250000000u
#define SIMPLER_HANG_MAX_GRACE_NS 2000000000u

static inline uint64_t simpler_hang_clamp(uint64_t value, uint64_t min, uint64_t max)
{
    return value < min ? min : value > max ? max : value;
}

/* Time without progress after which a run with that stop word is ended. */
static inline uint64_t simpler_hang_budget(uint64_t scheduler_timeout_ns, int32_t stop)
{
    if (stop == SIMPLER_ECANCELED || stop == SIMPLER_ETIMEDOUT)
        return simpler_hang_clamp(scheduler_timeout_ns, 0, SIMPLER_HANG_CANCELED_NS);
    return scheduler_timeout_ns;
}

static inline uint64_t simpler_hang_look_ns(uint64_t budget_ns)
{
    return simpler_hang_clamp(budget_ns / SIMPLER_HANG_LOOKS_A_BUDGET, SIMPLER_HANG_MIN_LOOK_NS,
                              SIMPLER_HANG_MAX_LOOK_NS);
}

static inline uint64_t simpler_hang_grace_ns(uint64_t budget_ns)
{
    return simpler_hang_clamp(budget_ns / 4, SIMPLER_HANG_MIN_GRACE_NS, SIMPLER_HANG_MAX_GRACE_NS);
}

/* Of a number that sums progress: a count that goes up and an id must not cancel out. */
static inline uint64_t simpler_hang_mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

#endif
