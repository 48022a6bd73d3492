/* SPDX-License-Identifier: Apache-2.0 */
/* Event count on a futex; see event.h for the protocol. */
#include "base/event.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/testpoint.h"

_Atomic bool simpler_event_has_membarrier;

void simpler_event_setup(void)
{
    long rc = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    atomic_store_explicit(&simpler_event_has_membarrier, rc == 0, memory_order_relaxed);
}

void simpler_event_init(struct simpler_event *event)
{
    atomic_store_explicit(&event->epoch, 0, memory_order_relaxed);
    atomic_store_explicit(&event->waiters, 0, memory_order_relaxed);
}

uint32_t simpler_event_prepare(struct simpler_event *event)
{
    /* P2: with the membarrier (or the notifier's RMW) either the notifier sees
     * this, or the look that follows sees what the notifier changed. */
    atomic_fetch_add_explicit(&event->waiters, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&simpler_event_has_membarrier, memory_order_relaxed))
        (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    /* acquire, pairs with P1: what a notifier did before is seen by the look. */
    uint32_t seen = atomic_load_explicit(&event->epoch, memory_order_acquire);
    SIMPLER_TESTPOINT(PARK_BEFORE_RECHECK);
    return seen;
}

uint32_t simpler_event_prepare_rare(struct simpler_event *event)
{
    /* seq_cst, pairs with the notifier's read-modify-write: one of the two comes
     * first, and the other sees what was done before it. */
    atomic_fetch_add_explicit(&event->waiters, 1, memory_order_seq_cst);
    uint32_t seen = atomic_load_explicit(&event->epoch, memory_order_acquire);
    SIMPLER_TESTPOINT(PARK_BEFORE_RECHECK);
    return seen;
}

void simpler_event_notify_rare(struct simpler_event *event, uint32_t count)
{
    if (atomic_fetch_add_explicit(&event->waiters, 0, memory_order_seq_cst) != 0)
        simpler_event_wake(event, count);
}

void simpler_event_cancel(struct simpler_event *event)
{
    atomic_fetch_sub_explicit(&event->waiters, 1, memory_order_seq_cst);
}

void simpler_event_sleep_as(struct simpler_event *event, uint32_t seen, uint64_t timeout_ns,
                            uint32_t bits)
{
    uint64_t end = 0;
    bool limited =
        timeout_ns != UINT64_MAX && !__builtin_add_overflow(simpler_clock_ns(), timeout_ns, &end);
    struct timespec ts = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};

    /* The kernel compares epoch with seen; any return is followed by a new look. */
    (void)syscall(SYS_futex, &event->epoch, FUTEX_WAIT_BITSET_PRIVATE, seen, limited ? &ts : NULL,
                  NULL, bits);
}

void simpler_event_sleep(struct simpler_event *event, uint32_t seen, uint64_t timeout_ns)
{
    simpler_event_sleep_as(event, seen, timeout_ns, FUTEX_BITSET_MATCH_ANY);
}

void simpler_event_wait(struct simpler_event *event, uint32_t seen, uint64_t timeout_ns)
{
    SIMPLER_TESTPOINT(PARK_BEFORE_WAIT);
    simpler_event_sleep(event, seen, timeout_ns);
    simpler_event_cancel(event);
}

void simpler_event_wake(struct simpler_event *event, uint32_t count)
{
    SIMPLER_TESTPOINT(WAKE_BEFORE_CHECK);
    /* P1, release: pairs with the acquire load in prepare. */
    atomic_fetch_add_explicit(&event->epoch, 1, memory_order_release);
    (void)syscall(SYS_futex, &event->epoch, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

void simpler_event_wake_bits(struct simpler_event *event, uint32_t bits)
{
    SIMPLER_TESTPOINT(WAKE_BEFORE_CHECK);
    /* P1, as above. */
    atomic_fetch_add_explicit(&event->epoch, 1, memory_order_release);
    (void)syscall(SYS_futex, &event->epoch, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, bits);
}
