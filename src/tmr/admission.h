/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_ADMISSION_H
#define SIMPLER_TMR_ADMISSION_H

/*
 * Room for the next task: the watermark, and the waits when a ring, the pool or
 * the map is full.  The orchestrator alone.
 */
#include "tmr/engine.h"

/* Retires what can be retired on one ring. */
void simpler_admission_advance(struct simpler_orch *orch, uint32_t r);
void simpler_admission_advance_all(struct simpler_orch *orch);

/*
 * Waits for a slot, @bytes of heap and @entries of the map on ring @r; *block
 * gets the heap block.  0, or the status of a run that has failed (latched).
 */
int simpler_admission_wait(struct simpler_orch *orch, uint32_t r, uint64_t bytes, uint32_t entries,
                           uint8_t **block);

/* Waits for @edges entries of the dependency pool of ring @r. */
int simpler_admission_wait_edges(struct simpler_orch *orch, uint32_t r, uint32_t edges);

#endif
