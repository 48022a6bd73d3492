// SPDX-License-Identifier: Apache-2.0
// Args: q [heads, dim], k [page, dim], scores [heads, page], scalar scale.
#include <cstring>
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
    const float *q = floats(args[0]);
    const float *k = floats(args[1]);
    float *scores = floats(args[2]);
    uint32_t dim = extent(args[0], 1);
    uint32_t page = extent(args[1], 0);
    float scale;

    std::memcpy(&scale, &args[3], sizeof(scale));
    for (uint32_t h = 0; h < extent(args[0], 0); h++)
        for (uint32_t t = 0; t < page; t++) {
            float sum = 0.0f;
            for (uint32_t d = 0; d < dim; d++)
                sum += q[h * dim + d] * k[t * dim + d];
            scores[h * page + t] = scale * sum;
        }
}
