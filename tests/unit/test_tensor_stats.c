/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics: known answers, exact counts beyond 2^31, the same by every way. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cm.h"
#include "report/number.h"
#include "report/tensor_stats.h"

static struct simpler_tensor_stats stats_of(uint32_t dtype, const void *bytes, size_t n)
{
    struct simpler_tensor_stats s;

    assert_int_equal(simpler_tensor_stats_init(&s, dtype, n), 0);
    simpler_tensor_stats_add(&s, bytes, n);
    simpler_tensor_stats_finish(&s);
    simpler_tensor_stats_fini(&s);
    return s;
}

static void floats_with_specials(void **state)
{
    (void)state;
    const float values[] = {3, -4, 0, -0.0F, (float)NAN, (float)INFINITY, -(float)INFINITY, 1e-40F};
    struct simpler_tensor_stats s = stats_of(SIMPLER_DTYPE_FLOAT32, values, sizeof(values));
    float low;
    float high;
    uint32_t bits;

    assert_int_equal(s.count, 8);
    assert_int_equal(s.finite, 5);
    assert_int_equal(s.nan, 1);
    assert_int_equal(s.positive_inf, 1);
    assert_int_equal(s.negative_inf, 1);
    assert_int_equal(s.zero, 2);
    assert_int_equal(s.subnormal, 1);
    bits = (uint32_t)s.min_bits;
    memcpy(&low, &bits, sizeof(low));
    bits = (uint32_t)s.max_bits;
    memcpy(&high, &bits, sizeof(high));
    assert_true(low == -4 && high == 3);
    assert_true(fabs(s.mean + 0.2) < 1e-12);
    assert_true(s.l2 == 5);
}

static void squares_of_huge_doubles_do_not_overflow(void **state)
{
    (void)state;
    const double values[] = {3e200, 4e200};
    struct simpler_tensor_stats s = stats_of(SIMPLER_DTYPE_FLOAT64, values, sizeof(values));

    assert_true(fabs(s.l2 / 5e200 - 1) < 1e-15);
}

static void integers_keep_their_ends(void **state)
{
    (void)state;
    const int64_t values[] = {INT64_MIN, INT64_MAX, 0};
    struct simpler_tensor_stats s = stats_of(SIMPLER_DTYPE_INT64, values, sizeof(values));

    assert_true(s.min_bits == (uint64_t)INT64_MIN && s.max_bits == INT64_MAX);
    assert_int_equal(s.zero, 1);
    assert_true(fabs(s.mean + 1.0 / 3) < 1e-12);
    const int8_t bytes[] = {-128, 127, 5};
    s = stats_of(SIMPLER_DTYPE_INT8, bytes, sizeof(bytes));
    assert_int_equal(s.min_bits, 0x80);
    assert_int_equal(s.max_bits, 0x7f);
    assert_true(fabs(s.mean - 4.0 / 3) < 1e-12);
    const uint64_t large[] = {UINT64_MAX, 1};
    s = stats_of(SIMPLER_DTYPE_UINT64, large, sizeof(large));
    assert_true(s.max_bits == UINT64_MAX && s.min_bits == 1);
}

static void packed_elements_count_both_values(void **state)
{
    (void)state;
    /* low nibble first: 1 and -6; 0 and -0; 0.5 and 0.5 */
    const unsigned char bytes[] = {0xf2, 0x80, 0x11};
    struct simpler_tensor_stats s = stats_of(SIMPLER_DTYPE_FP4E2M1, bytes, sizeof(bytes));

    assert_int_equal(s.count, 6);
    assert_int_equal(s.zero, 2);
    assert_int_equal(s.subnormal, 2);
    assert_int_equal(s.min_bits, 0xf);
    assert_int_equal(s.max_bits, 0x2);
    assert_true(fabs(s.mean + 4.0 / 6) < 1e-12);
}

/* The histogram and the way one by one are two programs for one answer. */
static void few_and_many_halves_agree(void **state)
{
    (void)state;
    unsigned char bytes[2048];
    struct simpler_tensor_stats by_code;
    struct simpler_tensor_stats one_by_one;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 37 + i / 256 * 11);
    assert_int_equal(simpler_tensor_stats_init(&by_code, SIMPLER_DTYPE_FLOAT16, 1 << 20), 0);
    assert_int_equal(simpler_tensor_stats_init(&one_by_one, SIMPLER_DTYPE_FLOAT16, 1), 0);
    assert_non_null(by_code.histogram);
    assert_null(one_by_one.histogram);
    simpler_tensor_stats_add(&by_code, bytes, sizeof(bytes));
    simpler_tensor_stats_add(&one_by_one, bytes, sizeof(bytes));
    simpler_tensor_stats_finish(&by_code);
    simpler_tensor_stats_finish(&one_by_one);
    simpler_tensor_stats_fini(&by_code);
    assert_int_equal(by_code.count, one_by_one.count);
    assert_int_equal(by_code.nan, one_by_one.nan);
    assert_int_equal(by_code.subnormal, one_by_one.subnormal);
    assert_int_equal(by_code.min_bits, one_by_one.min_bits);
    assert_int_equal(by_code.max_bits, one_by_one.max_bits);
    assert_true(fabs(by_code.l2 - one_by_one.l2) < 1e-9 * by_code.l2);
}

static void counts_are_exact_beyond_2_31(void **state)
{
    (void)state;
    static const uint32_t dtypes[] = {SIMPLER_DTYPE_BOOL, SIMPLER_DTYPE_FLOAT32,
                                      SIMPLER_DTYPE_BFLOAT16, SIMPLER_DTYPE_INT64};
    const uint64_t n = ((uint64_t)1 << 33) + 1;
    const unsigned char one[8] = {1};

    for (size_t i = 0; i < 4; i++) {
        struct simpler_tensor_stats s;
        size_t bytes = simpler_dtype_bytes(dtypes[i]);
        assert_int_equal(simpler_tensor_stats_init(&s, dtypes[i], n * bytes), 0);
        simpler_tensor_stats_add_zeros(&s, n * bytes);
        simpler_tensor_stats_add(&s, one, bytes);
        simpler_tensor_stats_finish(&s);
        simpler_tensor_stats_fini(&s);
        assert_true(s.count == n + 1);
        assert_true(s.zero == n);
    }
}

static void nothing_at_all(void **state)
{
    (void)state;
    struct simpler_tensor_stats s = stats_of(SIMPLER_DTYPE_FLOAT32, "", 0);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.finite, 0);
    assert_int_equal(simpler_tensor_stats_init(&s, SIMPLER_DTYPE_NUM, 0), SIMPLER_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_with_specials),
        cmocka_unit_test(squares_of_huge_doubles_do_not_overflow),
        cmocka_unit_test(integers_keep_their_ends),
        cmocka_unit_test(packed_elements_count_both_values),
        cmocka_unit_test(few_and_many_halves_agree),
        cmocka_unit_test(counts_are_exact_beyond_2_31),
        cmocka_unit_test(nothing_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
