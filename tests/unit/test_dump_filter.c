/* SPDX-License-Identifier: Apache-2.0 */
/* Filters: lists, ranges, combination, and what they say of wrong values. AD-32. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "report/dump_filter.h"

static char error[512];

static int add(struct simpler_dump_filter *f, enum simpler_dump_field field, const char *list)
{
    error[0] = '\0';
    return simpler_dump_filter_add(f, field, list, error, sizeof(error));
}

static struct simpler_dump_entry entry(uint64_t index, uint64_t task, uint64_t arg)
{
    struct simpler_dump_entry e = {.index = index,
                                   .task_id = task,
                                   .arg_index = arg,
                                   .dtype = SIMPLER_DTYPE_INT8,
                                   .func_count = 2,
                                   .func_ids = {4, -1}};
    return e;
}

static void lists_and_ranges(void **state)
{
    (void)state;
    struct simpler_dump_filter f = {0};
    struct simpler_dump_entry e;

    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_ARG, "0,2-4,0x10-0x11,90-"), 0);
    for (uint64_t arg = 0; arg < 100; arg++) {
        e = entry(0, 0, arg);
        bool wanted = arg == 0 || (arg >= 2 && arg <= 4) || arg == 16 || arg == 17 || arg >= 90;
        assert_int_equal(simpler_dump_filter_matches(&f, &e), wanted);
    }
    simpler_dump_filter_fini(&f);
}

static void fields_combine(void **state)
{
    (void)state;
    struct simpler_dump_filter f = {0};
    struct simpler_dump_entry e = entry(7, 0x200000a00, 1);

    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_TASK, "0x0000000200000A00"), 0);
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_RING, "2"), 0);
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_FUNC, "-1"), 0);
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_STAGE, "after,before"), 0);
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_ROLE, "input"), 0);
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_DTYPE, "FLOAT32,int8"), 0);
    assert_true(simpler_dump_filter_is_set(&f));
    assert_true(simpler_dump_filter_matches(&f, &e));
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_KIND, "scalar"), 0);
    assert_false(simpler_dump_filter_matches(&f, &e));
    /* The index alone decides. */
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_INDEX, "7"), 0);
    assert_true(simpler_dump_filter_matches(&f, &e));
    e.index = 8;
    assert_false(simpler_dump_filter_matches(&f, &e));
    simpler_dump_filter_fini(&f);
}

static void what_is_no_value(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",      ",",  "1,", "x",  "4-2",
                                        "1-2-3", "-1", "0x", "1 ", "18446744073709551616"};
    struct simpler_dump_filter f = {0};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_ARG, wrong[i]), SIMPLER_EINVAL);
        assert_non_null(strstr(error, "--arg: "));
    }
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_STAGE, "befor"), SIMPLER_EINVAL);
    assert_string_equal(
        error, "--stage: there is no stage 'befor'; did you mean before? There are: before, after");
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_ROLE, "outpt"), SIMPLER_EINVAL);
    assert_non_null(strstr(error, "did you mean output? There are: output, "));
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_DTYPE, "flaot16"), SIMPLER_EINVAL);
    assert_non_null(strstr(error, "did you mean float16? There are: float16, "));
    simpler_dump_filter_fini(&f);
}

static void the_nearest_numbers_are_listed(void **state)
{
    (void)state;
    struct simpler_dump_filter f = {0};
    char text[512];
    bool done = false;

    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_ARG, "55,10"), 0);
    for (uint64_t i = 0; i < 20; i++) {
        struct simpler_dump_entry e = entry(i, 0, i * 10);
        done = simpler_dump_filter_learn(&f, &e);
    }
    assert_false(done);
    assert_true(simpler_dump_filter_explain(&f, text, sizeof(text)));
    assert_string_equal(text, "--arg: the dump has no arg 55; the nearest are 50, 60, 40, 70, 30");
    simpler_dump_filter_fini(&f);
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_INDEX, "2,900-"), 0);
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_ARG, "77"), 0); /* the index alone decides */
    for (uint64_t i = 0; i < 4; i++) {
        struct simpler_dump_entry e = entry(i, 0, 0);
        (void)simpler_dump_filter_learn(&f, &e);
    }
    assert_true(simpler_dump_filter_explain(&f, text, sizeof(text)));
    assert_string_equal(text, "--index: the dump has no index 900-; the nearest are 3, 2, 1, 0");
    simpler_dump_filter_fini(&f);
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_FUNC, "4,-1"), 0);
    struct simpler_dump_entry e = entry(0, 0, 0);
    assert_true(simpler_dump_filter_learn(&f, &e));
    assert_false(simpler_dump_filter_explain(&f, text, sizeof(text)));
    simpler_dump_filter_fini(&f);
}

/* As host_build_graph writes them: [-1], unknown. */
static void ids_that_are_not_known(void **state)
{
    (void)state;
    struct simpler_dump_filter f = {0};
    struct simpler_dump_entry e = entry(0, 0, 0), known = entry(1, 0, 0);
    char text[512];

    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_FUNC, "0-"), 0);
    e.func_ids[0] = -1;
    e.func_count = 1;
    assert_false(simpler_dump_filter_learn(&f, &e));
    assert_false(simpler_dump_filter_matches(&f, &e));
    assert_true(simpler_dump_filter_explain(&f, text, sizeof(text)));
    assert_non_null(strstr(text, "--func: the dump has no func 0-: all its kernel ids are -1, "));
    assert_non_null(strstr(text, "host_build_graph"));
    assert_non_null(strstr(text, "--task"));
    simpler_dump_filter_fini(&f);
    /* One that is known: the usual answer. */
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_FUNC, "7"), 0);
    assert_false(simpler_dump_filter_learn(&f, &e));
    known.func_ids[0] = 4;
    known.func_count = 1;
    assert_false(simpler_dump_filter_learn(&f, &known));
    assert_true(simpler_dump_filter_explain(&f, text, sizeof(text)));
    assert_string_equal(text, "--func: the dump has no func 7; the nearest are 4, -1");
    simpler_dump_filter_fini(&f);
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_FUNC, "18446744073709551000"), 0);
    (void)simpler_dump_filter_learn(&f, &e);
    (void)simpler_dump_filter_learn(&f, &known);
    assert_true(simpler_dump_filter_explain(&f, text, sizeof(text)));
    assert_non_null(strstr(text, "; the nearest are -1, 4"));
    simpler_dump_filter_fini(&f);
    assert_int_equal(add(&f, SIMPLER_DUMP_FIELD_FUNC, "-1"), 0);
    assert_true(simpler_dump_filter_learn(&f, &e));
    assert_true(simpler_dump_filter_matches(&f, &e));
    simpler_dump_filter_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_ranges),       cmocka_unit_test(fields_combine),
        cmocka_unit_test(what_is_no_value),       cmocka_unit_test(the_nearest_numbers_are_listed),
        cmocka_unit_test(ids_that_are_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
