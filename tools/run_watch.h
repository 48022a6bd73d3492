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

/* Around one simpler_worker_run; @label is borrowed until the end. */
void simpler_run_watch_begin(const char *label);
void simpler_run_watch_end(void);

/* Whether SIGINT came. */
bool simpler_run_watch_interrupted(void);

#endif
