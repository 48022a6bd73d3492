/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges lie in the consumer's slot, those beyond eight in the ring's pool; each
 * counts as one entry against the pool's capacity.  A consumer's count includes
 * the producers that it is not linked to yet, so that it cannot become ready half-wired.
 */
#include "tmr/linking.h"

#include <stddef.h>

#include "base/testpoint.h"
#include "tmr/admission.h"
#include "tmr/fatal.h"
#include "tmr/handover.h"
#include "tmr/scheduler.h"
#include "tmr/scope_sample.h"
#include "tmr/solo.h"

/* The number has wrapped: no old mark may look like a new one. */
void simpler_linking_renumber(struct simpler_orch *orch)
{
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        const struct simpler_ring *ring = &orch->ring[r];
        for (uint32_t i = 0; i <= ring->mask; i++)
            orch->device->table.slot[ring->first + i].mark = 0;
    }
    orch->submit_seq = 1;
}

/* acquire, pairs with P4: a finished producer's effects and its failed flag. */
static bool is_closed(const struct simpler_task_slot *slot)
{
    return atomic_load_explicit(&slot->fanout, memory_order_acquire) == SIMPLER_LINK_CLOSED;
}

static void poison(struct simpler_task_slot *self, const struct simpler_task_slot *producer)
{
    if (SIMPLER_UNLIKELY(producer->failed))
        atomic_store_explicit(&self->poisoned, 1, memory_order_relaxed);
}

/* Takes one edge of @self; *next is where its link is kept. */
static uint32_t take_edge(struct simpler_orch *orch, struct simpler_task_slot *self,
                          uint32_t **next)
{
    struct simpler_ring *ring = &orch->ring[self->ring];
    uint64_t entry = ring->dep_top++;

    if (SIMPLER_LIKELY(self->edge_count < SIMPLER_INLINE_EDGES)) {
        uint32_t e = self->edge_count++;
        *next = &self->link[e];
        return simpler_link_inline(orch->self, e);
    }
    uint32_t at = (uint32_t)(entry % ring->dep_capacity);
    struct simpler_pool_edge *edge = &orch->device->table.pool[self->ring][at];
    edge->consumer = orch->self;
    *next = &edge->next;
    return simpler_link_pool(self->ring, at);
}

/* The edge that was taken last is not needed. */
static void give_edge_back(struct simpler_orch *orch, struct simpler_task_slot *self, uint32_t link)
{
    orch->ring[self->ring].dep_top--;
    if ((link & SIMPLER_LINK_POOL) == 0)
        self->edge_count--;
}

/* False when the producer is done. */
static bool link_producer(struct simpler_orch *orch, struct simpler_task_slot *self,
                          struct simpler_task_slot *producer)
{
    if (is_closed(producer)) {
        poison(self, producer);
        return false;
    }
    uint32_t *next;
    uint32_t link = take_edge(orch, self, &next);
    uint32_t head = atomic_load_explicit(&producer->fanout, memory_order_acquire);
    do {
        if (head == SIMPLER_LINK_CLOSED) {
            give_edge_back(orch, self, link);
            poison(self, producer);
            return false;
        }
        *next = head;
        SIMPLER_TESTPOINT(LINK_BEFORE_PUBLISH);
        /* P3, release: the link behind the head, and with it this slot's content. */
    } while (!atomic_compare_exchange_weak_explicit(&producer->fanout, &head, link,
                                                    memory_order_release, memory_order_acquire));
    return true;
}

/*
 * Room for the pending edges, or the status of a run that has failed: then they
 * are dropped, for nothing will run any more.
 */
static int reserve_edges(struct simpler_orch *orch, const struct simpler_task_slot *self)
{
    struct simpler_ring *ring = &orch->ring[self->ring];
    if (SIMPLER_LIKELY(ring->dep_top - ring->dep_tail + orch->pending_count <= ring->dep_capacity))
        return 0;
    uint32_t unfinished = 0;
    for (uint32_t i = 0; i < orch->pending_count; i++) {
        if (!is_closed(&orch->device->table.slot[orch->pending[i]]))
            unfinished++;
    }
    int status = simpler_admission_wait_edges(orch, self->ring, unfinished);
    if (status != 0)
        orch->pending_count = 0;
    return status;
}

/* The producers that hold a reference, of those that are counted. */
static int32_t link_pending(struct simpler_orch *orch, struct simpler_task_slot *self)
{
    int32_t linked = 0;

    atomic_store_explicit(&self->fanin, (int32_t)orch->pending_count, memory_order_relaxed);
    for (uint32_t i = 0; i < orch->pending_count; i++)
        linked += link_producer(orch, self, &orch->device->table.slot[orch->pending[i]]);
    return linked;
}

/* The pool's mark of this task; before anything can retire it. */
static void note_edges(struct simpler_orch *orch, const struct simpler_task_slot *self,
                       int32_t linked)
{
    struct simpler_ring *ring = &orch->ring[self->ring];
    orch->device->table.desc[orch->self].dep_mark = ring->dep_top;
    orch->edges += (uint64_t)linked;
    if (ring->dep_top - ring->dep_tail > ring->dep_peak)
        ring->dep_peak = ring->dep_top - ring->dep_tail;
    simpler_scope_sample_wired(orch, ring);
}

