/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_MONITOR_H
#define SIMPLER_TMR_MONITOR_H

/* The monitor thread of a device: the no-progress clock, and the end of a run that hangs. */
#include "tmr/engine.h"

/* Time without a running or ready task after which the rest of a run is stuck. */
#define SIMPLER_DRAIN_STUCK_NS 500000000u

int simpler_monitor_init(struct simpler_device *device); /* SIMPLER_ENOMEM */
/* Starts the thread unless it runs.  SIMPLER_ETHREAD. */
int simpler_monitor_start(struct simpler_device *device);
/* Joins it; zeroed is allowed. */
void simpler_monitor_fini(struct simpler_device *device);

/* The caller's, around a change of the device's threads. */
void simpler_monitor_lock(struct simpler_device *device);
void simpler_monitor_unlock(struct simpler_device *device);

/* The caller's: a run is about to start (before P10) and has been handed over (after it). */
void simpler_monitor_admit(struct simpler_device *device, uint32_t run_number,
                           uint64_t scheduler_timeout_ns);
SIMPLER_INLINE void simpler_monitor_notify(struct simpler_device *device)
{
    simpler_event_notify(&device->monitor.wake, 1);
}

/* The orchestrator's: true when it ends the run, false when the monitor does. */
bool simpler_monitor_claim_end(struct simpler_device *device);
/* The orchestrator's: nothing is left that could make progress. */
void simpler_monitor_report_stuck(struct simpler_device *device);
/* The run's stop was set from outside: look at it soon. */
void simpler_monitor_look(struct simpler_device *device);

#endif
