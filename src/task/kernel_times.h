/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_KERNEL_TIMES_H
#define SIMPLER_TASK_KERNEL_TIMES_H

/*
 * How long each kernel of a callable takes: an estimate by func_id, from one run
 * in about 32 that is timed (of short ones, tmr/handover.c times fewer).  A hint: any
 * thread reads and writes it, relaxed.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "task/callable.h"

#define SIMPLER_LONG_NS UINT32_MAX

struct simpler_estimates {
    const struct simpler_callable_copy *callable;
    uint64_t hash;
    _Atomic uint32_t ns[SIMPLER_MAX_FUNC_ID + 1]; /* 0: unknown */
    /* enum simpler_defers; one that was SEEN is KNOWN from the next run on (host_build_graph). */
    _Atomic uint8_t defers[SIMPLER_MAX_FUNC_ID + 1];
    uint32_t defer_serial; /* of the device's, another when one more is KNOWN; 0: none is */
    _Atomic bool has_seen; /* since then */
};

/* Whether a kernel was seen to defer the completion of its task. */
enum simpler_defers { SIMPLER_DEFERS_NOT = 0, SIMPLER_DEFERS_SEEN = 1, SIMPLER_DEFERS_KNOWN = 2 };

/* Those of the callables that a device has run lately. */
struct simpler_estimate_table {
    struct simpler_estimates *all[64];
    uint32_t count;
};

/* Those of a callable, made when they are new; NULL: out of memory. */
struct simpler_estimates *simpler_estimates_find(struct simpler_estimate_table *table,
                                                 const struct simpler_callable_copy *callable);
/* A kernel defers; any thread. */
void simpler_estimates_note_defers(struct simpler_estimates *estimates, uint32_t func_id);
/* Between runs: what was seen is known, *serial is the last that the device has given. */
void simpler_estimates_learn_defers(struct simpler_estimates *estimates, uint32_t *serial);
void simpler_estimates_fini(struct simpler_estimate_table *table);

/* Folds one timed run into the estimate; returns the runs until the next timed one. */
uint32_t simpler_estimates_note(struct simpler_estimates *estimates, uint32_t func_id,
                                uint64_t ticks);

#endif