SIMPLER_INLINE void note(struct simpler_orch *orch, uint64_t id, uint8_t kinds)
{
    struct simpler_device *device = orch->device;
    struct simpler_task_slot *self = &device->table.slot[orch->self];
    uint32_t local = (uint32_t)id;

    if (SIMPLER_UNLIKELY(id >> 32 >= CHIP_MAX_RING_DEPTH))
        return;
    uint32_t r = (uint32_t)(id >> 32);
    struct simpler_ring *ring = &orch->ring[r];
    if (local < device->alive[r] || SIMPLER_UNLIKELY(local >= ring->next))
        return;
    uint32_t number = simpler_ring_slot(ring, local);
    struct simpler_task_slot *producer = &device->table.slot[number];
    if (SIMPLER_UNLIKELY(number == orch->self))
        return;
    if ((kinds & SIMPLER_DEP_RETAIN) != 0) {
        device->table.desc[number].last_consumer[self->ring] = self->id + 1;
        device->table.retained[number] = 1;
    }
    if (producer->mark == orch->submit_seq || (kinds & SIMPLER_DEP_WAIT) == 0)
        return;
    producer->mark = orch->submit_seq;
    if (is_closed(producer)) {
        poison(self, producer);
        return;
    }
    orch->pending[orch->pending_count++] = number;
}

void simpler_linking_note(struct simpler_orch *orch, uint64_t id, uint8_t kinds)
{
    note(orch, id, kinds);
}

void simpler_linking_drain_sink(struct simpler_edge_sink *sink)
{
    struct simpler_orch *orch =
        (struct simpler_orch *)(void *)((char *)sink - offsetof(struct simpler_orch, sink));
    uint32_t n = sink->count;

    sink->count = 0;
    for (uint32_t i = 0; i < n; i++)
        note(orch, sink->ids[i], SIMPLER_DEP_WAIT);
}

/* A ready task that is short: run it and its short successors, publish the rest. */
static void run_short(struct simpler_orch *orch, uint32_t number)
{
    struct simpler_thread *thread = orch->thread;
    while (number != SIMPLER_NO_TASK) {
        simpler_scheduler_run_here(thread, number);
        number = thread->handed;
        if (number != SIMPLER_NO_TASK &&
            simpler_handover_estimate(orch->device, &orch->device->table.slot[number]) >=
                simpler_handover_threshold(orch->device)) {
            break;
        }
        thread->handed = SIMPLER_NO_TASK;
    }
    simpler_scheduler_expose(thread);
}

/*
 * More tasks are ready than others could run: take part.  Others must not run dry while
 * this thread is inside a kernel: each may begin two meanwhile.
 */
static void help(struct simpler_orch *orch)
{
    struct simpler_thread *thread = orch->thread;
    uint32_t kept = 2 * (orch->device->thread_count - 1);
    kept = kept < SIMPLER_READY_QUEUE_SIZE / 2 ? kept : SIMPLER_READY_QUEUE_SIZE / 2;
    uint32_t number;

    if (orch->never_solo || simpler_ready_queue_count(&thread->queue) <= kept ||
        simpler_ready_queue_try_take(&thread->queue, &number, 1, false) == 0)
        return;
    simpler_scheduler_run_here(thread, number);
    simpler_scheduler_expose(thread);
}

#if defined(SIMPLER_DEBUG)
/* A seam: the first pending producer that waits itself comes to wait for @self. */
static void make_cycle(struct simpler_orch *orch, struct simpler_task_slot *self)
{
    struct simpler_ring *ring = &orch->ring[self->ring];

    for (uint32_t i = 0; i < orch->pending_count; i++) {
        struct simpler_task_slot *producer = &orch->device->table.slot[orch->pending[i]];
        uint32_t at = (uint32_t)(ring->dep_top % ring->dep_capacity);
        struct simpler_pool_edge *edge = &orch->device->table.pool[self->ring][at];
        if (atomic_load_explicit(&producer->fanin, memory_order_relaxed) == 0 ||
            !SIMPLER_FAILPOINT(MAKE_CYCLE))
            continue;
        ring->dep_top++;
        atomic_fetch_add_explicit(&producer->fanin, 1, memory_order_relaxed);
        *edge = (struct simpler_pool_edge){orch->pending[i], 0};
        atomic_store_explicit(&self->fanout, simpler_link_pool(self->ring, at),
                              memory_order_release);
        return;
    }
}
#else
#define make_cycle(orch, self) ((void)0)
#endif

/* Whether nothing is before the task any more; else whoever completes the last producer has it. */
static bool link_all(struct simpler_orch *orch, struct simpler_task_slot *self)
{
    int32_t linked = link_pending(orch, self);
    int32_t closed = (int32_t)orch->pending_count - linked;

    note_edges(orch, self, linked);
    SIMPLER_TESTPOINT(LINK_BEFORE_READY);
    /* P3 has published the slot to all of them: it may be running. */
    if (closed == 0)
        return false;
    /* P5, acq_rel: publishes the slot to the producers' completers, and takes
     * their effects if all of them are done. */
    return atomic_fetch_sub_explicit(&self->fanin, closed, memory_order_acq_rel) == closed;
}

static void share(struct simpler_orch *orch, struct simpler_task_slot *self, uint32_t number,
                  bool is_short)
{
    orch->settled = SIMPLER_SETTLED_NOT;
    make_cycle(orch, self);
    if (orch->pending_count == 0)
        note_edges(orch, self, 0);
    else if (!link_all(orch, self))
        return;
    if (is_short) {
        run_short(orch, number);
        return;
    }
    simpler_scheduler_publish(orch->thread, number);
    help(orch);
}

int simpler_linking_finish(struct simpler_orch *orch, uint32_t number)
{
    struct simpler_task_slot *self = &orch->device->table.slot[number];
    bool is_short = self->shape != SIMPLER_SHAPE_LAUNCH &&
                    simpler_handover_estimate(orch->device, self) < orch->solo_below_ns;
    int status = 0;

    if (orch->pending_count != 0)
        status = reserve_edges(orch, self);
    if (is_short && orch->pending_count == 0)
        simpler_solo_run(orch, number);
    else
        share(orch, self, number, is_short);
    return status;
}
