/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about a run that hangs, to the log and in the result's message. */
#include "hbg/hbg_stall.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/logger.h"
#include "hbg/hbg_deferred.h"
#include "hbg/hbg_device.h"
#include "hbg/hbg_hang.h"
#include "hbg/hbg_stall_view.h"
#include "hbg/run_tasks.h"

#define ADD(...) SIMPLER_STALL_ADD(s, __VA_ARGS__)

/* ---- words ---- */

/* The kernel that a task is named by; FUNC_DUMMY: none. */
static uint32_t func_of(const struct simpler_hbg_image *image, uint32_t node)
{
    uint32_t func_id = simpler_hbg_nodes(image)[node].func_id;

    if (func_id == SIMPLER_HBG_FUNC_LAUNCH && simpler_hbg_launch_of(image, node)->lanes == 0)
        return SIMPLER_HBG_FUNC_DUMMY;
    return simpler_hbg_first_func(image, node);
}

struct simpler_hbg_named simpler_hbg_stall_name(const struct simpler_hbg_device *device,
                                                uint64_t word, uint32_t node)
{
    const struct simpler_hbg_part *part = simpler_hbg_word_part(device, word);
    uint32_t func_id = (uint32_t)word;
    struct simpler_hbg_named named = {
        .kernel = "dummy",
        .id = simpler_hbg_task_id(device, part, node),
        .site = part->sites[node],
    };

    if (part->call_unit != SIMPLER_HBG_NO_UNIT)
        named.site.depth += device->parts[0].sites[part->call_node].depth;
    if (func_id == SIMPLER_NO_FUNC)
        func_id = func_of(part->image, node);
    if (func_id >= SIMPLER_HBG_FUNC_LAUNCH)
        return named;
    named.func_id = func_id;
    named.kernel = device->kernels[func_id]->name;
    if (named.kernel == NULL)
        named.kernel = "kernel";
    return named;
}

static struct simpler_hbg_named name_of(const struct simpler_hbg_device *device, uint32_t number)
{
    uint32_t node;
    const struct simpler_hbg_part *part = simpler_hbg_stall_place(device, number, &node);

    return simpler_hbg_stall_name(device, simpler_hbg_word(device, part, SIMPLER_NO_FUNC), node);
}

static void say_task(const struct simpler_hbg_device *device, uint32_t number, char *text,
                     size_t bytes)
{
    struct simpler_hbg_named n = name_of(device, number);

    (void)snprintf(
        text, bytes,
        "task 0x%016" PRIx64 ", kernel %.60s (func_id %" PRIu32 "), submitted at %.200s:%" PRId32,
        n.id, n.kernel, n.func_id, n.site.file == NULL ? "(unknown)" : n.site.file, n.site.line);
}

static void say_lane(const struct simpler_hbg_device *device, uint32_t lane, char *text,
                     size_t bytes)
{
    bool core = lane >= device->thread_count;

    (void)snprintf(text, bytes, "%s thread %" PRIu32, core ? "core" : "device",
                   core ? lane - device->thread_count : lane);
}

static void say_where(const struct simpler_hbg_stall_view *v, uint32_t number, char *text,
                      size_t bytes)
{
    char lane[48];

    say_lane(v->device, v->lane[number], lane, sizeof(lane));
    simpler_stall_text_where((enum simpler_stall_state)v->state[number], lane, v->count[number],
                             text, bytes);
}

/* ---- the tasks ---- */

/* From a task along producers to one that waits for none: each lies before its consumer. */
static uint32_t follow(const struct simpler_hbg_stall_view *v, uint32_t at)
{
    while (v->state[at] == SIMPLER_STALL_WAITS && v->producer[at] != SIMPLER_HBG_NO_TASK)
        at = v->producer[at];
    return at;
}

