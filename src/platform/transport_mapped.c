/* SPDX-License-Identifier: Apache-2.0 */
/* Host and device share the mapping: addresses are equal, nothing is copied. */
#include "platform/transport.h"

#include <string.h>

#include "platform/region_backing.h"
#include "simpler/status.h"

static int map(const struct simpler_region_request *request, struct simpler_region *out)
{
    void *memory = simpler_region_backing_map(request, 0);

    if (memory == NULL)
        return SIMPLER_ENOMEM;
    *out = (struct simpler_region){.host = memory,
                                   .device = (uint64_t)(uintptr_t)memory,
                                   .bytes = request->bytes,
                                   .backing = request->backing};
    return 0;
}

static void unmap(struct simpler_region *region)
{
    simpler_region_backing_unmap(region->backing, region->host, region->bytes);
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
