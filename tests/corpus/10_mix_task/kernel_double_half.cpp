// SPDX-License-Identifier: Apache-2.0
// Args: r [m, n] *= 2; lane 0 and 1 take one half of the block.
#include <cstdint>

#include "intrinsic.h"
#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *t = reinterpret_cast<ChipTensor *>(args[0]);
    float *r = reinterpret_cast<float *>(t->buffer.addr) + t->start_offset;
    uint32_t block_elements =
        t->shapes[0] / static_cast<uint32_t>(get_block_num(args)) * t->shapes[1];
    uint32_t half = block_elements / 2;
    uint32_t first = block_elements * static_cast<uint32_t>(get_block_idx(args)) +
                     half * static_cast<uint32_t>(get_sub_block_id(args));

    for (uint32_t i = first; i < first + half; i++)
        r[i] *= 2.0f;
}
