/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A unit's wake list says whether it is done, a thread how far it is in its grain;
 * who waits for whom is in the images.
 */
#include "hbg/hbg_stall_view.h"

#include "base/alloc.h"
#include "hbg/hbg_hang.h"
#include "hbg/run_tasks.h"

uint32_t simpler_hbg_stall_number(const struct simpler_hbg_device *device,
                                  const struct simpler_hbg_part *part, uint32_t node)
{
    return (uint32_t)(part->failed - device->failed) + node;
}

const struct simpler_hbg_part *simpler_hbg_stall_place(const struct simpler_hbg_device *device,
                                                       uint32_t number, uint32_t *node)
{
    uint32_t low = 0, high = device->part_count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (simpler_hbg_stall_number(device, &device->parts[middle], 0) <= number)
            low = middle;
        else
            high = middle;
    }
    *node = number - simpler_hbg_stall_number(device, &device->parts[low], 0);
    return &device->parts[low];
}

static bool is_call(const struct simpler_hbg_part *part, uint32_t node)
{
    return simpler_hbg_nodes(part->image)[node].func_id == SIMPLER_HBG_FUNC_GRAPH;
}

/* The part that a node of the run's own graph calls. */
static const struct simpler_hbg_part *called(const struct simpler_hbg_device *device, uint32_t node)
{
    const struct simpler_hbg_image *image = device->parts[0].image;
    return &device->parts[1 + simpler_hbg_words(image)[simpler_hbg_nodes(image)[node].first_word]];
}

uint32_t simpler_hbg_stall_next(const struct simpler_hbg_device *device, uint32_t number)
{
    const struct simpler_hbg_part *part = &device->parts[0];
    uint32_t node = 0;

    if (number != SIMPLER_HBG_NO_TASK) {
        part = simpler_hbg_stall_place(device, number, &node);
        node++;
    }
    for (;;) {
        if (node == part->image->node_count) {
            if (part->call_unit == SIMPLER_HBG_NO_UNIT)
                return SIMPLER_HBG_NO_TASK;
            node = part->call_node + 1;
            part = &device->parts[0];
        } else if (is_call(part, node)) {
            part = called(device, node);
            node = 0;
        } else {
            return simpler_hbg_stall_number(device, part, node);
        }
    }
}

/* ---- what is done ---- */

static void start_part(struct simpler_hbg_stall_view *v, const struct simpler_hbg_part *part)
{
    uint32_t from = simpler_hbg_stall_number(v->device, part, 0);

    for (uint32_t g = 0; g < part->plan->grain_count; g++) {
        uint8_t state =
            simpler_hbg_is_grain_done(v->device, part, g) ? SIMPLER_STALL_DONE : SIMPLER_STALL_HELD;
        for (uint32_t n = part->plan->first[g]; n < part->plan->first[g + 1]; n++) {
            bool is_done = (simpler_hbg_bits(part, n) & SIMPLER_HBG_DONE) != 0;
            v->state[from + n] = is_done ? SIMPLER_STALL_DONE : state;
            v->producer[from + n] = SIMPLER_HBG_NO_TASK;
        }
    }
}

/* A thread may be read once it is out or revoked. */
static bool is_settled(const struct simpler_hbg_thread *thread)
{
    return thread->verdict.end != SIMPLER_DEVICE_LANE_UNPROVED;
}

static uint32_t node_of(const struct simpler_hbg_thread *thread)
{
    return atomic_load_explicit(&thread->place.node, memory_order_relaxed);
}

static void mark_done(struct simpler_hbg_stall_view *v, const struct simpler_hbg_thread *thread)
{
    if (thread->part == NULL)
        return;
    for (uint32_t n = thread->first; n < node_of(thread); n++)
        v->state[simpler_hbg_stall_number(v->device, thread->part, n)] = SIMPLER_STALL_DONE;
}

/* ---- who waits ---- */

/* The task that stands for a producer: of a call one that is not done. */
static uint32_t stands_for(const struct simpler_hbg_stall_view *v,
                           const struct simpler_hbg_part *part, uint32_t node)
{
    uint32_t open = is_call(part, node) ? v->open[called(v->device, node) - v->device->parts]
                                        : SIMPLER_HBG_NO_TASK;

    return open != SIMPLER_HBG_NO_TASK ? open : simpler_hbg_stall_number(v->device, part, node);
}

