/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_HBG_DEFERRED_H
#define SIMPLER_HBG_HBG_DEFERRED_H

/*
 * Completions that wait for counters which somebody else raises (task/deferral.h).  A task
 * whose kernels have registered conditions is held: its thread goes on, its unit is
 * completed by the thread that finds all its conditions true.
 *
 * What is held must keep nothing else from running, since that may be what raises the
 * counter.  So the plan gives kernels that are known to defer, and whatever comes after them,
 * grains of their own (grain_plan.h).  One that defers for the first time may be amid a
 * grain: then the run is cut anew (recut.h).
 */
#include "hbg/hbg_engine.h"

/* simpler_kernel_defer of this runtime: SIMPLER_OK, or the run's status after a code (101 to 103).
 */
int simpler_hbg_deferred_register(struct simpler_member *member,
                                  const struct simpler_async_condition *condition);

/* What the list calls the task. */
SIMPLER_INLINE uint64_t simpler_hbg_deferred_key(const struct simpler_hbg_device *device,
                                                 const struct simpler_hbg_part *part, uint32_t node)
{
    return (uint64_t)(part - device->parts) << 32 | node;
}

/* Completes the tasks whose conditions hold; inside the run, between two tasks. */
void simpler_hbg_deferred_poll(struct simpler_hbg_thread *thread);

/* One line on what tasks wait for, or none: for the report of a run that hangs. */
void simpler_hbg_deferred_describe(struct simpler_hbg_device *device, char *text, size_t bytes);

#endif
