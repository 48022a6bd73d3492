// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

static inline float bf16_to_float(uint16_t bits)
{
    uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof(value));
    return value;
}

// Rounds to the nearest, ties to even; no NaN comes here.
static inline uint16_t float_to_bf16(float value)
{
    uint32_t wide;
    std::memcpy(&wide, &value, sizeof(wide));
    return static_cast<uint16_t>((wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
}
