/* SPDX-License-Identifier: Apache-2.0 */
#include "transport_counting.h"

#include <stdatomic.h>

static _Atomic uint64_t calls, fetched_words, fetched_bulk, flushed, viewed;

struct transport_counts transport_counting_get(void)
{
    return (struct transport_counts){
        .calls = atomic_load(&calls),
        .fetched_words = atomic_load(&fetched_words),
        .fetched_bulk = atomic_load(&fetched_bulk),
        .flushed = atomic_load(&flushed),
        .viewed = atomic_load(&viewed),
    };
}

void transport_counting_reset(void)
{
    atomic_store(&calls, 0);
    atomic_store(&fetched_words, 0);
    atomic_store(&fetched_bulk, 0);
    atomic_store(&flushed, 0);
    atomic_store(&viewed, 0);
}

static int make(const struct simpler_region_request *request, struct simpler_region *out)
{
    return simpler_transport_shadow.alloc(request, out);
}

static void unmake(struct simpler_region *region)
{
    simpler_transport_shadow.free(region);
}

static int fetch(const struct simpler_region *region, size_t offset, size_t bytes)
{
    atomic_fetch_add(&calls, 1);
    atomic_fetch_add(bytes <= TRANSPORT_WORDS ? &fetched_words : &fetched_bulk, bytes);
    return simpler_transport_shadow.fetch(region, offset, bytes);
}

static int flush(const struct simpler_region *region, size_t offset, size_t bytes)
{
    atomic_fetch_add(&calls, 1);
    atomic_fetch_add(&flushed, bytes);
    return simpler_transport_shadow.flush(region, offset, bytes);
}

static const void *view(const struct simpler_region *region, size_t offset, size_t bytes,
                        void *scratch)
{
    atomic_fetch_add(&calls, 1);
    atomic_fetch_add(&viewed, bytes);
    return simpler_transport_shadow.view(region, offset, bytes, scratch);
}

const struct simpler_transport_ops transport_counting = {
    .name = "counting",
    .has_doorbell = false,
    .alloc = make,
    .free = unmake,
    .fetch = fetch,
    .flush = flush,
    .view = view,
};
