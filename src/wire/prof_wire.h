/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_WIRE_PROF_WIRE_H
#define SIMPLER_WIRE_PROF_WIRE_H

/*
 * What a device's producers and the host's collectors share, the same for every
 * collector: a header, then at offsets that it names the ready queue of each
 * lane, the state of each (lane, kind), and buffers of records.  A lane is one
 * producing thread; a kind is one sort of record.  All addresses are device
 * addresses; the host reaches them through its transport.
 *
 * Layouts are equal on all platforms; lane count, queue depth and records per
 * buffer are run-time fields, no array is dimensioned by a platform's limit.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/event.h"

#define SIMPLER_PROF_FREE_SLOTS 8u
#define SIMPLER_PROF_MAX_KINDS  8u

_Static_assert((SIMPLER_PROF_FREE_SLOTS & (SIMPLER_PROF_FREE_SLOTS - 1)) == 0,
               "free-running indices need a power of two");

/*
 * Empty buffers on their way to the device.
 *
 *   field   written by  read by  publishes
 *   tail    host        device   slot[] entries below tail          (F1)
 *   head    device      host     "slots below head may be reused"   (F2)
 *   slot[]  host        device   owned by the host until F1, by the device
 *                                from F1 to F2
 *
 * Indices run free; occupancy is tail - head, at most SIMPLER_PROF_FREE_SLOTS.
 * At run time the drain shard of the lane is the only host writer.
 */
struct simpler_prof_free_queue {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t tail;
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t head;
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint64_t slot[SIMPLER_PROF_FREE_SLOTS];
};

/* One full buffer on its way to the host: 32 bytes. */
struct simpler_prof_ready_entry {
    uint32_t lane;
    uint32_t kind;
    uint64_t buffer;
    uint32_t buffer_seq;
    uint32_t run_epoch;
    uint64_t payloads; /* payload records in it, for collectors that acknowledge them */
};

/*
 * Full buffers of one lane on their way to the host; its entries are
 * header.ready_depth (a power of two) simpler_prof_ready_entry at
 * header.entries_offset + lane * ready_depth * 32.
 *
 *   field      written by  read by  publishes
 *   tail       device      host     entries below tail and their buffers   (R1)
 *   waiting    device      host     a thread has waited at the gate for a part of
 *                                   the crash clock: the host shows that it lives
 *   dropping   device      device   a gate expired at heartbeat drop_beat, and
 *   drop_beat  device      device   the host has not moved since
 *   head       host        device   "entries below head may be reused"     (R2)
 *   heartbeat  host        device   the host is alive: it took an entry, gave a
 *                                   buffer, wrote, or acknowledged, for this lane
 *   space      host        device   event: room or a free buffer was made
 *
 * At run time the drain shard of the lane is the only host writer.
 */
struct simpler_prof_ready_lane {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t tail;
    _Atomic uint32_t waiting;
    _Atomic uint32_t dropping;
    _Atomic uint32_t drop_beat;
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t head;
    _Atomic uint32_t heartbeat;
    struct simpler_event space;
};

/*
 * The producer's side of one (lane, kind).  The counters clamp at UINT32_MAX.
 * Written by the device's thread of the lane; read by the host after the end of
 * the lane is proved.  The next enabled run's leader resets the four counters and
 * re-stamps the held buffer; current_buffer and the free queue stay.
 */
struct simpler_prof_state {
    struct simpler_prof_free_queue free;
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint64_t current_buffer; /* 0: none */
    _Atomic uint32_t current_seq;                                 /* persistent rotation counter */
    _Atomic uint32_t total;                                       /* records attempted */
    _Atomic uint32_t dropped_no_free;                             /* no free buffer */
    _Atomic uint32_t dropped_ready_full;
    _Atomic uint32_t dropped_other; /* of the collector's own cause (scope stats: too deep) */
    _Atomic uint32_t flushed_epoch; /* release: "the last flush of this run is done" (R3) */
};

/*
 * Header of a buffer; records follow.  count is stored with release after each record (R4).
 * While it is not 0 the stamps and the records below it are whole, wherever the producer
 * is: count goes to 0 before a stamp changes.
 */
struct simpler_prof_buffer {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t count;
    uint32_t run_epoch;
    uint32_t local_seq; /* rotation counter when it was taken */
    uint32_t capacity;  /* records */
    uint32_t lane;      /* whose records they are, for who reads them after a crash */
    uint8_t reserved[44];
};

