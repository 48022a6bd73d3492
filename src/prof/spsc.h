/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PROF_SPSC_H
#define SIMPLER_PROF_SPSC_H

/*
 * A ring of pointers from one host thread to one other.
 *
 *   field   written by  read by    publishes
 *   tail    producer    consumer   slot[] entries below tail        (S1)
 *   head    consumer    producer   "slots below head may be reused" (S2)
 *   slot[]  producer    consumer   the consumer's from S1 to S2
 *
 * Indices run free and wrap at 2^32; capacity is a power of two and occupancy
 * the unsigned difference tail - head, at most capacity.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct simpler_spsc {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t tail;
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t head;
    _Alignas(SIMPLER_CACHE_LINE) void **slot; /* NULL until initialised */
    uint32_t capacity;
};

/* Room for at least @capacity; indices start at @first.  SIMPLER_ENOMEM. */
int simpler_spsc_init(struct simpler_spsc *ring, uint32_t capacity, uint32_t first);
void simpler_spsc_fini(struct simpler_spsc *ring);

/* The producer alone; false when full. */
bool simpler_spsc_try_push(struct simpler_spsc *ring, void *item);
/* The consumer alone; NULL when empty. */
void *simpler_spsc_try_pop(struct simpler_spsc *ring);

/* The consumer alone; what the next pop gives. */
void *simpler_spsc_peek(struct simpler_spsc *ring);

/* Any thread; exact for the two that own an end. */
SIMPLER_INLINE uint32_t simpler_spsc_count(const struct simpler_spsc *ring)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    /* Loaded second, so the difference is never negative. */
    return atomic_load_explicit(&ring->tail, memory_order_acquire) - head;
}

#endif
