/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_RECUT_H
#define SIMPLER_HBG_RECUT_H

/*
 * A run cut anew while it runs: a kernel has deferred of which the plan did not know, so
 * what is held may lie in a grain with other tasks, or be waited for by a grain of which
 * some tasks could run.  Every thread stops before its next task and leaves the run; the
 * last one out gives each task that is not done a grain of its own, and opens the run
 * again.  At most once a run: afterwards there is nothing left to cut.
 */
#include "hbg/hbg_engine.h"

/* Nobody is in the run, nobody can enter, the cut is claimed: the gate is open again behind it. */
void simpler_hbg_recut(struct simpler_hbg_device *device);

#endif
