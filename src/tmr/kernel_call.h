/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_KERNEL_CALL_H
#define SIMPLER_TMR_KERNEL_CALL_H

/* One call of a kernel on this thread; some of them are timed. */
#include <string.h>

#include "base/clock.h"
#include "tmr/handover.h"
#include "tmr/kernel_word.h"

/* The arguments are the kernel's own until it returns: the one before may have used them. */
SIMPLER_INLINE void simpler_kernel_set_contexts(struct simpler_thread *thread)
{
    _Static_assert(SIMPLER_KERNEL_GLOBAL_CONTEXT == SIMPLER_KERNEL_LOCAL_CONTEXT + 1,
                   "one copy sets both");
    memcpy(&thread->args[SIMPLER_KERNEL_LOCAL_CONTEXT], thread->contexts, sizeof(thread->contexts));
}

/* @word: which task it is, see kernel_word.h. */
SIMPLER_INLINE int simpler_kernel_call(struct simpler_thread *thread, uint32_t func_id,
                                       uint64_t word)
{
    struct simpler_device *device = thread->device;
    const struct simpler_kernel *kernel = device->kernels[func_id];

    simpler_kernel_enter(thread, word);
    if (SIMPLER_LIKELY(thread->timing != 0 && atomic_load_explicit(&device->estimates->ns[func_id],
                                                                   memory_order_relaxed) != 0)) {
        thread->timing--;
        return simpler_kernel_leave(thread, kernel->fn(thread->args));
    }
    uint64_t start = simpler_clock_ticks();
    int status = kernel->fn(thread->args);
    uint64_t ticks = simpler_clock_ticks() - start;
    status = simpler_kernel_leave(thread, status);
    simpler_handover_note(thread, func_id, ticks);
    return status;
}

#endif