struct simpler_prof_kind {
    uint32_t record_bytes;
    uint32_t records_per_buffer;
};

/*
 * Host-written before the device sees it, but for the marked field.  A lane
 * rings doorbell[lane % shard_count] when it has published a buffer; where
 * has_events is 0 the two sides cannot wake each other and poll.
 */
struct simpler_prof_header {
    _Alignas(SIMPLER_CACHE_LINE) uint32_t magic; /* the collector's */
    uint32_t lane_count;
    uint32_t kind_count;
    uint32_t ready_depth;
    uint64_t lanes_offset;     /* struct simpler_prof_ready_lane[lane_count] */
    uint64_t entries_offset;   /* struct simpler_prof_ready_entry[lane_count][ready_depth] */
    uint64_t states_offset;    /* struct simpler_prof_state[lane_count][kind_count] */
    uint64_t doorbells_offset; /* struct simpler_event[shard_count] */
    uint64_t client_offset;    /* the collector's own block */
    uint64_t backstop_ns;      /* host-crash clock of the gates */
    uint32_t shard_count;
    uint32_t has_events;
    _Atomic uint32_t
        accounting_epoch; /* device (release): the run that initialised the producers (R5) */
    uint32_t reserved;
    struct simpler_prof_kind kind[SIMPLER_PROF_MAX_KINDS];
};

/* What the producer alone writes of a state, of a lane and of a buffer's header. */
#define SIMPLER_PROF_STATE_OWN_BYTES 32u
#define SIMPLER_PROF_LANE_OWN_BYTES  16u
#define SIMPLER_PROF_BUFFER_BYTES    16u

/* Equal on every platform: an array is placed by the header's offsets, a field by these. */
#define SIMPLER_WIRE_AT(type, field, at) \
    _Static_assert(offsetof(struct type, field) == (at), "wire layout")
SIMPLER_WIRE_AT(simpler_prof_free_queue, tail, 0);
SIMPLER_WIRE_AT(simpler_prof_free_queue, head, 64);
SIMPLER_WIRE_AT(simpler_prof_free_queue, slot, 128);
_Static_assert(sizeof(struct simpler_prof_free_queue) == 192, "wire layout");
SIMPLER_WIRE_AT(simpler_prof_ready_entry, buffer, 8);
SIMPLER_WIRE_AT(simpler_prof_ready_entry, payloads, 24);
_Static_assert(sizeof(struct simpler_prof_ready_entry) == 32, "wire layout");
SIMPLER_WIRE_AT(simpler_prof_ready_lane, waiting, 4);
SIMPLER_WIRE_AT(simpler_prof_ready_lane, drop_beat, 12);
SIMPLER_WIRE_AT(simpler_prof_ready_lane, head, 64);
SIMPLER_WIRE_AT(simpler_prof_ready_lane, heartbeat, 68);
SIMPLER_WIRE_AT(simpler_prof_ready_lane, space, 128);
_Static_assert(sizeof(struct simpler_prof_ready_lane) == 256, "wire layout");
SIMPLER_WIRE_AT(simpler_prof_state, current_buffer, 192);
SIMPLER_WIRE_AT(simpler_prof_state, flushed_epoch, 220);
_Static_assert(sizeof(struct simpler_prof_state) == 256, "wire layout");
SIMPLER_WIRE_AT(simpler_prof_buffer, run_epoch, 4);
SIMPLER_WIRE_AT(simpler_prof_buffer, local_seq, 8);
SIMPLER_WIRE_AT(simpler_prof_buffer, capacity, 12);
_Static_assert(sizeof(struct simpler_prof_buffer) == 64, "records start on a line of their own");
SIMPLER_WIRE_AT(simpler_prof_header, lanes_offset, 16);
SIMPLER_WIRE_AT(simpler_prof_header, client_offset, 48);
SIMPLER_WIRE_AT(simpler_prof_header, backstop_ns, 56);
SIMPLER_WIRE_AT(simpler_prof_header, accounting_epoch, 72);
SIMPLER_WIRE_AT(simpler_prof_header, kind, 80);
_Static_assert(sizeof(struct simpler_prof_header) == 192, "wire layout");
_Static_assert(sizeof(struct simpler_event) == 128, "wire layout");

/* The records of a buffer. */
SIMPLER_INLINE const void *simpler_prof_records(const struct simpler_prof_buffer *buffer)
{
    return buffer + 1;
}

#endif
