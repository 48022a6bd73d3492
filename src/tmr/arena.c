/* SPDX-License-Identifier: Apache-2.0 */
/* One mapping for each array; a changed runtime_env makes a new arena. */
#include "tmr/arena.h"

#include "base/alloc.h"
#include "base/logger.h"
#include "base/memory.h"
#include "tmr/launch.h"

static bool map_array(void *place, uint64_t count, size_t bytes)
{
    void *memory = simpler_memory_map(count * bytes);
    *(void **)place = memory;
    if (memory == NULL)
        SIMPLER_ERROR("cannot reserve %llu bytes of address space",
                      (unsigned long long)(count * bytes));
    return memory != NULL;
}

static bool map_slots(struct simpler_arena *arena)
{
    uint64_t n = arena->total;
    struct simpler_task_table *t = &arena->table;
    return map_array(&t->slot, n, sizeof(*t->slot)) && map_array(&t->desc, n, sizeof(*t->desc)) &&
           map_array(&t->tier0, n, SIMPLER_TIER0_LINES * sizeof(*t->tier0)) &&
           map_array(&t->tier1, n, SIMPLER_TIER1_LINES * sizeof(*t->tier1)) &&
           map_array(&t->tier2, n, SIMPLER_TIER2_LINES * sizeof(*t->tier2)) &&
           map_array(&t->done, n, 1) && map_array(&t->retained, n, 1) &&
           map_array(&t->launch, n, sizeof(*t->launch)) &&
           (!SIMPLER_DFX || map_array(&t->dump, n, sizeof(*t->dump))) &&
           map_array(&arena->pending, n, sizeof(*arena->pending));
}

static int acquire_all(struct simpler_arena *arena, const uint32_t *alive)
{
    struct simpler_tensormap_config config = {
        .capacity = (uint32_t)arena->env.tensormap, .track_readers = true, .alive = alive};

    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        arena->total += (uint32_t)arena->env.ring_task_window[r];
        config.window[r] = (uint32_t)arena->env.ring_task_window[r];
    }
    if (!map_slots(arena))
        return SIMPLER_ENOMEM;
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        if (!map_array(&arena->table.pool[r], arena->env.ring_dep_pool[r],
                       sizeof(struct simpler_pool_edge)) ||
            !map_array(&arena->heap[r], arena->env.ring_heap[r], 1))
            return SIMPLER_ENOMEM;
    }
    int rc = simpler_tensormap_open(&config, &arena->map);
    if (rc != 0)
        SIMPLER_ERROR("cannot reserve the tensormap's address space");
    return rc;
}

int simpler_arena_open(const struct simpler_runtime_env *env, const uint32_t *alive,
                       struct simpler_arena **out)
{
    struct simpler_arena *arena = simpler_alloc_zeroed(1, sizeof(*arena));
    if (arena == NULL)
        return SIMPLER_ENOMEM;
    arena->env = *env;
    int rc = acquire_all(arena, alive);
    if (rc != 0) {
        simpler_arena_close(arena);
        return rc;
    }
    *out = arena;
    return 0;
}

void simpler_arena_close(struct simpler_arena *arena)
{
    if (arena == NULL)
        return;
    uint64_t n = arena->total;
    struct simpler_task_table *t = &arena->table;
    simpler_tensormap_close(arena->map);
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        simpler_memory_unmap(arena->heap[r], arena->env.ring_heap[r]);
        simpler_memory_unmap(t->pool[r],
                             arena->env.ring_dep_pool[r] * sizeof(struct simpler_pool_edge));
    }
    simpler_memory_unmap(arena->pending, n * sizeof(*arena->pending));
    simpler_memory_unmap(t->dump, n * sizeof(*t->dump));
    simpler_memory_unmap(t->launch, n * sizeof(*t->launch));
    simpler_memory_unmap(t->retained, n);
    simpler_memory_unmap((void *)t->done, n);
    simpler_memory_unmap(t->tier2, n * SIMPLER_TIER2_LINES * sizeof(*t->tier2));
    simpler_memory_unmap(t->tier1, n * SIMPLER_TIER1_LINES * sizeof(*t->tier1));
    simpler_memory_unmap(t->tier0, n * SIMPLER_TIER0_LINES * sizeof(*t->tier0));
    simpler_memory_unmap(t->desc, n * sizeof(*t->desc));
    simpler_memory_unmap(t->slot, n * sizeof(*t->slot));
    simpler_alloc_free(arena);
}
