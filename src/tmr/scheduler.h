/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_SCHEDULER_H
#define SIMPLER_TMR_SCHEDULER_H

/*
 * Running shared tasks: finding one, calling its kernel, completing it.
 */
#include "tmr/engine.h"

void simpler_scheduler_init_thread(struct simpler_thread *thread, struct simpler_device *device,
                                   uint32_t index);

/*
 * A ready task for @thread: the successor it was handed, its own stack, its
 * queue, another thread's.  SIMPLER_NO_TASK when there is none.
 */
uint32_t simpler_scheduler_find(struct simpler_thread *thread);

/* Runs one shared task; a successor that became ready is left in thread->handed. */
void simpler_scheduler_run(struct simpler_thread *thread, uint32_t number);

/* The same on this thread's own stack, even if there are core threads. */
void simpler_scheduler_run_here(struct simpler_thread *thread, uint32_t number);

/* Calls the kernel of a task, unless it is poisoned, a dummy, or the run is to stop. */
void simpler_scheduler_execute(struct simpler_thread *thread, uint32_t number);

/* The kernel of the task has failed with @status, or has registered conditions. */
void simpler_scheduler_note_odd_end(struct simpler_thread *thread, uint32_t number, int status);

/* A count of this thread: a single writer, so a load and a store. */
SIMPLER_INLINE void simpler_scheduler_count(_Atomic uint64_t *count)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

SIMPLER_INLINE void simpler_scheduler_count_many(_Atomic uint64_t *count, uint64_t n)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* P9, release: after the done byte. */
SIMPLER_INLINE uint64_t simpler_scheduler_count_completed(struct simpler_thread *thread)
{
    uint64_t count = atomic_load_explicit(&thread->counts.completed, memory_order_relaxed) + 1;
    atomic_store_explicit(&thread->counts.completed, count, memory_order_release);
    return count;
}

/* Makes a ready shared task available to everybody. */
void simpler_scheduler_publish(struct simpler_thread *thread, uint32_t number);

/* Makes everything that @thread holds back available to others. */
void simpler_scheduler_expose(struct simpler_thread *thread);

/* Builds the kernel's arguments and calls it. 0 or the kernel's status. */
int simpler_scheduler_call(struct simpler_thread *thread, uint32_t number);

/* Parts of it, for tasks with blocks or lanes: the argument array, and one call. */
void simpler_scheduler_unpack(struct simpler_thread *thread, uint32_t number);
int simpler_scheduler_call_kernel(struct simpler_thread *thread, uint32_t number, uint32_t func_id);
/* The first failing kernel of the run is the one that is reported. */
void simpler_scheduler_record_failure(struct simpler_device *device, uint32_t number,
                                      uint32_t func_id, int status);

/* After the task of @number ran (or did not): successors, done byte, counts. */
void simpler_scheduler_complete(struct simpler_thread *thread, uint32_t number);

/* Whether any thread runs a task or any queue holds one. */
bool simpler_scheduler_is_busy(struct simpler_device *device);

/* Tasks done since the device was opened: the sum over all threads (acquire, pairs with P9). */
uint64_t simpler_scheduler_completed(const struct simpler_device *device);

/* Body of a scheduler thread. */
void *simpler_scheduler_main(void *thread);

#endif
