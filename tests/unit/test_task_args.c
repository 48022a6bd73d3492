/* SPDX-License-Identifier: Apache-2.0 */
/* Task arguments: order, limits, the first error and its text. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cm.h"
#include "simpler/task.h"

static struct simpler_tensor tensor;
static struct simpler_create_info info;

static void tensors_keep_order_and_use(void **state)
{
    (void)state;
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &tensor);
    simpler_task_args_add_create(&args, &info);
    simpler_task_args_add_inout(&args, &tensor);
    simpler_task_args_add_output(&args, &tensor);
    simpler_task_args_add_no_dep(&args, &tensor);
    assert_int_equal(args.error, SIMPLER_ARGS_OK);
    assert_int_equal(args.tensor_count, 5);
    assert_int_equal(args.output_count, 1);
    assert_ptr_equal(args.tensor[1], &info);
    const uint8_t use[] = {SIMPLER_USE_INPUT, SIMPLER_USE_OUTPUT, SIMPLER_USE_INOUT,
                           SIMPLER_USE_OUTPUT_EXISTING, SIMPLER_USE_NO_DEP};
    assert_memory_equal(args.use, use, sizeof(use));
}

static void scalars_are_packed_low(void **state)
{
    (void)state;
    struct simpler_task_args args;
    float f = -2.0f;
    double d = 1.0;
    int8_t small = -1;
    _Bool yes = 1;
    int64_t wide = INT64_MIN;

    simpler_task_args_reset(&args);
    memset(args.scalar, 0xff, sizeof(args.scalar));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(f));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(d));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(small));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(yes));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(wide));
    const uint64_t bits[] = {0xc0000000u, 0x3ff0000000000000u, 0xff, 1, 0x8000000000000000u};
    const uint8_t dtype[] = {SIMPLER_DTYPE_FLOAT32, SIMPLER_DTYPE_FLOAT64, SIMPLER_DTYPE_INT8,
                             SIMPLER_DTYPE_BOOL, SIMPLER_DTYPE_INT64};
    assert_int_equal(args.scalar_count, 5);
    assert_memory_equal(args.scalar, bits, sizeof(bits));
    assert_memory_equal(args.scalar_dtype, dtype, sizeof(dtype));
    assert_ptr_equal(args.scalar_source[2], &small);
}

static void blocks_of_scalars_have_no_source(void **state)
{
    (void)state;
    struct simpler_task_args args, more;
    const uint64_t raw[] = {7, UINT64_MAX};
    const int32_t words[] = {-1, 5};
    float f = 1.0f;

    simpler_task_args_reset(&args);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(f));
    simpler_task_args_add_scalars(&args, raw, 2);
    simpler_task_args_add_scalars_i32(&args, words, 2);
    assert_int_equal(args.scalar[2], UINT64_MAX);
    assert_int_equal(args.scalar[3], 0xffffffffu);
    assert_int_equal(args.scalar_dtype[1], SIMPLER_DTYPE_UINT64);
    assert_int_equal(args.scalar_dtype[4], SIMPLER_DTYPE_INT32);
    assert_null(args.scalar_source[1]);
    assert_null(args.scalar_source[3]);
    simpler_task_args_reset(&more);
    simpler_task_args_copy_scalars(&more, &args, 0, 4);
    assert_int_equal(more.scalar_count, 4);
    assert_memory_equal(more.scalar, args.scalar, 4 * sizeof(uint64_t));
    assert_memory_equal(more.scalar_dtype, args.scalar_dtype, 4);
    assert_null(more.scalar_source[0]);
    simpler_task_args_copy_scalars(&more, &args, 5, 0);
    assert_int_equal(more.error, SIMPLER_ARGS_OK);
}

/* The error, the argument at fault, a word of the text; nothing was added. */
static void check_error(const struct simpler_task_args *args, uint32_t error, uint32_t arg,
                        const char *word)
{
    assert_int_equal(args->error, error);
    assert_int_equal(args->error_arg, arg);
    assert_non_null(strstr(simpler_task_args_error_text(error), word));
}

