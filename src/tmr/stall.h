/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_STALL_H
#define SIMPLER_TMR_STALL_H

/* What is said about a run of this runtime that makes no progress (task/stall_text.h). */
#include "task/stall_text.h"
#include "tmr/engine.h"

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