static void explain(const struct simpler_hbg_stall_view *v, struct simpler_stall *s,
                    uint32_t oldest, uint32_t end)
{
    char text[384], where[192];

    say_task(v->device, oldest, text, sizeof(text));
    say_where(v, oldest, where, sizeof(where));
    ADD("the oldest unfinished: %s in a scope of depth %u that has ended; it %s\n", text,
        name_of(v->device, oldest).site.depth, where);
    if (end == oldest)
        return;
    say_task(v->device, end, text, sizeof(text));
    say_where(v, end, where, sizeof(where));
    ADD("it waits in the end for: %s; which %s\n", text, where);
}

/* Counts and logs; the oldest task that is not done, or NO_TASK. */
static uint32_t count_and_log(const struct simpler_hbg_stall_view *v, struct simpler_stall *s)
{
    const struct simpler_hbg_device *device = v->device;
    uint32_t oldest = SIMPLER_HBG_NO_TASK;
    char text[384];

    for (uint32_t number = simpler_hbg_stall_next(device, SIMPLER_HBG_NO_TASK);
         number != SIMPLER_HBG_NO_TASK; number = simpler_hbg_stall_next(device, number)) {
        enum simpler_stall_state state = (enum simpler_stall_state)v->state[number];
        if (state == SIMPLER_STALL_DONE) {
            s->completed++;
            continue;
        }
        if (oldest == SIMPLER_HBG_NO_TASK)
            oldest = number;
        if (!simpler_stall_text_count(s, state))
            continue;
        say_task(device, number, text, sizeof(text));
        simpler_stall_text_task(s, state,
                                state >= SIMPLER_STALL_READY ? v->lane[number]
                                                             : simpler_hbg_hang_threads(device),
                                v->count[number], text);
    }
    return oldest;
}

static void examine_tasks(struct simpler_hbg_device *device, struct simpler_stall *s)
{
    struct simpler_hbg_stall_view v;

    if (!simpler_hbg_stall_view_init(&v, device)) {
        ADD("there is no memory for a look at the tasks\n");
        return;
    }
    uint32_t oldest = count_and_log(&v, s), end = oldest;
    if (oldest != SIMPLER_HBG_NO_TASK) {
        end = follow(&v, oldest);
        explain(&v, s, oldest, end);
    } else {
        ADD("all submitted tasks are done\n");
    }
    bool has_lane = end != SIMPLER_HBG_NO_TASK && v.state[end] >= SIMPLER_STALL_READY;
    simpler_stall_text_snapshot(s, simpler_hbg_hang_threads(device), true,
                                end == SIMPLER_HBG_NO_TASK ? 0 : name_of(device, end).id,
                                has_lane ? (int)v.lane[end] : -1);
    simpler_hbg_stall_view_fini(&v);
}

/* ---- the threads ---- */

static void examine_threads(struct simpler_hbg_device *device, struct simpler_stall *s)
{
    device->busy_text[0] = '\0';
    for (uint32_t l = 0; l < simpler_hbg_hang_threads(device); l++) {
        const struct simpler_hbg_thread *thread = simpler_hbg_hang_thread(device, l);
        char lane[48], text[256];
        if (thread->verdict.end == SIMPLER_DEVICE_LANE_COMPLETE)
            continue;
        say_lane(device, l, lane, sizeof(lane));
        if (thread->verdict.end == SIMPLER_DEVICE_LANE_STOPPED) {
            struct simpler_hbg_named n = simpler_hbg_stall_name(
                device, thread->verdict.revoked_of,
                atomic_load_explicit(&thread->place.node, memory_order_relaxed));
            (void)snprintf(text, sizeof(text),
                           "%s is still inside kernel %.60s (func_id %" PRIu32
                           ") of task 0x%016" PRIx64,
                           lane, n.kernel, n.func_id, n.id);
        } else {
            (void)snprintf(text, sizeof(text), "%s has not come back; what it was at may be done",
                           lane);
        }
        ADD("%s\n", text);
        if (device->busy_text[0] == '\0')
            (void)snprintf(device->busy_text, sizeof(device->busy_text), "%.250s", text);
    }
    if (device->busy)
        ADD("the device is busy: nothing of this run is freed before its threads have come back\n");
}

static void examine_conditions(struct simpler_hbg_device *device, struct simpler_stall *s)
{
    char conditions[256];

    simpler_hbg_deferred_describe(device, conditions, sizeof(conditions));
    ADD("%s", conditions);
}

