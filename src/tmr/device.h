/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_DEVICE_H
#define SIMPLER_TMR_DEVICE_H

/* The device of tensormap_and_ringbuffer; task/runtime.h says what its functions do. */
#include "platform/platform.h"
#include "task/runtime.h"

struct simpler_device;

int simpler_device_open(const struct simpler_platform *platform, struct simpler_device **out);
void simpler_device_close(struct simpler_device *device);
int simpler_device_execute(struct simpler_device *device, const struct simpler_device_run *run,
                           struct simpler_run_result *result);
void simpler_device_cancel(struct simpler_device *device);
uint64_t simpler_device_progress(const struct simpler_device *device);
enum simpler_device_lane_end simpler_device_lane_end(const struct simpler_device *device,
                                                     uint32_t lane);
int simpler_device_quiesce(struct simpler_device *device, uint64_t timeout_ns, const char **why);
void simpler_device_report(struct simpler_device *device);

#endif
