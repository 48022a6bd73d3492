/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_SCOPE_STATS_WIRE_H
#define SIMPLER_COLLECT_SCOPE_STATS_WIRE_H

/* Records of scope stats, and its block in the shared region. */
#include <stdatomic.h>
#include <stdint.h>

#include "wire/prof_wire.h"

#define SCOPE_STATS_MAX_RING_DEPTH  4
#define SCOPE_STATS_MAX_SCOPE_DEPTH 64
#define SCOPE_STATS_SITE_BYTES      32
#define SCOPE_STATS_MAGIC           0x53434f50u /* "SCOP" */
#define SCOPE_STATS_RECORDS         512u
#define SCOPE_STATS_BUFFERS         4u
#define SCOPE_STATS_READY_DEPTH     8u

struct scope_stats_record {
    char site[SCOPE_STATS_SITE_BYTES]; /* basename, NUL-terminated, cut at a code point */
    uint64_t heap_start;
    uint64_t heap_end;
    int32_t line;
    int32_t task_start;
    int32_t task_end;
    int32_t dep_pool_start;
    int32_t dep_pool_end;
    int32_t tensormap;
    int16_t depth;
    int16_t ring;
    int16_t phase; /* 0 begin, 1 end */
    int16_t reserved;
};

/*
 * What a run's producer came to, written by the device when its orchestrator leaves and
 * read by the host at the run's boundary.  Runs take the terminals in turn, so that the
 * next run's producer, whose first act is to reset the counters, does not disturb it.
 */
struct scope_stats_terminal {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t run_epoch; /* release: the rest is its (T1) */
    uint32_t total;
    uint32_t dropped_no_free;
    uint32_t dropped_ready_full;
    uint32_t dropped_other;
    uint32_t live_at_close; /* records in the buffer that the producer still held */
};

#define SCOPE_STATS_TERMINALS 2u

/*
 * Written by the device once a run (capacities) or when a code is latched (fatal);
 * terminal_count by the host, before the first run.
 */
struct scope_stats_block {
    int32_t window_cap[SCOPE_STATS_MAX_RING_DEPTH];
    int32_t dep_pool_cap[SCOPE_STATS_MAX_RING_DEPTH];
    uint64_t heap_cap[SCOPE_STATS_MAX_RING_DEPTH];
    int32_t tensormap_cap;
    _Atomic uint32_t fatal_latched;
    _Atomic uint32_t site_cut; /* a basename did not fit: the host says so once */
    uint32_t terminal_count;   /* 0: the producer writes none */
    struct scope_stats_terminal terminal[SCOPE_STATS_TERMINALS];
};

SIMPLER_WIRE_AT(scope_stats_record, heap_start, 32);
SIMPLER_WIRE_AT(scope_stats_record, line, 48);
SIMPLER_WIRE_AT(scope_stats_record, tensormap, 68);
SIMPLER_WIRE_AT(scope_stats_record, phase, 76);
SIMPLER_WIRE_AT(scope_stats_block, heap_cap, 32);
SIMPLER_WIRE_AT(scope_stats_block, fatal_latched, 68);
_Static_assert(sizeof(struct scope_stats_record) == 80, "wire layout");
SIMPLER_WIRE_AT(scope_stats_block, terminal, 128);
_Static_assert(sizeof(struct scope_stats_block) == 256, "wire layout");

#endif
