/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_HEAP_RING_H
#define SIMPLER_TMR_HEAP_RING_H

/*
 * One ring's heap.  Positions are 64-bit and monotonic, bytes that a wrap or a
 * rebase skips included, so occupancy is a plain difference.  Blocks are freed
 * in order: the tail follows the retired tasks.
 *
 * Placement, with s the size and a the request:
 *   at the top, if it fits before the end (an exact fit is allowed);
 *   else at offset 0, if more than a bytes are free there (a wrap);
 *   else at offset 0, if the ring is empty and a <= s (a rebase);
 *   behind a wrap, only if more than a bytes are left before the tail.
 *
 * Threads: the orchestrator alone.
 */
#include <stdbool.h>
#include <stdint.h>

struct simpler_heap_ring {
    uint8_t *memory;
    uint64_t size;
    uint64_t lap;  /* position of offset 0 in the lap of top */
    uint64_t top;  /* position of the next block, lap <= top <= lap + size */
    uint64_t tail; /* position behind the last retired block */
};

static inline void simpler_heap_ring_init(struct simpler_heap_ring *heap, uint8_t *memory,
                                          uint64_t size)
{
    heap->memory = memory;
    heap->size = size;
    heap->lap = heap->top = heap->tail = 0;
}

/* Bytes in use, skipped ones included. */
static inline uint64_t simpler_heap_ring_used(const struct simpler_heap_ring *heap)
{
    return heap->top - heap->tail;
}

/* NULL when there is no room now; nothing changes then. */
static inline uint8_t *simpler_heap_ring_try_alloc(struct simpler_heap_ring *heap, uint64_t bytes)
{
    bool wrapped = heap->tail < heap->lap;
    if (!wrapped) {
        if (bytes > heap->lap + heap->size - heap->top) {
            bool empty = heap->tail == heap->top;
            if (bytes > heap->size || (!empty && heap->tail - heap->lap <= bytes))
                return NULL;
            heap->lap += heap->size;
            heap->top = heap->lap;
            if (empty)
                heap->tail = heap->top;
        }
    } else if (bytes >= heap->tail + heap->size - heap->top) {
        return NULL;
    }
    uint8_t *block = heap->memory + (heap->top - heap->lap);
    heap->top += bytes;
    return block;
}

/* The task whose block ends at @end is retired. */
static inline void simpler_heap_ring_retire(struct simpler_heap_ring *heap, uint64_t end)
{
    if (end > heap->tail)
        heap->tail = end;
}

#endif
