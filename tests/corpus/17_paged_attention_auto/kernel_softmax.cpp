// SPDX-License-Identifier: Apache-2.0
// Args: scores [heads, page], p [heads, page], max [heads], sum [heads],
// scalar: tokens of this page in use.
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
    const float *scores = floats(args[0]);
    float *p = floats(args[1]);
    float *max = floats(args[2]);
    float *sum = floats(args[3]);
    uint32_t page = extent(args[0], 1);
    uint32_t used = static_cast<uint32_t>(args[4]);

    for (uint32_t h = 0; h < extent(args[0], 0); h++) {
        max[h] = scores[h * page];
        sum[h] = 0.0f;
        for (uint32_t t = 1; t < used; t++)
            max[h] = std::fmax(max[h], scores[h * page + t]);
        for (uint32_t t = 0; t < page; t++) {
            p[h * page + t] = t < used ? std::exp(scores[h * page + t] - max[h]) : 0.0f;
            sum[h] += p[h * page + t];
        }
    }
}
