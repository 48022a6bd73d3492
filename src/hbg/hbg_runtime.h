/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_HBG_RUNTIME_H
#define SIMPLER_HBG_HBG_RUNTIME_H

/* host_build_graph for the registry of runtimes. */
#include "task/runtime.h"

extern const struct simpler_runtime simpler_runtime_hbg;

#endif
