/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host and device have memory of their own: a region is two mappings of equal
 * size, and the device's addresses are biased.  Both are touched page by page, so
 * that an arena's shadow costs what was copied from it.  A backing holds the device's
 * side, which is where producers write.
 *
 * The host and the device are threads of one process, so copies go word by word:
 * acquire loads and release stores give the index that a word may be the order
 * that its partner expects.  A view is of bytes that lie still and is a memcpy.
 */
#include "platform/transport.h"

#include <string.h>

#include "base/memory.h"
#include "platform/region_backing.h"
#include "simpler/status.h"
#include "wire/device_address.h"

#define WORD sizeof(uint64_t)

/* A word of a region, whatever its fields are. */
typedef uint64_t __attribute__((may_alias)) word;

static int make_pair(const struct simpler_region_request *request, struct simpler_region *out)
{
    size_t bytes = request->bytes;
    void *host = simpler_memory_map(bytes);
    void *device = host != NULL ? simpler_region_backing_map(request, SIMPLER_DEVICE_BIAS) : NULL;

    if (device == NULL) {
        simpler_memory_unmap(host, bytes);
        return SIMPLER_ENOMEM;
    }
    *out = (struct simpler_region){
        .host = host,
        .device = (uint64_t)(uintptr_t)device | SIMPLER_DEVICE_BIAS,
        .bytes = bytes,
        .cookie = device,
        .backing = request->backing,
    };
    return 0;
}

static void free_pair(struct simpler_region *region)
{
    simpler_region_backing_unmap(region->backing, region->cookie, region->bytes);
    simpler_memory_unmap(region->host, region->bytes);
    memset(region, 0, sizeof(*region));
}

static bool is_inside(const struct simpler_region *region, size_t offset, size_t bytes)
{
    return offset <= region->bytes && bytes <= region->bytes - offset;
}

static int copy_words(const struct simpler_region *region, void *to, const void *from,
                      size_t offset, size_t bytes)
{
    word *target = (void *)((uint8_t *)to + offset);
    const word *source = (const void *)((const uint8_t *)from + offset);

    if (offset % WORD != 0 || bytes % WORD != 0 || !is_inside(region, offset, bytes))
        return SIMPLER_EINVAL;
    for (size_t i = 0; i < bytes / WORD; i++) {
        uint64_t value = __atomic_load_n(&source[i], __ATOMIC_ACQUIRE);
        __atomic_store_n(&target[i], value, __ATOMIC_RELEASE);
    }
    return 0;
}

static int fetch(const struct simpler_region *region, size_t offset, size_t bytes)
{
    return copy_words(region, region->host, region->cookie, offset, bytes);
}

static int flush(const struct simpler_region *region, size_t offset, size_t bytes)
{
    return copy_words(region, region->cookie, region->host, offset, bytes);
}

static const void *copy_bytes(const struct simpler_region *region, size_t offset, size_t bytes,
                              void *scratch)
{
    if (!is_inside(region, offset, bytes))
        return NULL;
    memcpy(scratch, (const uint8_t *)region->cookie + offset, bytes);
    return scratch;
}

const struct simpler_transport_ops simpler_transport_shadow = {
    .name = "shadow",
    .has_doorbell = false,
    .alloc = make_pair,
    .free = free_pair,
    .fetch = fetch,
    .flush = flush,
    .view = copy_bytes,
};
