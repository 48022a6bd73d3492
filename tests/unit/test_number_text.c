/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements as numbers and as text.  The reader here is written apart from the
 * writer: it takes the text, finds the code, and must come back to the bits
 * (AD-14, decision 34 of the project on digits).
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "report/number.h"
#include "report/number_text.h"

/* Every bit pattern of float16 by its definition, with pow instead of shifts. */
static double half_value(unsigned code)
{
    double sign = code >= 0x8000 ? -1 : 1;
    unsigned exponent = code / 1024 % 32;
    unsigned mantissa = code % 1024;

    if (exponent == 0)
        return sign * mantissa * pow(2, -24);
    return sign * (1 + mantissa / 1024.0) * pow(2, (int)exponent - 15);
}

/* A bfloat16 is the upper half of a float. */
static double bfloat_value(unsigned code)
{
    uint32_t bits = (uint32_t)code << 16;
    float value;

    memcpy(&value, &bits, sizeof(value));
    return (double)value;
}

/* The NaN of a text, or false. */
static bool read_nan(const char *text, unsigned mantissa_bits, unsigned exponent_bits,
                     uint64_t *out)
{
    uint64_t sign = *text == '-';
    uint64_t mantissa = (uint64_t)1 << (mantissa_bits - 1);
    char *end;

    text += sign;
    if (strncmp(text, "nan", 3) != 0)
        return false;
    if (text[3] == '(') {
        mantissa = strtoull(text + 4, &end, 16);
        assert_string_equal(end, ")");
    } else {
        assert_string_equal(text, "nan");
    }
    *out = sign << (mantissa_bits + exponent_bits) |
           (((uint64_t)1 << exponent_bits) - 1) << mantissa_bits | mantissa;
    return true;
}

static const char *text_of(uint32_t dtype, uint64_t bits)
{
    static char text[SIMPLER_NUMBER_TEXT_MAX];
    size_t length = simpler_number_text(dtype, bits, text);

    assert_int_equal(length, strlen(text));
    assert_true(length <= simpler_number_text_width(dtype));
    return text;
}

/* The code whose value is nearest to the text's. */
static unsigned nearest_code(const char *text, double (*value)(unsigned), unsigned codes)
{
    double wanted = strtod(text, NULL);
    unsigned low = 0;
    unsigned high = codes / 2 - 1; /* positive codes rise */

    if (*text == '-')
        return codes / 2 + nearest_code(text + 1, value, codes);
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if (value(middle) <= wanted)
            low = middle;
        else
            high = middle;
    }
    return fabs(value(low) - wanted) <= fabs(value(high) - wanted) ? low : high;
}

static void every_half_reads_back(void **state)
{
    (void)state;
    for (unsigned code = 0; code < 65536; code++) {
        const char *text = text_of(SIMPLER_DTYPE_FLOAT16, code);
        uint64_t bits;
        if (code % 0x8000 == 0x7c00)
            assert_string_equal(text, code < 0x8000 ? "inf" : "-inf");
        else if (code % 0x8000 > 0x7c00) {
            assert_true(read_nan(text, 10, 5, &bits));
            assert_int_equal(bits, code);
        } else {
            assert_int_equal(nearest_code(text, half_value, 65536), code);
        }
    }
}

static void every_bfloat_reads_back(void **state)
{
    (void)state;
    for (unsigned code = 0; code < 65536; code++) {
        const char *text = text_of(SIMPLER_DTYPE_BFLOAT16, code);
        uint64_t bits;
        if (code % 0x8000 == 0x7f80)
            assert_string_equal(text, code < 0x8000 ? "inf" : "-inf");
        else if (code % 0x8000 > 0x7f80) {
            assert_true(read_nan(text, 7, 8, &bits));
            assert_int_equal(bits, code);
        } else {
            assert_int_equal(nearest_code(text, bfloat_value, 65536), code);
        }
    }
}

/* A fixed generator, so that a failure can be had again. */
static uint64_t random_bits(void)
{
    static uint64_t x = 88172645463325252U;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

static void check_float32(uint32_t bits)
{
    const char *text = text_of(SIMPLER_DTYPE_FLOAT32, bits);
    uint64_t read;

    if (!read_nan(text, 23, 8, &read)) {
        float value = strtof(text, NULL);
        uint32_t narrow;
        memcpy(&narrow, &value, sizeof(narrow));
        read = narrow;
    }
    assert_int_equal(read, bits);
}

static void check_float64(uint64_t bits)
{
    const char *text = text_of(SIMPLER_DTYPE_FLOAT64, bits);
    uint64_t read;

    if (!read_nan(text, 52, 11, &read)) {
        double value = strtod(text, NULL);
        memcpy(&read, &value, sizeof(read));
    }
    assert_int_equal(read, bits);
}

static void wide_floats_read_back(void **state)
{
    (void)state;
    static const uint32_t singles[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000,
                                       0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
                                       0x7f800001, 0xffffffff, 0x3f800001};
    static const uint64_t doubles[] = {0,
                                       0x8000000000000000,
                                       1,
                                       0x800fffffffffffff,
                                       0x7fefffffffffffff,
                                       0x7ff0000000000000,
                                       0x7ff0000000000001,
                                       0xfff8000000000000,
                                       0xffffffffffffffff};
    for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++)
        check_float32(singles[i]);
    for (size_t i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++)
        check_float64(doubles[i]);
    for (int i = 0; i < 20000; i++) {
        check_float32((uint32_t)random_bits());
        check_float64(random_bits());
    }
}

