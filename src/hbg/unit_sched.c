/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wake lists and ready queues.  A unit is held by one thread at a time: by
 * whoever boots its part, by the completer that took it off a wake list, or by
 * whoever found it ready.
 */
#include "hbg/unit_sched.h"

#include <limits.h>

#include "base/clock.h"
#include "base/spin_wait.h"
#include "base/testpoint.h"
#include "hbg/host_limits.h"
#include "hbg/run_tasks.h"
#include "hbg/track_sched.h"

/* Units that go from a thread's stack to its queue at once. */
#define REFILL          64u
#define PROBE_PERIOD_NS 100000000u
#define PROBE_TRIES     2
/* Of fewer tasks a run is over before a thread has come to answer. */
#define PROBE_TASKS 1000u

/* ---- ready units ---- */

static SIMPLER_COLD void overflow(struct simpler_hbg_device *device)
{
    (void)simpler_hbg_latch_device(device->orch, SIMPLER_CODE_READY_QUEUE_OVERFLOW,
                                   "more than %llu tasks are ready on one thread",
                                   (unsigned long long)device->env.ready_queue);
    /* The rest of the run goes through without a kernel. */
    atomic_store_explicit(&device->attention, 1, memory_order_relaxed);
}

static void push(struct simpler_hbg_thread *thread, uint32_t unit)
{
    struct simpler_hbg_device *device = thread->device;

    if (SIMPLER_UNLIKELY(thread->stacked + simpler_ready_queue_count(&thread->queue) >=
                         device->env.ready_queue))
        overflow(device);
    if (simpler_ready_queue_try_push(&thread->queue, unit))
        return;
    device->units[unit].next = thread->stack;
    thread->stack = unit + 1;
    thread->stacked++;
}

static uint32_t take(struct simpler_ready_queue *queue)
{
    uint32_t unit;

    if (simpler_ready_queue_count(queue) == 0 ||
        simpler_ready_queue_try_take(queue, &unit, 1, false) == 0)
        return SIMPLER_HBG_NO_UNIT;
    return unit;
}

/* The queue was empty: what had no room there goes to it now, one unit to the caller. */
static uint32_t refill(struct simpler_hbg_thread *thread)
{
    struct simpler_hbg_unit *units = thread->device->units;
    uint32_t first = thread->stack, moved = 0;

    if (first == 0)
        return SIMPLER_HBG_NO_UNIT;
    thread->stack = units[first - 1].next;
    for (; thread->stack != 0 && moved < REFILL; moved++) {
        uint32_t unit = thread->stack - 1;
        uint32_t rest = units[unit].next;
        if (!simpler_ready_queue_try_push(&thread->queue, unit))
            break;
        thread->stack = rest;
    }
    thread->stacked -= moved + 1;
    if (moved != 0)
        simpler_sleepers_wake(&thread->device->work, moved);
    return first - 1;
}

static uint32_t steal(struct simpler_hbg_thread *thread)
{
    struct simpler_hbg_device *device = thread->device;

    for (uint32_t i = 0; i < device->thread_count; i++) {
        uint32_t victim = (thread->victim + i) % device->thread_count;
        uint32_t unit = take(&device->threads[victim].queue);
        if (unit != SIMPLER_HBG_NO_UNIT) {
            thread->victim = victim;
            return unit;
        }
    }
    return SIMPLER_HBG_NO_UNIT;
}

static uint32_t take_handed(struct simpler_hbg_thread *thread)
{
    uint32_t unit = thread->handed;

    thread->handed = SIMPLER_HBG_NO_UNIT;
    return unit;
}

static uint32_t look(struct simpler_hbg_thread *thread, struct simpler_hbg_part *tracked)
{
    if (thread->handed != SIMPLER_HBG_NO_UNIT)
        return take_handed(thread);
    uint32_t unit = take(&thread->queue);
    if (unit == SIMPLER_HBG_NO_UNIT)
        unit = refill(thread);
    if (unit == SIMPLER_HBG_NO_UNIT && tracked != NULL)
        unit = simpler_hbg_track_next(thread, tracked);
    return unit != SIMPLER_HBG_NO_UNIT ? unit : steal(thread);
}