static void limits_are_named(void **state)
{
    (void)state;
    struct simpler_task_args args;
    const uint64_t raw[17] = {0};
    const int32_t words[17] = {0};

    simpler_task_args_reset(&args);
    for (int i = 0; i < SIMPLER_MAX_TENSORS; i++)
        simpler_task_args_add_input(&args, &tensor);
    assert_int_equal(args.error, SIMPLER_ARGS_OK);
    simpler_task_args_add_scalars(&args, raw, SIMPLER_MAX_SCALARS);
    assert_int_equal(args.error, SIMPLER_ARGS_OK);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(raw[0]));
    check_error(&args, SIMPLER_ARGS_TOO_MANY_SCALARS, 48, "16");
    assert_int_equal(args.scalar_count, 16);

    simpler_task_args_reset(&args);
    for (int i = 0; i <= SIMPLER_MAX_TENSORS; i++)
        simpler_task_args_add_input(&args, &tensor);
    check_error(&args, SIMPLER_ARGS_TOO_MANY_TENSORS, 32, "32");
    assert_int_equal(args.tensor_count, 32);

    simpler_task_args_reset(&args);
    simpler_task_args_add_scalars(&args, raw, 17);
    check_error(&args, SIMPLER_ARGS_TOO_MANY_SCALARS, 16, "16");
    assert_int_equal(args.scalar_count, 0);
    simpler_task_args_reset(&args);
    simpler_task_args_add_scalars_i32(&args, words, UINT32_MAX);
    check_error(&args, SIMPLER_ARGS_TOO_MANY_SCALARS, 16, "16");
}

static void the_first_error_wins(void **state)
{
    (void)state;
    struct simpler_task_args args, other;
    struct simpler_task_id id = {0};
    uint64_t one = 1;

    simpler_task_args_reset(&args);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(one));
    simpler_task_args_add_input(&args, &tensor);
    check_error(&args, SIMPLER_ARGS_TENSOR_AFTER_SCALAR, 0, "after a scalar");
    simpler_task_args_add_input(&args, NULL);
    simpler_task_args_add_scalar(&args, NULL, 0);
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(one));
    simpler_task_args_add_scalars(&args, &one, 1);
    simpler_task_args_reset(&other);
    simpler_task_args_copy_scalars(&args, &other, 5, 1);
    simpler_task_args_set_dependencies(&args, &id, 1);
    simpler_task_args_set_dependencies(&args, NULL, 1);
    check_error(&args, SIMPLER_ARGS_TENSOR_AFTER_SCALAR, 0, "after a scalar");
    assert_int_equal(args.scalar_count, 1);
    assert_int_equal(args.tensor_count, 0);
    assert_int_equal(args.dependency_count, 0);

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, NULL);
    simpler_task_args_add_input(&args, &tensor);
    check_error(&args, SIMPLER_ARGS_NULL, 0, "NULL");
    assert_int_equal(args.tensor_count, 0);
}

static void bad_scalars_are_errors(void **state)
{
    (void)state;
    struct simpler_task_args args, other;
    uint64_t one = 1;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &tensor);
    simpler_task_args_add_scalar(&args, &one, SIMPLER_DTYPE_NUM);
    check_error(&args, SIMPLER_ARGS_BAD_DTYPE, 1, "type");
    simpler_task_args_reset(&args);
    simpler_task_args_add_scalar(&args, NULL, 0);
    check_error(&args, SIMPLER_ARGS_NULL, 0, "NULL");
    simpler_task_args_reset(&other);
    simpler_task_args_add_scalars(&other, &one, 1);
    simpler_task_args_reset(&args);
    simpler_task_args_copy_scalars(&args, &other, 1, 1);
    check_error(&args, SIMPLER_ARGS_SCALAR_RANGE, 0, "beyond");
    simpler_task_args_reset(&args);
    simpler_task_args_copy_scalars(&args, &other, 1, UINT32_MAX);
    check_error(&args, SIMPLER_ARGS_SCALAR_RANGE, 0, "beyond");
    simpler_task_args_reset(&args);
    simpler_task_args_copy_scalars(&args, &other, 2, 0);
    check_error(&args, SIMPLER_ARGS_SCALAR_RANGE, 0, "beyond");
    simpler_task_args_reset(&args);
    simpler_task_args_copy_scalars(&args, NULL, 0, 1);
    check_error(&args, SIMPLER_ARGS_NULL, 0, "NULL");
}

