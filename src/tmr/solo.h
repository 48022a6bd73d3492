/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_SOLO_H
#define SIMPLER_TMR_SOLO_H

/*
 * Tasks that the orchestrator runs as they are submitted: their producers are
 * done, and their kernels are shorter than a hand-over to another core.  No
 * other thread can reach such a task, so plain loads and stores are enough.
 */
#include "tmr/kernel_call.h"

/* Runs the task of slot @number to its end. */
void simpler_solo_run(struct simpler_orch *orch, uint32_t number);

/* The task of slot @number, which is in no list, has run or has nothing to run. */
void simpler_solo_complete(struct simpler_orch *orch, uint32_t number);

/*
 * A kernel's arguments, of a submit, where they lie: the caller has lent them until it returns,
 * and a copy of a descriptor that has just been written costs more than all the rest.
 * @made are the OUTPUTs in their order, NULL: none.
 */
SIMPLER_INLINE void simpler_solo_lend_args(struct simpler_thread *thread,
                                           const struct simpler_task_args *args,
                                           const struct simpler_tensor *made)
{
    uint32_t tensors = args->tensor_count;

    for (uint32_t i = 0; i < tensors; i++) {
        bool output = made != NULL && args->use[i] == SIMPLER_USE_OUTPUT;
        const struct simpler_tensor *tensor = args->tensor[i];
        thread->args[i] = (int64_t)(uintptr_t)(output ? made++ : tensor);
    }
    for (uint32_t k = 0; k < args->scalar_count; k++)
        thread->args[tensors + k] = (int64_t)args->scalar[k];
}

/* Copies of them, so that who looks at them behind the kernel sees what they were. */
SIMPLER_INLINE void simpler_solo_set_args(struct simpler_thread *thread,
                                          const struct simpler_task_args *args,
                                          const struct simpler_tensor *made)
{
    uint32_t tensors = args->tensor_count;

    for (uint32_t i = 0; i < tensors; i++) {
        bool output = made != NULL && args->use[i] == SIMPLER_USE_OUTPUT;
        thread->scratch[i] = *(output ? made++ : (const struct simpler_tensor *)args->tensor[i]);
        thread->args[i] = (int64_t)(uintptr_t)&thread->scratch[i];
    }
    for (uint32_t k = 0; k < args->scalar_count; k++)
        thread->args[tensors + k] = (int64_t)args->scalar[k];
}

/* Calls a kernel with the arguments of a submit; 0 or its status.  @word: see kernel_word.h. */
SIMPLER_INLINE int simpler_solo_call(struct simpler_thread *thread, uint32_t func_id,
                                     const struct simpler_task_args *args,
                                     const struct simpler_tensor *made, uint64_t word)
{
    simpler_solo_lend_args(thread, args, made);
    simpler_kernel_set_contexts(thread);
    return simpler_kernel_call(thread, func_id, word);
}

#endif
