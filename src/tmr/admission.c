/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task is retired when it and everything before it on its ring is done, every
 * task that retains it is done, and no open scope holds it.  A ring is stuck for
 * good when all below its hold is retired: nothing can free a slot any more.
 */
#include "tmr/admission.h"

#include "base/text.h"
#include "tmr/fatal.h"
#include "tmr/orch_wait.h"

/* Time without a running or ready task after which a wait is a deadlock (facts 2.4). */
#define NO_PROGRESS_NS 500000000u

enum blocked_on { BLOCKED_NONE, BLOCKED_WINDOW, BLOCKED_HEAP, BLOCKED_MAP, BLOCKED_FAILURE };

struct admission {
    uint32_t ring;
    uint32_t entries;
    uint64_t bytes;
    uint8_t *block;
    enum blocked_on blocked;
};

/* Moves the ring's done prefix on. */
static void scan_done(struct simpler_orch *orch, uint32_t r)
{
    struct simpler_ring *ring = &orch->ring[r];
    uint32_t id = ring->done_from;

    while (id < ring->next) {
        /* acquire, pairs with P7: the task's effects. */
        if (atomic_load_explicit(&orch->device->table.done[simpler_ring_slot(ring, id)],
                                 memory_order_acquire) == SIMPLER_DONE_NOT)
            break;
        id++;
    }
    ring->done_from = id;
}

/*
 * Whether every task that retains @number is done.  Only the last one of each
 * ring is known, so all before it must be done as well: conservative, and
 * without deadlock, since a submitted task needs no later submit to finish.
 */
static bool consumers_done(struct simpler_orch *orch, uint32_t number)
{
    const struct simpler_task_desc *desc = &orch->device->table.desc[number];

    for (uint32_t q = 0; q < CHIP_MAX_RING_DEPTH; q++) {
        if (desc->last_consumer[q] <= orch->ring[q].done_from)
            continue;
        scan_done(orch, q);
        if (desc->last_consumer[q] > orch->ring[q].done_from)
            return false;
    }
    return true;
}

static uint32_t limit_of(const struct simpler_ring *ring)
{
    return ring->hold_from < ring->next ? ring->hold_from : ring->next;
}

void simpler_admission_advance(struct simpler_orch *orch, uint32_t r)
{
    struct simpler_device *device = orch->device;
    struct simpler_ring *ring = &orch->ring[r];
    uint32_t from = device->alive[r];
    uint32_t id = from;

    scan_done(orch, r);
    uint32_t limit = limit_of(ring);
    if (limit > ring->done_from)
        limit = ring->done_from;
    while (id < limit) {
        uint32_t number = simpler_ring_slot(ring, id);
        /* relaxed: the scan has acquired it. */
        if (atomic_load_explicit(&device->table.done[number], memory_order_relaxed) !=
                SIMPLER_DONE_OK ||
            (device->table.retained[number] && !consumers_done(orch, number)))
            break;
        id++;
    }
    if (id == from)
        return;
    simpler_tensormap_retire(orch->map, r, from, id);
    device->alive[r] = id;
    const struct simpler_task_desc *last = &device->table.desc[simpler_ring_slot(ring, id - 1)];
    simpler_heap_ring_retire(&ring->heap, last->heap_end);
    if (last->dep_mark > ring->dep_tail)
        ring->dep_tail = last->dep_mark;
}

void simpler_admission_advance_all(struct simpler_orch *orch)
{
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        if (orch->device->alive[r] != orch->ring[r].next)
            simpler_admission_advance(orch, r);
    }
}

/* The ring's oldest task has failed and stays: nothing behind it is retired. */
static bool has_failed_head(struct simpler_orch *orch, uint32_t r)
{
    struct simpler_ring *ring = &orch->ring[r];
    uint32_t alive = orch->device->alive[r];
    return alive < ring->next &&
           atomic_load_explicit(&orch->device->table.done[simpler_ring_slot(ring, alive)],
                                memory_order_acquire) == SIMPLER_DONE_FAILED;
}

/* Everything below the hold is retired: only the end of a scope frees more. */
static bool is_held(struct simpler_orch *orch, uint32_t r)
{
    return orch->device->alive[r] == limit_of(&orch->ring[r]);
}

static bool all_held(struct simpler_orch *orch)
{
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        if (!is_held(orch, r))
            return false;
    }
    return true;
}

