// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *left = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *right = reinterpret_cast<ChipTensor *>(args[1]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[2]);
    const int16_t *x = reinterpret_cast<int16_t *>(left->buffer.addr) + left->start_offset;
    const int16_t *y = reinterpret_cast<int16_t *>(right->buffer.addr) + right->start_offset;
    int16_t *z = reinterpret_cast<int16_t *>(out->buffer.addr) + out->start_offset;
    uint32_t n = 1;

    for (uint32_t d = 0; d < left->ndims; d++)
        n *= left->shapes[d];
    for (uint32_t i = 0; i < n; i++)
        z[i] = static_cast<int16_t>(x[i] * y[i]);
}