static void find_open(struct simpler_hbg_stall_view *v, const struct simpler_hbg_part *part)
{
    uint32_t *open = &v->open[part - v->device->parts];

    *open = SIMPLER_HBG_NO_TASK;
    for (uint32_t n = 0; n < part->image->node_count && *open == SIMPLER_HBG_NO_TASK; n++) {
        uint32_t number = simpler_hbg_stall_number(v->device, part, n);
        if (v->state[number] != SIMPLER_STALL_DONE)
            *open = number;
    }
}

static void note_producers(struct simpler_hbg_stall_view *v, const struct simpler_hbg_part *part)
{
    const uint32_t *from = simpler_hbg_edge_from(part->image);
    const uint32_t *edges = simpler_hbg_edges(part->image);
    bool is_own = part->call_unit == SIMPLER_HBG_NO_UNIT;
    uint32_t call =
        is_own ? 0 : simpler_hbg_stall_number(v->device, &v->device->parts[0], part->call_node);

    for (uint32_t n = 0; n < part->image->node_count; n++) {
        uint32_t number = simpler_hbg_stall_number(v->device, part, n);
        if (v->state[number] == SIMPLER_STALL_DONE)
            continue;
        if (!is_own) {
            v->count[number] = v->count[call];
            v->producer[number] = v->producer[call];
        }
        for (uint32_t e = from[n]; e < from[n + 1]; e++) {
            if (v->state[simpler_hbg_stall_number(v->device, part, edges[e])] == SIMPLER_STALL_DONE)
                continue;
            v->count[number]++;
            v->producer[number] = stands_for(v, part, edges[e]);
        }
        if (v->count[number] != 0)
            v->state[number] = SIMPLER_STALL_WAITS;
    }
}

static void mark_deferred(struct simpler_hbg_stall_view *v, struct simpler_hbg_device *device)
{
    uint64_t task[SIMPLER_MAX_ASYNC_CONDITIONS];
    uint32_t count = simpler_deferral_held(&device->deferred, task);

    for (uint32_t i = 0; i < count; i++) {
        const struct simpler_hbg_part *part = &device->parts[task[i] >> 32];
        uint32_t number = simpler_hbg_stall_number(device, part, (uint32_t)task[i]);
        if (v->state[number] == SIMPLER_STALL_HELD)
            v->state[number] = SIMPLER_STALL_DEFERRED;
    }
}

/* ---- who has what ---- */

/* Nodes of the part from @node on, which is in @grain, up to the end of that. */
static void mark_grain(struct simpler_hbg_stall_view *v, const struct simpler_hbg_part *part,
                       uint32_t grain, uint32_t node, uint32_t lane)
{
    for (uint32_t n = node; n < part->plan->first[grain + 1]; n++) {
        uint32_t number = simpler_hbg_stall_number(v->device, part, n);
        if (v->state[number] != SIMPLER_STALL_HELD)
            continue;
        v->state[number] = SIMPLER_STALL_READY;
        v->lane[number] = lane;
        if (is_call(part, n))
            mark_grain(v, called(v->device, n), 0, 0, lane);
    }
}

static void mark_unit(struct simpler_hbg_stall_view *v, uint32_t unit, uint32_t lane)
{
    const struct simpler_hbg_part *part = simpler_hbg_part_of(v->device, unit);
    uint32_t grain = unit - part->first_unit;

    mark_grain(v, part, grain, part->plan->first[grain], lane);
}

static void mark_queue(struct simpler_hbg_stall_view *v, const struct simpler_ready_queue *queue,
                       uint32_t lane)
{
    uint32_t head = atomic_load_explicit(&queue->head, memory_order_acquire);
    uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);

    for (uint32_t i = head; i != tail && tail - i <= SIMPLER_READY_QUEUE_SIZE; i++)
        mark_unit(
            v,
            atomic_load_explicit(&queue->entry[i % SIMPLER_READY_QUEUE_SIZE], memory_order_relaxed),
            lane);
}

