/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_ALLOC_H
#define SIMPLER_BASE_ALLOC_H

/* malloc with a fault seam (test point ALLOC).  Never on a hot path. */
#include <stddef.h>

/* Zeroed; NULL when out of memory or when count * bytes overflows. */
void *simpler_alloc_zeroed(size_t count, size_t bytes);
/* Zeroed and aligned to a cache line; freed by simpler_alloc_free. */
void *simpler_alloc_aligned(size_t count, size_t bytes);
/* As realloc with a checked product; the old block stays valid on failure. */
void *simpler_alloc_resize(void *block, size_t count, size_t bytes);
/* A copy of a string; NULL when out of memory. */
char *simpler_alloc_string(const char *text);
void simpler_alloc_free(void *block);

#endif
