// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *t = reinterpret_cast<ChipTensor *>(args[0]);
    reinterpret_cast<int32_t *>(t->buffer.addr)[t->start_offset] += 1;
}
