/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private run.  Fields that other threads touch once a task is shared are
 * atomics; here they are read and written relaxed, without a read-modify-write.
 */
#include "tmr/solo.h"

#include "base/testpoint.h"
#include "tmr/admission.h"
#include "tmr/handover.h"
#include "tmr/scheduler.h"

static bool satisfy_private(struct simpler_task_slot *consumer)
{
    if (SIMPLER_FAILPOINT(DROP_EDGE))
        return false;
    int32_t left = atomic_load_explicit(&consumer->fanin, memory_order_relaxed) - 1;
    atomic_store_explicit(&consumer->fanin, left, memory_order_relaxed);
    return left == 0;
}

/* Closes a private task; returns a successor to run next, or SIMPLER_NO_TASK. */
static uint32_t complete_private(struct simpler_orch *orch, uint32_t number)
{
    struct simpler_task_table *table = &orch->device->table;
    struct simpler_task_slot *slot = &table->slot[number];
    uint32_t link = atomic_load_explicit(&slot->fanout, memory_order_relaxed);
    uint32_t next = SIMPLER_NO_TASK;

    atomic_store_explicit(&slot->fanout, SIMPLER_LINK_CLOSED, memory_order_relaxed);
    while (link != 0) {
        uint32_t consumer = simpler_link_follow(table, link, &link);
        struct simpler_task_slot *c = &table->slot[consumer];
        if (SIMPLER_UNLIKELY(slot->failed))
            atomic_store_explicit(&c->poisoned, 1, memory_order_relaxed);
        if (!satisfy_private(c))
            continue;
        if (next != SIMPLER_NO_TASK)
            simpler_solo_push(orch, next);
        next = consumer;
    }
    atomic_store_explicit(&table->done[number],
                          slot->failed ? SIMPLER_DONE_FAILED : SIMPLER_DONE_OK,
                          memory_order_relaxed);
    return next;
}

/* From now on everything that was submitted is shared. */
static void share_rest(struct simpler_orch *orch, uint32_t next)
{
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++)
        orch->ring[r].private_from = orch->ring[r].next;
    if (next != SIMPLER_NO_TASK)
        simpler_scheduler_publish(orch->thread, next);
    while (orch->private_head != orch->private_tail)
        simpler_scheduler_publish(
            orch->thread, orch->private_ready[orch->private_head++ % SIMPLER_PRIVATE_BATCH]);
}

/* Whether the kernel that was just timed is long enough to be shared. */
static bool turned_long(struct simpler_orch *orch, uint32_t number)
{
    return !orch->all_private &&
           simpler_handover_estimate(orch->device, &orch->device->table.slot[number]) >=
               simpler_handover_threshold(orch->device);
}

void simpler_solo_run(struct simpler_orch *orch)
{
    struct simpler_thread *thread = orch->thread;
    uint64_t done = 0;

    if (orch->private_count == 0)
        return;
    while (orch->private_head != orch->private_tail) {
        uint32_t number = orch->private_ready[orch->private_head++ % SIMPLER_PRIVATE_BATCH];
        while (number != SIMPLER_NO_TASK) {
            bool timed = thread->timing == 0;
            simpler_scheduler_execute(thread, number);
            uint32_t next = complete_private(orch, number);
            done++;
            if (SIMPLER_UNLIKELY(timed) && turned_long(orch, number)) {
                share_rest(orch, next);
                next = SIMPLER_NO_TASK;
            }
            number = next;
        }
    }
    orch->private_count = 0;
    atomic_store_explicit(&thread->counts.completed,
                          atomic_load_explicit(&thread->counts.completed, memory_order_relaxed) +
                              done,
                          memory_order_release);
    simpler_admission_advance_all(orch);
    simpler_handover_probe(orch);
}
