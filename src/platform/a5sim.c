/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated a5 chip: the host reaches diagnostic memory through copies alone. */
#include "platform/platform_list.h"
#include "platform/transport.h"

#include "simpler/call_config.h"

const struct simpler_platform simpler_platform_a5sim = {
    .name = "a5sim",
    .description = "simulated a5 chip, diagnostic memory reached by copies",
    .min_threads = 2,
    .max_threads = 5,
    .max_clusters = 36,
    .default_clusters = 8,
    .device_count = 16,
    .counter_hz = 1000000000,
    .default_hazards = SIMPLER_HAZARDS_RAW,
    .dtypes = SIMPLER_PLATFORM_ALL_DTYPES,
    .transport = &simpler_transport_shadow,
};
