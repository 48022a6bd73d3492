// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *max = reinterpret_cast<ChipTensor *>(args[1]);
    ChipTensor *exps = reinterpret_cast<ChipTensor *>(args[2]);
    ChipTensor *sums = reinterpret_cast<ChipTensor *>(args[3]);
    const float *x = reinterpret_cast<float *>(in->buffer.addr) + in->start_offset;
    const float *m = reinterpret_cast<float *>(max->buffer.addr) + max->start_offset;
    float *e = reinterpret_cast<float *>(exps->buffer.addr) + exps->start_offset;
    float *s = reinterpret_cast<float *>(sums->buffer.addr) + sums->start_offset;
    uint32_t columns = in->shapes[1];

    for (uint32_t i = 0; i < in->shapes[0]; i++) {
        s[i] = 0.0f;
        for (uint32_t j = 0; j < columns; j++) {
            e[i * columns + j] = std::exp(x[i * in->strides[0] + j] - m[i]);
            s[i] += e[i * columns + j];
        }
    }
}
