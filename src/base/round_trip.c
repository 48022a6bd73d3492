/* SPDX-License-Identifier: Apache-2.0 */
#include "base/round_trip.h"

#include "base/clock.h"

#define ROUNDS     16u
#define TIMEOUT_NS 40000u

/* One round trip in ticks, or 0 when nobody answers. */
static uint64_t once(struct simpler_round_trip *trip, uint64_t give_up)
{
    uint32_t ping = atomic_load_explicit(&trip->ping, memory_order_relaxed) + 1;
    uint64_t start = simpler_clock_ticks();
    atomic_store_explicit(&trip->ping, ping, memory_order_relaxed);
    for (;;) {
        if (atomic_load_explicit(&trip->pong, memory_order_relaxed) == ping)
            return simpler_clock_ticks() - start;
        if (simpler_clock_ticks() > give_up)
            return 0;
    }
}

uint32_t simpler_round_trip_probe(struct simpler_round_trip *trip)
{
    uint64_t best = 0;
    uint64_t give_up = simpler_clock_ticks() + simpler_clock_ns_to_ticks(TIMEOUT_NS);

    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t ticks = once(trip, give_up);
        if (ticks == 0)
            break;
        if (best == 0 || ticks < best)
            best = ticks;
    }
    return (uint32_t)simpler_clock_ticks_to_ns(best);
}
