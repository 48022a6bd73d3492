// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_COMPAT_PTO_ORCHESTRATION_API_H
#define SIMPLER_COMPAT_PTO_ORCHESTRATION_API_H

#include "simpler_compat.h"

#endif
