/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a task does is read from where it is: in a thread's kernel word, in a
 * queue, on the list of an unfinished producer; nothing is inferred from counts.
 */
#include "tmr/stall_view.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "tmr/arena.h"
#include "tmr/core_pool.h"
#include "tmr/fatal.h"
#include "tmr/hang.h"
#include "tmr/launch.h"
#include "tmr/passing.h"

static bool is_done(const struct simpler_device *device, uint32_t number)
{
    return atomic_load_explicit(&device->table.done[number], memory_order_acquire) !=
           SIMPLER_DONE_NOT;
}

/* ---- building the view ---- */

static void mark(struct simpler_stall_view *v, uint32_t number, enum simpler_stall_state state,
                 uint32_t lane)
{
    if (number >= v->device->arena->total || v->state[number] == SIMPLER_STALL_DONE ||
        state < v->state[number])
        return;
    v->state[number] = (uint8_t)state;
    v->lane[number] = lane;
}

static void mark_list(struct simpler_stall_view *v, uint32_t number, uint32_t lane)
{
    for (uint32_t guard = v->device->arena->total; number != SIMPLER_NO_TASK && guard > 0;
         guard--) {
        mark(v, number, SIMPLER_STALL_READY, lane);
        number = v->device->table.slot[number].link[0];
    }
}

static void mark_queue(struct simpler_stall_view *v, struct simpler_ready_queue *queue,
                       uint32_t lane)
{
    uint32_t head = atomic_load_explicit(&queue->head, memory_order_acquire);
    /* acquire, pairs with P6. */
    uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_acquire);

    for (uint32_t i = head; i != tail && tail - i <= SIMPLER_READY_QUEUE_SIZE; i++)
        mark(
            v,
            atomic_load_explicit(&queue->entry[i % SIMPLER_READY_QUEUE_SIZE], memory_order_relaxed),
            SIMPLER_STALL_READY, lane);
}

static uint32_t number_of(const struct simpler_device *device, uint64_t word)
{
    struct simpler_kernel_task task = simpler_kernel_word_task(word);
    return simpler_ring_slot(&device->orch.ring[task.ring], task.id);
}

/* What @thread has; its own lists can be read once it is out or revoked. */
static void mark_thread(struct simpler_stall_view *v, struct simpler_thread *thread)
{
    mark_queue(v, &thread->queue, thread->lane);
    if (thread->verdict.end == SIMPLER_DEVICE_LANE_UNPROVED)
        return;
    mark(v, thread->handed, SIMPLER_STALL_READY, thread->lane);
    mark_list(v, thread->stack, thread->lane);
    if (thread->owed_count != 0 && v->state[thread->owed] == SIMPLER_STALL_HELD)
        mark(v, thread->owed, SIMPLER_STALL_READY, thread->lane);
    if (thread->verdict.end == SIMPLER_DEVICE_LANE_STOPPED &&
        !simpler_kernel_word_is_solo(thread->verdict.revoked_of))
        mark(v, number_of(v->device, thread->verdict.revoked_of), SIMPLER_STALL_RUNS, thread->lane);
}

/* Tasks that wait for cores that are free together. */
static void mark_cohorts(struct simpler_stall_view *v, uint32_t number)
{
    for (uint32_t guard = v->device->arena->total; number != SIMPLER_NO_TASK && guard > 0;
         guard--) {
        mark(v, number, SIMPLER_STALL_READY, v->device->thread_count);
        number = v->device->table.launch[number].next;
    }
}

static void mark_all(struct simpler_stall_view *v)
{
    struct simpler_device *device = v->device;
    bool all_out = true;

    for (uint32_t l = 0; l < simpler_hang_threads(device); l++) {
        struct simpler_thread *thread = simpler_hang_thread(device, l);
        if (thread == NULL)
            continue;
        mark_thread(v, thread);
        all_out &= thread->verdict.end != SIMPLER_DEVICE_LANE_UNPROVED;
        if (l >= device->thread_count)
            mark(v, simpler_core_pool_mailbox(device->cores, l - device->thread_count),
                 SIMPLER_STALL_READY, l);
    }
    mark_list(v, simpler_core_pool_overflow(device->cores), device->thread_count);
    mark_cohorts(v, simpler_core_pool_arrived(device->cores));
    if (all_out)
        mark_cohorts(v, simpler_core_pool_first(device->cores));
    for (uint32_t i = 0; i < SIMPLER_SPREAD_PLACES; i++) {
        /* acquire, pairs with S1. */
        uint64_t word = atomic_load_explicit(&device->spread[i].word, memory_order_acquire);
        if (word >> 48 != 0)
            mark(v, (uint32_t)word, SIMPLER_STALL_READY, device->thread_count - 1);
    }
}

