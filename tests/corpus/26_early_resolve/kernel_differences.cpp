// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    const int16_t *x = reinterpret_cast<int16_t *>(in->buffer.addr) + in->start_offset;
    int16_t *y = reinterpret_cast<int16_t *>(out->buffer.addr) + out->start_offset;
    uint32_t n = in->shapes[0];

    y[0] = x[0];
    for (uint32_t i = 1; i < n; i++)
        y[i] = static_cast<int16_t>(x[i] - x[i - 1]);
}
