/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a tensormap: pools of records, tables of chain heads, the counts of
 * the rings.  All of it is reserved when the map is opened, by what its windows and
 * its capacity allow, and touched on use.
 */
#include "task/tensormap_memory.h"

#include "base/memory.h"

static int open_pool(struct simpler_tensormap_pool *pool, uint64_t records, size_t record_bytes)
{
    pool->end = (uint32_t)records;
    pool->bytes = (size_t)records * record_bytes;
    pool->memory = simpler_memory_map(pool->bytes);
    return pool->memory != NULL ? 0 : SIMPLER_ENOMEM;
}

static int open_table(struct simpler_tensormap_table *table, uint64_t records)
{
    uint32_t bits = 6;
    while (bits < 28 && (UINT64_C(1) << bits) < records)
        bits++;
    table->shift = 64 - bits;
    table->mask = (UINT32_C(1) << bits) - 1;
    table->bytes = sizeof(uint32_t) << bits;
    table->head = simpler_memory_map(table->bytes);
    return table->head != NULL ? 0 : SIMPLER_ENOMEM;
}

static int open_counts(struct simpler_tensormap *map, const struct simpler_tensormap_config *config)
{
    for (int i = 0; i < CHIP_MAX_RING_DEPTH; i++)
        map->counts_bytes += config->window[i];
    map->counts = simpler_memory_map(map->counts_bytes);
    if (map->counts == NULL)
        return SIMPLER_ENOMEM;
    uint8_t *next = map->counts;
    for (int i = 0; i < CHIP_MAX_RING_DEPTH; i++) {
        map->ring[i].count = next;
        map->ring[i].mask = config->window[i] - 1;
        next += config->window[i];
    }
    return 0;
}

/*
 * Every live entry and every node has an access of a live task of its own, so
 * their number is bounded by the windows.  The rest is room for dead ones.
 */
static int open_pools(struct simpler_tensormap *map, uint64_t accesses)
{
    uint64_t most = UINT32_MAX - 4; /* record numbers are 32 bits, and some pools have two more */
    uint64_t entries = accesses + 4 * SIMPLER_TENSORMAP_TASK_RECORDS;
    uint64_t nodes = 2 * accesses + 4 * SIMPLER_TENSORMAP_TASK_RECORDS;
    entries = entries < most ? entries : most;
    nodes = nodes < most ? nodes : most;
    int rc = open_pool(&map->entries, entries, sizeof(*map->entry));
    rc = rc == 0 ? open_pool(&map->places, entries, sizeof(*map->place)) : rc;
    rc = rc == 0 ? open_pool(&map->nodes, nodes, sizeof(*map->node)) : rc;
    rc = rc == 0 ? open_pool(&map->classes, entries + 2, sizeof(*map->class)) : rc;
    rc = rc == 0 ? open_pool(&map->buffers, entries + 2, sizeof(*map->buffer)) : rc;
    rc = rc == 0 ? open_pool(&map->forms, entries + 2, sizeof(*map->form)) : rc;
    map->entry = map->entries.memory;
    map->place = map->places.memory;
    map->node = map->nodes.memory;
    map->class = map->classes.memory;
    map->buffer = map->buffers.memory;
    map->form = map->forms.memory;
    return rc;
}

int simpler_tensormap_memory_open(struct simpler_tensormap *map,
                                  const struct simpler_tensormap_config *config)
{
    uint64_t accesses = 0;
    for (int i = 0; i < CHIP_MAX_RING_DEPTH; i++)
        accesses += (uint64_t)config->window[i] * SIMPLER_MAX_TENSORS;
    map->capacity = config->capacity;
    map->alive = config->alive;
    int rc = open_counts(map, config);
    rc = rc == 0 ? open_pools(map, accesses) : rc;
    rc = rc == 0 ? open_table(&map->entry_table, 2 * (uint64_t)config->capacity) : rc;
    rc = rc == 0 ? open_table(&map->buffer_table, 2 * (uint64_t)config->capacity) : rc;
    return rc == 0 ? open_table(&map->form_table, config->capacity) : rc;
}

void simpler_tensormap_memory_close(struct simpler_tensormap *map)
{
    struct simpler_tensormap_pool *pool[] = {&map->entries, &map->places,  &map->nodes,
                                             &map->classes, &map->buffers, &map->forms};
    for (size_t i = 0; i < sizeof(pool) / sizeof(pool[0]); i++)
        simpler_memory_unmap(pool[i]->memory, pool[i]->bytes);
    simpler_memory_unmap(map->entry_table.head, map->entry_table.bytes);
    simpler_memory_unmap(map->buffer_table.head, map->buffer_table.bytes);
    simpler_memory_unmap(map->form_table.head, map->form_table.bytes);
    simpler_memory_unmap(map->counts, map->counts_bytes);
}
