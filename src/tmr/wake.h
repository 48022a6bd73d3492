/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_WAKE_H
#define SIMPLER_TMR_WAKE_H

/*
 * Waking parked schedulers: each once, and on another CPU than the waker's.
 *
 * Where there are as many threads as CPUs, the thread that is woken needs the one
 * CPU that the waker does not use.  The kernel may put it behind the waker all the
 * same (the caller, who has just started the run, is still spinning on the other one),
 * and leaves it there for milliseconds.  So the waker takes its own CPU out of the
 * sleeper's affinity, and the sleeper gives itself all of them back when it runs.
 *
 *   field   written by              read by  publishes
 *   park    its thread, wakers      wakers   see enum simpler_park
 *   wakers  wakers (RMW, K2)        closer   "threads' handles are in use"
 *   apart   wakers (seq_cst, K1)    thread   "your affinity was changed"
 */
#include "tmr/engine.h"

/* Which CPUs the threads may use; before they are started. */
void simpler_wake_open(struct simpler_device *device);
/* The device is closing: when this returns nobody uses a thread's handle any more. */
void simpler_wake_close(struct simpler_device *device);

/*
 * A scheduler that has found nothing: prepare, one more look, then sleep until it is woken or
 * @timeout_ns are over, or cancel.
 */
uint32_t simpler_wake_prepare(struct simpler_thread *thread);
void simpler_wake_sleep(struct simpler_thread *thread, uint32_t seen, uint64_t timeout_ns);
void simpler_wake_cancel(struct simpler_thread *thread);

/* The slow part of simpler_wake_schedulers. */
void simpler_wake_parked(struct simpler_device *device, uint32_t count);

/* There is work for up to @count threads. */
SIMPLER_INLINE void simpler_wake_schedulers(struct simpler_device *device, uint32_t count)
{
    if (SIMPLER_UNLIKELY(simpler_event_has_waiters(&device->work)))
        simpler_wake_parked(device, count);
}

#endif
