// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_COMPAT_PTO_ARG_WITH_DEPS_H
#define SIMPLER_COMPAT_PTO_ARG_WITH_DEPS_H

#include "simpler_compat.h"

#endif
