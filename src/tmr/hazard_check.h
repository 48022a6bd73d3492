/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_HAZARD_CHECK_H
#define SIMPLER_TMR_HAZARD_CHECK_H

/*
 * --check-hazards: in a run with hazards raw, every pair of tasks that use the
 * same bytes, one of them writing, without an order between them.  It keeps the
 * graph of the whole run, so it allocates; it is off unless asked for.
 */
#include <stdint.h>

#include "tmr/engine.h"

/* SIMPLER_ENOMEM. */
int simpler_hazard_check_open(struct simpler_hazard_check **out);
void simpler_hazard_check_close(struct simpler_hazard_check *check);

/* The task in slot @number is being submitted with @args. */
void simpler_hazard_check_submit(struct simpler_hazard_check *check, struct simpler_orch *orch,
                                 const struct simpler_task_args *args, uint32_t number);

/* Unordered pairs found. */
uint64_t simpler_hazard_check_pairs(const struct simpler_hazard_check *check);

/* The first pairs, a line each, and what was not checked; at most @bytes with the NUL. */
void simpler_hazard_check_report(const struct simpler_hazard_check *check, char *text,
                                 size_t bytes);

#endif
