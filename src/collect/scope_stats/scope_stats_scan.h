/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_SCOPE_STATS_SCAN_H
#define SIMPLER_COLLECT_SCOPE_STATS_SCAN_H

/*
 * What a scope_stats.jsonl.partial of a process that died holds: how far its lines are
 * whole, and up to which sample of which buffer.  Knows the lines of
 * scope_stats_line.c and takes nothing else for one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/scope_stats/scope_stats_wire.h"

struct scope_stats_scan {
    size_t first_bytes;   /* of the first line with its newline; 0: it is not whole */
    bool has_metadata;    /* it is not blank */
    uint64_t whole_bytes; /* up to the last newline */
    uint64_t torn_bytes;  /* behind it */
    uint64_t lines;       /* samples */
    /* Of the last sample, 0 without one; and how many lines its buffer has. */
    uint32_t run_epoch, buffer_seq, of_buffer;
    uint64_t pool_head[SCOPE_STATS_MAX_RING_DEPTH]; /* the last dep_pool_end of each ring */
    uint64_t bad_line;                              /* from 1: the first that is no sample */
};

/* Reads @fd from its beginning.  SIMPLER_EFORMAT: out->bad_line is no line of such a file, or of
 * another run than those before it; SIMPLER_EIO, SIMPLER_ENOMEM. */
int simpler_scope_stats_scan(int fd, struct scope_stats_scan *out);

#endif
