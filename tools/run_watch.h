/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_RUN_WATCH_H
#define SIMPLER_TOOLS_RUN_WATCH_H

/*
 * The thread beside the runs: it shows progress on a terminal and turns SIGINT
 * into a cancel.  There is one at a time, since a signal handler has no argument.
 */
#include <stdbool.h>
#include <stdint.h>

#include "simpler/worker.h"

/* @show_progress: lines on standard error for what takes longer than a second. */
int simpler_run_watch_start(struct simpler_worker *worker, bool show_progress);
void simpler_run_watch_stop(void);

enum simpler_run_phase { SIMPLER_PHASE_PREPARE, SIMPLER_PHASE_RUN, SIMPLER_PHASE_CHECK };

/* Around one part of a round; @label is borrowed until the end.  SIGINT cancels RUN. */
void simpler_run_watch_begin(const char *label, enum simpler_run_phase phase);
void simpler_run_watch_end(void);

/* Whether SIGINT came. */
bool simpler_run_watch_interrupted(void);

#endif
