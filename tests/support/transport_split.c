/* SPDX-License-Identifier: Apache-2.0 */
#include "transport_split.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "simpler/status.h"

#define WORD sizeof(uint64_t)

static _Atomic int64_t calls_left = INT64_MAX, calls_to_fail;
static _Atomic uint64_t order_seed;

void transport_split_fail(uint64_t nth, uint64_t times)
{
    atomic_store(&calls_to_fail, (int64_t)times);
    atomic_store(&calls_left, (int64_t)nth);
}

bool transport_split_failed(void)
{
    return atomic_load(&calls_left) < 0;
}

static bool fails(void)
{
    int64_t left = atomic_fetch_sub(&calls_left, 1);
    return left <= 0 && left > -atomic_load(&calls_to_fail);
}

static int split_alloc(size_t bytes, struct simpler_region *out)
{
    uint8_t *host = simpler_alloc_aligned(1, bytes);
    uint8_t *device = simpler_alloc_aligned(1, bytes);

    if (host == NULL || device == NULL) {
        simpler_alloc_free(host);
        simpler_alloc_free(device);
        return SIMPLER_ENOMEM;
    }
    *out = (struct simpler_region){
        .host = host, .device = (uint64_t)(uintptr_t)device, .bytes = bytes, .cookie = device};
    return 0;
}

static void split_free(struct simpler_region *region)
{
    simpler_alloc_free(region->host);
    simpler_alloc_free(region->cookie);
    memset(region, 0, sizeof(*region));
}

/* Each word once, from a random one on, up or down. */
static void copy(uint8_t *to, const uint8_t *from, size_t bytes)
{
    _Atomic uint64_t *target = (_Atomic uint64_t *)(void *)to;
    const _Atomic uint64_t *source = (const _Atomic uint64_t *)(const void *)from;
    size_t words = bytes / WORD;
    uint64_t dice = atomic_fetch_add(&order_seed, 0x9e3779b97f4a7c15u);
    size_t at = (size_t)(dice >> 20) % words;

    for (size_t i = 0; i < words; i++) {
        atomic_store_explicit(&target[at], atomic_load_explicit(&source[at], memory_order_acquire),
                              memory_order_release);
        at = (dice & (1u << 19)) != 0 ? (at + 1) % words : (at + words - 1) % words;
    }
}

static bool is_wrong(const struct simpler_region *region, size_t offset, size_t bytes)
{
    return bytes == 0 || bytes % WORD != 0 || offset % WORD != 0 || offset > region->bytes ||
           bytes > region->bytes - offset;
}

static int split_fetch(const struct simpler_region *region, size_t offset, size_t bytes)
{
    const uint8_t *device = region->cookie;

    if (is_wrong(region, offset, bytes))
        abort();
    if (fails())
        return SIMPLER_EIO;
    copy(region->host + offset, device + offset, bytes);
    return 0;
}

static int split_flush(const struct simpler_region *region, size_t offset, size_t bytes)
{
    uint8_t *device = region->cookie;

    if (is_wrong(region, offset, bytes))
        abort();
    if (fails())
        return SIMPLER_EIO;
    copy(device + offset, region->host + offset, bytes);
    return 0;
}

static const void *split_view(const struct simpler_region *region, size_t offset, size_t bytes,
                              void *scratch)
{
    const uint8_t *device = region->cookie;

    if (is_wrong(region, offset, bytes))
        abort();
    if (fails())
        return NULL;
    copy(scratch, device + offset, bytes);
    return scratch;
}

const struct simpler_transport_ops transport_split = {
    .name = "split",
    .has_doorbell = false,
    .alloc = split_alloc,
    .free = split_free,
    .fetch = split_fetch,
    .flush = split_flush,
    .view = split_view,
};
