/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PLATFORM_PLATFORM_H
#define SIMPLER_PLATFORM_PLATFORM_H

/*
 * A platform is data: one static const struct each.  No file outside
 * platform/ contains a platform's name.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpler/dtype.h"

struct simpler_transport_ops;

struct simpler_platform {
    const char *name;
    const char *description; /* one line for `simpler info` */
    uint32_t min_threads;    /* device threads; 2, or 1 where one may do everything */
    uint32_t max_threads;
    uint32_t max_clusters;
    uint32_t default_clusters;
    uint32_t device_count;    /* valid ids are 0 to device_count - 1 */
    uint64_t counter_hz;      /* system counter of the documents */
    uint32_t default_hazards; /* enum simpler_hazards */
    uint32_t dtypes;          /* bit an element type that its cores have */
    /* How the host reaches diagnostic memory. */
    const struct simpler_transport_ops *transport;
};

/* Bits of dtypes. */
#define SIMPLER_PLATFORM_SMALL_FLOATS \
    (1u << SIMPLER_DTYPE_FP8E4M3FN | 1u << SIMPLER_DTYPE_FP8E8M0 | 1u << SIMPLER_DTYPE_FP4E2M1)
#define SIMPLER_PLATFORM_ALL_DTYPES ((1u << SIMPLER_DTYPE_NUM) - 1)

/* Whether @dtype, a valid id, is an element type of the platform. */
static inline bool simpler_platform_has_dtype(const struct simpler_platform *platform,
                                              uint32_t dtype)
{
    return (platform->dtypes >> dtype & 1) != 0;
}

/* Every platform of this host; ends with NULL. */
extern const struct simpler_platform *const simpler_platform_list[];

/* NULL when there is no such platform. */
const struct simpler_platform *simpler_platform_find(const char *name);
/* "; there are: ..." about a name that is none of them, see base/nearest.h; returns @text. */
const char *simpler_platform_answer(const char *name, char *text, size_t bytes);
/* For a name of real hardware the simulated platform to use instead, else NULL. */
const char *simpler_platform_substitute(const char *name);
/* CPUs that this process may use: affinity and cgroup quota, at least 1. */
uint32_t simpler_platform_usable_cpus(void);
/* Device threads of a run: 0 means usable CPUs, at least 2, within the platform's limits. */
uint32_t simpler_platform_thread_count(const struct simpler_platform *platform, uint32_t wanted);

#endif
