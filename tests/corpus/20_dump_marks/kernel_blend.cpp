// SPDX-License-Identifier: Apache-2.0
// Args: x [n], y [n], out [n], scalars wx, wy: out = wx x + wy y.
#include <cstdint>
#include <cstring>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *left = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *right = reinterpret_cast<ChipTensor *>(args[1]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[2]);
    const float *x = reinterpret_cast<float *>(left->buffer.addr) + left->start_offset;
    const float *y = reinterpret_cast<float *>(right->buffer.addr) + right->start_offset;
    float *z = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;
    float wx, wy;

    std::memcpy(&wx, &args[3], sizeof(wx));
    std::memcpy(&wy, &args[4], sizeof(wy));
    for (uint32_t i = 0; i < left->shapes[0]; i++)
        z[i] = wx * x[i] + wy * y[i];
}
