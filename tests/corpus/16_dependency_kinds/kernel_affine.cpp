// SPDX-License-Identifier: Apache-2.0
// y = k x + d
#include <cstdint>
#include <cstring>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    const float *x = reinterpret_cast<float *>(in->buffer.addr) + in->start_offset;
    float *y = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;
    float k, d;

    std::memcpy(&k, &args[2], sizeof(k));
    std::memcpy(&d, &args[3], sizeof(d));
    for (uint32_t i = 0; i < in->shapes[0]; i++)
        y[i] = k * x[i] + d;
}