/* ---- wake lists ---- */

/* True: every producer of the unit is done.  Else it is on a wake list, and no longer ours. */
static bool is_ready(struct simpler_hbg_device *device, const struct simpler_hbg_part *part,
                     uint32_t unit)
{
    struct simpler_hbg_unit *units = device->units;
    const struct simpler_hbg_plan *plan = part->plan;
    uint32_t grain = unit - part->first_unit;
    uint32_t end = plan->edge_from[grain + 1];

    for (uint32_t e = plan->edge_from[grain] + units[unit].cursor; e < end; e++) {
        _Atomic uint32_t *wake = &units[part->first_unit + plan->edges[e]].wake;
        /* acquire, pairs with W2: the producer's effects. */
        uint32_t head = atomic_load_explicit(wake, memory_order_acquire);
        if (head == SIMPLER_HBG_WAKE_CLOSED)
            continue;
        units[unit].cursor = e - plan->edge_from[grain];
        do {
            units[unit].next = head;
            SIMPLER_TESTPOINT(LINK_BEFORE_PUBLISH);
            /* W1, release: the unit's next and cursor. */
            if (atomic_compare_exchange_weak_explicit(wake, &head, unit + 1, memory_order_release,
                                                      memory_order_acquire))
                return false;
        } while (head != SIMPLER_HBG_WAKE_CLOSED);
    }
    return true;
}

/* Looks at the units that waited; one that is ready stays here, others are for everybody. */
static void wake(struct simpler_hbg_thread *thread, const struct simpler_hbg_part *part,
                 uint32_t list)
{
    struct simpler_hbg_device *device = thread->device;
    uint32_t published = 0;

    while (list != 0) {
        uint32_t unit = list - 1;
        /* Before is_ready: afterwards it may be on another list. */
        list = device->units[unit].next;
        if (SIMPLER_FAILPOINT(DROP_EDGE) || !is_ready(device, part, unit))
            continue;
        if (thread->handed != SIMPLER_HBG_NO_UNIT) {
            push(thread, thread->handed);
            published++;
        }
        thread->handed = unit;
    }
    if (published != 0)
        simpler_sleepers_wake(&device->work, published);
}

/* Every unit of the part is done. */
static void finish_part(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part)
{
    struct simpler_hbg_device *device = thread->device;

    if (part->call_unit == SIMPLER_HBG_NO_UNIT) {
        atomic_fetch_or_explicit(&device->gate, SIMPLER_HBG_GATE_OVER, memory_order_release);
        return;
    }
    if (atomic_load_explicit(&part->tracked, memory_order_relaxed))
        simpler_hbg_tracks_end(device);
    if (part->poisoned || atomic_load_explicit(&part->any_failed, memory_order_relaxed))
        simpler_hbg_add_bit(&device->parts[0], part->call_node, SIMPLER_HBG_FAILED);
    simpler_hbg_complete(thread, &device->parts[0], part->call_unit);
}

/* Counts what this thread has completed off its part. */
static void settle(struct simpler_hbg_thread *thread)
{
    struct simpler_hbg_part *part = thread->done_part;
    uint32_t done = thread->done;

    thread->done_part = NULL;
    thread->done = 0;
    SIMPLER_TESTPOINT(COMPLETE_BEFORE_DONE);
    /* W3, acq_rel: the last one has seen what all did. */
    if (atomic_fetch_sub_explicit(&part->remaining, done, memory_order_acq_rel) == done)
        finish_part(thread, part);
}

