// SPDX-License-Identifier: Apache-2.0
// Args: x [n], y [n], scalar c (double): y = y x + c.
#include <cstdint>
#include <cstring>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    const float *x = reinterpret_cast<float *>(in->buffer.addr) + in->start_offset;
    float *y = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;
    double c;

    std::memcpy(&c, &args[2], sizeof(c));
    for (uint32_t i = 0; i < in->shapes[0]; i++)
        y[i] = y[i] * x[i] + static_cast<float>(c);
}
