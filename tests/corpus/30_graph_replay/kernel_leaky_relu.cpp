// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *t = reinterpret_cast<ChipTensor *>(args[0]);
    float *y = reinterpret_cast<float *>(t->buffer.addr) + t->start_offset;
    float slope;

    std::memcpy(&slope, &args[1], sizeof(slope));
    for (uint32_t i = 0; i < t->shapes[0]; i++)
        y[i] = y[i] < 0.0f ? slope * y[i] : y[i];
}