void simpler_hbg_complete(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                          uint32_t unit)
{
    SIMPLER_TESTPOINT(COMPLETE_BEFORE_CLOSE);
    if (atomic_load_explicit(&part->tracked, memory_order_relaxed)) {
        simpler_hbg_track_close(thread, unit);
    } else {
        /* W2, acq_rel: takes the waiters (W1), publishes what the tasks did. */
        uint32_t list = atomic_exchange_explicit(&thread->device->units[unit].wake,
                                                 SIMPLER_HBG_WAKE_CLOSED, memory_order_acq_rel);
        wake(thread, part, list);
    }
    /* A part that ends completes its call, which is of another one. */
    while (thread->done_part != part && thread->done_part != NULL)
        settle(thread);
    thread->done_part = part;
    thread->done++;
}

static bool is_of(const struct simpler_hbg_part *part, uint32_t unit)
{
    return unit - part->first_unit < part->plan->grain_count;
}

uint32_t simpler_hbg_find(struct simpler_hbg_thread *thread)
{
    /* acquire: the part and where its tracks begin. */
    struct simpler_hbg_part *tracked =
        atomic_load_explicit(&thread->device->tracked, memory_order_acquire);
    uint32_t unit = look(thread, tracked);

    if (thread->done_part == NULL)
        return unit;
    /*
     * The count is a line that all share: not as long as there is more to do of that part.  Who
     * waits for a part that is done does not wait for a unit of another one.
     */
    if (unit != SIMPLER_HBG_NO_UNIT
            ? is_of(thread->done_part, unit)
            : tracked != NULL && !simpler_hbg_track_is_over(thread, tracked))
        return unit;
    settle(thread);
    if (thread->handed == SIMPLER_HBG_NO_UNIT)
        return unit;
    if (unit != SIMPLER_HBG_NO_UNIT) {
        push(thread, unit);
        simpler_sleepers_wake(&thread->device->work, 1);
    }
    return take_handed(thread);
}

uint32_t simpler_hbg_find_all(struct simpler_hbg_thread *thread)
{
    uint32_t unit = simpler_hbg_find(thread);

    if (unit != SIMPLER_HBG_NO_UNIT)
        return unit;
    simpler_hbg_settle(thread);
    unit = take_handed(thread);
    return unit != SIMPLER_HBG_NO_UNIT ? unit : simpler_hbg_track_steal(thread);
}

void simpler_hbg_settle(struct simpler_hbg_thread *thread)
{
    while (thread->done_part != NULL)
        settle(thread);
}

/* ---- starting ---- */

/*
 * What a hand-over costs now, as threads answer it that have come and find nothing yet: before
 * there is anything for them, and long enough for one to be woken.
 */
static void probe(struct simpler_hbg_device *device)
{
    uint64_t now = simpler_clock_ns();

    if (device->thread_count == 1 || now - device->probed_ns < PROBE_PERIOD_NS)
        return;
    if (!device->spin_allowed) {
        atomic_store_explicit(&device->handover_ns, 10 * SIMPLER_OVERSUBSCRIBED_NS,
                              memory_order_relaxed);
        return;
    }
    if (device->orch->next_id < PROBE_TASKS)
        return;
    device->probed_ns = now;
    simpler_sleepers_wake(&device->work, INT_MAX);
    uint32_t ns = 0;
    for (int i = 0; i < PROBE_TRIES && ns == 0; i++)
        ns = simpler_round_trip_probe(&device->round_trip);
    /* More is not a round trip, but a thread that had no CPU. */
    ns = ns < 2 * SIMPLER_OVERSUBSCRIBED_NS ? ns : 2 * SIMPLER_OVERSUBSCRIBED_NS;
    if (ns != 0)
        atomic_store_explicit(&device->handover_ns, ns, memory_order_relaxed);
}

/* One more unit that is ready: this thread's, or for everybody. */
static void offer(struct simpler_hbg_thread *thread, uint32_t unit, uint32_t *published)
{
    if (thread->handed == SIMPLER_HBG_NO_UNIT) {
        thread->handed = unit;
        return;
    }
    push(thread, unit);
    if (++*published % REFILL == 1)
        simpler_sleepers_wake(&thread->device->work, 1);
}

