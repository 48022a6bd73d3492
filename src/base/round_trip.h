/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_ROUND_TRIP_H
#define SIMPLER_BASE_ROUND_TRIP_H

/*
 * What a hand-over between two CPUs costs now: one thread pings, one that is
 * idle answers.
 *
 *   field  written by    read by     publishes
 *   ping   the prober    answerers   nothing
 *   pong   answerers     the prober  nothing
 */
#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"

struct simpler_round_trip {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t ping;
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t pong;
};

/* Nanoseconds, or 0 when nobody answered for 40 us. */
uint32_t simpler_round_trip_probe(struct simpler_round_trip *trip);

SIMPLER_INLINE void simpler_round_trip_answer(struct simpler_round_trip *trip)
{
    uint32_t ping = atomic_load_explicit(&trip->ping, memory_order_relaxed);
    if (ping != atomic_load_explicit(&trip->pong, memory_order_relaxed))
        atomic_store_explicit(&trip->pong, ping, memory_order_relaxed);
}

#endif
