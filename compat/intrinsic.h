// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_COMPAT_INTRINSIC_H
#define SIMPLER_COMPAT_INTRINSIC_H

/* Which part of its task a kernel is. */
#ifndef SIMPLER_VIA_TABLE
#define SIMPLER_VIA_TABLE 1
#endif
#include "simpler/cpp_bind.hpp"
#include "simpler/cpp_kernel.hpp"

using simpler::get_block_idx;
using simpler::get_block_num;
using simpler::get_sub_block_id;

#endif
