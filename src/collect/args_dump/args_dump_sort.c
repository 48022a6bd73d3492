/* SPDX-License-Identifier: Apache-2.0 */
/* Radix sort by bytes, the lowest first; bytes that all keys share cost nothing. */
#include "collect/args_dump/args_dump_sort.h"

#include <string.h>

#define DIGITS 8

static void count_digits(const struct args_dump_item *items, size_t count, size_t counts[][256])
{
    memset(counts, 0, DIGITS * sizeof(counts[0]));
    for (size_t i = 0; i < count; i++) {
        for (int d = 0; d < DIGITS; d++)
            counts[d][items[i].key >> (8 * d) & 255]++;
    }
}

static void scatter(const struct args_dump_item *from, struct args_dump_item *to, size_t count,
                    int digit, const size_t *counts)
{
    size_t at[256], sum = 0;

    for (int v = 0; v < 256; v++) {
        at[v] = sum;
        sum += counts[v];
    }
    for (size_t i = 0; i < count; i++)
        to[at[from[i].key >> (8 * digit) & 255]++] = from[i];
}

struct args_dump_item *simpler_args_dump_sort(struct args_dump_item *items,
                                              struct args_dump_item *scratch, size_t count)
{
    size_t counts[DIGITS][256];

    count_digits(items, count, counts);
    for (int d = 0; d < DIGITS && count != 0; d++) {
        if (counts[d][items[0].key >> (8 * d) & 255] == count)
            continue;
        scatter(items, scratch, count, d, counts[d]);
        struct args_dump_item *swap = items;
        items = scratch;
        scratch = swap;
    }
    return items;
}
