// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    const uint32_t *bins = reinterpret_cast<uint32_t *>(in->buffer.addr) + in->start_offset;
    uint32_t *sums = reinterpret_cast<uint32_t *>(out->buffer.addr) + out->start_offset;
    uint32_t sum = 0;

    for (uint32_t i = 0; i < in->shapes[0]; i++) {
        sum += bins[i];
        sums[i] = sum;
    }
}