static void spellings(void **state)
{
    (void)state;
    assert_string_equal(text_of(SIMPLER_DTYPE_FLOAT32, 0x80000000), "-0");
    assert_string_equal(text_of(SIMPLER_DTYPE_FLOAT32, 0x7fc00000), "nan");
    assert_string_equal(text_of(SIMPLER_DTYPE_FLOAT32, 0xffc00000), "-nan");
    assert_string_equal(text_of(SIMPLER_DTYPE_FLOAT32, 0x7f801234), "nan(0x1234)");
    assert_string_equal(text_of(SIMPLER_DTYPE_FLOAT32, 0x3dcccccd), "0.100000001");
    assert_string_equal(text_of(SIMPLER_DTYPE_FLOAT64, 0x3fb999999999999a), "0.10000000000000001");
}

/* The OCP tables: e4m3fn has no infinity and one NaN a sign, e2m1 neither. */
static void small_floats_are_exact(void **state)
{
    (void)state;
    static const char *const fp4[] = {"0",  "0.5",  "1",  "1.5",  "2",  "3",  "4",  "6",
                                      "-0", "-0.5", "-1", "-1.5", "-2", "-3", "-4", "-6"};
    for (unsigned code = 0; code < 16; code++)
        assert_string_equal(text_of(SIMPLER_DTYPE_FP4E2M1, code), fp4[code]);
    assert_string_equal(text_of(SIMPLER_DTYPE_FP8E4M3FN, 0x01), "0.001953125");
    assert_string_equal(text_of(SIMPLER_DTYPE_FP8E4M3FN, 0x38), "1");
    assert_string_equal(text_of(SIMPLER_DTYPE_FP8E4M3FN, 0x7e), "448");
    assert_string_equal(text_of(SIMPLER_DTYPE_FP8E4M3FN, 0x7f), "nan");
    assert_string_equal(text_of(SIMPLER_DTYPE_FP8E4M3FN, 0xff), "-nan");
    assert_string_equal(text_of(SIMPLER_DTYPE_FP8E8M0, 127), "1");
    assert_string_equal(text_of(SIMPLER_DTYPE_FP8E8M0, 130), "8");
    assert_string_equal(text_of(SIMPLER_DTYPE_FP8E8M0, 255), "nan");
    for (unsigned code = 0; code < 255; code++) {
        double value = strtod(text_of(SIMPLER_DTYPE_FP8E8M0, code), NULL);
        assert_int_equal(lrint(log2(value)), (int)code - 127);
    }
    for (unsigned code = 0; code < 127; code++) {
        double value = code < 8 ? code / 512.0 : (1 + code % 8 / 8.0) * pow(2, (int)(code / 8) - 7);
        assert_true(strtod(text_of(SIMPLER_DTYPE_FP8E4M3FN, code), NULL) == value);
        assert_true(strtod(text_of(SIMPLER_DTYPE_FP8E4M3FN, code | 0x80), NULL) == -value);
    }
}

static void integers_are_decimal(void **state)
{
    (void)state;
    assert_string_equal(text_of(SIMPLER_DTYPE_INT8, 0x80), "-128");
    assert_string_equal(text_of(SIMPLER_DTYPE_INT16, 0xffff), "-1");
    assert_string_equal(text_of(SIMPLER_DTYPE_INT32, 0x80000000), "-2147483648");
    assert_string_equal(text_of(SIMPLER_DTYPE_INT64, 0x8000000000000000), "-9223372036854775808");
    assert_string_equal(text_of(SIMPLER_DTYPE_INT64, INT64_MAX), "9223372036854775807");
    assert_string_equal(text_of(SIMPLER_DTYPE_UINT8, 255), "255");
    assert_string_equal(text_of(SIMPLER_DTYPE_UINT16, 65535), "65535");
    assert_string_equal(text_of(SIMPLER_DTYPE_UINT32, 4294967295U), "4294967295");
    assert_string_equal(text_of(SIMPLER_DTYPE_UINT64, UINT64_MAX), "18446744073709551615");
    assert_string_equal(text_of(SIMPLER_DTYPE_BOOL, 1), "1");
    assert_string_equal(text_of(SIMPLER_DTYPE_BOOL, 42), "42");
}

static void classes(void **state)
{
    (void)state;
    assert_int_equal(simpler_number_float(SIMPLER_DTYPE_FLOAT16, 1).kind, SIMPLER_NUMBER_SUBNORMAL);
    assert_int_equal(simpler_number_float(SIMPLER_DTYPE_FLOAT16, 0x8000).kind, SIMPLER_NUMBER_ZERO);
    assert_true(simpler_number_float(SIMPLER_DTYPE_FLOAT16, 0x8000).negative);
    assert_int_equal(simpler_number_float(SIMPLER_DTYPE_FP8E4M3FN, 0x78).kind,
                     SIMPLER_NUMBER_NORMAL);
    assert_int_equal(simpler_number_float(SIMPLER_DTYPE_FLOAT64, 0xfff0000000000000).kind,
                     SIMPLER_NUMBER_INF);
    assert_int_equal(simpler_number_family(SIMPLER_DTYPE_NUM), SIMPLER_NUMBER_UNKNOWN);
    assert_int_equal(simpler_number_load(SIMPLER_DTYPE_UINT32, "\x01\x02\x03\x04"), 0x04030201);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_reads_back),
        cmocka_unit_test(every_bfloat_reads_back),
        cmocka_unit_test(wide_floats_read_back),
        cmocka_unit_test(spellings),
        cmocka_unit_test(small_floats_are_exact),
        cmocka_unit_test(integers_are_decimal),
        cmocka_unit_test(classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
