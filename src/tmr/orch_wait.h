/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_ORCH_WAIT_H
#define SIMPLER_TMR_ORCH_WAIT_H

/*
 * How the orchestrator waits: it runs tasks, then spins for a moment, then
 * parks.
 */
#include "tmr/engine.h"

enum simpler_wait {
    SIMPLER_WAIT_MORE = 0, /* the condition does not hold yet */
    SIMPLER_WAIT_DONE = 1, /* it holds */
    SIMPLER_WAIT_IDLE = 2, /* nothing ran and nothing was ready for the whole limit */
    SIMPLER_WAIT_STOP = 3, /* the run is to stop */
    SIMPLER_WAIT_NEVER = 4 /* it cannot hold any more */
};

typedef enum simpler_wait (*simpler_wait_fn)(struct simpler_orch *orch, void *context);

/*
 * Waits until @condition says something else than MORE.
 *
 * @param idle_limit_ns  time without a running or a ready task after which it gives up
 * @param ignore_stop    go on although the run is to stop (it drains)
 */
enum simpler_wait simpler_orch_wait(struct simpler_orch *orch, simpler_wait_fn condition,
                                    void *context, uint64_t idle_limit_ns, bool ignore_stop);

#endif
