// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_COMPAT_PTO_TASK_ID_H
#define SIMPLER_COMPAT_PTO_TASK_ID_H

#include "simpler_compat.h"

#endif
