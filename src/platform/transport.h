/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PLATFORM_TRANSPORT_H
#define SIMPLER_PLATFORM_TRANSPORT_H

/*
 * How host code reaches diagnostic memory of the device.  Every member is
 * required: a platform with nothing to do installs a function that does
 * nothing, so no caller tests for NULL or asks which platform it runs on.
 *
 * Inside one call, words are copied in no promised order.  An index and the
 * data it publishes therefore need two calls: fetch the index, then the data;
 * flush the data, then the index.  Fields are read and written through the
 * atomics of wire/, on every platform.
 *
 * Any host thread may call; ranges of one region in flight must not overlap.
 * Offsets and sizes are multiples of 8.  Returns 0 or a negative SIMPLER_E*.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One allocation.  host: where host code reads and writes; device: what producers get. */
struct simpler_region {
    uint8_t *host;
    uint64_t device;
    size_t bytes;
    void *cookie; /* the transport's own */
};

struct simpler_transport_ops {
    const char *name;
    bool has_doorbell; /* a producer can wake the host; else the drain polls with back-off */
    /* Zeroed, 64-byte aligned. */
    int (*alloc)(size_t bytes, struct simpler_region *out);
    void (*free)(struct simpler_region *region);
    /* Device to host, host to device. */
    int (*fetch)(const struct simpler_region *region, size_t offset, size_t bytes);
    int (*flush)(const struct simpler_region *region, size_t offset, size_t bytes);
    /* Bytes at @offset: their place, or a copy fetched into @scratch; NULL on failure. */
    const void *(*view)(const struct simpler_region *region, size_t offset, size_t bytes,
                        void *scratch);
};

/* Host and device share the mapping. */
extern const struct simpler_transport_ops simpler_transport_mapped;

#endif
