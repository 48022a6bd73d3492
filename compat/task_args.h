// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_COMPAT_TASK_ARGS_H
#define SIMPLER_COMPAT_TASK_ARGS_H

#include "simpler_compat.h"

#endif
