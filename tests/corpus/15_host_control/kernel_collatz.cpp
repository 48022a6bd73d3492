// SPDX-License-Identifier: Apache-2.0
// Args: step [1], values [n], reached [n], left [1].
#include <cstdint>

#include "tensor.h"

template <typename T> static T *data(int64_t arg)
{
    ChipTensor *t = reinterpret_cast<ChipTensor *>(arg);
    return reinterpret_cast<T *>(t->buffer.addr) + t->start_offset;
}

extern "C" void kernel_entry(int64_t *args)
{
    int32_t step = *data<int32_t>(args[0]);
    int64_t *values = data<int64_t>(args[1]);
    int32_t *reached = data<int32_t>(args[2]);
    int32_t left = 0;

    for (uint32_t i = 0; i < reinterpret_cast<ChipTensor *>(args[1])->shapes[0]; i++) {
        if (values[i] == 1)
            continue;
        values[i] = values[i] % 2 == 0 ? values[i] / 2 : 3 * values[i] + 1;
        if (values[i] == 1)
            reached[i] = step;
        else
            left++;
    }
    *data<int32_t>(args[3]) = left;
}
