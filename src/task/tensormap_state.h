/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_TENSORMAP_STATE_H
#define SIMPLER_TASK_TENSORMAP_STATE_H

/*
 * The records of the tensormap, shared by its files alone.
 *
 *   buffer (by address) --> classes --> entries --> nodes
 *                              |           |
 *                              +-> form <--+
 *
 * Every record lives in a pool and has a number; 0 is none.  Hash tables hold
 * numbers of chain heads.  A reset empties the pools and leaves the tables: a
 * head counts only if its record was handed out since and belongs to that
 * bucket, which no head of an earlier run can claim (see entry.c).
 */
#include "base/compiler.h"
#include "task/tensormap.h"
#include "task/view_grid.h"

#define NO_TASK UINT64_MAX

/* A pool of records that are numbered from 1. */
struct simpler_tensormap_pool {
    void *memory;
    size_t bytes;
    uint32_t next; /* first that was never handed out */
    uint32_t end;
    uint32_t free; /* a chain through the records */
    uint32_t free_count;
};

struct simpler_tensormap_table {
    uint32_t *head;
    size_t bytes;
    uint32_t shift; /* 64 minus the bits of an index */
    uint32_t mask;
};

/* Tasks beside the writer: readers since (all), earlier writers (raw). */
struct simpler_tensormap_node {
    uint64_t task;
    uint32_t next;   /* in a ring, or free */
    uint32_t length; /* of the ring, in the node that the entry names */
};

/*
 * One view that live tasks use.  Touched by each access:
 *
 *   key     class and cell; 0: not in use.  Two entries have the same key in a
 *           loose class alone
 *   writer  the last one or NO_TASK
 *   latest  the last task that used it, by which it is counted
 *   near    the first tasks beside the writer (see the node)
 *   nodes   one of a ring of nodes for those that found no place there
 */
#define SIMPLER_TENSORMAP_NEAR 3
struct simpler_tensormap_entry {
    uint64_t key;
    uint64_t writer;
    uint64_t latest;
    uint64_t near[SIMPLER_TENSORMAP_NEAR];
    uint32_t next; /* in the bucket */
    uint32_t nodes;
    uint32_t near_count;
    uint32_t reserved;
};
_Static_assert(sizeof(struct simpler_tensormap_entry) == 64, "an access touches one line");

/* The rest of an entry. */
struct simpler_tensormap_place {
    uint64_t start; /* of the box */
    uint32_t form;
    uint32_t bucket;
    uint32_t newer; /* the class's entries, a ring */
    uint32_t older; /* or free */
};

/*
 * Entries of one buffer whose boxes are the cells of one grid; or, loose, that
 * are in no grid and at most 2^level bytes long: the cell is then the start
 * without its low bits.
 */
struct simpler_tensormap_class {
    _Alignas(128) uint64_t origin;
    uint64_t low; /* no entry lies outside [low, high) */
    uint64_t high;
    uint32_t buffer; /* SIMPLER_TENSORMAP_NO_BUFFER: the class is free */
    uint32_t form;   /* SIMPLER_TENSORMAP_LOOSE: no grid */
    uint32_t level;  /* loose: log2 of the length */
    uint32_t base;   /* of the cells' buckets */
    uint32_t entries;
    uint32_t newest;
    uint32_t next; /* the buffer's classes, oldest first; or free */
    uint32_t visits;
    uint32_t bit;    /* of this grid among the buffer's */
    uint32_t apart;  /* grids of which no entry meets one of this grid, itself included */
    uint32_t tested; /* grids that have been compared since one of both grew */
    uint32_t room;   /* cells expected from base on */
    struct simpler_view_range bounds; /* no cell lies outside */
};
#define SIMPLER_TENSORMAP_LOOSE     UINT32_MAX
#define SIMPLER_TENSORMAP_NO_BUFFER UINT32_MAX

/* A buffer with entries. */
struct simpler_tensormap_buffer {
    _Alignas(64) uint64_t addr;
    uint64_t last_start;
    uint32_t last_form;  /* UINT32_MAX: there is no last entry */
    uint32_t last_entry; /* of the only class, a grid, at last_start; or free */
    uint32_t next;       /* in the bucket */
    uint32_t bucket;
    uint32_t classes;
    uint32_t class_count;
    uint32_t grids; /* bits of its grids; SIMPLER_TENSORMAP_HAS_LOOSE */
    uint32_t loose_count;
};

/* Stands among the grids of which no other is known to be apart. */
#define SIMPLER_TENSORMAP_HAS_LOOSE (UINT32_C(1) << 31)

/* A form that entries use. */
struct simpler_tensormap_form {
    struct simpler_view_form view;
    uint64_t slots; /* which slots of the map know it */
    uint32_t uses;
    uint32_t next;
    uint32_t bucket;
    uint32_t reserved;
};

/* What makes the form of a tensor, for the forms met last. */
struct simpler_tensormap_slot {
    uint64_t extent;     /* 0 or UINT64_MAX: no tensor has this slot */
    uint32_t kind;       /* element type and whether contiguous; then no more is compared */
    uint32_t form;       /* its record, 0: none at present */
    uint32_t last_class; /* a class of that form, or any other */
    uint32_t shift;      /* log2 of the element's bytes */
    uint32_t ndims;
    uint32_t shape[SIMPLER_MAX_DIMS];
    uint32_t stride[SIMPLER_MAX_DIMS];
    struct simpler_view_form view;
};
#define SIMPLER_TENSORMAP_SLOTS 32
#define SIMPLER_TENSORMAP_WHOLE SIMPLER_TENSORMAP_SLOTS /* slot of the whole buffer */

