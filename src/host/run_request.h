/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_RUN_REQUEST_H
#define SIMPLER_HOST_RUN_REQUEST_H

/* From what a caller asks for to a run without defaults or doubts. */
#include "simpler/worker.h"
#include "task/runtime.h"

/*
 * Fills @run but for what the diagnostics add; @args (not NULL) stays the
 * caller's.  SIMPLER_EINVAL, logged.  Any thread.
 */
int simpler_run_request_prepare(struct simpler_worker *worker, uint32_t handle,
                                const struct simpler_orch_args *args,
                                const struct simpler_call_config *config,
                                struct simpler_device_run *run);

#endif
