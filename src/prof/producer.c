/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device's side of a (lane, kind): see producer.h.
 *
 * A switch publishes the full buffer and then takes an empty one, so that a
 * lane with a single buffer still makes progress.  Each half has a gate: the
 * ready queue must have room, the free queue must hold a buffer (gate.h).
 */
#include "prof/producer.h"

#include <stddef.h>

#include "base/testpoint.h"
#include "wire/device_address.h"

static bool has_room(const void *subject)
{
    const struct simpler_producer *producer = subject;
    /* relaxed: this thread is the only writer of tail. */
    uint32_t tail = atomic_load_explicit(&producer->lane->tail, memory_order_relaxed);
    /* acquire, pairs with R2: the host has copied the entries below head. */
    uint32_t head = atomic_load_explicit(&producer->lane->head, memory_order_acquire);
    return tail - head < producer->header->ready_depth;
}

static bool has_buffer(const void *subject)
{
    const struct simpler_producer *producer = subject;
    const struct simpler_prof_free_queue *queue = &producer->state->free;
    /* relaxed: this thread is the only writer of head. */
    uint32_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    /* acquire, pairs with F1: the slots below tail are filled. */
    return atomic_load_explicit(&queue->tail, memory_order_acquire) != head;
}

static void ring(const struct simpler_producer *producer)
{
    simpler_event_notify_rare(producer->doorbell, 1);
}

static bool pass_gate(const struct simpler_producer *producer, bool (*is_open)(const void *))
{
    struct simpler_gate gate =
        simpler_producer_gate(producer, &producer->lane->space, is_open, producer);
    return SIMPLER_LIKELY(is_open(producer)) || simpler_gate_pass(&gate);
}

static void clamped_add(_Atomic uint32_t *counter)
{
    uint32_t value = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, value + (value != UINT32_MAX), memory_order_relaxed);
}

/* A new record is lost. */
static void *count_loss(struct simpler_producer *producer, _Atomic uint32_t *cause)
{
    clamped_add(&producer->state->total);
    clamped_add(cause);
    return NULL;
}

static void hold(struct simpler_producer *producer, struct simpler_prof_buffer *buffer)
{
    producer->buffer = buffer;
    producer->count = 0;
    producer->payloads = 0;
    producer->capacity = buffer == NULL ? 0 : buffer->capacity;
    producer->next = (uint8_t *)(buffer == NULL ? NULL : buffer + 1);
}

static void stamp(const struct simpler_producer *producer, struct simpler_prof_buffer *buffer)
{
    atomic_store_explicit(&buffer->count, 0, memory_order_relaxed);
    /* A process that is killed here leaves no old count beside a new stamp. */
    atomic_signal_fence(memory_order_seq_cst);
    buffer->lane = producer->lane_index;
    buffer->run_epoch = producer->run_epoch;
    buffer->local_seq = atomic_load_explicit(&producer->state->current_seq, memory_order_relaxed);
}

/* The held buffer becomes an entry of the ready queue; there is room.  The caller rings. */
static void publish(struct simpler_producer *producer)
{
    struct simpler_prof_ready_lane *lane = producer->lane;
    struct simpler_prof_state *state = producer->state;
    uint32_t tail = atomic_load_explicit(&lane->tail, memory_order_relaxed);
    uint32_t seq = atomic_load_explicit(&state->current_seq, memory_order_relaxed);

    producer->entries[tail & (producer->header->ready_depth - 1)] =
        (struct simpler_prof_ready_entry){
            .lane = producer->lane_index,
            .kind = producer->kind,
            .buffer = atomic_load_explicit(&state->current_buffer, memory_order_relaxed),
            .buffer_seq = seq,
            .run_epoch = producer->run_epoch,
            .payloads = producer->payloads,
        };
    SIMPLER_TESTPOINT(PRODUCER_BEFORE_PUBLISH);
    /* R1, release: pairs with the drain's acquire load of tail. */
    atomic_store_explicit(&lane->tail, tail + 1, memory_order_release);
    SIMPLER_TESTPOINT(PRODUCER_AFTER_PUBLISH);
    atomic_store_explicit(&state->current_buffer, 0, memory_order_relaxed);
    atomic_store_explicit(&state->current_seq, seq + 1, memory_order_relaxed);
    hold(producer, NULL);
}

