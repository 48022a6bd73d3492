/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel time estimates and the round-trip probe. */
#include "tmr/handover.h"

#include "base/clock.h"
#include "tmr/wake.h"

#define PROBE_PERIOD_NS 100000000u

void simpler_handover_note(struct simpler_thread *thread, uint32_t func_id, uint64_t ticks)
{
    thread->timing = simpler_estimates_note(thread->device->estimates, func_id, ticks);
}

/* What is longer was no round trip: one of the threads lost its CPU meanwhile. */
void simpler_handover_set(struct simpler_orch *orch, uint64_t ns)
{
    uint32_t round_trip_ns = ns < SIMPLER_HANDOVER_MAX_NS ? (uint32_t)ns : SIMPLER_HANDOVER_MAX_NS;

    atomic_store_explicit(&orch->device->handover_ns, round_trip_ns, memory_order_relaxed);
    orch->solo_below_ns = simpler_handover_threshold(orch->device);
}

void simpler_handover_start(struct simpler_orch *orch)
{
    orch->never_solo = orch->device->exec_threads;
    orch->all_solo = orch->device->thread_count == 1 && !orch->never_solo;
    if (orch->all_solo)
        orch->solo_below_ns = UINT64_MAX;
    else if (!orch->never_solo)
        orch->solo_below_ns = simpler_handover_threshold(orch->device);
}

void simpler_handover_probe(struct simpler_orch *orch)
{
    struct simpler_device *device = orch->device;
    uint64_t now = simpler_clock_ticks();

    if (orch->all_solo || orch->never_solo ||
        now - orch->probed_ticks < simpler_clock_ns_to_ticks(PROBE_PERIOD_NS))
        return;
    orch->probed_ticks = now;
    if (!device->spin_allowed) {
        simpler_handover_set(orch, SIMPLER_HANDOVER_MAX_NS);
        return;
    }
    simpler_wake_schedulers(device, 1);
    uint32_t best = simpler_round_trip_probe(&device->round_trip);
    if (best != 0)
        simpler_handover_set(orch, best);
}
