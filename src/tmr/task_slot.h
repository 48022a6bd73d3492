/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_TASK_SLOT_H
#define SIMPLER_TMR_TASK_SLOT_H

/*
 * What a task is in memory: a hot line that completions touch, a cold line
 * with what only its own dispatch and its retirement need, and one line for
 * each tensor.  Two tensors make 256 bytes.
 *
 * Slots of all rings lie in one array; a slot is named by its index in it (the
 * slot number).  The lines of tensors lie in three arrays, so that a task with
 * few tensors touches few pages:
 *
 *     lines 0-1 of a slot in tier 0, 2-7 in tier 1, the rest in tier 2
 */
#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "collect/args_dump/args_dump_task_aicpu.h"
#include "simpler/call_config.h"
#include "simpler/kernel.h"
#include "simpler/task.h"

enum simpler_shape {
    SIMPLER_SHAPE_AIC = 0,
    SIMPLER_SHAPE_AIV = 1,
    SIMPLER_SHAPE_DUMMY = 2,
    SIMPLER_SHAPE_LAUNCH = 3 /* more than one call of one kernel, see launch.h */
};

/* Edges to producers that fit the slot itself; more go to the dependency pool. */
#define SIMPLER_INLINE_EDGES 8

/*
 * A link names one edge of a consumer, and with it the consumer:
 *   0                      end of the list
 *   SIMPLER_LINK_CLOSED    (list heads) the producer is done, nothing can be added
 *   bit 31 clear           1 + (slot number << 3 | edge)
 *   bit 31 set             ring << 28 | entry of that ring's dependency pool
 */
#define SIMPLER_LINK_CLOSED UINT32_MAX
#define SIMPLER_LINK_POOL   0x80000000u

/* What a slot's failed says. */
enum simpler_outcome {
    SIMPLER_OUTCOME_OK = 0,
    SIMPLER_OUTCOME_FAILED = 1,  /* its kernel, or something before it */
    SIMPLER_OUTCOME_DEFERRED = 2 /* its kernel has returned; it waits for conditions */
};

/* A done byte. */
enum simpler_done {
    SIMPLER_DONE_NOT = 0,
    SIMPLER_DONE_OK = 1,
    SIMPLER_DONE_FAILED = 2 /* failed or poisoned: never retired, so that readers learn of it */
};

/*
 *   field          written by                      read by            publishes
 *   fanout         orchestrator (link, release)    completer          the edge behind the link (P3)
 *                  completer (CLOSED, acq_rel)     orchestrator       the task's effects, failed
 * (P4) fanin          orchestrator (init, done ones)  completers         the slot's content (P5)
 *                  completers (decrement, acq_rel) completers         effects of all producers (P5)
 *   poisoned       completers (relaxed, before P5) whoever runs it
 *   the rest       orchestrator, before it publishes the slot by P3, P5 or a ready queue (P6);
 *                  link[0] of a ready task: the thread that holds it
 *   failed         whoever runs it, before P4
 *   mark           orchestrator alone
 */
struct simpler_task_slot {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t fanout;
    _Atomic int32_t fanin;
    uint32_t id; /* within the ring */
    uint16_t func_id;
    uint8_t shape; /* enum simpler_shape */
    uint8_t ring;
    _Atomic uint8_t poisoned;
    uint8_t failed; /* enum simpler_outcome */
    uint8_t tensor_count;
    uint8_t scalar_count;
    uint32_t mark; /* submit number of the last consumer that linked to it */
    uint32_t link[SIMPLER_INLINE_EDGES];
    uint8_t edge_count; /* inline edges in use */
    uint8_t line_count;
    uint8_t reserved[6];
};

#define SIMPLER_INLINE_SCALARS 2

/* Written by the orchestrator before the slot is published; last_consumer by it at any time. */
struct simpler_task_desc {
    _Alignas(SIMPLER_CACHE_LINE) uint64_t heap_end; /* position behind its block */
    uint64_t dep_mark;                              /* the pool's top after its edges */
    uint32_t last_consumer[CHIP_MAX_RING_DEPTH];    /* id + 1 of the last task that retains it */
    const char *file;                               /* of the submit */
    uint64_t scalar[SIMPLER_INLINE_SCALARS];
    int32_t line;
    uint32_t reserved;
};