static enum simpler_wait blocked(struct simpler_orch *orch, struct admission *a,
                                 enum blocked_on what, bool never)
{
    a->blocked = what;
    if (never)
        return SIMPLER_WAIT_NEVER;
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        if (has_failed_head(orch, r)) {
            a->blocked = BLOCKED_FAILURE;
            return SIMPLER_WAIT_NEVER;
        }
    }
    return SIMPLER_WAIT_MORE;
}

static enum simpler_wait has_room(struct simpler_orch *orch, void *context)
{
    struct admission *a = context;
    struct simpler_ring *ring = &orch->ring[a->ring];

    simpler_admission_advance_all(orch);
    uint32_t live = simpler_ring_live(orch, a->ring);
    bool held = is_held(orch, a->ring);
    if (live >= ring->mask)
        return blocked(orch, a, BLOCKED_WINDOW, held);
    /* Not at the first free slot: resuming for one task at a time costs a park each. */
    if (a->blocked == BLOCKED_WINDOW && live > ring->mask - (ring->mask + 1) / 8 && !held)
        return SIMPLER_WAIT_MORE;
    orch->map_credit = 0; /* asked again by the next submit */
    if (a->entries != 0 && simpler_tensormap_room(orch->map) < a->entries)
        return blocked(orch, a, BLOCKED_MAP, all_held(orch));
    if (a->bytes != 0 && a->block == NULL) {
        a->block = simpler_heap_ring_try_alloc(&ring->heap, a->bytes);
        if (a->block == NULL)
            return blocked(orch, a, BLOCKED_HEAP, held || a->bytes > ring->heap.size);
    }
    return SIMPLER_WAIT_DONE;
}

static int fail_window(struct simpler_orch *orch, uint32_t r)
{
    struct simpler_ring *ring = &orch->ring[r];
    bool own = ring->hold_depth == orch->depth;
    return simpler_fatal_latch(
        orch, own ? SIMPLER_CODE_SCOPE_DEADLOCK : SIMPLER_CODE_FLOW_CONTROL_DEADLOCK,
        "the task window of ring %u is full: %u of its %u slot%s in use, and none can be freed "
        "before %s at depth %u ends, since its outputs are still reachable (task "
        "0x%016llx on)",
        r, simpler_ring_live(orch, r), ring->mask + 1, simpler_text_plural(ring->mask + 1),
        own ? "the open scope" : "an open scope around this one", ring->hold_depth,
        (unsigned long long)((uint64_t)r << 32 | ring->hold_from));
}

static int fail_heap(struct simpler_orch *orch, const struct admission *a)
{
    struct simpler_ring *ring = &orch->ring[a->ring];
    if (a->bytes > ring->heap.size)
        return simpler_fatal_latch(orch, SIMPLER_CODE_HEAP_RING_DEADLOCK,
                                   "the outputs of one task need %llu bytes, more than the whole "
                                   "heap of ring %u (%llu bytes)",
                                   (unsigned long long)a->bytes, a->ring,
                                   (unsigned long long)ring->heap.size);
    return simpler_fatal_latch(
        orch, SIMPLER_CODE_HEAP_RING_DEADLOCK,
        "the heap of ring %u cannot hold %llu bytes more: %llu of %llu bytes are in use, %llu of "
        "them held by open scopes from task 0x%016llx on",
        a->ring, (unsigned long long)a->bytes,
        (unsigned long long)simpler_heap_ring_used(&ring->heap),
        (unsigned long long)ring->heap.size, (unsigned long long)ring->held_bytes,
        (unsigned long long)((uint64_t)a->ring << 32 | ring->hold_from));
}

static int fail_map(struct simpler_orch *orch, const struct admission *a)
{
    return simpler_fatal_latch(
        orch, SIMPLER_CODE_TENSORMAP_OVERFLOW,
        "the tensormap has no room for %u more view%s: %u %s in "
        "use, all by tasks that open scopes hold",
        a->entries, simpler_text_plural(a->entries), simpler_tensormap_used(orch->map),
        simpler_text_by_count(simpler_tensormap_used(orch->map), "entry", "entries"));
}

