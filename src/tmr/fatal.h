/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_FATAL_H
#define SIMPLER_TMR_FATAL_H

/*
 * Why a run stops.  One latch for every cause; the first one wins and every
 * later call of the orchestration answers with it.
 */
#include "tmr/engine.h"

/* Latches a device code with its explanation; returns the run's status. */
int simpler_fatal_latch(struct simpler_orch *orch, enum simpler_device_code code,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for any thread: a kernel's own, a core's. */
int simpler_fatal_latch_device(struct simpler_device *device, enum simpler_device_code code,
                               const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends the run without a code; any thread. */
void simpler_fatal_stop_device(struct simpler_device *device, int status);

/* Ends the run without a device code (SIMPLER_EKERNEL, SIMPLER_ECANCELED, ...). */
int simpler_fatal_stop(struct simpler_orch *orch, int status);

/* The status that calls answer with once device->stop is set. */
int simpler_fatal_status(struct simpler_orch *orch);

/*
 * After a code that names a size the orchestration goes on dry: each refused
 * submit is counted, so that the report can name a size that is enough.
 */
void simpler_fatal_count_submit(struct simpler_orch *orch, const struct simpler_task_args *args);
void simpler_fatal_start_counting(struct simpler_orch *orch);

/* A kernel's name as reports show it. */
const char *simpler_fatal_kernel_name(const struct simpler_device *device, uint32_t func_id);

/* Fills status, codes and message of the result. */
void simpler_fatal_report(struct simpler_orch *orch, struct simpler_run_result *result);

#endif