/* Takes the next buffer of the free queue; there is one. */
static bool acquire(struct simpler_producer *producer)
{
    struct simpler_prof_free_queue *queue = &producer->state->free;
    uint32_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    uint64_t address =
        atomic_load_explicit(&queue->slot[head % SIMPLER_PROF_FREE_SLOTS], memory_order_relaxed);

    SIMPLER_TESTPOINT(PRODUCER_BEFORE_TAKE);
    /* F2, release: pairs with the drain's acquire load of head. */
    atomic_store_explicit(&queue->head, head + 1, memory_order_release);
    if (address == 0)
        return false;
    struct simpler_prof_buffer *buffer = simpler_device_place(address);
    stamp(producer, buffer);
    hold(producer, buffer);
    /* release: whoever reads the pointer finds the stamps of this run. */
    atomic_store_explicit(&producer->state->current_buffer, address, memory_order_release);
    return true;
}

static void *drop(struct simpler_producer *producer)
{
    struct simpler_prof_state *state = producer->state;
    return count_loss(producer, producer->buffer != NULL ? &state->dropped_ready_full
                                                         : &state->dropped_no_free);
}

static SIMPLER_NOINLINE void *switch_buffers(struct simpler_producer *producer)
{
    if (producer->buffer != NULL) {
        if (!pass_gate(producer, has_room))
            return drop(producer);
        publish(producer);
        ring(producer);
    }
    if (!pass_gate(producer, has_buffer) || !acquire(producer))
        return drop(producer);
    return producer->next;
}

void *simpler_producer_switch(struct simpler_producer *producer)
{
    /* No gate can have opened: whoever opens one moves the heartbeat. */
    if (simpler_gate_is_dropping(producer->lane) || SIMPLER_FAILPOINT(PRODUCER_SWITCH))
        return drop(producer);
    return switch_buffers(producer);
}

void simpler_producer_refuse(struct simpler_producer *producer)
{
    (void)count_loss(producer, &producer->state->dropped_other);
}

static bool try_flush(struct simpler_producer *producer)
{
    if (producer->buffer == NULL || producer->count == 0)
        return true;
    if (!pass_gate(producer, has_room))
        return false;
    publish(producer);
    return true;
}

bool simpler_producer_flush(struct simpler_producer *producer)
{
    bool flushed = try_flush(producer);

    ring(producer);
    return flushed;
}

void simpler_producer_finish(struct simpler_producer *producer)
{
    /* No ring: whoever ends the run takes what is there. */
    (void)try_flush(producer);
    /* R3, release: pairs with the host's acquire load; every append is before it. */
    atomic_store_explicit(&producer->state->flushed_epoch, producer->run_epoch,
                          memory_order_release);
}

static void reset_counters(struct simpler_prof_state *state)
{
    atomic_store_explicit(&state->total, 0, memory_order_relaxed);
    atomic_store_explicit(&state->dropped_no_free, 0, memory_order_relaxed);
    atomic_store_explicit(&state->dropped_ready_full, 0, memory_order_relaxed);
    atomic_store_explicit(&state->dropped_other, 0, memory_order_relaxed);
}

static void find_places(struct simpler_producer *producer)
{
    struct simpler_prof_header *header = producer->header;
    uint8_t *base = (uint8_t *)header;
    struct simpler_prof_ready_lane *lanes = (void *)(base + header->lanes_offset);
    struct simpler_prof_ready_entry *entries = (void *)(base + header->entries_offset);
    struct simpler_prof_state *states = (void *)(base + header->states_offset);
    struct simpler_event *doorbells = (void *)(base + header->doorbells_offset);
    size_t lane = producer->lane_index;

    producer->lane = &lanes[lane];
    producer->entries = &entries[lane * header->ready_depth];
    producer->state = &states[lane * header->kind_count + producer->kind];
    producer->doorbell = &doorbells[lane % header->shard_count];
}

void simpler_producer_attach(struct simpler_producer *producer, struct simpler_prof_header *header,
                             uint32_t lane, uint32_t kind, uint32_t run_epoch)
{
    *producer = (struct simpler_producer){
        .header = header,
        .record_bytes = header->kind[kind].record_bytes,
        .run_epoch = run_epoch,
        .lane_index = lane,
        .kind = kind,
    };
    find_places(producer);
    reset_counters(producer->state);
    simpler_gate_reset(producer->lane);

    uint64_t address = atomic_load_explicit(&producer->state->current_buffer, memory_order_relaxed);
    struct simpler_prof_buffer *held = simpler_device_place(address);
    if (held != NULL)
        stamp(producer, held);
    hold(producer, held);
}

void simpler_producer_publish_epoch(struct simpler_prof_header *header, uint32_t run_epoch)
{
    /* R5, release: pairs with the host's acquire load at the run's end. */
    atomic_store_explicit(&header->accounting_epoch, run_epoch, memory_order_release);
}