static void boot_part(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part)
{
    struct simpler_hbg_device *device = thread->device;
    uint32_t published = 0;
    /* Once the last unit is out of our hands the part may be done. */
    uint32_t first = part->first_unit, end = first + part->plan->grain_count;

    if (end - first > 1 && simpler_hbg_tracks_start(device, part))
        return;
    for (uint32_t unit = first; unit < end; unit++) {
        if (is_ready(device, part, unit))
            offer(thread, unit, &published);
    }
    if (published > 1)
        simpler_sleepers_wake(&device->work, INT_MAX);
}

void simpler_hbg_boot(struct simpler_hbg_thread *thread)
{
    probe(thread->device);
    boot_part(thread, &thread->device->parts[0]);
}

/*
 * What is done or held is nobody's; a call that is ready has begun, or might have.  Units
 * behind the one at hand are not ready yet, so nobody runs them or writes their nodes' bits.
 */
static void boot_rest(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                      uint32_t *published)
{
    struct simpler_hbg_device *device = thread->device;
    const struct simpler_hbg_node *nodes = simpler_hbg_nodes(part->image);

    for (uint32_t n = 0; n < part->image->node_count; n++) {
        bool is_call = nodes[n].func_id == SIMPLER_HBG_FUNC_GRAPH;
        /* The bits of a call that has begun may be written now, by who ends it. */
        if (atomic_load_explicit(&device->units[part->first_unit + n].wake, memory_order_acquire) ==
                SIMPLER_HBG_WAKE_CLOSED ||
            (!is_call && (simpler_hbg_bits(part, n) & SIMPLER_HBG_HELD) != 0) ||
            !is_ready(device, part, part->first_unit + n))
            continue;
        if (!is_call) {
            offer(thread, part->first_unit + n, published);
            continue;
        }
        struct simpler_hbg_part *called =
            &device->parts[1 + simpler_hbg_words(part->image)[nodes[n].first_word]];
        bool poisoned = simpler_hbg_is_poisoned(device, part, n);
        /* What has begun has it, and may be read by who ends it. */
        if (called->poisoned != poisoned)
            called->poisoned = poisoned;
        boot_rest(thread, called, published);
    }
}

void simpler_hbg_boot_rest(struct simpler_hbg_thread *thread)
{
    uint32_t published = 0;

    boot_rest(thread, &thread->device->parts[0], &published);
    if (published > 1)
        simpler_sleepers_wake(&thread->device->work, INT_MAX);
}

/* The part of a call: in one piece here (true: it is done), or for everybody. */
static bool start_part(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part)
{
    part->poisoned =
        simpler_hbg_is_poisoned(thread->device, &thread->device->parts[0], part->call_node);
    if (part->plan->grain_count > 1) {
        boot_part(thread, part);
        return false;
    }
    if (!simpler_hbg_run_tasks(thread, part, 0, part->image->node_count))
        return false;
    if (part->poisoned || atomic_load_explicit(&part->any_failed, memory_order_relaxed))
        simpler_hbg_add_bit(&thread->device->parts[0], part->call_node, SIMPLER_HBG_FAILED);
    return true;
}

/* ---- running ---- */

void simpler_hbg_run_unit(struct simpler_hbg_thread *thread, uint32_t unit)
{
    struct simpler_hbg_device *device = thread->device;
    struct simpler_hbg_part *part = simpler_hbg_part_of(device, unit);
    uint32_t grain = unit - part->first_unit;
    uint32_t first = part->plan->first[grain], end = part->plan->first[grain + 1];
    const struct simpler_hbg_node *node = &simpler_hbg_nodes(part->image)[first];

    if (SIMPLER_UNLIKELY(node->func_id == SIMPLER_HBG_FUNC_GRAPH)) {
        uint32_t call = (uint32_t)simpler_hbg_words(part->image)[node->first_word];
        if (!start_part(thread, &device->parts[1 + call]))
            return;
    } else if (!simpler_hbg_run_tasks(thread, part, first, end)) {
        return;
    }
    simpler_hbg_complete(thread, part, unit);
}
