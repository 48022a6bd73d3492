// SPDX-License-Identifier: Apache-2.0
// Args: a [m, k], b [k, n], c [m, n], scalar: add to c instead of storing.
#include <cstdint>

#include "tensor.h"

static float *data(const ChipTensor *t)
{
    return reinterpret_cast<float *>(t->buffer.addr) + t->start_offset;
}

extern "C" void kernel_entry(int64_t *args)
{
    const ChipTensor *a = reinterpret_cast<ChipTensor *>(args[0]);
    const ChipTensor *b = reinterpret_cast<ChipTensor *>(args[1]);
    const ChipTensor *c = reinterpret_cast<ChipTensor *>(args[2]);
    bool accumulate = args[3] != 0;

    for (uint32_t i = 0; i < a->shapes[0]; i++) {
        for (uint32_t j = 0; j < b->shapes[1]; j++) {
            float *out = data(c) + i * c->strides[0] + j * c->strides[1];
            float sum = accumulate ? *out : 0.0f;
            for (uint32_t p = 0; p < a->shapes[1]; p++)
                sum += data(a)[i * a->strides[0] + p * a->strides[1]] *
                       data(b)[p * b->strides[0] + j * b->strides[1]];
            *out = sum;
        }
    }
}
