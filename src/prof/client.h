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
    /* Buffers of each kind a lane: kept in the free queue, and in all; a lane's
     * recycled stock is filled up to watermark (0: buffers go back to their origin). */
    uint32_t buffers_per_lane[SIMPLER_PROF_MAX_KINDS];
    uint32_t watermark[SIMPLER_PROF_MAX_KINDS];

    /* Required.  A collector thread of @shard has a buffer the device no longer
     * touches; it is recycled after return.  Entries of one lane come in order. */
    void (*collect)(void *self, uint32_t shard, const struct simpler_prof_ready_entry *entry,
                    const struct simpler_prof_buffer *buffer);
    /* Optional.  Once per replenish pass: acknowledgements. */
    void (*tick)(void *self);
};

#endif
