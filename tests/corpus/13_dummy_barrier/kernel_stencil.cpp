// SPDX-License-Identifier: Apache-2.0
// Args: x [n], y [part], scalar first; y[i] = x[first+i-1] + x[first+i+1], cyclic.
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    uint32_t first = static_cast<uint32_t>(args[2]);
    const int32_t *x = reinterpret_cast<int32_t *>(in->buffer.addr) + in->start_offset;
    int32_t *y = reinterpret_cast<int32_t *>(out->buffer.addr) + out->start_offset;
    uint32_t n = in->shapes[0];

    for (uint32_t i = 0; i < out->shapes[0]; i++)
        y[i] = x[(first + i + n - 1) % n] + x[(first + i + 1) % n];
}
