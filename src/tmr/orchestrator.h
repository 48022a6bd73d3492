/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_ORCHESTRATOR_H
#define SIMPLER_TMR_ORCHESTRATOR_H

/* One run on the orchestrator thread: from the root scope to the last task. */
#include "tmr/engine.h"

/* Prepares the orchestrator for a run; nothing of the run before is left. */
void simpler_orchestrator_reset(struct simpler_device *device);
/* Runs the orchestration and every task; fills device->result, unless the monitor ends the
 * run (false). */
bool simpler_orchestrator_execute(struct simpler_device *device);
/* Fills device->result from what the orchestrator knows: its own, or the monitor's once the
 * orchestrator has left the run. */
void simpler_orchestrator_conclude(struct simpler_device *device);
/* What a hazard check has found, behind what the result says already. */
void simpler_orchestrator_add_hazards(struct simpler_device *device);
/* The hazard check, once nobody asks for its report any more and the orchestrator has left. */
void simpler_orchestrator_forget(struct simpler_device *device);
/* Whether every task that was submitted is done; the orchestrator's, or as before. */
bool simpler_orchestrator_is_drained(const struct simpler_device *device);

/* Scopes; 0 or a status. */
int simpler_orchestrator_enter(struct simpler_orch *orch, enum simpler_scope_mode mode,
                               const char *file, int line);
void simpler_orchestrator_leave(struct simpler_orch *orch);

#endif
