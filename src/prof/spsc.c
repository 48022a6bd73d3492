/* SPDX-License-Identifier: Apache-2.0 */
/* Ring of pointers between two threads; see spsc.h for the protocol. */
#include "prof/spsc.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/testpoint.h"
#include "simpler/status.h"

int simpler_spsc_init(struct simpler_spsc *ring, uint32_t capacity, uint32_t first)
{
    uint32_t power = 1;

    while (power < capacity && power < (1u << 30))
        power *= 2;
    ring->slot = simpler_alloc_zeroed(power, sizeof(*ring->slot));
    if (ring->slot == NULL)
        return SIMPLER_ENOMEM;
    ring->capacity = power;
    atomic_store_explicit(&ring->tail, first, memory_order_relaxed);
    atomic_store_explicit(&ring->head, first, memory_order_relaxed);
    return 0;
}

void simpler_spsc_fini(struct simpler_spsc *ring)
{
    simpler_alloc_free(ring->slot);
    ring->slot = NULL;
    ring->capacity = 0;
}

bool simpler_spsc_try_push(struct simpler_spsc *ring, void *item)
{
    /* relaxed: this thread is the only writer of tail. */
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    /* acquire, pairs with S2: the consumer is done with the slot we reuse. */
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

    if (tail - head == ring->capacity)
        return false;
    ring->slot[tail & (ring->capacity - 1)] = item;
    SIMPLER_TESTPOINT(SPSC_BEFORE_PUBLISH);
    /* S1, release: pairs with the acquire load of tail in try_pop. */
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    return true;
}

void *simpler_spsc_peek(struct simpler_spsc *ring)
{
    /* relaxed: this thread is the only writer of head. */
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    /* acquire, pairs with S1: the slot is filled. */
    if (atomic_load_explicit(&ring->tail, memory_order_acquire) == head)
        return NULL;
    return ring->slot[head & (ring->capacity - 1)];
}

void *simpler_spsc_try_pop(struct simpler_spsc *ring)
{
    void *item = simpler_spsc_peek(ring);

    if (item == NULL)
        return NULL;
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    SIMPLER_TESTPOINT(SPSC_BEFORE_TAKE);
    /* S2, release: pairs with the acquire load of head in try_push. */
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    return item;
}
