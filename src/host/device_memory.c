/* SPDX-License-Identifier: Apache-2.0 */
/* A sorted table of blocks: few of them, looked up by binary search. */
#include "host/device_memory.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "simpler/status.h"

#define ALIGNMENT 64

int simpler_device_memory_init(struct simpler_device_memory *memory)
{
    memset(memory, 0, sizeof(*memory));
    if (pthread_mutex_init(&memory->lock, NULL) != 0)
        return SIMPLER_ENOMEM;
    memory->lock_ready = true;
    return 0;
}

void simpler_device_memory_fini(struct simpler_device_memory *memory)
{
    if (memory == NULL)
        return;
    for (size_t i = 0; i < memory->count; i++)
        simpler_alloc_free(memory->blocks[i].raw);
    simpler_alloc_free(memory->blocks);
    if (memory->lock_ready)
        pthread_mutex_destroy(&memory->lock);
    memset(memory, 0, sizeof(*memory));
}

/* The number of blocks that start at or below @addr. */
static size_t blocks_up_to(const struct simpler_device_memory *memory, uint64_t addr)
{
    size_t low = 0, high = memory->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->blocks[middle].addr <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Room for one more entry in the table. */
static bool grow(struct simpler_device_memory *memory)
{
    if (memory->count < memory->capacity)
        return true;
    size_t capacity = memory->capacity != 0 ? memory->capacity * 2 : 16;
    void *blocks = simpler_alloc_resize(memory->blocks, capacity, sizeof(*memory->blocks));
    if (blocks == NULL)
        return false;
    memory->blocks = blocks;
    memory->capacity = capacity;
    return true;
}

static bool insert(struct simpler_device_memory *memory, const struct simpler_memory_block *block)
{
    pthread_mutex_lock(&memory->lock);
    bool ok = grow(memory);
    if (ok) {
        size_t at = blocks_up_to(memory, block->addr);
        memmove(&memory->blocks[at + 1], &memory->blocks[at],
                (memory->count - at) * sizeof(*memory->blocks));
        memory->blocks[at] = *block;
        memory->count++;
    }
    pthread_mutex_unlock(&memory->lock);
    return ok;
}

int simpler_device_memory_alloc(struct simpler_device_memory *memory, size_t bytes, uint64_t *out)
{
    struct simpler_memory_block block = {.bytes = bytes};

    if (bytes <= SIZE_MAX - ALIGNMENT)
        block.raw = simpler_alloc_zeroed(bytes + ALIGNMENT, 1);
    if (block.raw != NULL) {
        block.addr = ((uint64_t)(uintptr_t)block.raw + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
        if (insert(memory, &block)) {
            *out = block.addr;
            return 0;
        }
    }
    simpler_alloc_free(block.raw);
    SIMPLER_ERROR("out of memory: %zu bytes of device memory", bytes);
    return SIMPLER_ENOMEM;
}

int simpler_device_memory_free(struct simpler_device_memory *memory, uint64_t addr)
{
    void *raw = NULL;

    pthread_mutex_lock(&memory->lock);
    size_t at = blocks_up_to(memory, addr);
    if (at != 0 && memory->blocks[at - 1].addr == addr) {
        raw = memory->blocks[at - 1].raw;
        memmove(&memory->blocks[at - 1], &memory->blocks[at],
                (memory->count - at) * sizeof(*memory->blocks));
        memory->count--;
    }
    pthread_mutex_unlock(&memory->lock);
    if (raw == NULL) {
        SIMPLER_ERROR("free: no block of device memory starts at 0x%" PRIx64, addr);
        return SIMPLER_EINVAL;
    }
    simpler_alloc_free(raw);
    return 0;
}

int simpler_device_memory_check(struct simpler_device_memory *memory, uint64_t addr, size_t bytes)
{
    struct simpler_memory_block block = {0};

    pthread_mutex_lock(&memory->lock);
    size_t at = blocks_up_to(memory, addr);
    if (at != 0)
        block = memory->blocks[at - 1];
    pthread_mutex_unlock(&memory->lock);
    if (block.raw != NULL && addr - block.addr <= block.bytes &&
        bytes <= block.bytes - (addr - block.addr))
        return 0;
    SIMPLER_ERROR("copy: %zu bytes at 0x%" PRIx64 " are not within one block of device memory",
                  bytes, addr);
    return SIMPLER_EINVAL;
}
