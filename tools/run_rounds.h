/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_RUN_ROUNDS_H
#define SIMPLER_TOOLS_RUN_ROUNDS_H

/* Runs what the plan holds. */
#include "run_record.h"

/*
 * Fills summary->records (allocated by the caller, one a case of the plan) until
 * all rounds are done, SIGINT came, or --exitfirst ends it.  SIMPLER_EXIT_USAGE
 * when a case has no place for its diagnostics.
 */
int simpler_run_rounds(struct simpler_run_summary *summary, struct simpler_worker *worker,
                       uint32_t handle);

#endif
