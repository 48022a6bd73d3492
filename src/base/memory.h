/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_MEMORY_H
#define SIMPLER_BASE_MEMORY_H

/*
 * Reserved address space: pages cost nothing until they are touched.  For
 * everything whose size follows a configured limit (windows, pools, heaps).
 */
#include <stddef.h>

/* Zeroed pages, aligned to at least 4096; NULL on failure (test point MAP_MEMORY). */
void *simpler_memory_map(size_t bytes);
/* NULL is allowed. */
void simpler_memory_unmap(void *memory, size_t bytes);
/* Gives the pages back; they read as zero afterwards. */
void simpler_memory_discard(void *memory, size_t bytes);

#endif
