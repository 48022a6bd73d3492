/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PLATFORM_TRANSPORT_H
#define SIMPLER_PLATFORM_TRANSPORT_H

/*
 * How host code reaches diagnostic memory of the device: five callbacks.  Every
 * one is required: a platform with nothing to do installs a function that does
 * nothing, so no caller tests for NULL or asks which platform it runs on.
 *
 * Promised: an aligned word of 8 bytes is copied whole, once, at some moment
 * between call and return; a word that was fetched acquires what was written
 * before it, a word that is flushed is released.  Not promised: any order of the
 * words of one call, or that they belong together.  An index and the data that
 * it publishes therefore need two calls: fetch the index, then the data; flush
 * the data, then the index.  A flush writes the words that it names and no
 * others, and each word has one writing side, so nothing of the other is lost.
 * Fields are read and written through the atomics of wire/, on every platform.
 *
 * Any host thread may call; ranges of one region in flight must not overlap.
 * Returns 0 or a negative SIMPLER_E*.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simpler_region_backing;

/* What a region is to be, and for whom; the last four are for who reads a backing afterwards
 * (wire/region_wire.h). */
struct simpler_region_request {
    size_t bytes;
    struct simpler_region_backing *backing; /* NULL: anonymous memory */
    uint32_t role;                          /* enum simpler_region_role */
    uint32_t client;                        /* the collector's magic */
    uint32_t index;                         /* kind of a pool, lane of an arena */
    size_t stride;                          /* of a pool's buffers */
};

/* One allocation.  host: where host code reads and writes; device: what producers get
 * (wire/device_address.h), never followed by the host. */
struct simpler_region {
    uint8_t *host;
    uint64_t device;
    size_t bytes;
    void *cookie;                           /* the transport's own */
    struct simpler_region_backing *backing; /* of the device's side; NULL: anonymous */
};

struct simpler_transport_ops {
    const char *name;
    bool has_doorbell; /* a producer can wake the host; else the drain polls with back-off */
    /* Zeroed on both sides, 64-byte aligned.  SIMPLER_ENOMEM, also when the backing is full. */
    int (*alloc)(const struct simpler_region_request *request, struct simpler_region *out);
    void (*free)(struct simpler_region *region);
    /* Device to host, host to device; offset and bytes are multiples of 8. */
    int (*fetch)(const struct simpler_region *region, size_t offset, size_t bytes);
    int (*flush)(const struct simpler_region *region, size_t offset, size_t bytes);
    /* Any bytes that the device has published and does not write meanwhile: their place, or a
     * copy in @scratch (which may be their place on the host); NULL on failure. */
    const void *(*view)(const struct simpler_region *region, size_t offset, size_t bytes,
                        void *scratch);
};

/* Host and device share the mapping. */
extern const struct simpler_transport_ops simpler_transport_mapped;
/* Each side has memory of its own; what one wrote the other sees after a copy. */
extern const struct simpler_transport_ops simpler_transport_shadow;

#endif