static void dependencies_are_set_once(void **state)
{
    (void)state;
    struct simpler_task_args args;
    const struct simpler_task_id ids[2] = {{1}, {2}};
    const uint8_t kinds[2] = {SIMPLER_DEP_WAIT, SIMPLER_DEP_WAIT | SIMPLER_DEP_RETAIN};

    simpler_task_args_reset(&args);
    simpler_task_args_set_dependencies(&args, NULL, 0);
    simpler_task_args_set_dependencies_with_kinds(&args, ids, kinds, 2);
    assert_int_equal(args.dependency_count, 2);
    assert_ptr_equal(args.dependency, ids);
    assert_ptr_equal(args.dependency_kind, kinds);
    simpler_task_args_set_dependencies(&args, ids, 0);
    assert_int_equal(args.dependency_count, 0);
    assert_null(args.dependency);
    simpler_task_args_set_dependencies(&args, ids, 1);
    assert_null(args.dependency_kind);
    assert_int_equal(args.error, SIMPLER_ARGS_OK);
    simpler_task_args_set_dependencies(&args, ids, 1);
    check_error(&args, SIMPLER_ARGS_DEPENDENCIES_TWICE, 0, "twice");
    simpler_task_args_reset(&args);
    simpler_task_args_set_dependencies_with_kinds(&args, ids, NULL, 1);
    check_error(&args, SIMPLER_ARGS_NULL, 0, "NULL");
    assert_int_equal(args.dependency_count, 0);
}

static void every_error_has_its_own_text(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SIMPLER_ARGS_ERROR_NUM; i++) {
        assert_true(strlen(simpler_task_args_error_text(i)) > 5);
        for (uint32_t j = 0; j < i; j++)
            assert_string_not_equal(simpler_task_args_error_text(i),
                                    simpler_task_args_error_text(j));
    }
    assert_string_equal(simpler_task_args_error_text(SIMPLER_ARGS_ERROR_NUM), "unknown error");
}

static void an_object_that_was_never_reset_is_an_error(void **state)
{
    struct simpler_task_args never, args;
    uint64_t values[2] = {1, 2};

    (void)state;
    memset(&never, 0xff, sizeof(never));
    simpler_task_args_reset(&args);
    simpler_task_args_copy_scalars(&args, &never, SIMPLER_MAX_SCALARS + 1000, 2);
    assert_int_equal(args.error, SIMPLER_ARGS_SCALAR_RANGE);
    assert_int_equal(args.scalar_count, 0);
    never.error = SIMPLER_ARGS_OK;
    simpler_task_args_add_scalars(&never, values, 2);
    assert_int_equal(never.error, SIMPLER_ARGS_TOO_MANY_SCALARS);
    assert_int_equal(never.scalar_count, UINT32_MAX);
}

/* AD-05, AD-06: what a dump selects, by address. */
static void dump_selects_by_address(void **state)
{
    (void)state;
    struct simpler_task_args args;
    struct simpler_tensor second = {0};
    float a = 1.0f, b = 1.0f;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &tensor);
    simpler_task_args_add_create(&args, &info);
    simpler_task_args_add_inout(&args, &tensor);
    simpler_task_args_add_output(&args, &second);
    simpler_task_args_dump(&args, &tensor);
    assert_int_equal(args.dump_mask, 1); /* given twice: the first slot */
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(a));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(b));
    simpler_task_args_add_scalar(&args, SIMPLER_SCALAR(b));
    simpler_task_args_dump(&args, &a, &info, &second);
    assert_int_equal(args.dump_mask, 1 | 2 | 8 | 16); /* several calls add up */
    assert_int_equal(args.dump_ambiguous, 0);
    simpler_task_args_dump(&args, &b); /* equal value, another address */
    assert_int_equal(args.dump_mask, 1 | 2 | 8 | 16 | 32);
    assert_int_equal(args.dump_ambiguous, 2);
    assert_int_equal(args.error, SIMPLER_ARGS_OK);
    simpler_task_args_reset(&args);
    assert_int_equal(args.dump_mask | args.dump_ambiguous, 0);
}

static void dump_all_selects_what_is_there(void **state)
{
    (void)state;
    struct simpler_task_args args;
    uint64_t raw[SIMPLER_MAX_SCALARS] = {0};

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &tensor);
    simpler_task_args_dump_all(&args);
    simpler_task_args_add_input(&args, &tensor);
    assert_int_equal(args.dump_mask, 1);
    for (uint32_t i = 2; i < SIMPLER_MAX_TENSORS; i++)
        simpler_task_args_add_input(&args, &tensor);
    simpler_task_args_add_scalars(&args, raw, SIMPLER_MAX_SCALARS);
    simpler_task_args_dump_all(&args); /* scalars without an address too */
    assert_true(args.dump_mask == ((uint64_t)1 << 48) - 1);
    assert_int_equal(args.error, SIMPLER_ARGS_OK);
}

