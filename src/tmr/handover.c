/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel time estimates and the round-trip probe. */
#include "tmr/handover.h"

#include "base/clock.h"
#include "tmr/passing.h"

#define PROBE_PERIOD_NS 100000000u
/* Of short kernels that the orchestrator runs as they are submitted one in so many more is timed:
 * that they have become long shows in the time between two looks around as well. */
#define SHORT_SELDOM 8u
#define CALM_SELDOM  32u
/* Runs that are all timed when that time was long: of up to so many kernels in turn each is met. */
#define CLOSELY 64u

void simpler_handover_note(struct simpler_thread *thread, uint32_t func_id, uint64_t ticks)
{
    struct simpler_device *device = thread->device;
    uint32_t runs = simpler_estimates_note(device->estimates, func_id, ticks);

    thread->timing = runs;
    if (thread != device->orch.thread)
        return;
    struct simpler_orch *orch = &device->orch;
    bool is_long = simpler_handover_kernel_ns(device, func_id) >= orch->solo_below_ns;
    if (is_long) {
        orch->calm = 0;
        simpler_passing_drop(orch, func_id);
    }
    if (orch->closely != 0) {
        orch->closely--;
        thread->timing = 0;
    } else if (!is_long) {
        thread->timing = runs * (simpler_handover_is_calm(orch) ? CALM_SELDOM : SHORT_SELDOM);
    }
}

/* Measures the round trip with an idle scheduler, at most every 100 ms. */
static void probe(struct simpler_orch *orch, uint64_t now)
{
    struct simpler_device *device = orch->device;

    if (orch->all_solo || orch->never_solo ||
        now - orch->probed_ticks < simpler_clock_ns_to_ticks(PROBE_PERIOD_NS))
        return;
    orch->probed_ticks = now;
    if (!device->spin_allowed) {
        simpler_handover_set(orch, SIMPLER_HANDOVER_MAX_NS);
        return;
    }
    simpler_sleepers_wake(&device->work, 1);
    uint32_t best = simpler_round_trip_probe(&device->round_trip);
    if (best != 0)
        simpler_handover_set(orch, best);
}

void simpler_handover_look(struct simpler_orch *orch)
{
    uint64_t now = simpler_clock_ticks();

    if (simpler_handover_took_long(orch, now, orch->submit_seq)) {
        orch->thread->timing = 0;
        orch->closely = CLOSELY;
        orch->calm = 0;
    } else if (orch->calm < SIMPLER_CALM_LOOKS) {
        orch->calm++;
    }
    orch->looked_ticks = now;
    orch->looked_seq = orch->submit_seq;
    probe(orch, now);
}

/* What is longer was no round trip: one of the threads lost its CPU meanwhile. */
void simpler_handover_set(struct simpler_orch *orch, uint64_t ns)
{
    uint32_t round_trip_ns = ns < SIMPLER_HANDOVER_MAX_NS ? (uint32_t)ns : SIMPLER_HANDOVER_MAX_NS;

    atomic_store_explicit(&orch->device->handover_ns, round_trip_ns, memory_order_relaxed);
    orch->solo_below_ns = simpler_handover_threshold(orch->device);
    simpler_passing_forget(orch);
}

void simpler_handover_start(struct simpler_orch *orch)
{
    orch->looked_ticks = simpler_clock_ticks();
    orch->calm = 0;
    orch->never_solo = orch->device->exec_threads;
    orch->all_solo = orch->device->thread_count == 1 && !orch->never_solo;
    if (orch->all_solo)
        orch->solo_below_ns = UINT64_MAX;
    else if (!orch->never_solo)
        orch->solo_below_ns = simpler_handover_threshold(orch->device);
}
