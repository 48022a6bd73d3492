// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *a = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *b = reinterpret_cast<ChipTensor *>(args[1]);
    ChipTensor *c = reinterpret_cast<ChipTensor *>(args[2]);
    const float *pa = reinterpret_cast<float *>(a->buffer.addr) + a->start_offset;
    const float *pb = reinterpret_cast<float *>(b->buffer.addr) + b->start_offset;
    float *pc = reinterpret_cast<float *>(c->buffer.addr) + c->start_offset;
    uint32_t m = a->shapes[0];
    uint32_t k = a->shapes[1];
    uint32_t n = b->shapes[1];

    for (uint32_t i = 0; i < m; i++) {
        for (uint32_t j = 0; j < n; j++)
            pc[i * n + j] = 0.0f;
        for (uint32_t p = 0; p < k; p++)
            for (uint32_t j = 0; j < n; j++)
                pc[i * n + j] += pa[i * k + p] * pb[p * n + j];
    }
}
