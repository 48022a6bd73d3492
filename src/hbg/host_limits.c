/* SPDX-License-Identifier: Apache-2.0 */
#include "hbg/host_limits.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/logger.h"
#include "base/text.h"
#include "task/run_verdict.h"
#include "task/submit_args.h"

int simpler_hbg_status(struct simpler_hbg_orch *orch)
{
    if (orch->status == 0)
        orch->status = atomic_load_explicit(orch->stop, memory_order_acquire);
    return orch->status;
}

/* True for the first; who loses leaves the text alone. */
static bool latch(struct simpler_hbg_orch *orch, enum simpler_device_code code, const char *format,
                  va_list args)
{
    int32_t none = 0;

    /* release: pairs with the acquire loads of whoever asks why. */
    if (!atomic_compare_exchange_strong_explicit(orch->stop, &none, -(int32_t)code,
                                                 memory_order_release, memory_order_relaxed))
        return false;
    (void)vsnprintf(orch->fatal_text, sizeof(orch->fatal_text), format, args);
    SIMPLER_ERROR("code %d (%s): %s", (int)code, simpler_status_name(-(int)code), orch->fatal_text);
    return true;
}

int simpler_hbg_latch(struct simpler_hbg_orch *orch, enum simpler_device_code code,
                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)latch(orch, code, format, args);
    va_end(args);
    return simpler_hbg_status(orch);
}

int simpler_hbg_latch_device(struct simpler_hbg_orch *orch, enum simpler_device_code code,
                             const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)latch(orch, code, format, args);
    va_end(args);
    return atomic_load_explicit(orch->stop, memory_order_acquire);
}

int simpler_hbg_stop(struct simpler_hbg_orch *orch, int status)
{
    int32_t none = 0;

    (void)atomic_compare_exchange_strong_explicit(orch->stop, &none, status, memory_order_release,
                                                  memory_order_relaxed);
    return simpler_hbg_status(orch);
}

/* From here on submits are only counted. */
static void start_counting(struct simpler_hbg_orch *orch)
{
    bool recording = orch->recording != NULL;

    orch->counting = true;
    orch->counted = 0;
    orch->needed_tasks = orch->next_id + (recording ? orch->draft->builder.node_count : 0);
    orch->needed_heap =
        orch->main.builder.heap_bytes + (recording ? orch->draft->builder.heap_bytes : 0);
    orch->needed_map = simpler_tensormap_used(orch->draft->map);
}

int simpler_hbg_check_room(struct simpler_hbg_orch *orch, uint64_t tasks, uint64_t heap_bytes,
                           uint64_t map_entries)
{
    const struct simpler_runtime_env *env = &orch->run->env;
    const struct simpler_hbg_builder *b = &orch->draft->builder;
    uint64_t other_tasks = orch->recording != NULL ? orch->next_id : 0;
    uint64_t other_heap = orch->recording != NULL ? orch->main.builder.heap_bytes : 0;
    uint64_t ids = orch->recording != NULL ? b->node_count : orch->next_id;

    if (other_tasks + ids + tasks > env->ring_task_window[0]) {
        start_counting(orch);
        return simpler_hbg_latch(orch, SIMPLER_CODE_FLOW_CONTROL_DEADLOCK,
                                 "the graph has more tasks than its window of %llu slot%s: nothing "
                                 "is reclaimed while it is built",
                                 (unsigned long long)env->ring_task_window[0],
                                 simpler_text_plural(env->ring_task_window[0]));
    }
    if (heap_bytes > env->ring_heap[0] ||
        other_heap + b->heap_bytes > env->ring_heap[0] - heap_bytes) {
        start_counting(orch);
        return simpler_hbg_latch(orch, SIMPLER_CODE_HEAP_RING_DEADLOCK,
                                 "Graph Heap Exhausted: %llu of %llu bytes are taken and %llu are "
                                 "asked for: nothing is reclaimed while a graph is built",
                                 (unsigned long long)(other_heap + b->heap_bytes),
                                 (unsigned long long)env->ring_heap[0],
                                 (unsigned long long)heap_bytes);
    }
    if (map_entries > simpler_tensormap_room(orch->draft->map)) {
        start_counting(orch);
        return simpler_hbg_latch(orch, SIMPLER_CODE_TENSORMAP_OVERFLOW,
                                 "the tensormap has %u of %llu %s in use and %llu more would be "
                                 "needed: none is reclaimed while a graph is built",
                                 simpler_tensormap_used(orch->draft->map),
                                 (unsigned long long)env->tensormap,
                                 simpler_text_by_count(env->tensormap, "entry", "entries"),
                                 (unsigned long long)map_entries);
    }
    return 0;
}

