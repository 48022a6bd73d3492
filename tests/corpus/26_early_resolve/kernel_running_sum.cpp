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

    int16_t sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum = static_cast<int16_t>(sum + x[i]);
        y[i] = sum;
    }
}
