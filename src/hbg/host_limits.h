/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_HOST_LIMITS_H
#define SIMPLER_HBG_HOST_LIMITS_H

/*
 * Why an orchestration fails.  Nothing waits: a size that is too small is found
 * at once.  The orchestration then goes on dry, so that the report can name the
 * smallest value that is enough for the whole of it.
 */
#include "hbg/host_graph.h"

/* What every call answers once the run has failed. */
int simpler_hbg_status(struct simpler_hbg_orch *orch);
/* Latches a device code with its explanation; returns the run's status. */
int simpler_hbg_latch(struct simpler_hbg_orch *orch, enum simpler_device_code code,
                      const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same from a thread of the device. */
int simpler_hbg_latch_device(struct simpler_hbg_orch *orch, enum simpler_device_code code,
                             const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends the run without a device code. */
int simpler_hbg_stop(struct simpler_hbg_orch *orch, int status);

/*
 * Whether the draft has room for @tasks more with @heap_bytes of outputs and
 * @map_entries; else the status of a run that has failed.
 */
int simpler_hbg_check_room(struct simpler_hbg_orch *orch, uint64_t tasks, uint64_t heap_bytes,
                           uint64_t map_entries);
/* A submit of the dry run. */
void simpler_hbg_count_submit(struct simpler_hbg_orch *orch, const struct simpler_task_args *args);
/* A recorded graph of the dry run. */
void simpler_hbg_count_graph(struct simpler_hbg_orch *orch, uint64_t tasks, uint64_t heap_bytes);
/* What a size should be: the remedy's line of the report. */
void simpler_hbg_advise(const struct simpler_hbg_orch *orch, int code,
                        struct simpler_run_result *result);

#endif
