/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_COHORT_H
#define SIMPLER_TMR_COHORT_H

/*
 * Tasks whose kernels run on cores: those that may wait for each other, and all
 * of shape LAUNCH under exec threads.  They wait for cores in one queue, oldest
 * first, and whoever adds one or frees a core looks whether the oldest fits: all
 * blocks at once with sync_start, else block by block, each with all its lanes.
 */
#include "tmr/core_pool_state.h"
#include "tmr/launch.h"

/* A ready task; returns without waiting for it. */
void simpler_cohort_enqueue(struct simpler_thread *thread, uint32_t number);

/* The cores of the queue's oldest tasks, if they are free now. */
void simpler_cohort_pump(struct simpler_thread *thread, struct simpler_core_pool *pool);

/* On a core: runs its lane of a block. */
void simpler_cohort_run_lane(struct simpler_core *core, uint32_t number);
/* After that: releases the block's cores when this lane was the last one inside. */
void simpler_cohort_leave(struct simpler_core *core);

#endif
