/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The latch and its report: a line for machines, one that explains, and for the
 * codes of a full ring, pool or map one that names the knob and the smallest
 * legal value that is enough.
 */
#include "tmr/fatal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/logger.h"
#include "collect/scope_stats/scope_stats_aicpu.h"
#include "task/run_verdict.h"
#include "tmr/hazard_check.h"
#include "tmr/scheduler.h"

/* Sets device->stop unless something else did before; true for the first. */
static bool latch(struct simpler_device *device, int status)
{
    int32_t none = 0;
    /* release: pairs with the acquire loads of whoever asks why. */
    return atomic_compare_exchange_strong_explicit(&device->stop, &none, status,
                                                   memory_order_release, memory_order_relaxed);
}

int simpler_fatal_status(struct simpler_orch *orch)
{
    if (orch->status == 0)
        orch->status = atomic_load_explicit(&orch->device->stop, memory_order_acquire);
    return orch->status;
}

int simpler_fatal_stop(struct simpler_orch *orch, int status)
{
    (void)latch(orch->device, status);
    return simpler_fatal_status(orch);
}

/* The text belongs to who has won the latch; it is read when every task is done (P9). */
static void explain(struct simpler_device *device, enum simpler_device_code code,
                    const char *format, va_list args) __attribute__((format(printf, 3, 0)));
static void explain(struct simpler_device *device, enum simpler_device_code code,
                    const char *format, va_list args)
{
    scope_stats_on_fatal(); /* nothing when disabled */
    (void)vsnprintf(device->fatal_text, sizeof(device->fatal_text), format, args);
    SIMPLER_ERROR("code %d (%s): %s", (int)code, simpler_status_name(-(int)code),
                  device->fatal_text);
}

int simpler_fatal_latch(struct simpler_orch *orch, enum simpler_device_code code,
                        const char *format, ...)
{
    va_list args;

    if (!latch(orch->device, -(int)code))
        return simpler_fatal_status(orch);
    va_start(args, format);
    explain(orch->device, code, format, args);
    va_end(args);
    return simpler_fatal_status(orch);
}

int simpler_fatal_latch_device(struct simpler_device *device, enum simpler_device_code code,
                               const char *format, ...)
{
    const struct simpler_device_run *run = device->run;
    bool ours = pthread_equal(pthread_self(), device->orch.thread->handle) != 0;
    va_list args;

    if (latch(device, -(int)code)) {
        /* The state of scope stats is a thread's own; this one has none yet. */
        if (!ours && (run->enable_profiling_flag & SIMPLER_PROFILING_SCOPE_STATS) != 0)
            scope_stats_join_run(run->scope_stats_data_base);
        va_start(args, format);
        explain(device, code, format, args);
        va_end(args);
        if (!ours)
            scope_stats_join_run(0);
    }
    return atomic_load_explicit(&device->stop, memory_order_acquire);
}

void simpler_fatal_stop_device(struct simpler_device *device, int status)
{
    (void)latch(device, status);
}

void simpler_fatal_start_counting(struct simpler_orch *orch)
{
    if (atomic_load_explicit(&orch->device->stop, memory_order_relaxed) != 0)
        return;
    orch->counting = true;
    orch->needed_map = simpler_tensormap_used(orch->map);
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++)
        orch->ring[r].dry_next = orch->ring[r].next;
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Heap bytes of the outputs; invalid create-infos count nothing. */
static uint64_t dry_bytes(const struct simpler_task_args *args)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (args->use[i] != SIMPLER_USE_OUTPUT)
            continue;
        const struct simpler_create_info *info = args->tensor[i];
        uint64_t n = simpler_dtype_bytes(info->dtype);
        for (uint32_t k = 0; k < info->ndims && k < SIMPLER_MAX_DIMS; k++) {
            if (__builtin_mul_overflow(n, info->shape[k], &n))
                return sum;
        }
        sum += round_up(n, SIMPLER_HEAP_UNIT);
    }
    return sum;
}

static void count_map(struct simpler_orch *orch, const struct simpler_task_args *args)
{
    bool readers = orch->device->run->hazards == SIMPLER_HAZARDS_ALL;
    for (uint32_t i = 0; i < args->tensor_count && !orch->manual; i++) {
        const struct simpler_tensor *t = args->tensor[i];
        if (args->use[i] == SIMPLER_USE_OUTPUT || args->use[i] == SIMPLER_USE_NO_DEP ||
            (args->use[i] == SIMPLER_USE_INPUT && !readers) || simpler_tensor_check(t) != 0 ||
            t->manual_dep || simpler_tensor_numel(t) == 0)
            continue;
        if (!simpler_tensormap_contains(orch->map, t))
            orch->needed_map++;
    }
}

