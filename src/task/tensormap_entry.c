/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries and their tasks.
 *
 * Nothing is freed when a task retires.  A dead entry waits until its view is
 * used again, until a search meets it, or until a new entry is wanted while more
 * than half of all are dead: then a hand that goes round the pool finds one in
 * a few steps.  So the pool's touched part is within a factor of the live ones.
 *
 * A ring of nodes is pruned in the same way: each new node pays for a look at
 * two others, so that dead ones are at most as many as live ones.
 */
#include "task/tensormap_entry.h"

#include "task/tensormap_class.h"

/* Nodes that are not looked at before there are more; at least 3. */
#define PRUNE_FROM 4
/* Dead entries that are kept in any case. */
#define DEAD_KEPT 256

static uint32_t alloc_node(struct simpler_tensormap *map)
{
    struct simpler_tensormap_pool *pool = &map->nodes;
    if (pool->free == 0 && pool->next == pool->end)
        simpler_tensormap_entry_sweep_all(map);
    uint32_t n = pool->free;
    if (n != 0) {
        pool->free = map->node[n].next;
        pool->free_count--;
        return n;
    }
    SIMPLER_ASSERT(pool->next < pool->end);
    return pool->next++;
}

/* Forgets the node after the entry's if it is dead; else that is the entry's from now on. */
static bool prune_node(struct simpler_tensormap *map, struct simpler_tensormap_entry *entry)
{
    struct simpler_tensormap_node *last = &map->node[entry->nodes];
    uint32_t n = last->next;
    struct simpler_tensormap_node *first = &map->node[n];
    if (simpler_tensormap_is_alive(map, first->task)) {
        first->length = last->length;
        entry->nodes = n;
        return false;
    }
    if (first == last)
        entry->nodes = 0;
    last->length--;
    last->next = first->next;
    first->next = map->nodes.free;
    map->nodes.free = n;
    map->nodes.free_count++;
    return true;
}

void simpler_tensormap_entry_add_node(struct simpler_tensormap *map, uint32_t e, uint64_t task)
{
    struct simpler_tensormap_entry *entry = &map->entry[e];
    for (uint32_t i = 0; i < SIMPLER_TENSORMAP_NEAR; i++) {
        if (!simpler_tensormap_is_alive(map, entry->near[i])) {
            entry->near[i] = task;
            return;
        }
    }
    uint32_t n = alloc_node(map);
    struct simpler_tensormap_node *node = &map->node[n];
    if (entry->nodes != 0 && map->node[entry->nodes].length >= PRUNE_FROM)
        for (int i = 0; i < 2; i++)
            prune_node(map, entry);
    node->task = task;
    node->next = n;
    node->length = 1;
    if (entry->nodes != 0) {
        struct simpler_tensormap_node *last = &map->node[entry->nodes];
        node->next = last->next;
        node->length = last->length + 1;
        last->next = n;
    }
    entry->nodes = n;
}

void simpler_tensormap_entry_push_tasks(struct simpler_tensormap *map, uint32_t e,
                                        struct simpler_edge_sink *sink)
{
    const struct simpler_tensormap_entry *entry = &map->entry[e];
    uint32_t last = entry->nodes;
    uint32_t n = last;
    for (uint32_t i = 0; i < entry->near_count; i++)
        simpler_tensormap_entry_push(map, sink, entry->near[i]);
    if (last == 0)
        return;
    do {
        n = map->node[n].next;
        simpler_tensormap_entry_push(map, sink, map->node[n].task);
    } while (n != last);
}

static bool is_dead_within(struct simpler_tensormap *map, uint32_t e, uint32_t steps)
{
    struct simpler_tensormap_entry *entry = &map->entry[e];
    if (simpler_tensormap_is_alive(map, entry->latest) ||
        simpler_tensormap_is_alive(map, entry->writer))
        return false;
    for (uint32_t i = 0; i < entry->near_count; i++)
        if (simpler_tensormap_is_alive(map, entry->near[i]))
            return false;
    while (entry->nodes != 0)
        if (steps-- == 0 || !prune_node(map, entry))
            return false;
    return true;
}

bool simpler_tensormap_entry_is_dead(struct simpler_tensormap *map, uint32_t e)
{
    return is_dead_within(map, e, 8);
}

void simpler_tensormap_entry_sweep_all(struct simpler_tensormap *map)
{
    for (uint32_t e = 1; e < map->entries.next; e++) {
        struct simpler_tensormap_entry *entry = &map->entry[e];
        if (entry->key == 0)
            continue;
        uint32_t nodes = entry->nodes != 0 ? map->node[entry->nodes].length : 0;
        for (; nodes > 0; nodes--)
            prune_node(map, entry);
        if (is_dead_within(map, e, 0))
            simpler_tensormap_entry_free(map, e);
    }
}

/* Looks at a few entries from the hand on; frees the first dead one. */
static void reap_one(struct simpler_tensormap *map)
{
    for (int i = 0; i < 4; i++) {
        uint32_t e = map->hand;
        map->hand = e + 1 < map->entries.next ? e + 1 : 1;
        if (map->entry[e].key != 0 && simpler_tensormap_entry_is_dead(map, e)) {
            simpler_tensormap_entry_free(map, e);
            return;
        }
    }
}

/* A dead entry should be used again rather than one more record. */
SIMPLER_INLINE bool are_many_dead(const struct simpler_tensormap *map)
{
    return map->entries.free == 0 && map->entries.next > 2 * (uint64_t)map->used + DEAD_KEPT;
}

