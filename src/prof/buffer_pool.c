/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of buffers and the way from a device address to a buffer. */
#include "prof/buffer_pool.h"

#include "base/alloc.h"
#include "simpler/status.h"
#include "wire/region_wire.h"

void simpler_buffer_pool_init(struct simpler_buffer_pool *pool,
                              const struct simpler_transport_ops *transport,
                              struct simpler_region_backing *backing, uint32_t client)
{
    pool->transport = transport;
    pool->backing = backing;
    pool->client = client;
    atomic_store_explicit(&pool->blocks, NULL, memory_order_relaxed);
}

void simpler_buffer_pool_fini(struct simpler_buffer_pool *pool, bool free_device)
{
    struct simpler_pool_block *block = atomic_load_explicit(&pool->blocks, memory_order_relaxed);

    while (block != NULL) {
        struct simpler_pool_block *next = block->next;
        if (free_device)
            pool->transport->free(&block->region);
        simpler_alloc_free(block);
        block = next;
    }
    atomic_store_explicit(&pool->blocks, NULL, memory_order_relaxed);
}

static void carve(struct simpler_pool_block *block, const struct simpler_prof_kind *shape)
{
    for (uint32_t i = 0; i < block->count; i++) {
        struct simpler_pool_buffer *buffer = &block->buffers[i];
        buffer->region = &block->region;
        buffer->offset = block->stride * i;
        buffer->device = block->region.device + buffer->offset;
        buffer->kind = block->kind;
        simpler_buffer_pool_place(buffer)->capacity = shape->records_per_buffer;
    }
}

/* The capacities reach the device before anyone gives a buffer to it. */
static int flush_headers(struct simpler_buffer_pool *pool, const struct simpler_pool_block *block)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < block->count; i++)
        rc = pool->transport->flush(&block->region, block->buffers[i].offset,
                                    SIMPLER_PROF_BUFFER_BYTES);
    return rc;
}

static int fill(struct simpler_buffer_pool *pool, struct simpler_pool_block *block,
                const struct simpler_prof_kind *shape)
{
    struct simpler_region_request request = {
        .bytes = block->stride * block->count,
        .backing = pool->backing,
        .role = SIMPLER_REGION_POOL,
        .client = pool->client,
        .index = block->kind,
        .stride = block->stride,
    };
    int rc = pool->transport->alloc(&request, &block->region);

    if (rc != 0)
        return rc;
    carve(block, shape);
    rc = flush_headers(pool, block);
    if (rc != 0)
        pool->transport->free(&block->region);
    return rc;
}

struct simpler_pool_block *simpler_buffer_pool_add(struct simpler_buffer_pool *pool, uint32_t kind,
                                                   const struct simpler_prof_kind *shape,
                                                   uint32_t count)
{
    size_t records = (size_t)shape->record_bytes * shape->records_per_buffer;
    size_t line = SIMPLER_CACHE_LINE;
    struct simpler_pool_block *block =
        simpler_alloc_zeroed(1, sizeof(*block) + count * sizeof(struct simpler_pool_buffer));

    if (block == NULL)
        return NULL;
    block->kind = kind;
    block->count = count;
    block->stride = (sizeof(struct simpler_prof_buffer) + records + line - 1) / line * line;
    if (fill(pool, block, shape) != 0) {
        simpler_alloc_free(block);
        return NULL;
    }
    /* relaxed: this thread is the only writer of blocks. */
    block->next = atomic_load_explicit(&pool->blocks, memory_order_relaxed);
    pool->total[kind] += count;
    /* B1, release: pairs with the acquire load in resolve. */
    atomic_store_explicit(&pool->blocks, block, memory_order_release);
    return block;
}

struct simpler_pool_buffer *simpler_buffer_pool_resolve(struct simpler_buffer_pool *pool,
                                                        uint64_t device)
{
    /* acquire, pairs with B1. */
    struct simpler_pool_block *block = atomic_load_explicit(&pool->blocks, memory_order_acquire);

    for (; block != NULL; block = block->next) {
        uint64_t offset = device - block->region.device;
        if (offset >= block->region.bytes)
            continue;
        if (offset % block->stride != 0)
            return NULL;
        return &block->buffers[offset / block->stride];
    }
    return NULL;
}

struct simpler_prof_buffer *simpler_buffer_pool_place(const struct simpler_pool_buffer *buffer)
{
    return (struct simpler_prof_buffer *)(void *)(buffer->region->host + buffer->offset);
}

int simpler_buffer_pool_fetch(struct simpler_buffer_pool *pool,
                              const struct simpler_pool_buffer *buffer,
                              const struct simpler_prof_kind *shape)
{
    const struct simpler_prof_buffer *place = simpler_buffer_pool_place(buffer);
    int rc = pool->transport->fetch(buffer->region, buffer->offset, SIMPLER_PROF_BUFFER_BYTES);

    if (rc != 0)
        return rc;
    /* acquire, pairs with R4: the records below count are written. */
    uint32_t count = atomic_load_explicit(&place->count, memory_order_acquire);
    if (count > shape->records_per_buffer)
        return SIMPLER_EFORMAT;
    size_t bytes = ((size_t)count * shape->record_bytes + 7) / 8 * 8;
    return bytes == 0
               ? 0
               : pool->transport->fetch(buffer->region, buffer->offset + sizeof(*place), bytes);
}
