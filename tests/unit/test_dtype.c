/* SPDX-License-Identifier: Apache-2.0 */
/* The element types: ids, names and sizes as the task model fixes them. */
#include <stddef.h>
#include <stdint.h>

#include "cm.h"
#include "simpler/dtype.h"

static const struct {
    const char *name;
    size_t bytes;
} expected[] = {
    {"float32", 4},   {"float16", 2}, {"int32", 4},   {"int16", 2},   {"int8", 1},   {"uint8", 1},
    {"bfloat16", 2},  {"int64", 8},   {"uint64", 8},  {"uint16", 2},  {"uint32", 4}, {"bool", 1},
    {"fp8e4m3fn", 1}, {"fp8e8m0", 1}, {"fp4e2m1", 1}, {"float64", 8},
};

static void table_matches_the_task_model(void **state)
{
    (void)state;
    assert_int_equal(SIMPLER_DTYPE_NUM, 16);
    for (uint32_t i = 0; i < SIMPLER_DTYPE_NUM; i++) {
        assert_string_equal(simpler_dtype_name(i), expected[i].name);
        assert_int_equal(simpler_dtype_bytes(i), expected[i].bytes);
    }
}

static void names_parse_in_either_case(void **state)
{
    (void)state;
    uint32_t id = 99;
    assert_int_equal(simpler_dtype_parse("FLOAT64", &id), 0);
    assert_int_equal(id, 15);
    assert_int_equal(simpler_dtype_parse("fp4e2m1", &id), 0);
    assert_int_equal(id, 14);
}

static void the_unknown_is_called_unknown(void **state)
{
    (void)state;
    uint32_t id = 7;
    assert_int_equal(simpler_dtype_bytes(16), 0);
    assert_string_equal(simpler_dtype_name(UINT32_MAX), "UNKNOWN");
    assert_int_equal(simpler_dtype_parse("fp8e5m2", &id), SIMPLER_ENOENT);
    assert_int_equal(simpler_dtype_parse(NULL, &id), SIMPLER_ENOENT);
    assert_int_equal(simpler_dtype_parse("float32", NULL), SIMPLER_EINVAL);
    assert_int_equal(id, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_matches_the_task_model),
        cmocka_unit_test(names_parse_in_either_case),
        cmocka_unit_test(the_unknown_is_called_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
