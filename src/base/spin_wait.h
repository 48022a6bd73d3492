/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_SPIN_WAIT_H
#define SIMPLER_BASE_SPIN_WAIT_H

/*
 * Waiting for a counter: a short spin, then the event.  After a spin in vain the
 * next waits park at once.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/event.h"

/* A wake across CPUs costs about this much: nobody spins longer. */
#define SIMPLER_PARK_COST_NS      20000u
#define SIMPLER_OVERSUBSCRIBED_NS 1000u

struct simpler_spin_wait {
    uint64_t ticks; /* of one spin; 0: never */
    uint32_t rest;  /* waits that are to park at once; the waiter's own */
};

/* Whether the next wait begins with a spin. */
SIMPLER_INLINE bool simpler_spin_wait_is_due(const struct simpler_spin_wait *wait)
{
    return wait->ticks != 0 && wait->rest == 0;
}

/* The spin alone, if it is due; true: @counter is not @old any more. */
bool simpler_spin_wait_spin(struct simpler_spin_wait *wait, const _Atomic uint32_t *counter,
                            uint32_t old);

/*
 * Returns when @counter (acquire) is not @old, @closing is set, the event was notified
 * (simpler_event_notify_rare) or @timeout_ns is over.
 */
void simpler_spin_wait(struct simpler_spin_wait *wait, const _Atomic uint32_t *counter,
                       uint32_t old, const _Atomic bool *closing, struct simpler_event *event,
                       uint64_t timeout_ns);

#endif
