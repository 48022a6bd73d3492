/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_LINKING_H
#define SIMPLER_TMR_LINKING_H

/*
 * From producers to edges: the task being submitted (orch->self) is put on the
 * lists of its unfinished producers, then run here or published.
 */
#include "tmr/engine.h"

SIMPLER_COLD void simpler_linking_renumber(struct simpler_orch *orch);

/* A new mark: no producer has been noted yet. */
SIMPLER_INLINE void simpler_linking_next_mark(struct simpler_orch *orch)
{
    if (SIMPLER_UNLIKELY(++orch->submit_seq == 0))
        simpler_linking_renumber(orch);
}

/* Task @id comes before orch->self; @kinds is an enum simpler_dependency_kind mask. */
void simpler_linking_note(struct simpler_orch *orch, uint64_t id, uint8_t kinds);

/* The ids that the map has put into the orchestrator's sink. */
void simpler_linking_drain_sink(struct simpler_edge_sink *sink);

/* Links what was noted and lets the task go; the status of a run that has failed on it. */
int simpler_linking_finish(struct simpler_orch *orch, uint32_t number);

#endif
