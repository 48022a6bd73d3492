/* SPDX-License-Identifier: Apache-2.0 */
/* The host itself: as many device threads as it has CPUs. */
#include "platform/platform_list.h"
#include "platform/transport.h"

#include "simpler/call_config.h"

const struct simpler_platform simpler_platform_cpu = {
    .name = "cpu",
    .description = "this host's CPUs",
    .min_threads = 1,
    .max_threads = 256,
    .max_clusters = 36,
    .default_clusters = 8,
    .device_count = 1,
    .counter_hz = 1000000000,
    .default_hazards = SIMPLER_HAZARDS_ALL,
    .dtypes = SIMPLER_PLATFORM_ALL_DTYPES,
    .transport = &simpler_transport_mapped,
};