/* The consumers of an unfinished task wait for it. */
static void note_consumers(struct simpler_stall_view *v, uint32_t number)
{
    const struct simpler_task_table *table = &v->device->table;
    uint32_t link = atomic_load_explicit(&table->slot[number].fanout, memory_order_acquire);
    uint32_t guard = v->device->arena->total * 2;

    while (link != 0 && link != SIMPLER_LINK_CLOSED && guard-- > 0) {
        uint32_t consumer = simpler_link_follow(table, link, &link);
        if (v->count[consumer]++ == 0)
            v->producer[consumer] = number;
        if (v->state[consumer] == SIMPLER_STALL_HELD)
            v->state[consumer] = SIMPLER_STALL_WAITS;
    }
}

/* Calls @fn for every unfinished task, oldest of each ring first. */
static void each_unfinished(struct simpler_stall_view *v,
                            void (*fn)(struct simpler_stall_view *v, uint32_t number))
{
    struct simpler_device *device = v->device;

    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        const struct simpler_ring *ring = &device->orch.ring[r];
        for (uint32_t id = device->alive[r]; id != ring->next; id++) {
            uint32_t number = simpler_ring_slot(ring, id);
            if (!is_done(device, number))
                fn(v, number);
        }
    }
}

static void mark_deferred(struct simpler_stall_view *v)
{
    uint64_t task[SIMPLER_MAX_ASYNC_CONDITIONS];
    uint32_t count = simpler_deferral_held(&v->device->deferred, task);

    for (uint32_t i = 0; i < count; i++)
        mark(v, (uint32_t)task[i], SIMPLER_STALL_DEFERRED, 0);
}

static void start_held(struct simpler_stall_view *v, uint32_t number)
{
    v->state[number] = SIMPLER_STALL_HELD;
    v->producer[number] = SIMPLER_NO_TASK;
}

void simpler_stall_view_fini(struct simpler_stall_view *v)
{
    simpler_alloc_free(v->state);
    simpler_alloc_free(v->lane);
    simpler_alloc_free(v->producer);
    simpler_alloc_free(v->count);
}

bool simpler_stall_view_init(struct simpler_stall_view *v, struct simpler_device *device)
{
    uint32_t total = device->arena->total;

    *v = (struct simpler_stall_view){
        .device = device,
        .state = simpler_alloc_zeroed(total, sizeof(*v->state)),
        .lane = simpler_alloc_zeroed(total, sizeof(*v->lane)),
        .producer = simpler_alloc_zeroed(total, sizeof(*v->producer)),
        .count = simpler_alloc_zeroed(total, sizeof(*v->count)),
    };
    if (v->state == NULL || v->lane == NULL || v->producer == NULL || v->count == NULL) {
        simpler_stall_view_fini(v);
        return false;
    }
    each_unfinished(v, start_held);
    each_unfinished(v, note_consumers);
    mark_deferred(v);
    mark_all(v);
    return true;
}

/* ---- words ---- */

void simpler_stall_view_lane(const struct simpler_device *device, uint32_t lane, char *text,
                             size_t bytes)
{
    if (lane >= device->thread_count)
        (void)snprintf(text, bytes, "core thread %" PRIu32, lane - device->thread_count);
    else
        (void)snprintf(text, bytes, "%s %" PRIu32,
                       lane + 1 == device->thread_count ? "orchestrator thread" : "scheduler",
                       lane);
}

/* A task with several kernels is named by the first. */
static uint32_t func_of(const struct simpler_device *device, uint32_t number)
{
    if (device->table.slot[number].shape != SIMPLER_SHAPE_LAUNCH)
        return device->table.slot[number].func_id;
    const struct simpler_task_launch *launch = &device->table.launch[number];
    return launch->lanes == 0 ? 0 : launch->func_id[__builtin_ctz(launch->lanes)];
}

