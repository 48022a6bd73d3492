/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_SCOPE_PAIRING_H
#define SIMPLER_REPORT_SCOPE_PAIRING_H

/*
 * Finds the begin of an end: by ring and site, innermost first, in record
 * order.  The memory is that of the scopes open at once and of the distinct
 * pairs of ring and site.
 */
#include <stdbool.h>
#include <stdint.h>

#include "report/scope_record.h"

/* What a begin leaves behind for its end. */
struct simpler_pairing_begin {
    uint64_t depth;
    uint64_t tail[SIMPLER_SCOPE_RINGED_NUM], head[SIMPLER_SCOPE_RINGED_NUM];
    uint64_t tensormap;
    uint64_t line;
};

struct simpler_pairing_node;
struct simpler_pairing_stack;

struct simpler_pairing {
    struct simpler_pairing_node *nodes; /* open begins and free places */
    uint32_t node_count, node_room;
    uint32_t free_node;                   /* index + 1, 0 = none */
    struct simpler_pairing_stack *stacks; /* open addressing by ring and site */
    uint32_t stack_count, stack_room;
    uint64_t open; /* begins that wait for their end */
};

/* A zeroed pairing is an empty one.  SIMPLER_ENOMEM. */
int simpler_pairing_push(struct simpler_pairing *p, uint32_t ring, uint32_t site,
                         const struct simpler_pairing_begin *begin);
/* False: no begin of this ring and site is open. */
bool simpler_pairing_try_pop(struct simpler_pairing *p, uint32_t ring, uint32_t site,
                             struct simpler_pairing_begin *out);
/* Ring, site and count of the open begins of each stack; @next starts at 0, false at the end. */
bool simpler_pairing_next_open(const struct simpler_pairing *p, uint32_t *next, uint32_t *ring,
                               uint32_t *site, uint64_t *count);
void simpler_pairing_fini(struct simpler_pairing *p);

#endif
