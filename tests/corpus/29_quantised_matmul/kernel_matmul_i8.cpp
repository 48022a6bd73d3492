// SPDX-License-Identifier: Apache-2.0
// Args: a [m, k] int8, b [k, n] int8, sums [m, n] int32, cut.
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *left = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *right = reinterpret_cast<ChipTensor *>(args[1]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[2]);
    const int8_t *a = reinterpret_cast<int8_t *>(left->buffer.addr) + left->start_offset;
    const int8_t *b = reinterpret_cast<int8_t *>(right->buffer.addr) + right->start_offset;
    int32_t *sums = reinterpret_cast<int32_t *>(out->buffer.addr) + out->start_offset;
    uint32_t k = left->shapes[1];
    uint32_t n = right->shapes[1];

    for (uint32_t i = 0; i < left->shapes[0]; i++)
        for (uint32_t j = 0; j < n; j++) {
            int32_t sum = 0;
            for (uint32_t p = 0; p < k; p++)
                sum += a[i * k + p] * b[p * n + j];
            sums[i * n + j] = sum;
        }
}
