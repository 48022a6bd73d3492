/* SPDX-License-Identifier: Apache-2.0 */
/* The published check values of CRC-32C (RFC 3720, B.4), in pieces too. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cm.h"
#include "base/crc32c.h"

static void published_values(void **state)
{
    uint8_t bytes[32];

    (void)state;
    assert_int_equal(simpler_crc32c(0, "123456789", 9), 0xe3069283u);
    memset(bytes, 0, sizeof(bytes));
    assert_int_equal(simpler_crc32c(0, bytes, sizeof(bytes)), 0x8a9136aau);
    memset(bytes, 0xff, sizeof(bytes));
    assert_int_equal(simpler_crc32c(0, bytes, sizeof(bytes)), 0x62a8ab43u);
    for (uint8_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = i;
    assert_int_equal(simpler_crc32c(0, bytes, sizeof(bytes)), 0x46dd794eu);
    for (size_t cut = 0; cut <= sizeof(bytes); cut++)
        assert_int_equal(
            simpler_crc32c(simpler_crc32c(0, bytes, cut), bytes + cut, sizeof(bytes) - cut),
            0x46dd794eu);
}

/* Bit by bit, as the polynomial is defined. */
static uint32_t plain(const uint8_t *at, size_t bytes)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < bytes; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

static void long_ones(void **state)
{
    static uint8_t bytes[40000];
    uint64_t x = 1;

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(x >> 56);
    }
    for (size_t n = 0; n < sizeof(bytes); n += n < 6200 ? 37 : 3001) {
        size_t cut = n / 3;
        assert_int_equal(simpler_crc32c(0, bytes + n % 8, n - n % 8),
                         plain(bytes + n % 8, n - n % 8));
        assert_int_equal(simpler_crc32c(simpler_crc32c(0, bytes, cut), bytes + cut, n - cut),
                         plain(bytes, n));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_values),
                                       cmocka_unit_test(long_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
