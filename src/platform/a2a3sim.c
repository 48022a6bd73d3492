/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated a2a3 chip: host and device share one mapping. */
#include "platform/platform_list.h"
#include "platform/transport.h"

#include "simpler/call_config.h"

const struct simpler_platform simpler_platform_a2a3sim = {
    .name = "a2a3sim",
    .description = "simulated a2a3 chip, memory shared with the host",
    .min_threads = 2,
    .max_threads = 4,
    .max_clusters = 24,
    .default_clusters = 8,
    .device_count = 16,
    .counter_hz = 50000000,
    .default_hazards = SIMPLER_HAZARDS_RAW,
    .dtypes = SIMPLER_PLATFORM_ALL_DTYPES & ~SIMPLER_PLATFORM_SMALL_FLOATS,
    .transport = &simpler_transport_mapped,
};
