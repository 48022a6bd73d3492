// SPDX-License-Identifier: Apache-2.0
// Args: x [rows, n] bfloat16, out [rows, 2] = mean and 1 / deviation, epsilon.
#include <cmath>
#include <cstdint>

#include "bf16.h"
#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    const uint16_t *x = reinterpret_cast<uint16_t *>(in->buffer.addr) + in->start_offset;
    float *statistics = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;
    uint32_t n = in->shapes[1];
    float epsilon;

    std::memcpy(&epsilon, &args[2], sizeof(epsilon));
    for (uint32_t i = 0; i < in->shapes[0]; i++) {
        const uint16_t *row = x + i * in->strides[0];
        float mean = 0.0f, variance = 0.0f;
        for (uint32_t j = 0; j < n; j++)
            mean += bf16_to_float(row[j]) / static_cast<float>(n);
        for (uint32_t j = 0; j < n; j++) {
            float d = bf16_to_float(row[j]) - mean;
            variance += d * d / static_cast<float>(n);
        }
        statistics[2 * i] = mean;
        statistics[2 * i + 1] = 1.0f / std::sqrt(variance + epsilon);
    }
}
