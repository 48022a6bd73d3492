/* SPDX-License-Identifier: Apache-2.0 */
/* Radix sort by bytes, the lowest first; bytes that all keys share cost nothing. */
#include "collect/args_dump/args_dump_sort.h"

#define DIGITS 8

/* Bits in which some key differs from the first. */
static uint64_t differing(const struct args_dump_item *items, size_t count)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < count; i++)
        bits |= items[i].key ^ items[0].key;
    return bits;
}

static void scatter(const struct args_dump_item *from, struct args_dump_item *to, size_t count,
                    int digit)
{
    size_t at[256] = {0}, sum = 0;

    for (size_t i = 0; i < count; i++)
        at[from[i].key >> (8 * digit) & 255]++;
    for (int v = 0; v < 256; v++) {
        size_t n = at[v];
        at[v] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[at[from[i].key >> (8 * digit) & 255]++] = from[i];
}

struct args_dump_item *simpler_args_dump_sort(struct args_dump_item *items,
                                              struct args_dump_item *scratch, size_t count)
{
    uint64_t bits = differing(items, count);

    for (int d = 0; d < DIGITS; d++) {
        if ((bits >> (8 * d) & 255) == 0)
            continue;
        scatter(items, scratch, count, d);
        struct args_dump_item *swap = items;
        items = scratch;
        scratch = swap;
    }
    return items;
}
