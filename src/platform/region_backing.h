/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PLATFORM_REGION_BACKING_H
#define SIMPLER_PLATFORM_REGION_BACKING_H

/*
 * Where regions get their memory: anonymous, or a file on tmpfs that outlives the
 * process (wire/region_wire.h).  A file's space is claimed when a region is made, so that
 * a full tmpfs is an error there and never a signal later.
 *
 * Threads: any may map and unmap; the rest is the worker's.
 */
#include <stdint.h>

#include "platform/transport.h"

struct simpler_region_backing;

/*
 * An empty file in @directory, locked (flock) for as long as the process or a mapping lives.
 * SIMPLER_EIO (errno), SIMPLER_ENOMEM; not logged.
 */
int simpler_region_backing_open(const char *directory, struct simpler_region_backing **out);
/* The file goes; what is mapped stays mapped until it is unmapped.  NULL is allowed. */
void simpler_region_backing_close(struct simpler_region_backing *backing);
/* The file goes now: nothing that is in it is of use to anyone. */
void simpler_region_backing_unlink(struct simpler_region_backing *backing);

const char *simpler_region_backing_path(const struct simpler_region_backing *backing);
/* The run under way; @prefix absolute, NULL: none. */
void simpler_region_backing_set_run(struct simpler_region_backing *backing, const char *prefix);
/* Its directory is there: from now on the region tells whether it has moved. */
void simpler_region_backing_set_directory(struct simpler_region_backing *backing);

/*
 * Zeroed memory of request->bytes, from its backing if it has one; NULL when there is none.
 * @bias is what the device's addresses carry.  (Test point MAP_MEMORY.)
 */
void *simpler_region_backing_map(const struct simpler_region_request *request, uint64_t bias);
/* @backing: what it came from, or NULL; @place NULL is allowed. */
void simpler_region_backing_unmap(struct simpler_region_backing *backing, void *place,
                                  size_t bytes);

#endif
