/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel time estimates and the round-trip probe. */
#include "tmr/handover.h"

#include "base/clock.h"

/* What the two reads of the counter cost themselves. */
#define TIMING_OVERHEAD_TICKS 40u
#define PROBE_ROUNDS          16u
#define PROBE_TIMEOUT_NS      40000u
#define PROBE_PERIOD_NS       100000000u
#define OVERSUBSCRIBED_NS     2000u

void simpler_handover_note(struct simpler_thread *thread, uint32_t func_id, uint64_t ticks)
{
    _Atomic uint32_t *slot = &thread->device->estimates->ns[func_id];
    uint64_t ns = simpler_clock_ticks_to_ns(
        ticks > TIMING_OVERHEAD_TICKS ? ticks - TIMING_OVERHEAD_TICKS : 0);
    if (ns > SIMPLER_LONG_NS / 4)
        ns = SIMPLER_LONG_NS / 4;
    uint32_t old = atomic_load_explicit(slot, memory_order_relaxed);
    uint32_t next;
    if (old == 0)
        next = (uint32_t)ns;
    else if (ns > 8 * (uint64_t)old)
        next = old * 2; /* a preempted run must not turn a tiny kernel into a long one */
    else
        next = (uint32_t)((3 * (uint64_t)old + ns) / 4);
    /* Time the next run as well after a surprise: a kernel that has become long shows at once. */
    thread->timing =
        ns > 8 * (uint64_t)old && old != 0 ? 0 : 24 + (uint32_t)(simpler_clock_ticks() & 15);
    if (next == 0)
        next = 1;
    /* Rarely written, so that the line stays shared. */
    if (old == 0 || next > old + old / 8 || next + next / 8 < old)
        atomic_store_explicit(slot, next, memory_order_relaxed);
}

/* One round trip in ticks, or 0 when nobody answers. */
static uint64_t round_trip(struct simpler_device *device, uint64_t give_up)
{
    uint32_t ping = atomic_load_explicit(&device->ping, memory_order_relaxed) + 1;
    uint64_t start = simpler_clock_ticks();
    atomic_store_explicit(&device->ping, ping, memory_order_relaxed);
    for (;;) {
        if (atomic_load_explicit(&device->pong, memory_order_relaxed) == ping)
            return simpler_clock_ticks() - start;
        if (simpler_clock_ticks() > give_up)
            return 0;
    }
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
    uint64_t best = 0;
    uint64_t give_up = now + simpler_clock_ns_to_ticks(PROBE_TIMEOUT_NS);
    for (uint32_t i = 0; i < PROBE_ROUNDS; i++) {
        uint64_t ticks = round_trip(device, give_up);
        if (ticks == 0)
            break;
        if (best == 0 || ticks < best)
            best = ticks;
    }
    if (best != 0)
        atomic_store_explicit(&device->handover_ns, (uint32_t)simpler_clock_ticks_to_ns(best),
                              memory_order_relaxed);
}
