/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PROF_CLIENT_H
#define SIMPLER_PROF_CLIENT_H

/* What one collector tells the framework.  Declare it static const. */
#include <stddef.h>
#include <stdint.h>

#include "wire/prof_wire.h"

struct simpler_prof_client {
    const char *name;    /* log prefix */
    uint32_t magic;      /* of the header */
    uint32_t kind_count; /* 1 to SIMPLER_PROF_MAX_KINDS */
    size_t client_bytes; /* size of the collector's own block in the region */
    uint32_t max_shards; /* drain and collector threads at most */
    /* Buffers of each kind a lane: at the start, and at most (0: never more). */
    uint32_t buffers_per_lane[SIMPLER_PROF_MAX_KINDS];
    uint32_t max_buffers_per_lane[SIMPLER_PROF_MAX_KINDS];
    /* A shard's stock of empty buffers is filled up to this (0: a buffer goes
     * back where it came from, none is added). */
    uint32_t watermark[SIMPLER_PROF_MAX_KINDS];

    /* Required.  A buffer the device no longer touches, with records of the admitted
     * run; it is recycled after return.  Entries of one lane come in order, calls of
     * one @shard come one after the other (on its collector thread; for what the
     * producers still held, on the thread that quiesces). */
    void (*collect)(void *self, uint32_t shard, const struct simpler_prof_ready_entry *entry,
                    const struct simpler_prof_buffer *buffer);
    /* Optional.  Once per replenish pass, and after simpler_prof_session_wake:
     * acknowledgements. */
    void (*tick)(void *self);
};

#endif
