// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_COMPAT_DATA_TYPE_H
#define SIMPLER_COMPAT_DATA_TYPE_H

#include "tensor.h"

#endif
