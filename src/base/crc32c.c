/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crc32c.h"

#include <pthread.h>
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

/*
 * The instruction takes three cycles and starts each cycle: three neighbouring
 * lanes go at once.  A CRC is linear, so that of a lane moves over the next one as
 * over that many zeros: by a table for each of its bytes.
 */
#define LANE_BYTES ((size_t)1024)

static uint32_t over_zeros[4][256];
static pthread_once_t over_zeros_once = PTHREAD_ONCE_INIT;

static void fill_over_zeros(void)
{
    static const uint8_t zeros[LANE_BYTES];

    for (int k = 0; k < 4; k++) {
        for (uint32_t bit = 1; bit < 256; bit *= 2) {
            uint32_t moved = by_cpu(bit << (8 * k), zeros, LANE_BYTES);
            for (uint32_t low = 0; low < bit; low++)
                over_zeros[k][bit | low] = over_zeros[k][low] ^ moved;
        }
    }
}

static uint32_t move_over_lane(uint32_t crc)
{
    return over_zeros[0][crc & 255] ^ over_zeros[1][crc >> 8 & 255] ^
           over_zeros[2][crc >> 16 & 255] ^ over_zeros[3][crc >> 24];
}

/* Three lanes from @at on. */
__attribute__((target("sse4.2"))) static uint32_t three_lanes(uint32_t crc, const uint8_t *at)
{
    uint64_t a = crc, b = 0, c = 0, words[3];

    for (size_t i = 0; i < LANE_BYTES; i += 8) {
        memcpy(&words[0], at + i, 8);
        memcpy(&words[1], at + LANE_BYTES + i, 8);
        memcpy(&words[2], at + 2 * LANE_BYTES + i, 8);
        a = _mm_crc32_u64(a, words[0]);
        b = _mm_crc32_u64(b, words[1]);
        c = _mm_crc32_u64(c, words[2]);
    }
    return move_over_lane(move_over_lane((uint32_t)a) ^ (uint32_t)b) ^ (uint32_t)c;
}

static uint32_t by_lanes(uint32_t crc, const uint8_t *at, size_t bytes)
{
    if (bytes >= 3 * LANE_BYTES)
        (void)pthread_once(&over_zeros_once, fill_over_zeros);
    for (; bytes >= 3 * LANE_BYTES; bytes -= 3 * LANE_BYTES, at += 3 * LANE_BYTES)
        crc = three_lanes(crc, at);
    return by_cpu(crc, at, bytes);
}
#endif

uint32_t simpler_crc32c(uint32_t crc, const void *data, size_t bytes)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~by_lanes(~crc, data, bytes);
#endif
    return ~by_table(~crc, data, bytes);
}
