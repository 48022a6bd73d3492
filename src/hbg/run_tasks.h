/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_RUN_TASKS_H
#define SIMPLER_HBG_RUN_TASKS_H

/* The tasks of a grain: arguments, kernels, failures. */
#include "hbg/hbg_engine.h"

/*
 * Nodes first .. end - 1 of the part, in order; everything before them is done.  False: not
 * all of them are done.  The run hangs, the thread is to leave it and to touch nothing of it any
 * more; or the last one is held, and its completion is not for us; or the run is cut anew.
 */
bool simpler_hbg_run_tasks(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                           uint32_t first, uint32_t end);

/* Whether something that the node depends on failed. */
bool simpler_hbg_is_poisoned(const struct simpler_hbg_device *device,
                             const struct simpler_hbg_part *part, uint32_t node);

/* A single writer: a load and a store. */
SIMPLER_INLINE void simpler_hbg_add_count(_Atomic uint64_t *count, uint64_t n)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* The id of a task as the orchestration has it. */
uint64_t simpler_hbg_task_id(const struct simpler_hbg_device *device,
                             const struct simpler_hbg_part *part, uint32_t node);

/* Around one kernel that is no plain task's: @node of @part, @func_id as simpler_hbg_word. */
void simpler_hbg_enter(struct simpler_hbg_thread *thread, const struct simpler_hbg_part *part,
                       uint32_t node, uint32_t func_id);
void simpler_hbg_leave(struct simpler_hbg_thread *thread);

/* The kernel that a report names. */
SIMPLER_INLINE uint32_t simpler_hbg_first_func(const struct simpler_hbg_image *image,
                                               uint32_t number)
{
    uint32_t func_id = simpler_hbg_nodes(image)[number].func_id;

    if (func_id != SIMPLER_HBG_FUNC_LAUNCH)
        return func_id;
    const struct simpler_hbg_launch *launch = simpler_hbg_launch_of(image, number);
    return launch->func_id[__builtin_ctz(launch->lanes)];
}

/* The task's argument array and tensors, on this thread; its kernel, timed now and then. */
void simpler_hbg_fill_args(struct simpler_hbg_thread *thread, const struct simpler_hbg_part *part,
                           uint32_t number);
int simpler_hbg_call_kernel(struct simpler_hbg_thread *thread, uint32_t func_id);
/* Tells the args dump, if there is one; the arguments are filled. */
void simpler_hbg_capture(struct simpler_hbg_thread *thread, const struct simpler_hbg_part *part,
                         uint32_t number, uint8_t stage);

#endif
