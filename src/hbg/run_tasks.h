/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_RUN_TASKS_H
#define SIMPLER_HBG_RUN_TASKS_H

/* The tasks of a grain: arguments, kernels, failures. */
#include "hbg/hbg_engine.h"

/* Nodes first .. end - 1 of the part, in order; everything before them is done. */
void simpler_hbg_run_tasks(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
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
void simpler_hbg_capture(const struct simpler_hbg_thread *thread,
                         const struct simpler_hbg_part *part, uint32_t number, uint8_t stage);

#endif