void simpler_fatal_count_submit(struct simpler_orch *orch, const struct simpler_task_args *args)
{
    struct simpler_ring *ring = &orch->ring[orch->current];
    uint64_t bytes = dry_bytes(args);

    count_map(orch, args);
    if (args->output_count != 0 && ring->hold_from == SIMPLER_NO_HOLD) {
        ring->hold_from = ring->dry_next;
        ring->hold_depth = orch->depth;
        ring->held_bytes = 0;
        ring->held_max_block = 0;
        ring->held_from_zero = ring->heap.top == 0;
    }
    ring->dry_next++;
    uint64_t heap = bytes;
    if (ring->hold_from != SIMPLER_NO_HOLD) {
        uint64_t window = (uint64_t)ring->dry_next - ring->hold_from + 1;
        ring->held_bytes += bytes;
        if (bytes > ring->held_max_block)
            ring->held_max_block = bytes;
        /* Anywhere else than at offset 0 a wrap wastes less than one block. */
        heap = ring->held_bytes + (ring->held_from_zero ? 0 : ring->held_max_block);
        if (window > ring->needed_window)
            ring->needed_window = window;
    }
    if (heap > ring->needed_heap)
        ring->needed_heap = heap;
}

static uint64_t power_of_two(uint64_t n)
{
    uint64_t p = SIMPLER_TASK_WINDOW_MIN;
    while (p < n)
        p *= 2;
    return p;
}

static uint64_t at_least(uint64_t n, uint64_t least)
{
    return n < least ? least : n;
}

static void advise_ring(const struct simpler_orch *orch, int code, uint32_t r, char *text,
                        size_t bytes)
{
    const struct simpler_ring *ring = &orch->ring[r];
    const char *knob;
    uint64_t value, now;

    switch (code) {
    case SIMPLER_CODE_SCOPE_DEADLOCK:
    case SIMPLER_CODE_FLOW_CONTROL_DEADLOCK:
        knob = "ring_task_window";
        value = power_of_two(ring->needed_window);
        now = (uint64_t)ring->mask + 1;
        break;
    case SIMPLER_CODE_HEAP_RING_DEADLOCK:
        knob = "ring_heap";
        value = at_least(round_up(ring->needed_heap, SIMPLER_HEAP_UNIT), SIMPLER_HEAP_MIN);
        now = ring->heap.size;
        break;
    default:
        knob = "ring_dep_pool";
        value = at_least(ring->needed_dep, SIMPLER_DEP_POOL_MIN);
        now = ring->dep_capacity;
        break;
    }
    if (value > now)
        simpler_run_verdict_append(
            text, bytes,
            "remedy: %s[%u] = %llu is the smallest legal value that is enough for all that was "
            "submitted (it is %llu)\n",
            knob, r, (unsigned long long)value, (unsigned long long)now);
}

static void advise(const struct simpler_orch *orch, int code, char *text, size_t bytes)
{
    if (!orch->counting)
        return;
    if (code == SIMPLER_CODE_TENSORMAP_OVERFLOW) {
        simpler_run_verdict_append(
            text, bytes,
            "remedy: tensormap = %llu is the smallest legal value that is enough for all that "
            "was submitted (it is %llu)\n",
            (unsigned long long)orch->needed_map,
            (unsigned long long)orch->device->run->env.tensormap);
        return;
    }
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++)
        advise_ring(orch, code, r, text, bytes);
    simpler_run_verdict_append(
        text, bytes, "or: end scopes earlier, so that fewer tasks and outputs are held at once\n");
}

const char *simpler_fatal_kernel_name(const struct simpler_device *device, uint32_t func_id)
{
    if (func_id >= device->kernel_count || device->kernels[func_id] == NULL)
        return "dummy";
    const char *name = device->kernels[func_id]->name;
    return name == NULL ? "kernel" : name;
}

static void explain_failure(struct simpler_orch *orch, struct simpler_run_result *result)
{
    struct simpler_device *device = orch->device;
    uint64_t task = atomic_load_explicit(&device->failure.task, memory_order_relaxed);
    if (task == 0)
        return;
    uint64_t id = task - 1;
    /* A failed task is never retired, so its slot is still its own. */
    uint32_t number = simpler_ring_slot(&orch->ring[id >> 32], (uint32_t)id);
    uint32_t func_id = atomic_load_explicit(&device->failure.func_id, memory_order_relaxed);
    const struct simpler_task_desc *desc = &device->table.desc[number];
    struct simpler_run_failure failure = {
        .kernel = simpler_fatal_kernel_name(device, func_id),
        .func_id = func_id,
        .task_id = id,
        .status = atomic_load_explicit(&device->failure.status, memory_order_relaxed),
        .file = desc->file,
        .line = desc->line,
    };
    simpler_run_verdict_failure(result, &failure);
}

void simpler_fatal_report(struct simpler_orch *orch, struct simpler_run_result *result)
{
    struct simpler_device *device = orch->device;
    int status = atomic_load_explicit(&device->stop, memory_order_acquire);

    if (status == 0 && result->stats.tasks_failed != 0)
        status = SIMPLER_EKERNEL;
    simpler_run_verdict_head(result, status, device->fatal_text);
    if (status == 0)
        return;
    explain_failure(orch, result);
    advise(orch, simpler_run_verdict_is_code(status) ? -status : 0, result->message,
           sizeof(result->message));
}
