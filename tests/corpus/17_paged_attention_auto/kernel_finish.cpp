// SPDX-License-Identifier: Apache-2.0
// Args: sum [heads], acc [heads, dim], out [heads, dim] = acc / sum.
#include <cstdint>

#include "tensor.h"

static float *floats(int64_t arg)
{
    ChipTensor *t = reinterpret_cast<ChipTensor *>(arg);
    return reinterpret_cast<float *>(t->buffer.addr) + t->start_offset;
}

static uint32_t extent(int64_t arg, uint32_t dim)
{
    return reinterpret_cast<ChipTensor *>(arg)->shapes[dim];
}

extern "C" void kernel_entry(int64_t *args)
{
    const float *sum = floats(args[0]);
    const float *acc = floats(args[1]);
    float *out = floats(args[2]);
    uint32_t dim = extent(args[1], 1);

    for (uint32_t h = 0; h < extent(args[1], 0); h++)
        for (uint32_t d = 0; d < dim; d++)
            out[h * dim + d] = acc[h * dim + d] / sum[h];
}
