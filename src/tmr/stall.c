/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about a hung run, to the log and in the result's message. */
#include "tmr/stall.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/logger.h"
#include "task/run_verdict.h"
#include "tmr/arena.h"
#include "tmr/deferred.h"
#include "tmr/fatal.h"
#include "tmr/hang.h"
#include "tmr/scheduler.h"
#include "tmr/stall_view.h"

#define SHOWN_CYCLE 8u

/* ---- the log ---- */

static void log_task(const struct simpler_stall_view *v, const struct simpler_stall *s,
                     uint32_t number)
{
    char text[512];
    enum simpler_stall_state state = (enum simpler_stall_state)v->state[number];

    simpler_stall_view_task(v->device, number, text, sizeof(text));
    simpler_stall_text_task(
        s, state, state >= SIMPLER_STALL_READY ? v->lane[number] : simpler_hang_threads(v->device),
        v->count[number], text);
}

/* Counts, and logs the first of each state. */
static void count_and_log(const struct simpler_stall_view *v, struct simpler_stall *s)
{
    const struct simpler_device *device = v->device;

    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        const struct simpler_ring *ring = &device->orch.ring[r];
        for (uint32_t id = device->alive[r]; id != ring->next; id++) {
            uint32_t number = simpler_ring_slot(ring, id);
            if (simpler_stall_text_count(s, (enum simpler_stall_state)v->state[number]))
                log_task(v, s, number);
        }
    }
}

static void log_snapshot(const struct simpler_device *device, const struct simpler_stall *s,
                         uint64_t stuck_task, int stuck_lane)
{
    bool orch_done = s->known && device->orch.orchestration_ns != 0;

    simpler_stall_text_snapshot(s, simpler_hang_threads(device), orch_done, stuck_task, stuck_lane);
}

/* ---- the message ---- */

#define ADD(...) SIMPLER_STALL_ADD(s, __VA_ARGS__)

/* From task @at along producers to where it ends: a task that waits for none, or a cycle. */
static uint32_t follow(const struct simpler_stall_view *v, uint32_t at, bool *cycle)
{
    uint32_t steps = 0;

    for (; v->state[at] == SIMPLER_STALL_WAITS; at = v->producer[at]) {
        if (steps++ > v->device->arena->total) {
            *cycle = true;
            break;
        }
    }
    return at;
}

static void add_cycle(const struct simpler_stall_view *v, struct simpler_stall *s, uint32_t from)
{
    uint32_t at = from, shown = 0;
    char text[384];

    ADD("a cycle of dependencies:");
    do {
        simpler_stall_view_task(v->device, at, text, sizeof(text));
        ADD("%s %s", shown == 0 ? "" : "; which waits for", text);
        at = v->producer[at];
    } while (at != from && ++shown < SHOWN_CYCLE);
    ADD(at == from ? "; which waits for the first\n" : "; and so on\n");
}

static void explain(struct simpler_stall_view *v, struct simpler_stall *s, uint32_t oldest)
{
    char text[512], scope[256], where[192];
    bool cycle = false;
    uint32_t end = follow(v, oldest, &cycle);

    simpler_stall_view_task(v->device, oldest, text, sizeof(text));
    simpler_stall_view_scope(v->device, oldest, scope, sizeof(scope));
    simpler_stall_view_state(v, oldest, where, sizeof(where));
    ADD("the oldest unfinished: %s in %s; it %s\n", text, scope, where);
    if (cycle) {
        add_cycle(v, s, end);
    } else if (end != oldest) {
        simpler_stall_view_task(v->device, end, text, sizeof(text));
        simpler_stall_view_state(v, end, where, sizeof(where));
        ADD("it waits in the end for: %s; which %s\n", text, where);
    }
}

