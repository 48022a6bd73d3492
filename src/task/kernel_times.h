/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_KERNEL_TIMES_H
#define SIMPLER_TASK_KERNEL_TIMES_H

/*
 * How long each kernel of a callable takes: an estimate by func_id, from one run
 * in about 32 that is timed.  A hint: any thread reads and writes it, relaxed.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "task/callable.h"

#define SIMPLER_LONG_NS UINT32_MAX

struct simpler_estimates {
    const struct simpler_callable_copy *callable;
    uint64_t hash;
    _Atomic uint32_t ns[SIMPLER_MAX_FUNC_ID + 1]; /* 0: unknown */
};

/* Those of the callables that a device has run lately. */
struct simpler_estimate_table {
    struct simpler_estimates *all[64];
    uint32_t count;
};

/* Those of a callable, made when they are new; NULL: out of memory. */
struct simpler_estimates *simpler_estimates_find(struct simpler_estimate_table *table,
                                                 const struct simpler_callable_copy *callable);
void simpler_estimates_fini(struct simpler_estimate_table *table);

/* Folds one timed run into the estimate; returns the runs until the next timed one. */
uint32_t simpler_estimates_note(struct simpler_estimates *estimates, uint32_t func_id,
                                uint64_t ticks);

#endif