SIMPLER_INLINE void empty_entry(struct simpler_tensormap_entry *entry)
{
    entry->nodes = 0;
    entry->near_count = 0;
    entry->writer = NO_TASK;
    entry->latest = NO_TASK;
}

uint32_t simpler_tensormap_entry_alloc(struct simpler_tensormap *map)
{
    struct simpler_tensormap_pool *pool = &map->entries;
    if (are_many_dead(map))
        reap_one(map);
    if (pool->free == 0 && pool->next == pool->end)
        simpler_tensormap_entry_sweep_all(map);
    uint32_t e = pool->free;
    if (e != 0) {
        pool->free = map->place[e].older;
        pool->free_count--;
    } else {
        SIMPLER_ASSERT(pool->next < pool->end);
        e = pool->next++;
        map->entry[e].key = 0;
        map->place[e].bucket = UINT32_MAX;
    }
    empty_entry(&map->entry[e]);
    return e;
}

/*
 * The head of a bucket or 0.  A head of an earlier run may be the number of a
 * record of this run, but then that record belongs to another bucket: if one
 * of this run's belonged here, the head would be of this run.
 */
static uint32_t checked_head(const struct simpler_tensormap *map, uint32_t bucket)
{
    uint32_t head = simpler_tensormap_head(&map->entry_table, &map->entries, bucket);
    return head != 0 && map->place[head].bucket == bucket ? head : 0;
}

SIMPLER_INLINE void join_bucket(struct simpler_tensormap *map, uint32_t e, uint32_t bucket)
{
    map->entry[e].next = checked_head(map, bucket);
    map->place[e].bucket = bucket;
    map->entry_table.head[bucket] = e;
}

SIMPLER_INLINE void leave_bucket(struct simpler_tensormap *map, uint32_t e)
{
    uint32_t *link = &map->entry_table.head[map->place[e].bucket];
    while (*link != e)
        link = &map->entry[*link].next;
    *link = map->entry[e].next;
}

void simpler_tensormap_entry_link(struct simpler_tensormap *map, uint32_t e, uint32_t bucket)
{
    struct simpler_tensormap_class *class = &map->class[map->entry[e].key >> 32];
    struct simpler_tensormap_place *place = &map->place[e];
    join_bucket(map, e, bucket);
    if (class->newest == 0) {
        place->newer = e;
        place->older = e;
    } else {
        uint32_t oldest = map->place[class->newest].newer;
        place->older = class->newest;
        place->newer = oldest;
        map->place[class->newest].newer = e;
        map->place[oldest].older = e;
    }
    class->newest = e;
    class->entries++;
}

uint32_t simpler_tensormap_entry_move(struct simpler_tensormap *map, uint32_t c, uint64_t key,
                                      uint32_t bucket)
{
    struct simpler_tensormap_class *class = &map->class[c];
    if (!are_many_dead(map) || class->newest == 0)
        return 0;
    uint32_t e = map->place[class->newest].newer;
    if (!is_dead_within(map, e, 0))
        return 0;
    struct simpler_tensormap_buffer *buffer = &map->buffer[class->buffer];
    if (buffer->last_entry == e)
        buffer->last_form = UINT32_MAX;
    class->newest = e;
    leave_bucket(map, e);
    empty_entry(&map->entry[e]);
    map->entry[e].key = key;
    join_bucket(map, e, bucket);
    return e;
}

static void unlink_entry(struct simpler_tensormap *map, uint32_t e,
                         struct simpler_tensormap_class *class)
{
    struct simpler_tensormap_place *place = &map->place[e];
    leave_bucket(map, e);
    map->place[place->newer].older = place->older;
    map->place[place->older].newer = place->newer;
    if (class->newest == e)
        class->newest = place->older != e ? place->older : 0;
    class->entries--;
}

void simpler_tensormap_entry_free(struct simpler_tensormap *map, uint32_t e)
{
    struct simpler_tensormap_entry *entry = &map->entry[e];
    uint32_t c = (uint32_t)(entry->key >> 32);
    struct simpler_tensormap_class *class = &map->class[c];
    struct simpler_tensormap_buffer *buffer = &map->buffer[class->buffer];
    if (simpler_tensormap_is_alive(map, entry->latest)) {
        --*simpler_tensormap_count(map, entry->latest);
        map->used--;
    }
    simpler_tensormap_entry_clear_tasks(map, e);
    unlink_entry(map, e, class);
    if (buffer->last_entry == e)
        buffer->last_form = UINT32_MAX;
    if (class->form == SIMPLER_TENSORMAP_LOOSE)
        simpler_tensormap_class_release_form(map, map->place[e].form);
    entry->key = 0;
    entry->next = 0;
    map->place[e].older = map->entries.free;
    map->entries.free = e;
    map->entries.free_count++;
    if (class->entries == 0)
        simpler_tensormap_class_release(map, c);
}

bool simpler_tensormap_entry_reap_class(struct simpler_tensormap *map, uint32_t c, uint32_t steps,
                                        uint32_t keep)
{
    struct simpler_tensormap_class *class = &map->class[c];
    steps = class->entries < steps ? class->entries : steps;
    for (; steps > 0; steps--) {
        uint32_t oldest = map->place[class->newest].newer;
        bool last = class->entries == 1;
        if (oldest == keep || !simpler_tensormap_entry_is_dead(map, oldest)) {
            class->newest = oldest;
            continue;
        }
        simpler_tensormap_entry_free(map, oldest);
        if (last)
            return true;
    }
    return false;
}
