// SPDX-License-Identifier: Apache-2.0
// Args: a [m, k], b [k, n], x, c [m, n], r; this block's rows of c = a b.
#include <cstdint>

#include "intrinsic.h"
#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *a = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *b = reinterpret_cast<ChipTensor *>(args[1]);
    ChipTensor *c = reinterpret_cast<ChipTensor *>(args[3]);
    const float *pa = reinterpret_cast<float *>(a->buffer.addr) + a->start_offset;
    const float *pb = reinterpret_cast<float *>(b->buffer.addr) + b->start_offset;
    float *pc = reinterpret_cast<float *>(c->buffer.addr) + c->start_offset;
    uint32_t rows = a->shapes[0] / static_cast<uint32_t>(get_block_num(args));
    uint32_t first = rows * static_cast<uint32_t>(get_block_idx(args));
    uint32_t k = a->shapes[1];
    uint32_t n = b->shapes[1];

    for (uint32_t i = first; i < first + rows; i++)
        for (uint32_t j = 0; j < n; j++) {
            float sum = 0.0f;
            for (uint32_t p = 0; p < k; p++)
                sum += pa[i * k + p] * pb[p * n + j];
            pc[i * n + j] = sum;
        }
}
