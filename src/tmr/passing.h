/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_PASSING_H
#define SIMPLER_TMR_PASSING_H

/*
 * A stretch of tasks that pass through (docs/architecture.md, life of a task, 4).
 *
 * A task that passes shows that the next one may: everything is done, nothing holds the
 * ring, nobody looks at tasks.  Only a call of the orchestrator can change that, so up to
 * a look around some tasks later a submit need not ask again.  While a stretch lasts the
 * orchestrator has a table of calls of its own: its submits check the arguments, call the kernel
 * and count; every other call but for questions ends the stretch first.  What the tasks of a
 * stretch have added to the ring and the counts is found from how many there were, when it ends.
 */
#include "tmr/submit_check.h"

/* The task that has just passed through was plain: the next ones may be quicker. */
void simpler_passing_begin(struct simpler_orch *orch, const struct simpler_submit_request *q);

/*
 * Adds the stretch's tasks to the ring and the counts; nothing when there is none.  The
 * orchestrator's, or the monitor's once the orchestrator has been revoked.
 */
void simpler_passing_end(struct simpler_orch *orch);

/* Forgets the kernels that were found short. */
void simpler_passing_forget(struct simpler_orch *orch);

SIMPLER_INLINE uint64_t simpler_passing_completed(const struct simpler_orch *orch)
{
    return atomic_load_explicit(&orch->thread->counts.completed, memory_order_relaxed);
}

/* Tasks of the stretch that lasts: the ring's next id is so many further. */
SIMPLER_INLINE uint32_t simpler_passing_passed(const struct simpler_orch *orch)
{
    return (uint32_t)(simpler_passing_completed(orch) - orch->passing.from);
}

/* The same, 0 when there is none.  Anyone who may read the orch. */
SIMPLER_INLINE uint32_t simpler_passing_count(const struct simpler_orch *orch)
{
    return orch->passing.until == 0 ? 0 : simpler_passing_passed(orch);
}

/* The id of the innermost scope's ring that is @count behind the next one. */
SIMPLER_INLINE uint64_t simpler_passing_id(const struct simpler_orch *orch, uint32_t count)
{
    return (uint64_t)orch->current << 32 | (orch->ring[orch->current].next + count);
}

/* Of the task that is submitted next in the innermost scope, or is being run by its submit. */
SIMPLER_INLINE uint64_t simpler_passing_next_id(const struct simpler_orch *orch)
{
    return simpler_passing_id(orch, simpler_passing_count(orch));
}

/* A kernel has turned out long. */
SIMPLER_INLINE void simpler_passing_drop(struct simpler_orch *orch, uint32_t func_id)
{
    for (uint32_t type = 0; type < SIMPLER_PASSING_TYPES; type++)
        orch->passing.known[type][func_id % SIMPLER_PASSING_KERNELS] = ~func_id;
}

#endif
