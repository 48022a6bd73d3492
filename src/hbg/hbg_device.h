/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_HBG_DEVICE_H
#define SIMPLER_HBG_HBG_DEVICE_H

/* The device: threads and memory, kept from run to run; a run's way in and out. */
#include "hbg/hbg_engine.h"

int simpler_hbg_open(const struct simpler_platform *platform, void **device);
void simpler_hbg_close(void *device);
int simpler_hbg_execute(void *device, const struct simpler_device_run *run,
                        struct simpler_run_result *result);
void simpler_hbg_cancel(void *device);
uint64_t simpler_hbg_progress(const void *device);
enum simpler_device_lane_end simpler_hbg_lane_end(const void *device, uint32_t lane);
int simpler_hbg_quiesce(void *device, uint64_t timeout_ns, const char **why);
void simpler_hbg_report(void *device);

/* The threads that a run needs; those that are there are kept when they fit. */
int simpler_hbg_ensure_threads(struct simpler_hbg_device *device,
                               const struct simpler_device_run *run);
/* Thread @i of the device; core threads come behind its own. */
void simpler_hbg_init_thread(struct simpler_hbg_thread *thread, struct simpler_hbg_device *device,
                             uint32_t i);
void simpler_hbg_stop_threads(struct simpler_hbg_device *device);

/* Everything of the device that the run's graph needs: image, plans, parts, units. */
int simpler_hbg_load(struct simpler_hbg_device *device);

#endif
