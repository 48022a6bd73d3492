/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PROF_PRODUCER_H
#define SIMPLER_PROF_PRODUCER_H

/*
 * The device's side: one thread appends fixed-size records to a buffer that it
 * owns, publishes full buffers and takes empty ones.  An append is a bounds
 * check and plain stores; no allocation, no lock, no system call.  Only at a
 * buffer switch a thread may wait, at its own gate, for the host; after the
 * host-crash time-out its lane drops, counted by cause, until the host takes
 * something again.  Invariant: a record that was committed is never taken back;
 * what cannot be published stays in the held buffer, for a later try or for the
 * host's recovery, and it is the new record that is dropped.
 */
#include <stdbool.h>
#include <stdint.h>

#include "prof/gate.h"
#include "wire/device_address.h"
#include "wire/prof_wire.h"

/* One (lane, kind) as its thread sees it; the thread's alone. */
struct simpler_producer {
    struct simpler_prof_header *header;
    struct simpler_prof_state *state;
    struct simpler_prof_ready_lane *lane;
    struct simpler_prof_ready_entry *entries;
    struct simpler_prof_buffer *buffer; /* NULL: none held */
    uint8_t *next;                      /* where the next record goes */
    uint32_t count;                     /* records in buffer */
    uint32_t capacity;
    uint32_t record_bytes;
    uint32_t run_epoch;
    uint32_t lane_index;
    uint32_t kind;
    struct simpler_event *doorbell;
    uint64_t payloads; /* payload records in buffer */
};

/* The region at a base address; NULL for 0 and for what another collector made. */
SIMPLER_INLINE struct simpler_prof_header *simpler_producer_header(uint64_t base, uint32_t magic)
{
    struct simpler_prof_header *header = simpler_device_place(base);
    return header != NULL && header->magic == magic ? header : NULL;
}

/* The collector's own block. */
SIMPLER_INLINE void *simpler_producer_block(struct simpler_prof_header *header)
{
    return (uint8_t *)header + header->client_offset;
}

/* A gate of the producer's lane. */
SIMPLER_INLINE struct simpler_gate simpler_producer_gate(const struct simpler_producer *producer,
                                                         struct simpler_event *event,
                                                         bool (*is_open)(const void *),
                                                         const void *subject)
{
    return (struct simpler_gate){producer->header, producer->lane, producer->doorbell, event,
                                 is_open,          subject};
}

/*
 * Attaches to a region at the start of an enabled run: resets the four
 * counters, takes over the held buffer and stamps it with @run_epoch.  For every
 * (lane, kind) of the region, used or not, before any lane appends: the counters
 * of a run are summed over all of them.
 */
void simpler_producer_attach(struct simpler_producer *producer, struct simpler_prof_header *header,
                             uint32_t lane, uint32_t kind, uint32_t run_epoch);

/* After every producer of the run has attached: the run's accounting is initialised. */
void simpler_producer_publish_epoch(struct simpler_prof_header *header, uint32_t run_epoch);

/* The slow part of reserve: switch buffers, wait at the gate, count a loss. */
void *simpler_producer_switch(struct simpler_producer *producer);

/* Room for one record, or NULL when it is dropped (and counted). */
SIMPLER_INLINE void *simpler_producer_reserve(struct simpler_producer *producer)
{
    if (SIMPLER_LIKELY(producer->count < producer->capacity))
        return producer->next;
    return simpler_producer_switch(producer);
}

/* The record that was reserved is complete. */
SIMPLER_INLINE void simpler_producer_commit(struct simpler_producer *producer)
{
    uint32_t total = atomic_load_explicit(&producer->state->total, memory_order_relaxed);
    producer->next += producer->record_bytes;
    producer->count++;
    /* A single writer: a load and a store; clamped. */
    atomic_store_explicit(&producer->state->total, total + (total != UINT32_MAX),
                          memory_order_relaxed);
    /* R4, release: the monitor and the recovery read below count. */
    atomic_store_explicit(&producer->buffer->count, producer->count, memory_order_release);
}

/* A record that the collector itself refuses (counted in total and dropped_other). */
void simpler_producer_refuse(struct simpler_producer *producer);

/* Publishes a partial buffer; false when the gate expired and it is still held. */
bool simpler_producer_flush(struct simpler_producer *producer);

/* The last flush of the run; after it nothing is appended and the lane's end is proved (R3). */
void simpler_producer_finish(struct simpler_producer *producer);

#endif
