/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_EVENT_H
#define SIMPLER_BASE_EVENT_H

/*
 * Event count: a thread that found nothing to do parks until somebody says
 * that something changed.  No state is lost: the waiter announces itself,
 * looks once more, then sleeps on the number that it read before it looked.
 *
 *     uint32_t seen = simpler_event_prepare(e);
 *     if (!something_to_do())
 *         simpler_event_wait(e, seen, timeout_ns);
 *     else
 *         simpler_event_cancel(e);
 *
 * The notifier makes its change visible, then calls simpler_event_notify: one
 * plain load when nobody waits.  What a full fence on both sides would order is
 * ordered by the waiter alone, who runs sys_membarrier between its announcement
 * and its look (PRIVATE_EXPEDITED, Linux 4.14).  Where the call is missing the
 * notifier pays a read-modify-write instead.
 *
 *   field    written by   read by    publishes
 *   epoch    notifiers    waiters    "something changed"            (P1)
 *   waiters  waiters      notifiers  "a notify must wake someone"   (P2)
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct simpler_event {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t epoch;
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t waiters;
};

/* Registers the process with sys_membarrier; once, before any event is used. */
void simpler_event_setup(void);
extern _Atomic bool simpler_event_has_membarrier;

void simpler_event_init(struct simpler_event *event);
uint32_t simpler_event_prepare(struct simpler_event *event);
void simpler_event_cancel(struct simpler_event *event);
/* Sleeps until a notify after @seen was read, or @timeout_ns (UINT64_MAX: no limit). */
void simpler_event_wait(struct simpler_event *event, uint32_t seen, uint64_t timeout_ns);
/* The same for one who has announced itself and cancels itself, and is called by one of @bits. */
void simpler_event_sleep_as(struct simpler_event *event, uint32_t seen, uint64_t timeout_ns,
                            uint32_t bits);
/* Sleeps like a waiter whom no notify wakes, only simpler_event_wake; @seen from
 * simpler_event_epoch. */
void simpler_event_sleep(struct simpler_event *event, uint32_t seen, uint64_t timeout_ns);
SIMPLER_INLINE uint32_t simpler_event_epoch(struct simpler_event *event)
{
    return atomic_load_explicit(&event->epoch, memory_order_acquire);
}
/* The slow part of a notify: wakes up to @count waiters. */
void simpler_event_wake(struct simpler_event *event, uint32_t count);
/* Wakes all waiters that have one of @bits; of those without bits all. */
void simpler_event_wake_bits(struct simpler_event *event, uint32_t bits);

SIMPLER_INLINE bool simpler_event_has_waiters(struct simpler_event *event)
{
    if (SIMPLER_LIKELY(atomic_load_explicit(&simpler_event_has_membarrier, memory_order_relaxed))) {
        /* The waiter's membarrier makes this a fence towards it. */
        atomic_signal_fence(memory_order_seq_cst);
        return atomic_load_explicit(&event->waiters, memory_order_relaxed) != 0;
    }
    return atomic_fetch_add_explicit(&event->waiters, 0, memory_order_seq_cst) != 0;
}

/*
 * The same for events that are rare and must be quick to wait for: the notifier
 * pays the read-modify-write and the waiter no membarrier, which interrupts
 * every CPU of the process (some 20 us in a guest).  A waiter that has prepared so
 * is missed by the functions above (base/sleepers.h has both on one event).
 */
uint32_t simpler_event_prepare_rare(struct simpler_event *event);
void simpler_event_notify_rare(struct simpler_event *event, uint32_t count);

SIMPLER_INLINE void simpler_event_notify(struct simpler_event *event, uint32_t count)
{
    if (SIMPLER_UNLIKELY(simpler_event_has_waiters(event)))
        simpler_event_wake(event, count);
}

#endif