static void dump_mistakes_have_their_own_texts(void **state)
{
    (void)state;
    struct simpler_task_args args;
    struct simpler_tensor stranger = {0};

    simpler_task_args_reset(&args);
    simpler_task_args_dump_all(&args);
    assert_int_equal(args.error, SIMPLER_ARGS_DUMP_NOTHING);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &tensor);
    simpler_task_args_dump(&args, &tensor, &stranger);
    assert_int_equal(args.error, SIMPLER_ARGS_DUMP_NO_TENSOR);
    assert_int_equal(args.error_arg, 1);
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &tensor);
    simpler_task_args_dump(&args, NULL);
    assert_int_equal(args.error, SIMPLER_ARGS_DUMP_NULL);
    const char *nothing = simpler_task_args_error_text(SIMPLER_ARGS_DUMP_NOTHING);
    const char *unknown = simpler_task_args_error_text(SIMPLER_ARGS_DUMP_UNKNOWN);
    const char *null = simpler_task_args_error_text(SIMPLER_ARGS_DUMP_NULL);
    assert_string_not_equal(nothing, unknown);
    assert_string_not_equal(unknown, null);
}

/* Each type has its own, at any place of the selection; an address without a type the general. */
static void a_stranger_is_named_by_its_type(void **state)
{
    (void)state;
    const struct simpler_tensor stranger = {0};
    struct simpler_create_info no_info = {0};
    float no_scalar[2] = {0};
    const void *address = no_scalar;

    for (int i = 0; i < 5; i++) {
        struct simpler_task_args args;
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &tensor);
        simpler_task_args_add_create(&args, &info);
        if (i == 0)
            simpler_task_args_dump(&args, &stranger);
        else if (i == 1)
            simpler_task_args_dump(&args, &info, &no_info, &stranger);
        else if (i == 2)
            simpler_task_args_dump(&args, &tensor, &info, &tensor, &no_scalar[1]);
        else if (i == 3)
            simpler_task_args_dump(&args, &tensor, address);
        else
            simpler_task_args_dump(&args, &info, &info, &info, &info, &info, &info, &info, &info,
                                   &info, &info, &info, &info, &info, &info, &info, &info,
                                   &stranger);
        static const uint32_t wanted[] = {
            SIMPLER_ARGS_DUMP_NO_TENSOR, SIMPLER_ARGS_DUMP_NO_CREATE_INFO,
            SIMPLER_ARGS_DUMP_NO_SCALAR, SIMPLER_ARGS_DUMP_UNKNOWN, SIMPLER_ARGS_DUMP_UNKNOWN};
        static const uint32_t places[] = {0, 1, 3, 1, 16};
        assert_int_equal(args.error, wanted[i]);
        assert_int_equal(args.error_arg, places[i]);
        /* The first mistake stays. */
        simpler_task_args_dump(&args, &stranger);
        assert_int_equal(args.error, wanted[i]);
    }
    assert_string_equal(simpler_task_args_error_text(SIMPLER_ARGS_DUMP_NO_TENSOR),
                        "dump: the tensor is not in this argument object");
    assert_string_equal(simpler_task_args_error_text(SIMPLER_ARGS_DUMP_NO_CREATE_INFO),
                        "dump: the create-info is not in this argument object");
    assert_string_equal(simpler_task_args_error_text(SIMPLER_ARGS_DUMP_NO_SCALAR),
                        "dump: the scalar is not in this argument object");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_keep_order_and_use),
        cmocka_unit_test(scalars_are_packed_low),
        cmocka_unit_test(blocks_of_scalars_have_no_source),
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(the_first_error_wins),
        cmocka_unit_test(bad_scalars_are_errors),
        cmocka_unit_test(dependencies_are_set_once),
        cmocka_unit_test(an_object_that_was_never_reset_is_an_error),
        cmocka_unit_test(every_error_has_its_own_text),
        cmocka_unit_test(dump_selects_by_address),
        cmocka_unit_test(dump_all_selects_what_is_there),
        cmocka_unit_test(dump_mistakes_have_their_own_texts),
        cmocka_unit_test(a_stranger_is_named_by_its_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
