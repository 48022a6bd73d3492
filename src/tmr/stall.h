/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_STALL_H
#define SIMPLER_TMR_STALL_H

/*
 * What is said about a run that makes no progress: lines of the log that begin
 * with [STALL and [SHUTDOWN_SNAPSHOT, and the lines of the result's message.
 */
#include "tmr/engine.h"

/* What a hung run looks like once its threads have left it or were revoked. */
struct simpler_stall {
    uint64_t idle_ms;
    bool known; /* the orchestrator has left the run: its tasks may be looked at */
    uint64_t submitted, completed;
    uint32_t running, ready, waiting;
    char headline[256];
    char details[1400]; /* lines */
};

/* The monitor's, after the freeze: looks, and writes the log's lines. */
void simpler_stall_examine(struct simpler_device *device, uint64_t idle_ns,
                           struct simpler_stall *out);

/* The monitor's, while the run goes on: which kernels run; the orchestrator is asked for the rest.
 */
void simpler_stall_show(struct simpler_device *device);
void simpler_stall_tell(struct simpler_orch *orch);

/* The orchestrator's, while it waits. */
SIMPLER_INLINE void simpler_stall_answer(struct simpler_orch *orch)
{
    if (SIMPLER_UNLIKELY(
            atomic_load_explicit(&orch->device->monitor.answer, memory_order_relaxed) != 0))
        simpler_stall_tell(orch);
}

#endif
