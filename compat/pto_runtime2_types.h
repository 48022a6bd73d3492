// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_COMPAT_PTO_RUNTIME2_TYPES_H
#define SIMPLER_COMPAT_PTO_RUNTIME2_TYPES_H

#include "simpler_compat.h"

#endif
