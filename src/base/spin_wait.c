/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spin_wait.h"

#include "base/clock.h"

/* Waits that park at once after a spin in vain. */
#define REST_AFTER_MISS 32u

bool simpler_spin_wait_spin(struct simpler_spin_wait *wait, const _Atomic uint32_t *counter,
                            uint32_t old)
{
    if (!simpler_spin_wait_is_due(wait)) {
        wait->rest -= wait->rest != 0;
        return false;
    }
    uint64_t end = simpler_clock_ticks() + wait->ticks;
    do {
        if (atomic_load_explicit(counter, memory_order_acquire) != old)
            return true;
        simpler_clock_relax();
    } while (simpler_clock_ticks() < end);
    wait->rest = REST_AFTER_MISS;
    return false;
}

void simpler_spin_wait(struct simpler_spin_wait *wait, const _Atomic uint32_t *counter,
                       uint32_t old, const _Atomic bool *closing, struct simpler_event *event,
                       uint64_t timeout_ns)
{
    if (simpler_spin_wait_spin(wait, counter, old))
        return;
    uint32_t seen = simpler_event_prepare_rare(event);
    if (atomic_load_explicit(counter, memory_order_acquire) != old ||
        atomic_load_explicit(closing, memory_order_acquire))
        simpler_event_cancel(event);
    else
        simpler_event_wait(event, seen, timeout_ns);
}
