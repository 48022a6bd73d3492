/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_SORT_H
#define SIMPLER_COLLECT_ARGS_DUMP_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "collect/args_dump/args_dump_wire.h"

struct args_dump_item {
    uint64_t key;
    uint64_t index;
};

/* Task (ring in bits 32 to 47), stage, argument, role: compared as one number. */
static inline uint64_t simpler_args_dump_key(const struct args_dump_record *r)
{
    return r->task_id << 16 | (uint64_t)(r->stage & 1) << 15 |
           (uint64_t)(r->arg_index & 8191) << 2 | (r->role & 3);
}

/* Stable; @items and @scratch have room for @count; the result is in what it returns. */
struct args_dump_item *simpler_args_dump_sort(struct args_dump_item *items,
                                              struct args_dump_item *scratch, size_t count);

#endif
