/* SPDX-License-Identifier: Apache-2.0 */
/* AD-30: with SIMPLER_DFX=0 the dump's API is there, does nothing and keeps nothing. */
#undef SIMPLER_DFX
#define SIMPLER_DFX 0
#include "task/task_args.c"

#include <stddef.h>
#include <stdint.h>

#include "cm.h"

/* No member stands between these two. */
_Static_assert(offsetof(struct simpler_task_args, tensor) ==
                   offsetof(struct simpler_task_args, dependency_kind) + sizeof(void *),
               "no state of a dump");

static void nothing_happens(void **state)
{
    struct simpler_task_args args, before;
    struct simpler_tensor stranger = {0};

    (void)state;
    memset(&args, 0, sizeof(args));
    simpler_task_args_reset(&args);
    before = args;
    simpler_task_args_dump_all(&args);
    simpler_task_args_dump(&args, &stranger, NULL);
    assert_memory_equal(&args, &before, sizeof(args));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_happens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
