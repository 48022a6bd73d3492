// SPDX-License-Identifier: Apache-2.0
// Args: a, b, x [m, n], c, r [m, n]; lane 0 and 1 take one half of the block.
#include <cstdint>

#include "intrinsic.h"
#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[2]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[4]);
    const float *x = reinterpret_cast<float *>(in->buffer.addr) + in->start_offset;
    float *r = reinterpret_cast<float *>(out->buffer.addr) + out->start_offset;
    uint32_t block_elements =
        in->shapes[0] / static_cast<uint32_t>(get_block_num(args)) * in->shapes[1];
    uint32_t half = block_elements / 2;
    uint32_t first = block_elements * static_cast<uint32_t>(get_block_idx(args)) +
                     half * static_cast<uint32_t>(get_sub_block_id(args));

    for (uint32_t i = first; i < first + half; i++)
        r[i] = x[i] > 0.0f ? x[i] : 0.0f;
}
