/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_ARG_CAPTURE_H
#define SIMPLER_TMR_ARG_CAPTURE_H

/*
 * The hooks of the args dump: one byte of the device decides whether anything
 * else happens.  With SIMPLER_DFX=0 there are none.
 */
#include "base/testpoint.h"
#include "tmr/engine.h"

#if SIMPLER_DFX

/* At the entry of a run, on the orchestrator's thread; and once every task is done. */
void simpler_arg_capture_start(struct simpler_orch *orch);
void simpler_arg_capture_finish(struct simpler_orch *orch);

void simpler_arg_capture_note_submit(struct simpler_orch *orch,
                                     const struct simpler_task_args *args, uint32_t number);
/* The task's tensors are unpacked on this thread; the kernel has not run. */
void simpler_arg_capture_before(struct simpler_thread *thread, uint32_t number);
/* All kernels of the task have returned.  May unpack its tensors here again. */
void simpler_arg_capture_after(struct simpler_thread *thread, uint32_t number);

/* One stage of a task into the thread's lane; it may wait for the host meanwhile. */
void simpler_arg_capture_own(struct simpler_thread *thread, const struct dump_args_view *view,
                             uint8_t stage);

/* The monitor's: what the outputs of tasks inside a kernel hold now, into its own lane. */
void simpler_arg_capture_partial(struct simpler_device *device);

SIMPLER_INLINE bool simpler_arg_capture_is_on(const struct simpler_device *device)
{
    return SIMPLER_UNLIKELY(device->dump_level != 0);
}

/*
 * Behind a kernel, before anybody can learn that it has returned.  Whoever captures
 * its outputs is this thread, or has been told by an acquire of the last kernel's
 * release (L1): that orders all plain stores.  Those around the cache are ordered by
 * the fence alone.
 */
SIMPLER_INLINE void simpler_arg_capture_barrier(const struct simpler_thread *thread)
{
    if (SIMPLER_LIKELY((thread->handshake & SIMPLER_PROFILING_DUMP_ARGS) == 0))
        return;
    SIMPLER_TESTPOINT(DUMP_BARRIER);
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#else
    atomic_thread_fence(memory_order_release);
#endif
}

/* The slot is filled, and not published yet. */
SIMPLER_INLINE void simpler_arg_capture_submit(struct simpler_orch *orch,
                                               const struct simpler_task_args *args,
                                               uint32_t number)
{
    if (SIMPLER_UNLIKELY(orch->dump_level != 0))
        simpler_arg_capture_note_submit(orch, args, number);
}

#else

SIMPLER_INLINE void simpler_arg_capture_start(struct simpler_orch *orch)
{
    (void)orch;
}
SIMPLER_INLINE void simpler_arg_capture_finish(struct simpler_orch *orch)
{
    (void)orch;
}
SIMPLER_INLINE void simpler_arg_capture_partial(struct simpler_device *device)
{
    (void)device;
}
SIMPLER_INLINE void simpler_arg_capture_barrier(const struct simpler_thread *thread)
{
    (void)thread;
}
SIMPLER_INLINE void simpler_arg_capture_before(struct simpler_thread *thread, uint32_t number)
{
    (void)thread;
    (void)number;
}
SIMPLER_INLINE void simpler_arg_capture_after(struct simpler_thread *thread, uint32_t number)
{
    (void)thread;
    (void)number;
}
SIMPLER_INLINE bool simpler_arg_capture_is_on(const struct simpler_device *device)
{
    (void)device;
    return false;
}
SIMPLER_INLINE void simpler_arg_capture_submit(struct simpler_orch *orch,
                                               const struct simpler_task_args *args,
                                               uint32_t number)
{
    (void)orch;
    (void)args;
    (void)number;
}

#endif
#endif
