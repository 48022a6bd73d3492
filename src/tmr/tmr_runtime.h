/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_TMR_RUNTIME_H
#define SIMPLER_TMR_TMR_RUNTIME_H

/* tensormap_and_ringbuffer for the registry of runtimes. */
#include "task/runtime.h"

extern const struct simpler_runtime simpler_runtime_tmr;

#endif
