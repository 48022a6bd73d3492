/* SPDX-License-Identifier: Apache-2.0 */
/* malloc with checked products and a fault seam. */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"

void *simpler_alloc_zeroed(size_t count, size_t bytes)
{
    if (SIMPLER_FAILPOINT(ALLOC))
        return NULL;
    return calloc(count, bytes);
}

void *simpler_alloc_aligned(size_t count, size_t bytes)
{
    if (bytes == 0 || count > (SIZE_MAX - 63) / bytes || SIMPLER_FAILPOINT(ALLOC))
        return NULL;
    size_t total = (count * bytes + 63) / 64 * 64;
    void *block = aligned_alloc(64, total);
    if (block != NULL)
        memset(block, 0, total);
    return block;
}

void *simpler_alloc_resize(void *block, size_t count, size_t bytes)
{
    if (bytes != 0 && count > SIZE_MAX / bytes)
        return NULL;
    if (SIMPLER_FAILPOINT(ALLOC))
        return NULL;
    return realloc(block, count * bytes);
}

char *simpler_alloc_string(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = simpler_alloc_zeroed(bytes, 1);
    if (copy != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

void simpler_alloc_free(void *block)
{
    free(block);
}
