/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_RUN_TASKS_H
#define SIMPLER_HBG_RUN_TASKS_H

/* The tasks of a grain: arguments, kernels, failures. */
#include "hbg/hbg_engine.h"

/* Nodes first .. end - 1 of the part, in order; everything before them is done. */
void simpler_hbg_run_tasks(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                           uint32_t first, uint32_t end);

/* Whether something that the node depends on failed. */
bool simpler_hbg_is_poisoned(const struct simpler_hbg_device *device,
                             const struct simpler_hbg_part *part, uint32_t node);

#endif