static const char *kernel_of(const struct simpler_device *device, uint32_t number)
{
    const struct simpler_task_slot *slot = &device->table.slot[number];
    if (slot->shape == SIMPLER_SHAPE_DUMMY ||
        (slot->shape == SIMPLER_SHAPE_LAUNCH && device->table.launch[number].lanes == 0))
        return "dummy";
    return simpler_fatal_kernel_name(device, func_of(device, number));
}

/* "task 0x..., kernel NAME (func_id N), submitted at FILE:LINE" */
void simpler_stall_view_task(const struct simpler_device *device, uint32_t number, char *text,
                             size_t bytes)
{
    const struct simpler_task_slot *slot = &device->table.slot[number];
    const struct simpler_task_desc *desc = &device->table.desc[number];

    (void)snprintf(text, bytes, "task 0x%016" PRIx64 ", kernel %s (func_id %u), submitted at %s:%d",
                   simpler_task_id_of(slot), kernel_of(device, number), func_of(device, number),
                   desc->file == NULL ? "(unknown)" : desc->file, desc->line);
}

/* Where an unfinished task is. */
void simpler_stall_view_state(const struct simpler_stall_view *v, uint32_t number, char *text,
                              size_t bytes)
{
    char lane[48];

    simpler_stall_view_lane(v->device, v->lane[number], lane, sizeof(lane));
    simpler_stall_text_where((enum simpler_stall_state)v->state[number], lane, v->count[number],
                             text, bytes);
}

/* Ring 3 has every scope from depth 3 on: there the one that began last may be over. */
void simpler_stall_view_scope(const struct simpler_device *device, uint32_t number, char *text,
                              size_t bytes)
{
    const struct simpler_task_slot *slot = &device->table.slot[number];
    const struct simpler_orch *orch = &device->orch;
    bool deep = slot->ring == CHIP_MAX_RING_DEPTH - 1;
    uint32_t depth = deep && orch->open > slot->ring ? orch->open - 1 : slot->ring;

    if (depth < orch->open && slot->id >= orch->ring[slot->ring].scope_from) {
        const struct simpler_scope_frame *frame = &orch->frames[depth];
        (void)snprintf(text, bytes, "%sthe open scope at %s:%d (depth %" PRIu32 ")",
                       deep ? "or below " : "", frame->file == NULL ? "(unknown)" : frame->file,
                       frame->line, depth);
        return;
    }
    (void)snprintf(text, bytes, "a scope of depth %u%s that has ended", slot->ring,
                   deep ? " or more" : "");
}

uint32_t simpler_stall_view_oldest(const struct simpler_device *device)
{
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        const struct simpler_ring *ring = &device->orch.ring[r];
        for (uint32_t id = device->alive[r]; id != ring->next; id++) {
            if (!is_done(device, simpler_ring_slot(ring, id)))
                return simpler_ring_slot(ring, id);
        }
    }
    return SIMPLER_NO_TASK;
}

bool simpler_stall_view_is_inside(struct simpler_device *device, uint32_t number)
{
    for (uint32_t l = 0; l < simpler_hang_threads(device); l++) {
        struct simpler_thread *thread = simpler_hang_thread(device, l);
        if (thread == NULL)
            continue;
        uint64_t word = atomic_load_explicit(&thread->counts.guard.kernel, memory_order_acquire);
        if (word != SIMPLER_NO_KERNEL && !simpler_kernel_word_is_solo(word) &&
            number_of(device, word) == number)
            return true;
    }
    return false;
}

void simpler_stall_view_kernel(const struct simpler_device *device, uint64_t word, char *text,
                               size_t bytes)
{
    struct simpler_kernel_task task = simpler_kernel_word_task(word);
    const struct simpler_orch *orch = &device->orch;

    if (simpler_kernel_word_is_solo(word))
        (void)snprintf(text, bytes,
                       "kernel %.60s (func_id %u) of task 0x%016" PRIx64 ", submitted at %.100s:%d",
                       simpler_fatal_kernel_name(device, (uint32_t)word), (uint32_t)word,
                       simpler_passing_next_id(orch),
                       orch->solo_file == NULL ? "(unknown)" : orch->solo_file, orch->solo_line);
    else
        (void)snprintf(text, bytes, "kernel %.60s (func_id %u) of task 0x%016" PRIx64,
                       simpler_fatal_kernel_name(device, task.func_id), task.func_id,
                       (uint64_t)task.ring << 32 | task.id);
}
