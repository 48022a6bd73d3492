// SPDX-License-Identifier: Apache-2.0
// Args: x [rows, n] bfloat16, statistics [rows, 2], gamma [n], beta [n], y as x.
#include <cstdint>

#include "bf16.h"
#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *t[5];
    for (int i = 0; i < 5; i++)
        t[i] = reinterpret_cast<ChipTensor *>(args[i]);
    const uint16_t *x = reinterpret_cast<uint16_t *>(t[0]->buffer.addr) + t[0]->start_offset;
    const float *s = reinterpret_cast<float *>(t[1]->buffer.addr) + t[1]->start_offset;
    const float *gamma = reinterpret_cast<float *>(t[2]->buffer.addr) + t[2]->start_offset;
    const float *beta = reinterpret_cast<float *>(t[3]->buffer.addr) + t[3]->start_offset;
    uint16_t *y = reinterpret_cast<uint16_t *>(t[4]->buffer.addr) + t[4]->start_offset;

    for (uint32_t i = 0; i < t[0]->shapes[0]; i++)
        for (uint32_t j = 0; j < t[0]->shapes[1]; j++) {
            float v = bf16_to_float(x[i * t[0]->strides[0] + j]);
            v = (v - s[2 * i]) * s[2 * i + 1] * gamma[j] + beta[j];
            y[i * t[4]->strides[0] + j] = float_to_bf16(v);
        }
}