/* What the threads came to; said of those that are not out. */
static void add_threads(struct simpler_device *device, struct simpler_stall *s)
{
    device->busy_text[0] = '\0';
    for (uint32_t l = 0; l < simpler_hang_threads(device); l++) {
        struct simpler_thread *thread = simpler_hang_thread(device, l);
        char lane[48], kernel[320], text[400];
        if (thread == NULL || thread->verdict.end == SIMPLER_DEVICE_LANE_COMPLETE)
            continue;
        simpler_stall_view_lane(device, l, lane, sizeof(lane));
        if (thread->verdict.end == SIMPLER_DEVICE_LANE_STOPPED) {
            simpler_stall_view_kernel(device, thread->verdict.revoked_of, kernel, sizeof(kernel));
            (void)snprintf(text, sizeof(text), "%s is still inside %s", lane, kernel);
        } else {
            (void)snprintf(text, sizeof(text), "%s has not come back%s", lane,
                           thread == device->orch.thread ? " from the orchestration's own code"
                                                         : "");
        }
        ADD("%s\n", text);
        if (device->busy_text[0] == '\0')
            (void)snprintf(device->busy_text, sizeof(device->busy_text), "%.250s", text);
    }
    if (device->busy)
        ADD("the device is busy: nothing of this run is freed before its threads have come back\n");
}

/* Whether the orchestrator is inside a task that it ran while it submitted it. */
static bool runs_solo(const struct simpler_device *device)
{
    const struct simpler_thread *thread = device->orch.thread;
    return thread->verdict.end == SIMPLER_DEVICE_LANE_STOPPED &&
           simpler_kernel_word_is_solo(thread->verdict.revoked_of);
}

static void add_solo(const struct simpler_device *device, struct simpler_stall *s)
{
    char kernel[320];

    s->running++;
    simpler_stall_view_kernel(device, device->orch.thread->verdict.revoked_of, kernel,
                              sizeof(kernel));
    SIMPLER_ERROR("[STALL thread=%" PRIu32 " idle_ms=%" PRIu64 "] TASK state=RUNNING fanin=0 %s",
                  device->thread_count - 1, s->idle_ms, kernel);
    if (simpler_stall_view_oldest(device) == SIMPLER_NO_TASK)
        ADD("the oldest unfinished: %s, at depth %" PRIu32 "; it runs on the orchestrator thread\n",
            kernel, device->orch.depth);
}

static void examine_known(struct simpler_device *device, struct simpler_stall *s)
{
    uint32_t oldest = simpler_stall_view_oldest(device);
    struct simpler_stall_view v;

    bool solo = runs_solo(device);

    /* A task that is run while it is submitted is not counted yet. */
    s->submitted = device->orch.submitted + solo;
    if (!simpler_stall_view_init(&v, device)) {
        ADD("there is no memory for a look at the tasks\n");
        return;
    }
    count_and_log(&v, s);
    if (solo)
        add_solo(device, s);
    if (oldest != SIMPLER_NO_TASK)
        explain(&v, s, oldest);
    else if (!solo)
        ADD("all submitted tasks are done; the orchestration has %sreturned\n",
            device->orch.orchestration_ns != 0 ? "" : "not ");
    bool cycle = false;
    uint32_t stuck = oldest == SIMPLER_NO_TASK ? oldest : follow(&v, oldest, &cycle);
    bool has_lane = stuck != SIMPLER_NO_TASK && v.state[stuck] >= SIMPLER_STALL_READY;
    log_snapshot(device, s,
                 stuck == SIMPLER_NO_TASK ? 0 : simpler_task_id_of(&device->table.slot[stuck]),
                 has_lane ? (int)v.lane[stuck] : -1);
    simpler_stall_view_fini(&v);
}

/* The orchestrator is out of reach: the kernels' words alone may be read. */
static void examine_unknown(struct simpler_device *device, struct simpler_stall *s)
{
    for (uint32_t l = 0; l < simpler_hang_threads(device); l++) {
        struct simpler_thread *thread = simpler_hang_thread(device, l);
        if (thread == NULL || thread->verdict.end != SIMPLER_DEVICE_LANE_STOPPED)
            continue;
        char kernel[320];
        simpler_stall_view_kernel(device, thread->verdict.revoked_of, kernel, sizeof(kernel));
        s->running++;
        SIMPLER_ERROR("[STALL thread=%" PRIu32 " idle_ms=%" PRIu64 "] TASK state=RUNNING %s", l,
                      s->idle_ms, kernel);
    }
    ADD("the orchestrator answers nothing: which tasks wait is not known\n");
    log_snapshot(device, s, 0, -1);
}

void simpler_stall_examine(struct simpler_device *device, uint64_t idle_ns,
                           struct simpler_stall *out)
{
    struct simpler_stall *s = out;

