/* SPDX-License-Identifier: Apache-2.0 */
/* Host and device share the mapping: addresses are equal, nothing is copied. */
#include "platform/transport.h"

#include <string.h>

#include "base/memory.h"
#include "simpler/status.h"

static int map(size_t bytes, struct simpler_region *out)
{
    void *memory = simpler_memory_map(bytes);

    if (memory == NULL)
        return SIMPLER_ENOMEM;
    *out = (struct simpler_region){
        .host = memory, .device = (uint64_t)(uintptr_t)memory, .bytes = bytes};
    return 0;
}

static void unmap(struct simpler_region *region)
{
    simpler_memory_unmap(region->host, region->bytes);
    memset(region, 0, sizeof(*region));
}

static int copy_nothing(const struct simpler_region *region, size_t offset, size_t bytes)
{
    (void)region;
    (void)offset;
    (void)bytes;
    return 0;
}

static const void *in_place(const struct simpler_region *region, size_t offset, size_t bytes,
                            void *scratch)
{
    (void)bytes;
    (void)scratch;
    return region->host + offset;
}

const struct simpler_transport_ops simpler_transport_mapped = {
    .name = "mapped",
    .has_doorbell = true,
    .alloc = map,
    .free = unmap,
    .fetch = copy_nothing,
    .flush = copy_nothing,
    .view = in_place,
};
