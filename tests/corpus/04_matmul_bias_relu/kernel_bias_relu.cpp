// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *bias = reinterpret_cast<ChipTensor *>(args[1]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[2]);
    const float *x = reinterpret_cast<float *>(in->buffer.addr) + in->start_offset;
    const float *b = reinterpret_cast<float *>(bias->buffer.addr) + bias->start_offset;
    float *y = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;
    uint32_t n = in->shapes[1];

    for (uint32_t i = 0; i < in->shapes[0]; i++)
        for (uint32_t j = 0; j < n; j++) {
            float v = x[i * n + j] + b[j];
            y[i * n + j] = v > 0.0f ? v : 0.0f;
        }
}
