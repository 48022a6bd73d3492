// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    const float *x = reinterpret_cast<float *>(in->buffer.addr) + in->start_offset;
    int32_t *counts = reinterpret_cast<int32_t *>(out->buffer.addr) + out->start_offset;

    counts[0] = static_cast<int32_t>(in->shapes[0]);
    counts[1] = 0;
    for (uint32_t i = 0; i < in->shapes[0]; i++)
        counts[1] += x[i] < 0.0f;
}
