/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Solo runs.  Fields that other threads touch once a task is shared are atomics;
 * here they are written relaxed, without a read-modify-write.
 */
#include "tmr/solo.h"

#include "tmr/deferred.h"
#include "tmr/scheduler.h"
#include "tmr/scope_sample.h"

/* It has failed, or it is shared from here on and done when its conditions hold. */
static SIMPLER_COLD void complete_odd(struct simpler_orch *orch, uint32_t number)
{
    struct simpler_task_table *table = &orch->device->table;

    orch->settled = SIMPLER_SETTLED_NOT;
    if (table->slot[number].failed == SIMPLER_OUTCOME_DEFERRED) {
        simpler_deferred_hold(orch->device, number);
        return;
    }
    atomic_store_explicit(&table->slot[number].fanout, SIMPLER_LINK_CLOSED, memory_order_relaxed);
    atomic_store_explicit(&table->done[number], SIMPLER_DONE_FAILED, memory_order_relaxed);
    simpler_scheduler_count_completed(orch->thread);
}

void simpler_solo_complete(struct simpler_orch *orch, uint32_t number)
{
    struct simpler_task_table *table = &orch->device->table;
    struct simpler_task_slot *slot = &table->slot[number];
    struct simpler_ring *ring = &orch->ring[slot->ring];

    table->desc[number].dep_mark = ring->dep_top;
    simpler_scope_sample_wired(orch, ring);
    if (SIMPLER_UNLIKELY(slot->failed != SIMPLER_OUTCOME_OK)) {
        complete_odd(orch, number);
        return;
    }
    atomic_store_explicit(&slot->fanout, SIMPLER_LINK_CLOSED, memory_order_relaxed);
    atomic_store_explicit(&table->done[number], SIMPLER_DONE_OK, memory_order_relaxed);
    simpler_scheduler_count_completed(orch->thread);
}

void simpler_solo_run(struct simpler_orch *orch, uint32_t number)
{
    simpler_scheduler_execute(orch->thread, number);
    simpler_solo_complete(orch, number);
}
