/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_SOLO_H
#define SIMPLER_TMR_SOLO_H

/*
 * Private tasks: the orchestrator's own, wired and completed with plain loads
 * and stores, since no other thread can reach them.
 */
#include "tmr/engine.h"

/* Runs every private task to its end; if kernels turn out long, shares the rest. */
void simpler_solo_run(struct simpler_orch *orch);

/* A private task that waits for nothing. */
SIMPLER_INLINE void simpler_solo_push(struct simpler_orch *orch, uint32_t number)
{
    orch->private_ready[orch->private_tail++ % SIMPLER_PRIVATE_BATCH] = number;
}

#endif
