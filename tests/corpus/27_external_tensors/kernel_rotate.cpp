// SPDX-License-Identifier: Apache-2.0
// Args: z [rows, columns, 2].
#include <cstdint>

#include "tensor.h"

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *t = reinterpret_cast<ChipTensor *>(args[0]);
    float *z = reinterpret_cast<float *>(t->buffer.addr) + t->start_offset;

    for (uint32_t i = 0; i < t->shapes[0] * t->shapes[1]; i++) {
        float re = z[2 * i];
        z[2 * i] = -z[2 * i + 1];
        z[2 * i + 1] = re;
    }
}