static void mark_thread(struct simpler_hbg_stall_view *v, const struct simpler_hbg_thread *thread)
{
    mark_queue(v, &thread->queue, thread->index);
    if (!is_settled(thread))
        return;
    if (thread->handed != SIMPLER_HBG_NO_UNIT)
        mark_unit(v, thread->handed, thread->index);
    for (uint32_t unit = thread->stack; unit != 0; unit = v->device->units[unit - 1].next)
        mark_unit(v, unit - 1, thread->index);
    if (thread->part != NULL)
        mark_grain(v, thread->part, simpler_hbg_plan_grain_of(thread->part->plan, node_of(thread)),
                   node_of(thread), thread->index);
}

/* What waits for nothing is its track's next. */
static void mark_tracks(struct simpler_hbg_stall_view *v, const struct simpler_hbg_part *part)
{
    const struct simpler_hbg_plan *plan = part->plan;

    if (!atomic_load_explicit(&part->tracked, memory_order_relaxed))
        return;
    for (uint32_t t = 0; t < plan->track_count; t++) {
        for (uint32_t i = plan->track_from[t]; i < plan->track_from[t + 1]; i++)
            mark_grain(v, part, plan->track[i], plan->first[plan->track[i]], t);
    }
}

static void mark_running(struct simpler_hbg_stall_view *v, const struct simpler_hbg_thread *thread)
{
    if (thread->verdict.end != SIMPLER_DEVICE_LANE_STOPPED)
        return;
    uint32_t number = simpler_hbg_stall_number(
        v->device, simpler_hbg_word_part(v->device, thread->verdict.revoked_of), node_of(thread));
    v->state[number] = SIMPLER_STALL_RUNS;
    v->lane[number] = thread->index;
}

static void each_thread(struct simpler_hbg_stall_view *v,
                        void (*fn)(struct simpler_hbg_stall_view *,
                                   const struct simpler_hbg_thread *),
                        bool settled_alone)
{
    for (uint32_t l = 0; l < simpler_hbg_hang_threads(v->device); l++) {
        const struct simpler_hbg_thread *thread = simpler_hbg_hang_thread(v->device, l);
        if (!settled_alone || is_settled(thread))
            fn(v, thread);
    }
}

void simpler_hbg_stall_view_fini(struct simpler_hbg_stall_view *v)
{
    simpler_alloc_free(v->state);
    simpler_alloc_free(v->lane);
    simpler_alloc_free(v->producer);
    simpler_alloc_free(v->count);
    simpler_alloc_free(v->open);
}

bool simpler_hbg_stall_view_init_open(struct simpler_hbg_stall_view *v,
                                      const struct simpler_hbg_device *device)
{
    const struct simpler_hbg_part *last = &device->parts[device->part_count - 1];
    uint32_t total = simpler_hbg_stall_number(device, last, last->image->node_count);

    *v = (struct simpler_hbg_stall_view){
        .device = device,
        .state = simpler_alloc_zeroed(total, sizeof(*v->state)),
        .lane = simpler_alloc_zeroed(total, sizeof(*v->lane)),
        .producer = simpler_alloc_zeroed(total, sizeof(*v->producer)),
        .count = simpler_alloc_zeroed(total, sizeof(*v->count)),
        .open = simpler_alloc_zeroed(device->part_count, sizeof(*v->open)),
    };
    if (v->state == NULL || v->lane == NULL || v->producer == NULL || v->count == NULL ||
        v->open == NULL) {
        simpler_hbg_stall_view_fini(v);
        return false;
    }
    for (uint32_t p = 0; p < device->part_count; p++)
        start_part(v, &device->parts[p]);
    return true;
}

bool simpler_hbg_stall_view_init(struct simpler_hbg_stall_view *v,
                                 struct simpler_hbg_device *device)
{
    if (!simpler_hbg_stall_view_init_open(v, device))
        return false;
    each_thread(v, mark_done, true);
    for (uint32_t p = 0; p < device->part_count; p++)
        find_open(v, &device->parts[p]);
    for (uint32_t p = 0; p < device->part_count; p++)
        note_producers(v, &device->parts[p]);
    mark_deferred(v, device);
    each_thread(v, mark_thread, false);
    for (uint32_t p = 0; p < device->part_count; p++)
        mark_tracks(v, &device->parts[p]);
    each_thread(v, mark_running, true);
    return true;
}
