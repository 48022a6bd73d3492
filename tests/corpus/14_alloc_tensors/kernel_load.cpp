// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    const float *x = reinterpret_cast<float *>(in->buffer.addr) + in->start_offset;
    float *y = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;

    for (uint32_t i = 0; i < in->shapes[0]; i++)
        y[i] = x[i];
}
