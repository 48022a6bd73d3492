/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_READY_QUEUE_H
#define SIMPLER_TASK_READY_QUEUE_H

/*
 * Ready tasks of one thread that others may take: a ring that the owner fills
 * and everybody, the owner included, empties by compare-exchange, several
 * entries at a time.
 *
 *   field    written by      read by   publishes
 *   tail     owner           takers    entries below tail, and what they name   (P6)
 *   head     takers (CAS)    all       "entries below head may be reused"       (P8)
 *   entry[]  owner           takers    owned by the owner until P6, by whoever
 *                                      moves head past it after that
 *
 * A taker reads entries before its CAS; when the CAS fails it may have read
 * something newer, so entries are relaxed atomics.  Indices run free.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/testpoint.h"

#define SIMPLER_READY_QUEUE_SIZE  256u
#define SIMPLER_READY_QUEUE_BATCH 16u

_Static_assert((SIMPLER_READY_QUEUE_SIZE & (SIMPLER_READY_QUEUE_SIZE - 1)) == 0,
               "free-running indices need a power of two");

struct simpler_ready_queue {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t tail;
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t head;
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t entry[SIMPLER_READY_QUEUE_SIZE];
};

static inline void simpler_ready_queue_init(struct simpler_ready_queue *q, uint32_t start)
{
    atomic_store_explicit(&q->tail, start, memory_order_relaxed);
    atomic_store_explicit(&q->head, start, memory_order_relaxed);
}

/* Entries that are there; a hint for everybody but the owner. */
SIMPLER_INLINE uint32_t simpler_ready_queue_count(struct simpler_ready_queue *q)
{
    return atomic_load_explicit(&q->tail, memory_order_relaxed) -
           atomic_load_explicit(&q->head, memory_order_relaxed);
}

/* Owner alone; false when full. */
SIMPLER_INLINE bool simpler_ready_queue_try_push(struct simpler_ready_queue *q, uint32_t number)
{
    /* relaxed: this thread is the only writer of tail. */
    uint32_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
    /* acquire, pairs with P8: takers are done with the entry that is reused. */
    uint32_t head = atomic_load_explicit(&q->head, memory_order_acquire);
    if (tail - head >= SIMPLER_READY_QUEUE_SIZE)
        return false;
    atomic_store_explicit(&q->entry[tail % SIMPLER_READY_QUEUE_SIZE], number, memory_order_relaxed);
    SIMPLER_TESTPOINT(QUEUE_BEFORE_PUBLISH);
    /* P6, release: pairs with the acquire load of tail in try_take. */
    atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
    return true;
}

/* Takes up to @limit entries, at most half of what is there when @share. */
static inline uint32_t simpler_ready_queue_try_take(struct simpler_ready_queue *q, uint32_t *out,
                                                    uint32_t limit, bool share)
{
    /* acquire: head is read before tail, so that tail - head is not negative. */
    uint32_t head = atomic_load_explicit(&q->head, memory_order_acquire);
    for (;;) {
        /* acquire, pairs with P6. */
        uint32_t tail = atomic_load_explicit(&q->tail, memory_order_acquire);
        uint32_t n = tail - head;
        if (n == 0 || n > SIMPLER_READY_QUEUE_SIZE)
            return 0;
        if (share)
            n = (n + 1) / 2;
        if (n > limit)
            n = limit;
        for (uint32_t i = 0; i < n; i++)
            out[i] = atomic_load_explicit(&q->entry[(head + i) % SIMPLER_READY_QUEUE_SIZE],
                                          memory_order_relaxed);
        SIMPLER_TESTPOINT(QUEUE_BEFORE_TAKE);
        /* P8, release: the entries were read; acquire for the next turn. */
        if (atomic_compare_exchange_weak_explicit(&q->head, &head, head + n, memory_order_acq_rel,
                                                  memory_order_acquire))
            return n;
    }
}

#endif
