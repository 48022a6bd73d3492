/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PLATFORM_USABLE_CPUS_H
#define SIMPLER_PLATFORM_USABLE_CPUS_H

#include <stdint.h>

/*
 * CPUs that the cgroup quota of this process allows, rounded up; UINT32_MAX
 * without a quota.  @root is put before /proc and /sys; "" for the real ones.
 */
uint32_t simpler_usable_cpus_quota(const char *root);

#endif
