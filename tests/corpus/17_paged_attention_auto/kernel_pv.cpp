// SPDX-License-Identifier: Apache-2.0
// Args: p [heads, page], v [page, dim], out [heads, dim].
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
    const float *p = floats(args[0]);
    const float *v = floats(args[1]);
    float *out = floats(args[2]);
    uint32_t page = extent(args[0], 1);
    uint32_t dim = extent(args[1], 1);

    for (uint32_t h = 0; h < extent(args[0], 0); h++)
        for (uint32_t d = 0; d < dim; d++) {
            float sum = 0.0f;
            for (uint32_t t = 0; t < page; t++)
                sum += p[h * page + t] * v[t * dim + d];
            out[h * dim + d] = sum;
        }
}
