// SPDX-License-Identifier: Apache-2.0
// Args: out [12] int64, then float, double, int8, uint8, ..., bool, enum.
// The two floating-point values are written in thousandths.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "tensor.h"

template <typename T> static T scalar(int64_t bits)
{
    T value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

extern "C" void kernel_entry(int64_t *args)
{
    ChipTensor *t = reinterpret_cast<ChipTensor *>(args[0]);
    int64_t *out = reinterpret_cast<int64_t *>(t->buffer.addr) + t->start_offset;

    out[0] = std::llround(1000.0 * scalar<float>(args[1]));
    out[1] = std::llround(1000.0 * scalar<double>(args[2]));
    out[2] = scalar<int8_t>(args[3]);
    out[3] = scalar<uint8_t>(args[4]);
    out[4] = scalar<int16_t>(args[5]);
    out[5] = scalar<uint16_t>(args[6]);
    out[6] = scalar<int32_t>(args[7]);
    out[7] = scalar<uint32_t>(args[8]);
    out[8] = scalar<int64_t>(args[9]);
    out[9] = static_cast<int64_t>(scalar<uint64_t>(args[10]));
    out[10] = scalar<bool>(args[11]) ? 1 : 0;
    out[11] = scalar<uint16_t>(args[12]);
}
