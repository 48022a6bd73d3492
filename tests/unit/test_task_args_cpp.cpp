// SPDX-License-Identifier: Apache-2.0
// The dump of task.h in C++: addresses of any types, in one call (AD-05).
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

extern "C" {
#include "cm.h"
}

#include "simpler/task.h"

static void mixed_addresses(void **)
{
    simpler_tensor x{}, y{};
    simpler_create_info z{};
    const float scale = 2.0f;
    double other = 1.0;
    simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &x);
    simpler_task_args_add_input(&args, &y);
    simpler_task_args_add_create(&args, &z);
    simpler_task_args_add_scalar(&args, &other, SIMPLER_DTYPE_FLOAT64);
    simpler_task_args_add_scalar(&args, &scale, SIMPLER_DTYPE_FLOAT32);
    simpler_task_args_dump(&args, &y, &z, &scale);
    assert_int_equal(args.error, SIMPLER_ARGS_OK);
    assert_int_equal(args.dump_mask, 2 | 4 | 16);
}

static void strangers_are_named_by_their_type(void **)
{
    simpler_tensor x{}, y{};
    simpler_create_info z{};
    double other = 1.0;

    for (int i = 0; i < 4; i++) {
        simpler_task_args args;
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &x);
        if (i == 0)
            simpler_task_args_dump(&args, &x, &y, &other);
        else if (i == 1)
            simpler_task_args_dump(&args, &z);
        else if (i == 2)
            simpler_task_args_dump(&args, &x, &x, &other);
        else
            simpler_task_args_dump(&args, static_cast<void *>(&y));
        static const uint32_t wanted[] = {SIMPLER_ARGS_DUMP_NO_TENSOR,
                                          SIMPLER_ARGS_DUMP_NO_CREATE_INFO,
                                          SIMPLER_ARGS_DUMP_NO_SCALAR, SIMPLER_ARGS_DUMP_UNKNOWN};
        assert_int_equal(args.error, wanted[i]);
    }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(mixed_addresses),
                                cmocka_unit_test(strangers_are_named_by_their_type)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
