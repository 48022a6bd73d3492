/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PROF_BUFFER_POOL_H
#define SIMPLER_PROF_BUFFER_POOL_H

/*
 * The buffers of a session: where they live, and which device address is which.
 * Blocks are allocated for many buffers at once, carved at cache lines, and live
 * until the session ends.  One thread adds blocks (the opener, then replenish);
 * any host thread resolves addresses.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/transport.h"
#include "wire/prof_wire.h"

/*
 * One buffer as the host knows it.  It has one owner at a time (device, drain,
 * collector, replenish, or the stock of a shard); the queue that hands it over
 * orders the accesses.
 */
struct simpler_pool_buffer {
    const struct simpler_region *region;
    size_t offset; /* of its header in the region */
    uint64_t device;
    uint32_t kind;
    bool on_device;                        /* in a free queue, or the producer's */
    struct simpler_prof_ready_entry entry; /* as it came from the device */
};

/* Filled by the one who adds, then published by the release store of next (B1). */
struct simpler_pool_block {
    struct simpler_region region;
    struct simpler_pool_block *next;
    size_t stride;
    uint32_t kind;
    uint32_t count;
    struct simpler_pool_buffer buffers[];
};

struct simpler_buffer_pool {
    const struct simpler_transport_ops *transport;
    struct simpler_region_backing *backing;    /* of the blocks; NULL: anonymous */
    uint32_t client;                           /* whose they are */
    struct simpler_pool_block *_Atomic blocks; /* newest first */
    uint32_t total[SIMPLER_PROF_MAX_KINDS];    /* of the thread that adds */
};

void simpler_buffer_pool_init(struct simpler_buffer_pool *pool,
                              const struct simpler_transport_ops *transport,
                              struct simpler_region_backing *backing, uint32_t client);
/* @free_device false: a producer may still write; the device's memory is left alone. */
void simpler_buffer_pool_fini(struct simpler_buffer_pool *pool, bool free_device);

/* @count more buffers of a kind in one block; NULL when out of memory. */
struct simpler_pool_block *simpler_buffer_pool_add(struct simpler_buffer_pool *pool, uint32_t kind,
                                                   const struct simpler_prof_kind *shape,
                                                   uint32_t count);

/* NULL for an address that is no buffer's. */
struct simpler_pool_buffer *simpler_buffer_pool_resolve(struct simpler_buffer_pool *pool,
                                                        uint64_t device);

/* Where the host sees the buffer; its contents are current after a fetch. */
struct simpler_prof_buffer *simpler_buffer_pool_place(const struct simpler_pool_buffer *buffer);
/* Header first, then the records below its count.  SIMPLER_EIO; SIMPLER_EFORMAT when the
 * header is impossible. */
int simpler_buffer_pool_fetch(struct simpler_buffer_pool *pool,
                              const struct simpler_pool_buffer *buffer,
                              const struct simpler_prof_kind *shape);

#endif
