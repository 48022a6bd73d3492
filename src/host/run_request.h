/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_RUN_REQUEST_H
#define SIMPLER_HOST_RUN_REQUEST_H

/* From what a caller asks for to a run without defaults or doubts. */
#include "host/run_queue.h"

/*
 * Fills @run's device and output_prefix, but for what the diagnostics add; @args
 * (not NULL) and the prefix stay the caller's.  SIMPLER_EINVAL, logged.  Any thread.
 */
int simpler_run_request_prepare(struct simpler_worker *worker, uint32_t handle,
                                const struct simpler_orch_args *args,
                                const struct simpler_call_config *config, struct simpler_run *run);

#endif
