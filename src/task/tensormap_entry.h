/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_TENSORMAP_ENTRY_H
#define SIMPLER_TASK_TENSORMAP_ENTRY_H

/* Entries of the tensormap: their tasks, their count, and what becomes of dead ones. */
#include "task/tensormap_state.h"

/*
 * A record for a new entry, in no class yet.  Frees a dead entry if there are
 * many; the pinned class and buffer outlive that.
 */
uint32_t simpler_tensormap_entry_alloc(struct simpler_tensormap *map);

/* Puts it into a class; its key, start and form are set. */
void simpler_tensormap_entry_link(struct simpler_tensormap *map, uint32_t e, uint32_t bucket);

/*
 * When dead entries are many and the oldest one of a grid is dead, it becomes the
 * newest one, of another cell: less than freeing one and making one.  0: it does not.
 */
uint32_t simpler_tensormap_entry_move(struct simpler_tensormap *map, uint32_t c, uint64_t key,
                                      uint32_t bucket);

/* Out of everything; also its class and buffer, if it was the last in them. */
void simpler_tensormap_entry_free(struct simpler_tensormap *map, uint32_t e);

/* Whether the entry is dead; looks at a few tasks and forgets dead ones. */
bool simpler_tensormap_entry_is_dead(struct simpler_tensormap *map, uint32_t e);

/* Frees dead ones among the @steps oldest entries of a class, not @keep; true: the class is gone.
 */
bool simpler_tensormap_entry_reap_class(struct simpler_tensormap *map, uint32_t c, uint32_t steps,
                                        uint32_t keep);

/* Forgets all dead tasks and entries: when a pool is at its end, not before. */
void simpler_tensormap_entry_sweep_all(struct simpler_tensormap *map);

/* One more task beside the writer; looks at two others and forgets dead ones. */
void simpler_tensormap_entry_add_node(struct simpler_tensormap *map, uint32_t e, uint64_t task);

SIMPLER_INLINE void simpler_tensormap_entry_add_task(struct simpler_tensormap *map, uint32_t e,
                                                     uint64_t task)
{
    struct simpler_tensormap_entry *entry = &map->entry[e];
    uint32_t n = entry->near_count;
    if (SIMPLER_LIKELY(n < SIMPLER_TENSORMAP_NEAR)) {
        entry->near[n] = task;
        entry->near_count = n + 1;
        return;
    }
    simpler_tensormap_entry_add_node(map, e, task);
}

/* The tasks beside the writer. */
void simpler_tensormap_entry_push_tasks(struct simpler_tensormap *map, uint32_t e,
                                        struct simpler_edge_sink *sink);

/* Makes @self the current task: entries that it touches are counted for it. */
SIMPLER_INLINE void simpler_tensormap_entry_set_self(struct simpler_tensormap *map, uint64_t self)
{
    struct simpler_tensormap_ring *ring = &map->ring[self >> 32];
    SIMPLER_ASSERT(self >> 32 < CHIP_MAX_RING_DEPTH);
    map->self = self;
    map->self_count = &ring->count[(uint32_t)self & ring->mask];
    ring->counted_to = (uint32_t)self + 1;
}

/* One id of a live task to the sink. */
SIMPLER_INLINE void simpler_tensormap_entry_push_alive(struct simpler_edge_sink *sink,
                                                       uint64_t task)
{
    uint32_t count = sink->count;
    if (count != 0 && sink->ids[count - 1] == task)
        return;
    if (SIMPLER_UNLIKELY(count == sink->capacity)) {
        sink->flush(sink);
        count = sink->count;
    }
    sink->ids[count] = task;
    sink->count = count + 1;
}

SIMPLER_INLINE void simpler_tensormap_entry_push(const struct simpler_tensormap *map,
                                                 struct simpler_edge_sink *sink, uint64_t task)
{
    if (task != map->self && simpler_tensormap_is_alive(map, task))
        simpler_tensormap_entry_push_alive(sink, task);
}

/* Forgets the tasks beside the writer. */
SIMPLER_INLINE void simpler_tensormap_entry_clear_tasks(struct simpler_tensormap *map, uint32_t e)
{
    uint32_t last = map->entry[e].nodes;
    map->entry[e].near_count = 0;
    if (SIMPLER_LIKELY(last == 0))
        return;
    uint32_t first = map->node[last].next;
    map->node[last].next = map->nodes.free;
    map->nodes.free = first;
    map->nodes.free_count += map->node[last].length;
    map->entry[e].nodes = 0;
}

/* The task @self, which is the current one, is the last to use the entry. */
SIMPLER_INLINE void simpler_tensormap_entry_touch(struct simpler_tensormap *map,
                                                  struct simpler_tensormap_entry *entry,
                                                  uint64_t self)
{
    uint64_t latest = entry->latest;
    if (latest == self)
        return;
    entry->latest = self;
    uint8_t *count = map->self_count;
    if (SIMPLER_LIKELY(simpler_tensormap_is_alive(map, latest)))
        --*simpler_tensormap_count(map, latest);
    else
        map->used++;
    ++*count;
}

#endif
