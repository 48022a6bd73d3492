/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_CORE_POOL_H
#define SIMPLER_TMR_CORE_POOL_H

/*
 * One OS thread a core: for every kernel (exec threads), or for those that may wait
 * for each other.  Threads start when their core is first
 * needed and park when it is idle.  A core completes its tasks itself; what
 * becomes ready goes to its queue, from which schedulers take it.
 */
#include "tmr/engine.h"

/* SIMPLER_ENOMEM. */
int simpler_core_pool_open(struct simpler_device *device, uint32_t clusters,
                           struct simpler_core_pool **out);
void simpler_core_pool_close(struct simpler_core_pool *pool);
/* Before a run: threads that could not be had in an earlier one are asked for again. */
void simpler_core_pool_retry(struct simpler_core_pool *pool);

/* Sets each core's copy of a run's enable_profiling_flag; no task is under way. */
void simpler_core_pool_set_handshake(struct simpler_core_pool *pool, uint32_t flags);
uint32_t simpler_core_pool_clusters(const struct simpler_core_pool *pool);
uint32_t simpler_core_pool_count(const struct simpler_core_pool *pool);

/* For the monitor: the thread of core @i (NULL when it was never started), the task that lies
 * in its mailbox, and the first of those that found no place in a queue. */
struct simpler_thread *simpler_core_pool_thread(const struct simpler_core_pool *pool, uint32_t i);
uint32_t simpler_core_pool_mailbox(const struct simpler_core_pool *pool, uint32_t i);
uint32_t simpler_core_pool_overflow(const struct simpler_core_pool *pool);
/* Cohorts that wait for cores, linked by launch.next: those that have just come, and the rest,
 * which the pump alone may look at unless every thread is out or revoked. */
uint32_t simpler_core_pool_arrived(const struct simpler_core_pool *pool);
uint32_t simpler_core_pool_first(const struct simpler_core_pool *pool);

/* Wakes every core and everybody who waits for one, to leave. */
void simpler_core_pool_ask_out(struct simpler_core_pool *pool);

/*
 * Hands a task to a free core of its type.  Blocks while there is none, unless
 * no thread could be started for it: then the task runs here.
 */
void simpler_core_pool_dispatch(struct simpler_core_pool *pool, struct simpler_thread *thread,
                                uint32_t number);

/*
 * A ready task from some core's queue or from what found no place there (the
 * rest of that goes to @thread's stack, which is empty), or SIMPLER_NO_TASK.
 */
uint32_t simpler_core_pool_take(struct simpler_core_pool *pool, struct simpler_thread *thread);
bool simpler_core_pool_is_busy(struct simpler_core_pool *pool);
uint64_t simpler_core_pool_completed(const struct simpler_core_pool *pool);
/* Adds the cores' counts to @stats. */
void simpler_core_pool_add_stats(const struct simpler_core_pool *pool,
                                 struct simpler_run_stats *stats);

#endif
