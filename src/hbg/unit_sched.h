/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_UNIT_SCHED_H
#define SIMPLER_HBG_UNIT_SCHED_H

/* Units of a run: found, run, completed. */
#include "hbg/hbg_engine.h"

/* Puts every unit of the run's own graph where it belongs: ready, or on a wake list. */
void simpler_hbg_boot(struct simpler_hbg_thread *thread);
/* The same of what is not done, after the run was cut anew. */
void simpler_hbg_boot_rest(struct simpler_hbg_thread *thread);
/* A ready unit: handed over, of this thread's queue or stack, of another's; or NO_UNIT. */
uint32_t simpler_hbg_find(struct simpler_hbg_thread *thread);
/* The same for who waits for long or goes to sleep: of another's track as well. */
uint32_t simpler_hbg_find_all(struct simpler_hbg_thread *thread);
/* Leaving: what this thread has completed counts, and may be the last of the run. */
void simpler_hbg_settle(struct simpler_hbg_thread *thread);
/* Every task of the unit is done. */
void simpler_hbg_complete(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                          uint32_t unit);
void simpler_hbg_run_unit(struct simpler_hbg_thread *thread, uint32_t unit);

#endif
