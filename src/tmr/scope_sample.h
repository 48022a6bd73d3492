/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_SCOPE_SAMPLE_H
#define SIMPLER_TMR_SCOPE_SAMPLE_H

/*
 * The probes of scope stats: one bool of the orchestrator decides whether
 * anything else happens.  With SIMPLER_DFX=0 there are none.
 */
#include "tmr/engine.h"

#if SIMPLER_DFX

/* At the entry of a run, on the orchestrator's thread; and once its root scope is closed. */
void simpler_scope_sample_start(struct simpler_orch *orch);
void simpler_scope_sample_finish(struct simpler_orch *orch);

/* Of a revoked orchestrator, on its thread: from now on there are no samples and no flush. */
void simpler_scope_sample_abandon(struct simpler_orch *orch);

/* The monitor's: a code was latched. */
void simpler_scope_sample_fatal(struct simpler_device *device);

/* The scope was pushed.  Returns 0. */
int simpler_scope_sample_begin(struct simpler_orch *orch, const char *file, int line);
/* The scope is about to be popped; its tasks are still held. */
void simpler_scope_sample_end(struct simpler_orch *orch);

/* The gate of both. */
SIMPLER_INLINE bool simpler_scope_sample_is_on(const struct simpler_orch *orch)
{
    return orch->scope_stats;
}

/*
 * The edges of a task of @ring are wired: both ends of the pool as they are
 * known now are what samples show until the next task of the ring.
 */
SIMPLER_INLINE void simpler_scope_sample_wired(struct simpler_orch *orch, struct simpler_ring *ring)
{
    if (SIMPLER_UNLIKELY(orch->scope_stats)) {
        ring->dep_shown_top = ring->dep_top;
        ring->dep_shown_tail = ring->dep_tail;
    }
}

#else

SIMPLER_INLINE void simpler_scope_sample_start(struct simpler_orch *orch)
{
    (void)orch;
}
SIMPLER_INLINE void simpler_scope_sample_finish(struct simpler_orch *orch)
{
    (void)orch;
}
SIMPLER_INLINE void simpler_scope_sample_abandon(struct simpler_orch *orch)
{
    (void)orch;
}
SIMPLER_INLINE void simpler_scope_sample_fatal(struct simpler_device *device)
{
    (void)device;
}
SIMPLER_INLINE int simpler_scope_sample_begin(struct simpler_orch *orch, const char *file, int line)
{
    (void)orch;
    (void)file;
    (void)line;
    return 0;
}
SIMPLER_INLINE void simpler_scope_sample_end(struct simpler_orch *orch)
{
    (void)orch;
}
SIMPLER_INLINE bool simpler_scope_sample_is_on(const struct simpler_orch *orch)
{
    (void)orch;
    return false;
}
SIMPLER_INLINE void simpler_scope_sample_wired(struct simpler_orch *orch, struct simpler_ring *ring)
{
    (void)orch;
    (void)ring;
}

#endif
#endif
