/* SPDX-License-Identifier: Apache-2.0 */
/* The published check values of CRC-32C (RFC 3720, B.4), in pieces too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(published_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