/* The first line of struct simpler_tensor; a strided one packs its strides, see tensor_pack.h. */
struct simpler_task_line {
    _Alignas(SIMPLER_CACHE_LINE) uint8_t bytes[SIMPLER_CACHE_LINE];
};

_Static_assert(sizeof(struct simpler_task_slot) == 64, "the hot part is one line");
_Static_assert(sizeof(struct simpler_task_desc) == 64, "the cold part is one line");
_Static_assert(sizeof(struct simpler_task_slot) + sizeof(struct simpler_task_desc) +
                       2 * sizeof(struct simpler_task_line) <=
                   256,
               "a task with two tensors touches at most 256 bytes");

#define SIMPLER_TIER0_LINES 2
#define SIMPLER_TIER1_LINES 6
/* Every tensor may need two lines, and the scalars that do not fit inline two more. */
#define SIMPLER_MAX_LINES   (2 * SIMPLER_MAX_TENSORS + 2)
#define SIMPLER_TIER2_LINES (SIMPLER_MAX_LINES - SIMPLER_TIER0_LINES - SIMPLER_TIER1_LINES)

/* Entry of a dependency pool: an edge that did not fit its consumer. */
struct simpler_pool_edge {
    uint32_t consumer; /* slot number */
    uint32_t next;     /* link */
};

/*
 * What an args dump needs of a task, apart from the slot: written by the
 * orchestrator before it publishes the task, and touched in runs with a dump alone.
 */
struct simpler_task_dump {
    _Alignas(SIMPLER_CACHE_LINE) struct dump_args_submit submit;
};
_Static_assert(sizeof(struct simpler_task_dump) == 64, "one line a task");

struct simpler_task_launch;

/* Every slot array of a device; indices are slot numbers. */
struct simpler_task_table {
    struct simpler_task_slot *slot;
    struct simpler_task_desc *desc;
    struct simpler_task_line *tier0, *tier1, *tier2;
    /* Written by completers (P7, release), read by the orchestrator (acquire): the task is done. */
    _Atomic uint8_t *done;
    uint8_t *retained; /* orchestrator alone: desc.last_consumer is in use */
    struct simpler_task_dump *dump;
    struct simpler_task_launch *launch; /* touched by tasks of that shape alone */
    struct simpler_pool_edge *pool[CHIP_MAX_RING_DEPTH];
};

/* Walks the lines of one slot in order. */
struct simpler_line_cursor {
    struct simpler_task_line *next;
    uint32_t used;
};

SIMPLER_INLINE struct simpler_line_cursor
simpler_line_cursor_init(const struct simpler_task_table *table, uint32_t number)
{
    struct simpler_line_cursor cursor = {&table->tier0[(uint64_t)number * SIMPLER_TIER0_LINES], 0};
    return cursor;
}

SIMPLER_INLINE struct simpler_task_line *
simpler_line_cursor_take(struct simpler_line_cursor *cursor, const struct simpler_task_table *table,
                         uint32_t number)
{
    struct simpler_task_line *line = cursor->next++;
    cursor->used++;
    if (cursor->used == SIMPLER_TIER0_LINES)
        cursor->next = &table->tier1[(uint64_t)number * SIMPLER_TIER1_LINES];
    else if (SIMPLER_UNLIKELY(cursor->used == SIMPLER_TIER0_LINES + SIMPLER_TIER1_LINES))
        cursor->next = &table->tier2[(uint64_t)number * SIMPLER_TIER2_LINES];
    return line;
}

SIMPLER_INLINE uint32_t simpler_link_inline(uint32_t number, uint32_t edge)
{
    return 1 + (number << 3 | edge);
}

SIMPLER_INLINE uint32_t simpler_link_pool(uint32_t ring, uint32_t entry)
{
    return SIMPLER_LINK_POOL | ring << 28 | entry;
}

/* The consumer behind a link, and the link after it. */
SIMPLER_INLINE uint32_t simpler_link_follow(const struct simpler_task_table *table, uint32_t link,
                                            uint32_t *next)
{
    if (SIMPLER_LIKELY((link & SIMPLER_LINK_POOL) == 0)) {
        uint32_t number = (link - 1) >> 3;
        *next = table->slot[number].link[(link - 1) & 7];
        return number;
    }
    const struct simpler_pool_edge *edge = &table->pool[link >> 28 & 3][link & 0x0fffffffu];
    *next = edge->next;
    return edge->consumer;
}

#endif
