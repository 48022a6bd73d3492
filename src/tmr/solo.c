/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Solo runs.  Fields that other threads touch once a task is shared are atomics;
 * here they are written relaxed, without a read-modify-write.
 */
#include "tmr/solo.h"

#include "tmr/scheduler.h"
#include "tmr/scope_sample.h"

void simpler_solo_complete(struct simpler_orch *orch, uint32_t number)
{
    struct simpler_task_table *table = &orch->device->table;
    struct simpler_task_slot *slot = &table->slot[number];
    struct simpler_ring *ring = &orch->ring[slot->ring];
    uint8_t done = slot->failed ? SIMPLER_DONE_FAILED : SIMPLER_DONE_OK;

    table->desc[number].dep_mark = ring->dep_top;
    simpler_scope_sample_wired(orch, ring);
    atomic_store_explicit(&slot->fanout, SIMPLER_LINK_CLOSED, memory_order_relaxed);
    atomic_store_explicit(&table->done[number], done, memory_order_relaxed);
    if (SIMPLER_UNLIKELY(slot->failed))
        orch->settled = false;
    simpler_scheduler_count_completed(orch->thread);
}

void simpler_solo_run(struct simpler_orch *orch, uint32_t number)
{
    simpler_scheduler_execute(orch->thread, number);
    simpler_solo_complete(orch, number);
}
