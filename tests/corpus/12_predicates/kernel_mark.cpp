// SPDX-License-Identifier: Apache-2.0
// Args: counts [1, 2], mark [1] += 100 + negatives.
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *in = reinterpret_cast<ChipTensor *>(args[0]);
    ChipTensor *out = reinterpret_cast<ChipTensor *>(args[1]);
    const int32_t *counts = reinterpret_cast<int32_t *>(in->buffer.addr) + in->start_offset;
    int32_t *mark = reinterpret_cast<int32_t *>(out->buffer.addr) + out->start_offset;

    *mark += 100 + counts[1];
}
