/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_GRAPH_STATE_H
#define TEST_SUPPORT_GRAPH_STATE_H

/*
 * The generator's model of what the documents promise, see graph_gen.c.
 */
#include <string.h>

#include "graph_gen.h"

#define WORDS           (GRAPH_MAX_TASKS / 64)
#define MAX_DEPTH       7u
#define MAX_TASK_ACCESS SIMPLER_MAX_TENSORS
#define MAX_TOUCHES     4096u
#define ROUND_OUTPUT    1024u

struct bits {
    uint64_t w[WORDS];
};

struct byte_state {
    uint16_t writer; /* GRAPH_NONE: nobody, or the orchestration itself */
    bool writer_tracked;
    bool initialised;
    struct bits tracked_readers;
    struct bits other_readers;
};

/* A tracked access, for the bound on edges. */
struct touch {
    uint16_t buffer, task;
    uint64_t low, high;
};

struct hold {
    uint32_t from; /* UINT32_MAX: nothing is held */
    uint64_t bytes, largest, edges, entries;
};

struct scope {
    uint8_t mode;
    uint8_t ring;
    struct hold saved;
    uint32_t first_buffer; /* buffers from here on die with the scope */
};

/* What the seed decides for the whole program. */
struct style {
    bool raw;
    uint32_t tasks;
    uint32_t max_hold;
    uint32_t scope_chance, end_chance, manual_chance;
    uint32_t output_chance, alloc_chance, dummy_chance, get_chance, wide_chance;
    uint32_t max_accesses, explicit_chance;
    uint32_t busy_chance, busy_ns, sleep_chance;
    uint32_t form_chance, predicate_chance;
};

struct gen {
    struct graph_program *p;
    struct kit_random random;
    struct kit_random form_random; /* apart, so that forms do not change the graphs */
    struct style style;
    struct byte_state *state[GRAPH_MAX_BUFFERS];
    bool dead[GRAPH_MAX_BUFFERS];
    struct bits ancestors[GRAPH_MAX_TASKS];
    struct bits done; /* the orchestration has waited for these */
    struct touch touch[MAX_TOUCHES];
    uint32_t touch_count;
    struct scope scope[MAX_DEPTH + 1];
    uint32_t depth;
    uint32_t next[CHIP_MAX_RING_DEPTH];
    struct hold hold[CHIP_MAX_RING_DEPTH];
    uint64_t need_window[CHIP_MAX_RING_DEPTH];
    uint64_t need_heap[CHIP_MAX_RING_DEPTH];
    uint64_t need_pool[CHIP_MAX_RING_DEPTH];
    uint64_t need_map;
};

struct order {
    struct bits needed;   /* the result depends on it */
    struct bits inferred; /* the runtime promises it */
};

static inline bool bit_get(const struct bits *bits, uint32_t i)
{
    return bits->w[i / 64] >> i % 64 & 1;
}

static inline void bit_set(struct bits *bits, uint32_t i)
{
    bits->w[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void bits_or(struct bits *to, const struct bits *from)
{
    for (uint32_t i = 0; i < WORDS; i++)
        to->w[i] |= from->w[i];
}

static inline uint32_t below(struct gen *g, uint32_t n)
{
    return kit_random_below(&g->random, n);
}

static inline bool chance(struct gen *g, uint32_t percent)
{
    return kit_random_chance(&g->random, percent);
}

static inline bool is_manual(const struct gen *g)
{
    return g->scope[g->depth].mode == SIMPLER_SCOPE_MANUAL;
}

static inline bool is_tracked(const struct gen *g, const struct graph_access *access)
{
    return !is_manual(g) && !access->manual_dep && access->use != SIMPLER_USE_NO_DEP &&
           access->use != SIMPLER_USE_OUTPUT;
}

bool graph_state_reads_now(const struct graph_access *a);
bool graph_state_writes_now(const struct graph_access *a);
void graph_state_order_access(const struct gen *g, const struct graph_access *a,
                              struct order *order);
bool graph_state_all_initialised(const struct gen *g, const struct graph_access *a);
void graph_state_leave_read(struct gen *g, const struct graph_access *a, uint16_t task);
void graph_state_leave_write(struct gen *g, const struct graph_access *a, uint16_t task);
/* Marks every task to which this access may get an edge. */
void graph_state_bound_edges(const struct gen *g, const struct graph_access *a, struct bits *edges);
void graph_state_add_touch(struct gen *g, const struct graph_access *a, uint16_t task);
uint32_t graph_state_count_bits(const struct bits *bits);
/* The task takes its id; what the scopes keep grows by it. */
void graph_state_account(struct gen *g, uint32_t ring, uint32_t edges, uint32_t entries,
                         uint64_t output_bytes);
uint32_t graph_state_ring_of(const struct gen *g);
bool graph_state_ring_has_room(const struct gen *g);
void graph_state_close_over(const struct gen *g, const struct bits *from, struct bits *sure);
/* A get or a set waits for what the runtime knows of; is that all that matters? */
bool graph_state_is_waited(const struct gen *g, const struct order *order, struct bits *sure);

#endif
