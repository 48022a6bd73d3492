/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A contiguous view is one block.  Another is gathered by runs: its innermost
 * dimensions that lie one behind the other are one run, runs are copied along
 * the dimension around them, and an odometer turns over the rest.
 */
#include "collect/args_dump/args_dump_copy.h"

#include <string.h>

#include "base/compiler.h"
#include "base/crc32c.h"
#include "simpler/dtype.h"

#define MAX_DIMS   5
#define HASH_BYTES 12288u /* copied, then hashed while they are in the first cache */

/* Where copying is; hashed follows at. */
struct sink {
    uint8_t *at;
    uint8_t *hashed;
    uint64_t left; /* bytes still wanted */
    uint32_t crc;
};

uint64_t simpler_args_dump_numel(const struct dump_args_info *info)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < info->ndims; i++)
        n *= info->shape[i];
    return n;
}

SIMPLER_INLINE void hash(struct sink *s)
{
    s->crc = simpler_crc32c(s->crc, s->hashed, (size_t)(s->at - s->hashed));
    s->hashed = s->at;
}

static void put_block(struct sink *s, const uint8_t *from, uint64_t bytes)
{
    bytes = bytes < s->left ? bytes : s->left;
    s->left -= bytes;
    while (bytes != 0) {
        size_t n = bytes < HASH_BYTES ? (size_t)bytes : HASH_BYTES;
        memcpy(s->at, from, n);
        s->at += n;
        from += n;
        bytes -= n;
        hash(s);
    }
}

/* @count elements of @bytes each, @step bytes apart; the size is a constant where it is inlined. */
SIMPLER_INLINE void put_elements(struct sink *s, const uint8_t *from, uint64_t count, uint64_t step,
                                 uint32_t bytes)
{
    uint64_t fits = s->left / bytes;

    count = count < fits ? count : fits;
    s->left -= count * bytes;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(s->at, from, bytes);
        s->at += bytes;
        from += step;
    }
}

/* @count runs of @bytes each, @step bytes apart. */
static void put_runs(struct sink *s, const uint8_t *from, uint64_t count, uint64_t step,
                     uint64_t bytes)
{
    switch (bytes) {
    case 1:
        put_elements(s, from, count, step, 1);
        break;
    case 2:
        put_elements(s, from, count, step, 2);
        break;
    case 4:
        put_elements(s, from, count, step, 4);
        break;
    case 8:
        put_elements(s, from, count, step, 8);
        break;
    default:
        for (uint64_t i = 0; i < count && s->left != 0; i++)
            put_block(s, from + i * step, bytes);
    }
    if (s->at - s->hashed >= (ptrdiff_t)HASH_BYTES)
        hash(s);
}

/* Dimensions around the innermost run; *run is its number of elements. */
static uint32_t outer_dims(const struct dump_args_info *info, uint64_t *run)
{
    uint32_t outer = info->ndims;

    *run = 1;
    while (outer > 0 && (info->shape[outer - 1] == 1 || info->stride[outer - 1] == *run))
        *run *= info->shape[--outer];
    return outer;
}

static void gather(struct sink *s, const struct dump_args_info *info, const uint8_t *from)
{
    uint32_t shift = simpler_dtype_shift(info->dtype);
    uint32_t index[MAX_DIMS] = {0};
    uint64_t run;
    uint32_t outer = outer_dims(info, &run);

    if (outer == 0) {
        put_block(s, from, run << shift);
        return;
    }
    uint32_t inner = outer - 1;
    uint64_t step = (uint64_t)info->stride[inner] << shift;
    while (s->left != 0) {
        uint64_t at = 0;
        for (uint32_t i = 0; i < inner; i++)
            at += (uint64_t)index[i] * info->stride[i];
        put_runs(s, from + (at << shift), info->shape[inner], step, run << shift);
        uint32_t d = inner;
        while (d > 0 && ++index[d - 1] == info->shape[d - 1])
            index[--d] = 0;
        if (d == 0)
            return;
    }
}

uint32_t simpler_args_dump_copy(uint8_t *to, const struct dump_args_info *info, uint64_t bytes)
{
    const uint8_t *from = (const uint8_t *)(uintptr_t)info->buffer_addr +
                          (info->start_offset << simpler_dtype_shift(info->dtype));
    struct sink s = {.at = to, .hashed = to, .left = bytes};

    if (info->is_contiguous && bytes <= HASH_BYTES) {
        memcpy(to, from, bytes);
        return simpler_crc32c(0, to, bytes);
    }
    if (info->is_contiguous)
        put_block(&s, from, bytes);
    else
        gather(&s, info, from);
    if (s.at != s.hashed)
        hash(&s);
    return s.crc;
}
