/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_WIRE_H
#define SIMPLER_COLLECT_ARGS_DUMP_WIRE_H

/* Records of the args dump, and its block in the shared region. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/prof_wire.h"

#define ARGS_DUMP_MAGIC       0x44554d50u /* "DUMP" */
#define ARGS_DUMP_MAX_DIMS    5
#define ARGS_DUMP_MAX_FUNCS   3
#define ARGS_DUMP_RECORDS     256u
#define ARGS_DUMP_BUFFERS     8u
#define ARGS_DUMP_AVG_BYTES   65536u
#define ARGS_DUMP_READY_DEPTH 16u
#define ARGS_DUMP_FUNC_NONE   0xffffu

enum args_dump_level {
    ARGS_DUMP_OFF = 0,
    ARGS_DUMP_PARTIAL = 1,
    ARGS_DUMP_FULL = 2,
    ARGS_DUMP_HYBRID = 3
};

enum { ARGS_DUMP_INPUT = 0, ARGS_DUMP_OUTPUT = 1, ARGS_DUMP_INOUT = 2 };
enum { ARGS_DUMP_BEFORE = 0, ARGS_DUMP_AFTER = 1 };
enum { ARGS_DUMP_TENSOR = 0, ARGS_DUMP_SCALAR = 1 };
enum { ARGS_DUMP_AMBIGUOUS = 1, ARGS_DUMP_MARKED = 128 }; /* flags */

/* Two cache lines.  payload_offset counts the arena's bytes of the run; from the
 * host's collection on it is the payload's place in args.bin. */
struct args_dump_record {
    uint64_t task_id;
    uint8_t role;
    uint8_t stage;
    uint8_t ndims;
    uint8_t reserved0;
    uint32_t arg_index;
    uint8_t dtype;
    uint8_t truncated;
    uint8_t is_contiguous;
    uint8_t reserved1;
    uint32_t crc32c; /* of the payload */
    uint64_t payload_offset;
    uint64_t payload_size;
    uint64_t scalar_value;
    uint8_t kind;
    uint8_t flags;
    uint16_t func_ids[ARGS_DUMP_MAX_FUNCS];
    uint8_t func_count;
    uint8_t reserved2[3];
    uint32_t submit_seq; /* number of the submit in its run, from 1 */
    uint64_t start_offset;
    uint32_t strides[ARGS_DUMP_MAX_DIMS];
    uint32_t shapes[ARGS_DUMP_MAX_DIMS];
    uint64_t buffer_addr;
    uint64_t capture_ns; /* since the start of the run */
};

/*
 * What a durable spool notes in a record's spare bytes, for who reads it after a crash: the
 * buffer that it came in (lane, the low bits of its number) and, of a payload, where in the
 * lane's arena it lies until it is in args.bin.
 */
#define ARGS_DUMP_MARK_SEQ_MASK 0xffffffu

SIMPLER_INLINE void simpler_args_dump_mark(struct args_dump_record *r, uint32_t lane,
                                           uint32_t buffer_seq, uint64_t arena_offset)
{
    r->flags |= ARGS_DUMP_MARKED;
    r->reserved0 = (uint8_t)lane;
    r->reserved1 = (uint8_t)(lane >> 8);
    r->reserved2[0] = (uint8_t)buffer_seq;
    r->reserved2[1] = (uint8_t)(buffer_seq >> 8);
    r->reserved2[2] = (uint8_t)(buffer_seq >> 16);
    if (r->payload_size != 0)
        r->scalar_value = arena_offset;
}

SIMPLER_INLINE uint32_t simpler_args_dump_mark_lane(const struct args_dump_record *r)
{
    return r->reserved0 | (uint32_t)r->reserved1 << 8;
}

SIMPLER_INLINE uint32_t simpler_args_dump_mark_seq(const struct args_dump_record *r)
{
    return r->reserved2[0] | (uint32_t)r->reserved2[1] << 8 | (uint32_t)r->reserved2[2] << 16;
}

/*
 * One lane's arena.  The device writes payloads one behind the other; when the
 * next would cross the arena's end it waits until the host has taken all.
 *
 *   field                written by  read by  publishes
 *   arena_*              host, before the device sees it
 *   published_payloads   device      host     at the end of the run
 *   completed_payloads   host        device   "the bytes of these may be reused"  (A1)
 *   acked                host        device   event: completed_payloads has moved
 *   the other counts     device      host, after the end of the lane is proved
 *
 * The payload counts run from the session's start: a run begins where completed
 * stands.
 */
struct args_dump_lane {
    _Alignas(SIMPLER_CACHE_LINE) uint64_t arena_base;
    uint64_t arena_size;
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint64_t arena_write_offset;
    _Atomic uint64_t published_payloads;
    _Atomic uint64_t records;
    _Atomic uint64_t payload_bytes;
    _Atomic uint64_t capture_ns; /* time that capture took */
    _Atomic uint64_t truncated;
    _Atomic uint64_t arena_dropped; /* part of the lane's dropped_other */
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint64_t completed_payloads;
    struct simpler_event acked;
};

/* What went wrong first, for one warning of the host; see dump_args_note. */
#define ARGS_DUMP_NOTES 3u

struct args_dump_block {
    _Alignas(SIMPLER_CACHE_LINE) uint32_t dump_args_level; /* host, before each run */
    uint32_t reserved;
    uint64_t start_ticks;                    /* device: clock at the start of the run */
    _Atomic uint64_t notes[ARGS_DUMP_NOTES]; /* 0: none; first writer wins */
    _Alignas(SIMPLER_CACHE_LINE) struct args_dump_lane lanes[];
};

/* What the lane's thread alone writes, from arena_write_offset on. */
#define ARGS_DUMP_LANE_OWN_BYTES 56u

SIMPLER_WIRE_AT(args_dump_lane, arena_size, 8);
SIMPLER_WIRE_AT(args_dump_lane, arena_write_offset, 64);
SIMPLER_WIRE_AT(args_dump_lane, arena_dropped, 112);
SIMPLER_WIRE_AT(args_dump_lane, completed_payloads, 128);
SIMPLER_WIRE_AT(args_dump_lane, acked, 192);
SIMPLER_WIRE_AT(args_dump_block, start_ticks, 8);
SIMPLER_WIRE_AT(args_dump_block, notes, 16);
SIMPLER_WIRE_AT(args_dump_block, lanes, 64);
_Static_assert(sizeof(struct args_dump_record) == 128, "two cache lines");
SIMPLER_WIRE_AT(args_dump_record, crc32c, 20);
SIMPLER_WIRE_AT(args_dump_record, payload_offset, 24);
SIMPLER_WIRE_AT(args_dump_record, func_ids, 50);
SIMPLER_WIRE_AT(args_dump_record, submit_seq, 60);
SIMPLER_WIRE_AT(args_dump_record, strides, 72);
SIMPLER_WIRE_AT(args_dump_record, shapes, 92);
SIMPLER_WIRE_AT(args_dump_record, buffer_addr, 112);
SIMPLER_WIRE_AT(args_dump_record, capture_ns, 120);
_Static_assert(sizeof(struct args_dump_lane) == 320, "wire layout");

#endif
