/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_RUNTIMES_H
#define SIMPLER_HOST_RUNTIMES_H

/* The runtimes of this library, the default first. */
#include "task/runtime.h"

#define SIMPLER_RUNTIMES 2

extern const struct simpler_runtime *const simpler_runtimes[SIMPLER_RUNTIMES];

/* Index of a name (NULL: the default's), or -1. */
int simpler_runtimes_find(const char *name);

#endif
