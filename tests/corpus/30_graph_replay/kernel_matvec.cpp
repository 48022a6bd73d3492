// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *weight = reinterpret_cast<ChipTensor *>(args[1]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[2]);
    const float *x = reinterpret_cast<float *>(in->buffer.addr) + in->start_offset;
    const float *w = reinterpret_cast<float *>(weight->buffer.addr) + weight->start_offset;
    float *y = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;
    uint32_t n = in->shapes[0];

    for (uint32_t j = 0; j < n; j++) {
        float sum = 0.0f;
        for (uint32_t i = 0; i < n; i++)
            sum += x[i] * w[i * n + j];
        y[j] = sum;
    }
}
