// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "intrinsic.h"
#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    const int32_t *x = reinterpret_cast<int32_t *>(in->buffer.addr) + in->start_offset;
    int64_t *sums = reinterpret_cast<int64_t *>(out->buffer.addr) + out->start_offset;
    uint32_t step = static_cast<uint32_t>(get_block_num(args));

    for (uint32_t i = static_cast<uint32_t>(get_block_idx(args)); i < in->shapes[0]; i += step) {
        int64_t sum = 0;
        for (uint32_t j = 0; j < in->shapes[1]; j++)
            sum += x[i * in->strides[0] + j];
        sums[i] = sum;
    }
}
