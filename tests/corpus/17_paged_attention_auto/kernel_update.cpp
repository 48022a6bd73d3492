// SPDX-License-Identifier: Apache-2.0
// Args: page max [heads], page sum [heads], page out [heads, dim], and the
// running max, sum and accumulator of the same shapes.
#include <cmath>
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
    const float *page_max = floats(args[0]);
    const float *page_sum = floats(args[1]);
    const float *page_out = floats(args[2]);
    float *max = floats(args[3]);
    float *sum = floats(args[4]);
    float *acc = floats(args[5]);
    uint32_t dim = extent(args[2], 1);

    for (uint32_t h = 0; h < extent(args[2], 0); h++) {
        float new_max = std::fmax(max[h], page_max[h]);
        float keep = std::exp(max[h] - new_max);
        float take = std::exp(page_max[h] - new_max);
        sum[h] = keep * sum[h] + take * page_sum[h];
        for (uint32_t d = 0; d < dim; d++)
            acc[h * dim + d] = keep * acc[h * dim + d] + take * page_out[h * dim + d];
        max[h] = new_max;
    }
}
