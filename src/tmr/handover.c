/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel time estimates and the round-trip probe. */
#include "tmr/handover.h"

#include "base/clock.h"

#define PROBE_PERIOD_NS   100000000u
#define OVERSUBSCRIBED_NS 2000u

void simpler_handover_note(struct simpler_thread *thread, uint32_t func_id, uint64_t ticks)
{
    thread->timing = simpler_estimates_note(thread->device->estimates, func_id, ticks);
}

void simpler_handover_probe(struct simpler_orch *orch)
{
    struct simpler_device *device = orch->device;
    uint64_t now = simpler_clock_ticks();

    if (orch->all_private || orch->never_private ||
        now - orch->probed_ticks < simpler_clock_ns_to_ticks(PROBE_PERIOD_NS))
        return;
    orch->probed_ticks = now;
    if (!device->spin_allowed) {
        atomic_store_explicit(&device->handover_ns, OVERSUBSCRIBED_NS, memory_order_relaxed);
        return;
    }
    simpler_event_notify(&device->work, 1);
    uint32_t best = simpler_round_trip_probe(&device->round_trip);
    if (best != 0)
        atomic_store_explicit(&device->handover_ns, best, memory_order_relaxed);
}
