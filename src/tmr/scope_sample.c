/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scope boundary looks like, told to the collector in plain integers.
 *
 * Tails are derived when a sample is taken: the watermark is advanced first, as
 * at any wait, so that nothing that is free already counts as occupied.  Heap
 * positions, task ids and pool counters are monotonic as they are; sampling
 * keeps nothing of its own.
 */
#include "tmr/scope_sample.h"

#include "task/run_verdict.h"
#include "tmr/admission.h"
#include "tmr/fatal.h"

#if SIMPLER_DFX

#include "collect/scope_stats/scope_stats_aicpu.h"

/* Inside the collector the thread may wait for the host. */
static void set_inside(struct simpler_orch *orch, uint32_t inside)
{
    atomic_store_explicit(&orch->thread->counts.in_diagnostic, inside, memory_order_relaxed);
}

void simpler_scope_sample_start(struct simpler_orch *orch)
{
    const struct simpler_device_run *run = orch->device->run;
    bool on = (run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) != 0;

    set_scope_stats_enabled(on);
    orch->scope_stats = is_scope_stats_enabled();
    if (!on)
        return;
    scope_stats_set_run_epoch(run->run_epoch);
    set_platform_scope_stats_base(run->scope_stats_data_base);
    for (int r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        const struct simpler_ring *ring = &orch->ring[r];
        scope_stats_set_ring_capacity(r, (int32_t)(ring->mask + 1), ring->heap.size,
                                      (int32_t)ring->dep_capacity);
    }
    scope_stats_set_tensormap_capacity((int32_t)run->env.tensormap);
}

void simpler_scope_sample_finish(struct simpler_orch *orch)
{
    orch->scope_stats = false;
    set_inside(orch, 1);
    scope_stats_flush(); /* nothing when disabled */
    set_inside(orch, 0);
}

void simpler_scope_sample_abandon(struct simpler_orch *orch)
{
    orch->scope_stats = false;
    set_scope_stats_enabled(false);
}

/* Advances the watermarks; between two scopes without tasks there is nothing to do. */
static inline void advance(struct simpler_orch *orch)
{
    const uint32_t *alive = orch->device->alive;

    _Static_assert(CHIP_MAX_RING_DEPTH == 4, "every ring is looked at");
    if (((alive[0] ^ orch->ring[0].next) | (alive[1] ^ orch->ring[1].next) |
         (alive[2] ^ orch->ring[2].next) | (alive[3] ^ orch->ring[3].next)) != 0)
        simpler_admission_advance_all(orch);
}

void simpler_scope_sample_fatal(struct simpler_device *device)
{
    const struct simpler_device_run *run = device->run;

    if ((run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) == 0)
        return;
    scope_stats_join_run(run->scope_stats_data_base);
    scope_stats_on_fatal();
    set_scope_stats_enabled(false);
}

int simpler_scope_sample_begin(struct simpler_orch *orch, const char *file, int line)
{
    uint32_t r = orch->current;
    const struct simpler_ring *ring = &orch->ring[r];

    advance(orch);
    if (file != NULL)
        scope_stats_set_pending_site(file, line);
    set_inside(orch, 1);
    scope_stats_begin((int)r, (int32_t)orch->device->alive[r], (int32_t)ring->next, ring->heap.tail,
                      ring->heap.top, (int32_t)ring->dep_shown_tail, (int32_t)ring->dep_shown_top,
                      (int32_t)simpler_tensormap_used(orch->map));
    set_inside(orch, 0);
    return 0;
}

/*
 * A run that was canceled or whose kernel failed still ends the scopes that it
 * has begun; after a device code nothing is told any more.
 */
void simpler_scope_sample_end(struct simpler_orch *orch)
{
    uint32_t r = orch->current;
    const struct simpler_ring *ring = &orch->ring[r];

    /* The caller has just asked for the status. */
    if (simpler_run_verdict_is_code(orch->status))
        return;
    advance(orch);
    set_inside(orch, 1);
    scope_stats_end((int)r, (int32_t)orch->device->alive[r], (int32_t)ring->next, ring->heap.tail,
                    ring->heap.top, (int32_t)ring->dep_shown_tail, (int32_t)ring->dep_shown_top,
                    (int32_t)simpler_tensormap_used(orch->map));
    set_inside(orch, 0);
}

#endif
