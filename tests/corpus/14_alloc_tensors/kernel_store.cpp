// SPDX-License-Identifier: Apache-2.0
// Args: x [n], log [steps], y [n + 1]: x and then the number of steps in order.
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *log = reinterpret_cast<ChipTensor *>(args[1]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[2]);
    const float *x = reinterpret_cast<float *>(in->buffer.addr) + in->start_offset;
    const int32_t *steps = reinterpret_cast<int32_t *>(log->buffer.addr) + log->start_offset;
    float *y = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;
    uint32_t in_order = 0;

    for (uint32_t i = 0; i < in->shapes[0]; i++)
        y[i] = x[i];
    while (in_order < log->shapes[0] && steps[in_order] == static_cast<int32_t>(in_order))
        in_order++;
    y[in->shapes[0]] = static_cast<float>(in_order);
}
