// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__
#endif

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args)
{
    __gm__ ChipTensor *x_tensor = reinterpret_cast<__gm__ ChipTensor *>(args[0]);
    __gm__ ChipTensor *y_tensor = reinterpret_cast<__gm__ ChipTensor *>(args[1]);
    __gm__ ChipTensor *z_tensor = reinterpret_cast<__gm__ ChipTensor *>(args[2]);

    __gm__ float *x =
        reinterpret_cast<__gm__ float *>(x_tensor->buffer.addr) + x_tensor->start_offset;
    __gm__ float *y =
        reinterpret_cast<__gm__ float *>(y_tensor->buffer.addr) + y_tensor->start_offset;
    __gm__ float *z =
        reinterpret_cast<__gm__ float *>(z_tensor->buffer.addr) + z_tensor->start_offset;

    for (uint32_t i = 0; i < z_tensor->shapes[0]; i++)
        z[i] = x[i] + y[i];
}
