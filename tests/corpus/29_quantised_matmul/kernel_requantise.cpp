// SPDX-License-Identifier: Apache-2.0
// Args: sums [m, n] int32, scales [n], y [m, n] int8, cut [m, n] bool; a row a
// block.
#include <cmath>
#include <cstdint>

#include "intrinsic.h"
#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *scale = reinterpret_cast<ChipTensor *>(args[1]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[2]);
    ChipTensor *mask = reinterpret_cast<ChipTensor *>(args[3]);
    uint32_t n = in->shapes[1];
    uint32_t first = n * static_cast<uint32_t>(get_block_idx(args));
    const int32_t *sums = reinterpret_cast<int32_t *>(in->buffer.addr) + in->start_offset;
    const float *scales = reinterpret_cast<float *>(scale->buffer.addr) + scale->start_offset;
    int8_t *y = reinterpret_cast<int8_t *>(out->buffer.addr) + out->start_offset;
    bool *cut = reinterpret_cast<bool *>(mask->buffer.addr) + mask->start_offset;

    for (uint32_t j = 0; j < n; j++) {
        float v = std::nearbyint(static_cast<float>(sums[first + j]) * scales[j]);
        float limited = std::fmin(std::fmax(v, -128.0f), 127.0f);
        y[first + j] = static_cast<int8_t>(limited);
        if (limited != v)
            cut[first + j] = true;
    }
}
