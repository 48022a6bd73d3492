// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    const float *x = reinterpret_cast<float *>(in->buffer.addr) + in->start_offset;
    float *m = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;

    for (uint32_t i = 0; i < in->shapes[0]; i++) {
        const float *row = x + i * in->strides[0];
        m[i] = row[0];
        for (uint32_t j = 1; j < in->shapes[1]; j++)
            m[i] = row[j] > m[i] ? row[j] : m[i];
    }
}
