/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_UNIT_CACHE_H
#define SIMPLER_TOOLS_UNIT_CACHE_H

/*
 * Shared objects by what they were made of.  The command and the source's bytes
 * name a list of the headers that the last compilation read; the list and the
 * headers' bytes name the object.  So an object is found again whenever all of
 * it is as it was, whatever was built in between, and a time stamp means nothing.
 * Files appear by rename: processes may share a cache.  What is not used goes at
 * some time (unit_prune.h).
 */
#include <stdbool.h>
#include <stddef.h>

#include "content_hash.h"

#define SIMPLER_CACHE_PATH 1024

/*
 * The cache's directory, made when missing: $SIMPLER_CACHE_DIR, else simpler in
 * $XDG_CACHE_HOME or in ~/.cache.  0, or an exit status with the reason said.
 */
int simpler_unit_cache_dir(const char *command, char out[SIMPLER_CACHE_PATH]);

/* Whether the object of @key is there; fills @object. */
bool simpler_unit_cache_find(const char *dir, const struct simpler_content_hash *key,
                             char object[SIMPLER_CACHE_PATH]);

/*
 * Takes a fresh object and the compiler's dependency file (-MD) over; both are
 * gone afterwards.  0 or an errno.
 */
int simpler_unit_cache_store(const char *dir, const struct simpler_content_hash *key,
                             const char *fresh, const char *depfile,
                             char object[SIMPLER_CACHE_PATH]);

#endif
