/* SPDX-License-Identifier: Apache-2.0 */
/* Strict numbers: what is taken, what is refused, nothing changed then. */
#include <stddef.h>
#include <stdint.h>

#include "cm.h"
#include "base/text.h"

static void unsigned_numbers_are_strict(void **state)
{
    (void)state;
    uint64_t value = 7;
    const char *bad[] = {"",
                         " ",
                         "-1",
                         "+1",
                         "1x",
                         "0x10",
                         "1 2",
                         "1.5",
                         "1,",
                         "1e3",
                         "18446744073709551616",
                         "99999999999999999999999"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(simpler_text_parse_u64(bad[i], &value));
    assert_int_equal(value, 7);
    assert_true(simpler_text_parse_u64(" \t42 ", &value));
    assert_int_equal(value, 42);
    assert_true(simpler_text_parse_u64("18446744073709551615", &value));
    assert_true(value == UINT64_MAX);
    assert_true(simpler_text_parse_u64("0007", &value));
    assert_int_equal(value, 7);
}

static void signed_numbers_reach_both_ends(void **state)
{
    (void)state;
    int64_t value = 7;

    assert_true(simpler_text_parse_i64("-9223372036854775808", &value));
    assert_true(value == INT64_MIN);
    assert_true(simpler_text_parse_i64("9223372036854775807", &value));
    assert_true(value == INT64_MAX);
    assert_true(simpler_text_parse_i64("+5", &value));
    assert_int_equal(value, 5);
    assert_false(simpler_text_parse_i64("9223372036854775808", &value));
    assert_false(simpler_text_parse_i64("-9223372036854775809", &value));
    assert_false(simpler_text_parse_i64("--1", &value));
    assert_false(simpler_text_parse_i64("-", &value));
    assert_false(simpler_text_parse_i64("- 1", &value));
    assert_int_equal(value, 5);
}

static void lists_have_one_or_all_entries(void **state)
{
    (void)state;
    uint64_t values[4] = {9, 9, 9, 9};
    const char *bad[] = {"", "1,2", "1,2,3", "1,2,3,4,5", "1,,3,4", "1,2,3,", ",1,2,3", "1;2;3;4"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(simpler_text_parse_list(bad[i], values, 4));
    assert_int_equal(values[0], 9);
    assert_true(simpler_text_parse_list("1, 2 ,3,4", values, 4));
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(values[i], i + 1);
    assert_true(simpler_text_parse_list(" 16 ", values, 4));
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(values[i], 16);
    assert_false(simpler_text_parse_list("1,2", values, 1));
    assert_true(simpler_text_parse_list("3", values, 1));
    assert_int_equal(values[0], 3);
    assert_int_equal(values[1], 16);
}

static void one_thing_is_no_plural(void **state)
{
    (void)state;
    assert_string_equal(simpler_text_plural(1), "");
    assert_string_equal(simpler_text_plural(0), "s");
    assert_string_equal(simpler_text_plural(2), "s");
    assert_string_equal(simpler_text_plural((UINT64_C(1) << 32) + 1), "s");
    assert_string_equal(simpler_text_by_count(1, "is", "are"), "is");
    assert_string_equal(simpler_text_by_count(0, "is", "are"), "are");
    assert_string_equal(simpler_text_by_count((UINT64_C(1) << 32) + 1, "is", "are"), "are");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsigned_numbers_are_strict),
        cmocka_unit_test(signed_numbers_reach_both_ends),
        cmocka_unit_test(lists_have_one_or_all_entries),
        cmocka_unit_test(one_thing_is_no_plural),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
