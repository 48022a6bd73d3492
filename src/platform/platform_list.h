/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PLATFORM_PLATFORM_LIST_H
#define SIMPLER_PLATFORM_PLATFORM_LIST_H

/* The platforms one by one, for the registry alone. */
#include "platform/platform.h"

extern const struct simpler_platform simpler_platform_cpu;
extern const struct simpler_platform simpler_platform_a2a3sim;
extern const struct simpler_platform simpler_platform_a5sim;

#endif
