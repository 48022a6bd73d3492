// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *exps = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *sums = reinterpret_cast<ChipTensor *>(args[1]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[2]);
    const float *e = reinterpret_cast<float *>(exps->buffer.addr) + exps->start_offset;
    const float *s = reinterpret_cast<float *>(sums->buffer.addr) + sums->start_offset;
    float *y = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;
    uint32_t columns = exps->shapes[1];

    for (uint32_t i = 0; i < exps->shapes[0]; i++)
        for (uint32_t j = 0; j < columns; j++)
            y[i * columns + j] = e[i * columns + j] / s[i];
}
