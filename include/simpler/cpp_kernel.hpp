// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_CPP_KERNEL_HPP
#define SIMPLER_CPP_KERNEL_HPP

/* What a kernel in C++ asks of its arguments; see kernel.h for their places. */
#include <cstdint>

#include "simpler/cpp_tensor.hpp"
#include "simpler/kernel.h"

namespace simpler
{
inline namespace SIMPLER_CPP_NAMESPACE
{
/** The number of this block of the task, and how many it has. */
inline int32_t get_block_idx(const int64_t *args)
{
    return simpler_kernel_block_idx(args);
}
inline int32_t get_block_num(const int64_t *args)
{
    return simpler_kernel_block_num(args);
}
/** The AIV lane of the cluster, 0 or 1; 0 on AIC. */
inline int32_t get_sub_block_id(const int64_t *args)
{
    return simpler_kernel_sub_block_id(args);
}
} // namespace SIMPLER_CPP_NAMESPACE
} // namespace simpler

#endif
