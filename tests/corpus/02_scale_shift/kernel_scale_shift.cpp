// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>

#include "tensor.h"

static float scalar_as_float(int64_t bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    float scale = scalar_as_float(args[2]);
    float shift = scalar_as_float(args[3]);
    const float *x = reinterpret_cast<float *>(in->buffer.addr) + in->start_offset;
    float *z = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;

    for (uint32_t i = 0; i < in->shapes[0]; i++)
        z[i] = scale * x[i] + shift;
}