static int fail_blocked(struct simpler_orch *orch, struct admission *a, enum simpler_wait why)
{
    if (why == SIMPLER_WAIT_IDLE) {
        enum simpler_device_code code = a->blocked == BLOCKED_HEAP ? SIMPLER_CODE_HEAP_RING_DEADLOCK
                                        : a->blocked == BLOCKED_MAP
                                            ? SIMPLER_CODE_TENSORMAP_OVERFLOW
                                            : SIMPLER_CODE_FLOW_CONTROL_DEADLOCK;
        return simpler_fatal_latch(orch, code,
                                   "ring %u has no room, and for 500 ms no task ran or was ready: "
                                   "%u task%s waiting for something that does not come",
                                   a->ring, simpler_ring_live(orch, a->ring),
                                   simpler_text_plural(simpler_ring_live(orch, a->ring)));
    }
    switch (a->blocked) {
    case BLOCKED_FAILURE:
        return simpler_fatal_stop(orch, SIMPLER_EKERNEL);
    case BLOCKED_HEAP:
        simpler_fatal_start_counting(orch);
        return fail_heap(orch, a);
    case BLOCKED_MAP:
        simpler_fatal_start_counting(orch);
        return fail_map(orch, a);
    default:
        simpler_fatal_start_counting(orch);
        return fail_window(orch, a->ring);
    }
}

int simpler_admission_wait(struct simpler_orch *orch, uint32_t r, uint64_t bytes, uint32_t entries,
                           uint8_t **block)
{
    struct admission a = {r, entries, bytes, NULL, BLOCKED_NONE};
    enum simpler_wait verdict = simpler_orch_wait(orch, has_room, &a, NO_PROGRESS_NS, false);

    if (verdict == SIMPLER_WAIT_DONE) {
        if (a.block != NULL)
            *block = a.block;
        return 0;
    }
    return verdict == SIMPLER_WAIT_STOP ? simpler_fatal_status(orch)
                                        : fail_blocked(orch, &a, verdict);
}

struct edge_wait {
    uint32_t ring;
    uint32_t edges;
};

/*
 * Pool entries are free when their consumer is done, retired or not: a producer
 * that the task being wired retains would else hold the entries it needs.
 */
static void free_edges(struct simpler_orch *orch, uint32_t r)
{
    struct simpler_ring *ring = &orch->ring[r];

    scan_done(orch, r);
    /* What is retired has given its entries back. */
    if (ring->done_from == orch->device->alive[r])
        return;
    uint32_t number = simpler_ring_slot(ring, ring->done_from - 1);
    if (orch->device->table.desc[number].dep_mark > ring->dep_tail)
        ring->dep_tail = orch->device->table.desc[number].dep_mark;
}

static enum simpler_wait has_edges(struct simpler_orch *orch, void *context)
{
    struct edge_wait *w = context;
    struct simpler_ring *ring = &orch->ring[w->ring];

    simpler_admission_advance_all(orch);
    free_edges(orch, w->ring);
    if (ring->dep_top - ring->dep_tail + w->edges <= ring->dep_capacity)
        return SIMPLER_WAIT_DONE;
    return w->edges > ring->dep_capacity ? SIMPLER_WAIT_NEVER : SIMPLER_WAIT_MORE;
}

int simpler_admission_wait_edges(struct simpler_orch *orch, uint32_t r, uint32_t edges)
{
    struct edge_wait w = {r, edges};
    struct simpler_ring *ring = &orch->ring[r];
    enum simpler_wait verdict = simpler_orch_wait(orch, has_edges, &w, NO_PROGRESS_NS, false);

    if (verdict == SIMPLER_WAIT_DONE)
        return 0;
    if (verdict == SIMPLER_WAIT_STOP)
        return simpler_fatal_status(orch);
    uint64_t used = ring->dep_top - ring->dep_tail;
    ring->needed_dep = verdict == SIMPLER_WAIT_NEVER ? edges : used + edges;
    simpler_fatal_start_counting(orch);
    return simpler_fatal_latch(orch, SIMPLER_CODE_DEP_POOL_OVERFLOW,
                               "a task waits for %u unfinished producer%s, but the dependency pool "
                               "of ring %u has %llu of %u %s in use",
                               edges, simpler_text_plural(edges), r, (unsigned long long)used,
                               ring->dep_capacity,
                               simpler_text_by_count(ring->dep_capacity, "entry", "entries"));
}