/* Plans, units and conditions belong to the thread that cuts. */
static void examine_cut(const struct simpler_hbg_device *device, struct simpler_stall *s)
{
    s->completed = simpler_hbg_progress(device);
    ADD("a kernel has deferred for the first time, and the thread that cuts the run anew for it "
        "does not come on: which tasks wait is not known\n");
    simpler_stall_text_snapshot(s, simpler_hbg_hang_threads(device), true, 0, -1);
}

void simpler_hbg_stall_examine(struct simpler_hbg_device *device, uint64_t idle_ns, int32_t stop,
                               struct simpler_stall *s)
{
    memset(s, 0, sizeof(*s));
    s->idle_ms = idle_ns / 1000000;
    s->stop = stop;
    s->known = !simpler_hbg_hang_is_cut(device);
    s->submitted = device->orch->next_id;
    if (s->known)
        examine_tasks(device, s);
    else
        examine_cut(device, s);
    examine_threads(device, s);
    if (s->known)
        examine_conditions(device, s);
    simpler_stall_text_remedy(s, device->run->scheduler_timeout_ns);
    simpler_stall_text_headline(s);
}

/* ---- while the run goes on ---- */

/* The oldest task whose unit is not done: of a grain that runs, one before where it is. */
static uint32_t oldest_open(const struct simpler_hbg_device *device)
{
    struct simpler_hbg_stall_view v;
    uint32_t number;

    if (!simpler_hbg_stall_view_init_open(&v, device))
        return SIMPLER_HBG_NO_TASK;
    number = simpler_hbg_stall_next(device, SIMPLER_HBG_NO_TASK);
    while (number != SIMPLER_HBG_NO_TASK && v.state[number] == SIMPLER_STALL_DONE)
        number = simpler_hbg_stall_next(device, number);
    simpler_hbg_stall_view_fini(&v);
    return number;
}

/* A line of a thread that has something to do; false: it has nothing. */
static bool show_thread(const struct simpler_hbg_device *device, uint32_t l)
{
    struct simpler_hbg_thread *thread = simpler_hbg_hang_thread(device, l);
    uint64_t word = atomic_load_explicit(&thread->place.guard.kernel, memory_order_acquire);
    uint32_t node = atomic_load_explicit(&thread->place.node, memory_order_relaxed);
    uint32_t queued = simpler_ready_queue_count(&thread->queue);

    if (word == SIMPLER_NO_KERNEL ||
        node >= simpler_hbg_word_part(device, word)->image->node_count) {
        if (queued != 0)
            SIMPLER_WARN("[STALL thread=%" PRIu32
                         "] THREAD in no kernel, units in its queue: %" PRIu32,
                         l, queued);
        return queued != 0;
    }
    struct simpler_hbg_named n = simpler_hbg_stall_name(device, word, node);
    SIMPLER_WARN("[STALL thread=%" PRIu32 "] TASK state=RUNNING func_id=%" PRIu32
                 " task_id=0x%016" PRIx64 ", kernel %.60s; units in its queue: %" PRIu32,
                 l, n.func_id, n.id, n.kernel, queued);
    return true;
}

void simpler_hbg_stall_show(struct simpler_hbg_device *device)
{
    char text[384];
    uint32_t idle = 0;

    for (uint32_t l = 0; l < simpler_hbg_hang_threads(device); l++)
        idle += !show_thread(device, l);
    simpler_stall_text_idle(idle, simpler_hbg_hang_threads(device));
    uint32_t oldest = oldest_open(device);
    if (oldest != SIMPLER_HBG_NO_TASK) {
        say_task(device, oldest, text, sizeof(text));
        SIMPLER_WARN("[STALL] in grains that are not done; the oldest unfinished: %s", text);
    }
    SIMPLER_WARN(
        "[STALL thread=%" PRIu32 "] SUMMARY tasks in grains that are done: %" PRIu64 " of %" PRIu32,
        simpler_hbg_hang_threads(device), simpler_hbg_progress(device), device->orch->next_id);
}