    memset(s, 0, sizeof(*s));
    s->idle_ms = idle_ns / 1000000;
    s->stop = device->monitor.seen_stop;
    s->known = device->orch.thread->verdict.end != SIMPLER_DEVICE_LANE_UNPROVED;
    s->completed = simpler_scheduler_completed(device) - device->progress_base;
    if (s->known)
        examine_known(device, s);
    else
        examine_unknown(device, s);
    add_threads(device, s);
    char conditions[256];
    simpler_deferred_describe(device, conditions, sizeof(conditions));
    ADD("%s", conditions);
    simpler_stall_text_remedy(
        s, atomic_load_explicit(&device->monitor.budget_ns, memory_order_relaxed));
    simpler_stall_text_headline(s);
}

/* ---- while the run goes on ---- */

/* Names are not looked up: the next run may have other kernels. */
static void log_running(uint32_t thread, uint64_t word, uint32_t queued)
{
    struct simpler_kernel_task task = simpler_kernel_word_task(word);

    if (simpler_kernel_word_is_solo(word))
        SIMPLER_WARN("[STALL thread=%" PRIu32 "] TASK state=RUNNING func_id=%u, run while it is "
                     "submitted; tasks in its queue: %" PRIu32,
                     thread, (uint32_t)word, queued);
    else
        SIMPLER_WARN("[STALL thread=%" PRIu32
                     "] TASK state=RUNNING func_id=%u task_id=0x%016" PRIx64
                     "; tasks in its queue: %" PRIu32,
                     thread, task.func_id, (uint64_t)task.ring << 32 | task.id, queued);
}

/* A line for each thread that has something to do, one for the others.  Under the monitor's lock.
 */
static void show_threads(struct simpler_device *device)
{
    uint32_t idle = 0, there = 0;

    for (uint32_t l = 0; l < simpler_hang_threads(device); l++) {
        struct simpler_thread *thread = simpler_hang_thread(device, l);
        if (thread == NULL)
            continue;
        uint64_t bits = atomic_load_explicit(&thread->counts.guard.kernel, memory_order_acquire);
        uint32_t queued = simpler_ready_queue_count(&thread->queue);
        there++;
        if (bits != SIMPLER_NO_KERNEL)
            log_running(l, bits, queued);
        else if (queued != 0)
            SIMPLER_WARN("[STALL thread=%" PRIu32 "] THREAD in no kernel, "
                         "tasks in its queue: %" PRIu32,
                         l, queued);
        else
            idle++;
    }
    simpler_stall_text_idle(idle, there);
}

void simpler_stall_show(struct simpler_device *device)
{
    uint64_t phase = atomic_load_explicit(&device->phase, memory_order_acquire);

    if ((phase & 3) != SIMPLER_PHASE_RUNNING) {
        SIMPLER_WARN("[STALL] nothing runs on this device");
        return;
    }
    atomic_store_explicit(&device->monitor.answer, 1, memory_order_relaxed);
    (void)pthread_mutex_lock(&device->monitor.lock);
    uint64_t completed = device->threads == NULL ? 0 : simpler_scheduler_completed(device);
    if (device->threads != NULL)
        show_threads(device);
    (void)pthread_mutex_unlock(&device->monitor.lock);
    SIMPLER_WARN("[STALL thread=%" PRIu32 "] SUMMARY tasks completed since the device was opened: "
                 "%" PRIu64,
                 simpler_hang_threads(device), completed);
}

void simpler_stall_tell(struct simpler_orch *orch)
{
    struct simpler_device *device = orch->device;
    char text[512];

    atomic_store_explicit(&device->monitor.answer, 0, memory_order_relaxed);
    uint32_t oldest = simpler_stall_view_oldest(device);
    if (oldest == SIMPLER_NO_TASK) {
        SIMPLER_WARN("[STALL] the orchestrator waits; tasks submitted and done: %" PRIu64,
                     orch->submitted);
        return;
    }
    simpler_stall_view_task(device, oldest, text, sizeof(text));
    SIMPLER_WARN("[STALL] the orchestrator waits; tasks submitted: %" PRIu64 ", done: %" PRIu64
                 "; the oldest unfinished: %s; it is in %s kernel",
                 orch->submitted, simpler_scheduler_completed(device) - device->progress_base, text,
                 simpler_stall_view_is_inside(device, oldest) ? "its" : "no");
}
