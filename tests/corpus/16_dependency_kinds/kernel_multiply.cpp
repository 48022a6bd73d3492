// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *left = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *right = reinterpret_cast<ChipTensor *>(args[1]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[2]);
    const float *a = reinterpret_cast<float *>(left->buffer.addr) + left->start_offset;
    const float *b = reinterpret_cast<float *>(right->buffer.addr) + right->start_offset;
    float *y = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;

    for (uint32_t i = 0; i < out->shapes[0]; i++)
        y[i] = a[i] * b[i];
}
