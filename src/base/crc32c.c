/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

#define POLYNOMIAL 0x82f63b78u /* reflected */

/* Four bits at a time: small, and only for CPUs without the instruction. */
static uint32_t by_table(uint32_t crc, const uint8_t *at, size_t bytes)
{
    uint32_t table[16];

    for (uint32_t i = 0; i < 16; i++) {
        table[i] = i;
        for (int bit = 0; bit < 4; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? POLYNOMIAL : 0);
    }
    for (size_t i = 0; i < bytes; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_cpu(uint32_t crc, const uint8_t *at,
                                                         size_t bytes)
{
    uint64_t wide = crc, word;

    for (; bytes >= 8; bytes -= 8, at += 8) {
        memcpy(&word, at, 8);
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
    for (; bytes != 0; bytes--)
        crc = _mm_crc32_u8(crc, *at++);
    return crc;
}
#endif

uint32_t simpler_crc32c(uint32_t crc, const void *data, size_t bytes)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~by_cpu(~crc, data, bytes);
#endif
    return ~by_table(~crc, data, bytes);
}
