/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_DEVICE_MEMORY_H
#define SIMPLER_HOST_DEVICE_MEMORY_H

/*
 * The blocks of device memory that a worker's caller has.  On the devices of
 * this host device memory is host memory: zeroed, aligned to 64 bytes.  Any
 * thread may call; copies of different threads run side by side.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simpler_memory_block {
    uint64_t addr;
    size_t bytes;
    void *raw; /* what the allocator gave; addr is it, aligned */
};

struct simpler_device_memory {
    struct simpler_memory_block *blocks; /* sorted by addr; NULL until the first */
    size_t count;
    size_t capacity;
    pthread_mutex_t lock; /* guards the three above */
    bool lock_ready;
};

/* SIMPLER_ENOMEM. */
int simpler_device_memory_init(struct simpler_device_memory *memory);
/* Frees every block; accepts NULL and zeroed. */
void simpler_device_memory_fini(struct simpler_device_memory *memory);

/* SIMPLER_ENOMEM. A block of 0 bytes has an address of its own too. */
int simpler_device_memory_alloc(struct simpler_device_memory *memory, size_t bytes, uint64_t *out);
/* SIMPLER_EINVAL (logged): no block starts at @addr. */
int simpler_device_memory_free(struct simpler_device_memory *memory, uint64_t addr);
/* SIMPLER_EINVAL (logged): addr .. addr + bytes is not within one block. */
int simpler_device_memory_check(struct simpler_device_memory *memory, uint64_t addr, size_t bytes);

#endif
