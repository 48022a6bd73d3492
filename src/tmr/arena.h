/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_ARENA_H
#define SIMPLER_TMR_ARENA_H

/*
 * The memory of a device: slots, pools, heaps and the map, sized by the run's
 * runtime_env and kept for later runs.  Address space is reserved, pages are
 * touched on use.
 */
#include "tmr/engine.h"

struct simpler_arena {
    struct simpler_runtime_env env; /* what it is sized for */
    uint32_t total;                 /* slots of all rings */
    struct simpler_task_table table;
    uint8_t *heap[CHIP_MAX_RING_DEPTH];
    uint32_t *pending;
    struct simpler_tensormap *map;
};

/* @alive: each ring's first id that is not retired, for the map.  SIMPLER_ENOMEM;
 * nothing is left behind then. */
int simpler_arena_open(const struct simpler_runtime_env *env, const uint32_t *alive,
                       struct simpler_arena **out);
void simpler_arena_close(struct simpler_arena *arena);

#endif
