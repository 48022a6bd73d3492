/* SPDX-License-Identifier: Apache-2.0 */
/* Anonymous mappings without reservation of swap. */
#include "base/memory.h"

#include <sys/mman.h>

#include "base/testpoint.h"

void *simpler_memory_map(size_t bytes)
{
    if (SIMPLER_FAILPOINT(MAP_MEMORY))
        return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void simpler_memory_unmap(void *memory, size_t bytes)
{
    if (memory != NULL)
        (void)munmap(memory, bytes);
}

void simpler_memory_discard(void *memory, size_t bytes)
{
    if (memory != NULL && bytes != 0)
        (void)madvise(memory, bytes, MADV_DONTNEED);
}
