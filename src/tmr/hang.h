/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_HANG_H
#define SIMPLER_TMR_HANG_H

/*
 * The end of a run that does not end by itself: its threads are asked out of
 * it, those inside a kernel are revoked, and what each came to is written down.
 * A device with a thread that has not come back is busy: nothing of the run is
 * freed or used again until it has.
 */
#include "tmr/engine.h"

/* Device threads, then cores: @i below the count; NULL for cores that were never started. */
struct simpler_thread *simpler_hang_thread(const struct simpler_device *device, uint32_t i);
uint32_t simpler_hang_threads(const struct simpler_device *device);

/* Before any thread is started. */
void simpler_hang_init(struct simpler_device *device);

/* Last act of a thread of the device. */
void simpler_hang_exit(struct simpler_thread *thread);

/* Every thread is told to leave; wakes all. */
void simpler_hang_ask_out(struct simpler_device *device);

/*
 * The monitor's.  Asks every thread out, revokes those inside a kernel, and
 * waits up to @grace_ns for the others.  Then thread->verdict.end of each is final.
 */
void simpler_hang_freeze(struct simpler_device *device, uint64_t grace_ns);

/*
 * Waits until every thread of a busy device has come back, then lets them leave
 * and joins them.  SIMPLER_ETIMEDOUT.  One caller at a time, between runs.
 */
int simpler_hang_quiesce(struct simpler_device *device, uint64_t timeout_ns);

#endif
