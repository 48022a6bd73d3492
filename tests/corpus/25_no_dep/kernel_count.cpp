// SPDX-License-Identifier: Apache-2.0
// Args: x [n] uint8, bins [k] uint32.
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    const uint8_t *x = reinterpret_cast<uint8_t *>(in->buffer.addr) + in->start_offset;
    uint32_t *bins = reinterpret_cast<uint32_t *>(out->buffer.addr) + out->start_offset;

    for (uint32_t i = 0; i < in->shapes[0]; i++)
        __atomic_fetch_add(&bins[x[i] * out->shapes[0] / 256], 1u, __ATOMIC_RELAXED);
}