/* Beyond this many grids a buffer's views go to loose classes; at most 31. */
#define SIMPLER_TENSORMAP_GRIDS 16

/* Entries by the slot of their latest task; the sum of all counts is used. */
struct simpler_tensormap_ring {
    uint8_t *count;
    uint32_t mask;
    uint32_t counted_to; /* no count from this id on */
};

struct simpler_tensormap {
    struct simpler_tensormap_entry *entry;
    struct simpler_tensormap_class *class;
    struct simpler_tensormap_buffer *buffer;
    struct simpler_tensormap_node *node;
    struct simpler_tensormap_place *place;
    struct simpler_tensormap_form *form;
    const uint32_t *alive;
    struct simpler_tensormap_slot *last_slot;
    uint64_t last_addr; /* of last_buffer */
    uint32_t last_buffer;
    bool track_readers;
    uint64_t self; /* the task of the last access */
    uint8_t *self_count;
    struct simpler_tensormap_ring ring[CHIP_MAX_RING_DEPTH];
    uint32_t used;
    uint32_t capacity;
    struct simpler_tensormap_table entry_table;
    struct simpler_tensormap_table buffer_table;
    struct simpler_tensormap_table form_table;
    uint32_t next_base; /* of the next class */
    uint32_t hand;      /* where the search for dead entries goes on */
    uint32_t pinned_class;
    uint32_t pinned_buffer;
    struct simpler_tensormap_pool entries; /* of entries and places */
    struct simpler_tensormap_pool places;  /* memory only */
    struct simpler_tensormap_pool nodes;
    struct simpler_tensormap_pool classes;
    struct simpler_tensormap_pool buffers;
    struct simpler_tensormap_pool forms;
    uint8_t *counts;
    size_t counts_bytes;
    struct simpler_tensormap_slot slot[SIMPLER_TENSORMAP_SLOTS + 1];
};

SIMPLER_INLINE bool simpler_tensormap_is_alive(const struct simpler_tensormap *map, uint64_t task)
{
    uint64_t ring = task >> 32;
    return ring < CHIP_MAX_RING_DEPTH && (uint32_t)task >= map->alive[ring];
}

/* The count that the task's entries are in; the task is alive. */
SIMPLER_INLINE uint8_t *simpler_tensormap_count(const struct simpler_tensormap *map, uint64_t task)
{
    const struct simpler_tensormap_ring *ring = &map->ring[task >> 32];
    return &ring->count[(uint32_t)task & ring->mask];
}

SIMPLER_INLINE uint64_t simpler_tensormap_key(uint32_t class_number, uint32_t cell)
{
    return (uint64_t)class_number << 32 | cell;
}

/* Rows of cells stay together; what is above the table's size is spread. */
SIMPLER_INLINE uint32_t simpler_tensormap_bucket(const struct simpler_tensormap *map, uint32_t base,
                                                 uint32_t cell)
{
    uint32_t bucket = base + cell;
    if (SIMPLER_UNLIKELY(cell > map->entry_table.mask))
        bucket += (uint32_t)((uint64_t)cell >> (64 - map->entry_table.shift)) * 0x9E3779B1u;
    return bucket & map->entry_table.mask;
}

SIMPLER_INLINE uint32_t simpler_tensormap_hash(const struct simpler_tensormap_table *table,
                                               uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> table->shift);
}

/* The first entry of a bucket; what an earlier run left there leads to no false key. */
SIMPLER_INLINE uint32_t simpler_tensormap_head(const struct simpler_tensormap_table *table,
                                               const struct simpler_tensormap_pool *pool,
                                               uint32_t bucket)
{
    uint32_t head = table->head[bucket];
    return head < pool->next ? head : 0;
}

/* The entry of a cell of a class, 0 if there is none.  Entry 0 has no key. */
SIMPLER_INLINE uint32_t simpler_tensormap_probe_class(const struct simpler_tensormap *map,
                                                      const struct simpler_tensormap_class *class,
                                                      uint32_t class_number, uint32_t cell)
{
    uint64_t key = simpler_tensormap_key(class_number, cell);
    uint32_t bucket = simpler_tensormap_bucket(map, class->base, cell);
    uint32_t e = simpler_tensormap_head(&map->entry_table, &map->entries, bucket);
    while (map->entry[e].key != key && e != 0)
        e = map->entry[e].next;
    return e;
}

SIMPLER_INLINE uint32_t simpler_tensormap_probe(const struct simpler_tensormap *map,
                                                uint32_t class_number, uint32_t cell)
{
    return simpler_tensormap_probe_class(map, &map->class[class_number], class_number, cell);
}

SIMPLER_INLINE uint32_t simpler_tensormap_loose_cell(const struct simpler_tensormap_class *class,
                                                     uint64_t start)
{
    return (uint32_t)(start >> class->level);
}

#endif
