// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>

#include "intrinsic.h"
#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    const float *x = reinterpret_cast<float *>(in->buffer.addr) + in->start_offset;
    float *y = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;
    uint64_t block = static_cast<uint64_t>(get_block_idx(args));
    uint64_t blocks = static_cast<uint64_t>(get_block_num(args));
    uint64_t n = in->shapes[0];

    for (uint64_t i = n * block / blocks; i < n * (block + 1) / blocks; i++)
        y[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678f));
}
