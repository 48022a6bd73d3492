// SPDX-License-Identifier: Apache-2.0
// Args: from [n], to [n], scratch [n], entry [1], scalar step.
#include <cstdint>

#include "tensor.h"

static ChipTensor *tensor(int64_t arg)
{
    return reinterpret_cast<ChipTensor *>(arg);
}

static float *floats(const ChipTensor *t)
{
    return reinterpret_cast<float *>(t->buffer.addr) + t->start_offset;
}

extern "C" void kernel_entry(int64_t *args)
{
    const float *from = floats(tensor(args[0]));
    float *to = floats(tensor(args[1]));
    float *mean = floats(tensor(args[2]));
    ChipTensor *entry = tensor(args[3]);
    uint32_t n = tensor(args[0])->shapes[0];

    mean[0] = from[0];
    mean[n - 1] = from[n - 1];
    for (uint32_t i = 1; i + 1 < n; i++)
        mean[i] = 0.5f * (from[i - 1] + from[i + 1]);
    for (uint32_t i = 0; i < n; i++)
        to[i] = mean[i];
    reinterpret_cast<int32_t *>(entry->buffer.addr)[entry->start_offset] =
        static_cast<int32_t>(args[4]);
}