static bool is_new_to_map(struct simpler_hbg_orch *orch, const struct simpler_task_args *args,
                          uint32_t i)
{
    const struct simpler_tensor *t = args->tensor[i];

    if (args->use[i] == SIMPLER_USE_OUTPUT || args->use[i] == SIMPLER_USE_NO_DEP ||
        (args->use[i] == SIMPLER_USE_INPUT && orch->run->hazards != SIMPLER_HAZARDS_ALL))
        return false;
    return simpler_tensor_check(t) == 0 && !t->manual_dep && simpler_tensor_numel(t) != 0 &&
           !simpler_tensormap_contains(orch->draft->map, t);
}

void simpler_hbg_count_submit(struct simpler_hbg_orch *orch, const struct simpler_task_args *args)
{
    if (!orch->counting || args == NULL || args->error != SIMPLER_ARGS_OK ||
        !simpler_submit_counts_fit(args))
        return;
    orch->counted++;
    orch->needed_tasks++;
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        uint64_t bytes = 0;
        if (args->use[i] == SIMPLER_USE_OUTPUT)
            (void)simpler_submit_output_bytes(args->tensor[i], &bytes);
        orch->needed_heap += bytes;
        if (orch->manual_depth == 0)
            orch->needed_map += is_new_to_map(orch, args, i);
    }
}

void simpler_hbg_count_graph(struct simpler_hbg_orch *orch, uint64_t tasks, uint64_t heap_bytes)
{
    if (!orch->counting)
        return;
    orch->counted++;
    orch->needed_tasks += tasks;
    orch->needed_heap += heap_bytes;
}

static uint64_t power_of_two(uint64_t n)
{
    uint64_t p = SIMPLER_TASK_WINDOW_MIN;
    while (p < n)
        p *= 2;
    return p;
}

/*
 * An orchestration that returns at its first failed submit is not counted to its end: it needs
 * an unknown amount more, and as many runs as it has tasks if each is advised the next task's.
 */
static void advise_next(const struct simpler_hbg_orch *orch, const char *knob, uint64_t value,
                        uint64_t now, uint64_t most, struct simpler_run_result *result)
{
    uint64_t next = now < most / 2 ? now * 2 : most;

    if (orch->counted <= 1 && next > value)
        simpler_run_verdict_append(result->message, sizeof(result->message),
                                   "nothing was submitted after that: if the orchestration gives "
                                   "up at a failed submit, the %s to try next is %llu\n",
                                   knob, (unsigned long long)next);
}

void simpler_hbg_advise(const struct simpler_hbg_orch *orch, int code,
                        struct simpler_run_result *result)
{
    const struct simpler_runtime_env *env = &orch->run->env;
    const char *knob = NULL;
    uint64_t value = 0, now = 0, most = 0;

    if (!orch->counting && code != SIMPLER_CODE_READY_QUEUE_OVERFLOW)
        return;
    switch (code) {
    case SIMPLER_CODE_FLOW_CONTROL_DEADLOCK:
        knob = "ring_task_window[0]";
        value = power_of_two(orch->needed_tasks);
        now = env->ring_task_window[0];
        most = SIMPLER_TASK_WINDOW_MAX;
        break;
    case SIMPLER_CODE_HEAP_RING_DEADLOCK:
        knob = "ring_heap[0]";
        value = orch->needed_heap;
        now = env->ring_heap[0];
        most = SIMPLER_HEAP_MAX;
        break;
    case SIMPLER_CODE_TENSORMAP_OVERFLOW:
        knob = "tensormap";
        value = orch->needed_map;
        now = env->tensormap;
        most = SIMPLER_TENSORMAP_MAX;
        break;
    case SIMPLER_CODE_READY_QUEUE_OVERFLOW:
        knob = "ready_queue";
        value = orch->next_id;
        now = env->ready_queue;
        break;
    default:
        return;
    }
    if (code == SIMPLER_CODE_READY_QUEUE_OVERFLOW) {
        simpler_run_verdict_append(result->message, sizeof(result->message),
                                   "remedy: %s = %llu is enough for all that was submitted, in "
                                   "whatever order it becomes ready (it is %llu)\n",
                                   knob, (unsigned long long)value, (unsigned long long)now);
        return;
    }
    simpler_run_verdict_append(result->message, sizeof(result->message),
                               "remedy: %s = %llu is the smallest legal value that is enough for "
                               "all that was submitted (it is %llu)\n",
                               knob, (unsigned long long)value, (unsigned long long)now);
    advise_next(orch, knob, value, now, most, result);
}
