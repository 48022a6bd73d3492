/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_LAUNCH_ARGS_H
#define SIMPLER_TASK_LAUNCH_ARGS_H

/* What a task with blocks, lanes, a predicate or a timing slot asks for, in every runtime. */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "simpler/kernel.h"
#include "simpler/worker.h"

#define SIMPLER_NO_FUNC   UINT16_MAX
#define SIMPLER_NO_TIMING UINT8_MAX

static inline int32_t simpler_launch_args_blocks(const struct simpler_task_args *args)
{
    return (args->extra & SIMPLER_EXTRA_BLOCKS) != 0 ? args->block_num : 1;
}

/* Mask of the lanes that have a kernel. */
static inline uint32_t simpler_launch_args_lanes(const uint16_t *func_id)
{
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++)
        lanes |= (uint32_t)(func_id[lane] != SIMPLER_NO_FUNC) << lane;
    return lanes;
}

/* Blocks that a device of so many clusters can have resident at once. */
static inline uint32_t simpler_launch_args_sync_limit(uint32_t lanes, uint32_t clusters, bool *aiv)
{
    *aiv = (lanes & 1u << SIMPLER_LANE_AIC) == 0 && (lanes & 1u << SIMPLER_LANE_AIV1) == 0;
    return *aiv ? 2 * clusters : clusters;
}

/* Whether there is an element to look at; else the task always runs. */
static inline bool simpler_launch_args_has_operand(const struct simpler_task_args *args)
{
    return (args->extra & SIMPLER_EXTRA_PREDICATE) != 0 && args->predicate.tensor != NULL &&
           args->predicate.tensor->addr != 0;
}

/* What is wrong with the predicate, or NULL. */
static inline const char *simpler_launch_args_fault(const struct simpler_task_args *args)
{
    const struct simpler_predicate *p = &args->predicate;

    if (!simpler_launch_args_has_operand(args))
        return NULL;
    if (simpler_tensor_check(p->tensor) != 0)
        return "tensor is not valid";
    for (uint32_t i = 0; i < p->tensor->ndims; i++) {
        if (p->index[i] >= p->tensor->shape[i])
            return "index lies outside the tensor's shape";
    }
    return NULL;
}

/* Bytes from the tensor's addr to the element. */
static inline uint64_t simpler_launch_args_operand(const struct simpler_predicate *p)
{
    uint64_t at = p->tensor->start_offset;

    for (uint32_t i = 0; i < p->tensor->ndims; i++)
        at += (uint64_t)p->index[i] * p->tensor->stride[i];
    return at << simpler_dtype_shift(p->tensor->dtype);
}

/* The element at @addr, sign-extended, against the target. */
static inline bool simpler_predicate_holds(uint32_t op, uint64_t addr, uint32_t bytes,
                                           int64_t target)
{
    uint64_t raw = 0;

    memcpy(&raw, (const void *)(uintptr_t)addr, bytes);
    int64_t value = (int64_t)(raw << (64 - 8 * bytes)) >> (64 - 8 * bytes);
    switch (op) {
    case SIMPLER_PREDICATE_EQ:
        return value == target;
    case SIMPLER_PREDICATE_NE:
        return value != target;
    case SIMPLER_PREDICATE_GT:
        return value > target;
    case SIMPLER_PREDICATE_LT:
        return value < target;
    case SIMPLER_PREDICATE_GE:
        return value >= target;
    case SIMPLER_PREDICATE_LE:
        return value <= target;
    default:
        return true;
    }
}

/* A timing slot of a run: any thread, relaxed; read when every task is done. */
struct simpler_timing {
    _Atomic uint64_t tasks, start_ns, end_ns, busy_ns;
};

static inline void simpler_timing_reset(struct simpler_timing *slots)
{
    for (uint32_t i = 0; i < SIMPLER_TIMING_SLOTS; i++) {
        atomic_store_explicit(&slots[i].tasks, 0, memory_order_relaxed);
        atomic_store_explicit(&slots[i].start_ns, UINT64_MAX, memory_order_relaxed);
        atomic_store_explicit(&slots[i].end_ns, 0, memory_order_relaxed);
        atomic_store_explicit(&slots[i].busy_ns, 0, memory_order_relaxed);
    }
}

/* A task that took from @start to @end, both since the run's start. */
static inline void simpler_timing_note(struct simpler_timing *slot, uint64_t start, uint64_t end)
{
    uint64_t least = atomic_load_explicit(&slot->start_ns, memory_order_relaxed);
    uint64_t most = atomic_load_explicit(&slot->end_ns, memory_order_relaxed);

    while (start < least &&
           !atomic_compare_exchange_weak_explicit(&slot->start_ns, &least, start,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
    while (end > most && !atomic_compare_exchange_weak_explicit(
                             &slot->end_ns, &most, end, memory_order_relaxed, memory_order_relaxed))
        ;
    atomic_fetch_add_explicit(&slot->busy_ns, end - start, memory_order_relaxed);
    atomic_fetch_add_explicit(&slot->tasks, 1, memory_order_relaxed);
}

static inline void simpler_timing_fill(const struct simpler_timing *slots,
                                       struct simpler_run_result *result)
{
    for (uint32_t i = 0; i < SIMPLER_TIMING_SLOTS; i++) {
        struct simpler_task_timing *out = &result->timing[i];
        memset(out, 0, sizeof(*out));
        out->tasks = atomic_load_explicit(&slots[i].tasks, memory_order_relaxed);
        if (out->tasks == 0)
            continue;
        out->start_ns = atomic_load_explicit(&slots[i].start_ns, memory_order_relaxed);
        out->end_ns = atomic_load_explicit(&slots[i].end_ns, memory_order_relaxed);
        out->busy_ns = atomic_load_explicit(&slots[i].busy_ns, memory_order_relaxed);
    }
}

#endif
