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

/*
 * Waiting for each other and completing later: the functions of kernel.h, for
 * kernels that are not linked with the runtime.
 */
inline int sync_all(const int64_t *args)
{
    return SIMPLER_CALL(kernel_sync_all)(args);
}
inline int sync_block(const int64_t *args)
{
    return SIMPLER_CALL(kernel_sync_block)(args);
}
inline int set_flag(const int64_t *args, simpler_lane lane, uint32_t flag)
{
    return SIMPLER_CALL(kernel_set_flag)(args, lane, flag);
}
inline int wait_flag(const int64_t *args, uint32_t flag)
{
    return SIMPLER_CALL(kernel_wait_flag)(args, flag);
}
inline simpler_lane get_lane(const int64_t *args)
{
    return static_cast<simpler_lane>(SIMPLER_CALL(kernel_lane)(args));
}
inline int defer(const int64_t *args, const simpler_async_condition &condition)
{
    return SIMPLER_CALL(kernel_defer)(args, &condition);
}
inline void async_counter_add(simpler_async_counter &counter, uint32_t n)
{
    SIMPLER_CALL(async_counter_add)(&counter, n);
}
inline uint32_t async_counter_get(const simpler_async_counter &counter)
{
    return SIMPLER_CALL(async_counter_get)(&counter);
}
} // namespace SIMPLER_CPP_NAMESPACE
} // namespace simpler

#endif
