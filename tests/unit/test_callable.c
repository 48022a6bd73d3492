/* SPDX-License-Identifier: Apache-2.0 */
/* Registered callables: deep copies, equality, refusals with their reason. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "failing_alloc.h"
#include "simpler/log.h"
#include "task/callable.h"

static char last_line[1024];
static int line_count;

static void keep_line(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    line_count++;
    (void)snprintf(last_line, sizeof(last_line), "%s", line);
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    (void)orch;
    (void)args;
}

static void orchestrate_other(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    (void)orch;
    (void)args;
}

static int kernel(int64_t *args)
{
    (void)args;
    return 0;
}

static const uint8_t signature[] = {SIMPLER_DIR_IN, SIMPLER_DIR_OUT, SIMPLER_DIR_SCALAR};
static const struct simpler_kernel kernels[] = {
    {.func_id = 7,
     .core_type = SIMPLER_CORE_AIV,
     .name = "add",
     .fn = kernel,
     .signature = signature,
     .signature_count = 3},
    {.func_id = 0, .core_type = SIMPLER_CORE_AIC, .fn = kernel},
    {.func_id = 1023, .core_type = SIMPLER_CORE_AIC, .name = "last", .fn = kernel},
};
static const struct simpler_callable good = {
    .name = "sum",
    .orchestrate = orchestrate,
    .file = "sum.c",
    .line = 12,
    .kernels = kernels,
    .kernel_count = 3,
    .expected_arg_count = 2,
};

static void a_copy_owns_everything(void **state)
{
    (void)state;
    struct simpler_callable_copy copy;
    char name[] = "sum", file[] = "sum.c", kernel_name[] = "add";
    uint8_t directions[] = {SIMPLER_DIR_IN, SIMPLER_DIR_OUT, SIMPLER_DIR_SCALAR};
    struct simpler_kernel list[3];
    struct simpler_callable from = good;

    memcpy(list, kernels, sizeof(list));
    list[0].name = kernel_name;
    list[0].signature = directions;
    from.name = name;
    from.file = file;
    from.kernels = list;
    assert_int_equal(simpler_callable_copy_init(&copy, &from), 0);
    memset(name, 'x', 3);
    memset(file, 'x', 3);
    memset(kernel_name, 'x', 3);
    memset(directions, 9, 3);
    memset(list, 0, sizeof(list));
    assert_string_equal(copy.callable.name, "sum");
    assert_string_equal(copy.callable.file, "sum.c");
    assert_int_equal(copy.callable.line, 12);
    assert_int_equal(copy.callable.expected_arg_count, 2);
    assert_int_equal(copy.func_id_count, 1024);
    assert_string_equal(copy.by_id[7]->name, "add");
    assert_memory_equal(copy.by_id[7]->signature, signature, 3);
    assert_string_equal(copy.by_id[0]->name, "kernel 0");
    assert_ptr_equal(copy.by_id[1023]->fn, kernel);
    assert_null(copy.by_id[1]);
    simpler_callable_copy_fini(&copy);
    simpler_callable_copy_fini(&copy);
    simpler_callable_copy_fini(NULL);
}

static void names_have_defaults(void **state)
{
    (void)state;
    struct simpler_callable_copy copy;
    struct simpler_callable from = {.orchestrate = orchestrate};

    assert_int_equal(simpler_callable_copy_init(&copy, &from), 0);
    assert_string_equal(copy.callable.name, "callable");
    assert_null(copy.callable.file);
    assert_int_equal(copy.func_id_count, 0);
    simpler_callable_copy_fini(&copy);
}

static bool same(const struct simpler_callable *other)
{
    struct simpler_callable_copy a, b;

    assert_int_equal(simpler_callable_copy_init(&a, &good), 0);
    assert_int_equal(simpler_callable_copy_init(&b, other), 0);
    bool equal = simpler_callable_copy_equal(&a, &b);
    assert_int_equal(equal, a.hash == b.hash);
    simpler_callable_copy_fini(&a);
    simpler_callable_copy_fini(&b);
    return equal;
}

static void content_decides_equality(void **state)
{
    (void)state;
    struct simpler_callable other = good;
    struct simpler_kernel list[3];
    uint8_t directions[] = {SIMPLER_DIR_IN, SIMPLER_DIR_INOUT, SIMPLER_DIR_SCALAR};

    memcpy(list, kernels, sizeof(list));
    other.kernels = list;
    assert_true(same(&other));
    list[0].signature = directions;
    assert_false(same(&other));
    list[0].signature = signature;
    list[0].func_id = 8;
    assert_false(same(&other));
    list[0].func_id = 7;
    list[0].name = "sub";
    assert_false(same(&other));
    list[0].name = "add";
    list[0].core_type = SIMPLER_CORE_AIC;
    assert_false(same(&other));
    other = good;
    other.orchestrate = orchestrate_other;
    assert_false(same(&other));
    other = good;
    other.name = "product";
    assert_false(same(&other));
    other = good;
    other.file = NULL;
    assert_false(same(&other));
    other = good;
    other.line++;
    assert_false(same(&other));
    other = good;
    other.kernel_count = 2;
    assert_false(same(&other));
    other = good;
    other.expected_arg_count = 0;
    assert_false(same(&other));
}

/* Refused with one line that holds @word; nothing stays behind. */
static void refused(const struct simpler_callable *callable, const char *word)
{
    struct simpler_callable_copy copy;

    line_count = 0;
    assert_int_equal(simpler_callable_copy_init(&copy, callable), SIMPLER_EINVAL);
    assert_int_equal(line_count, 1);
    if (strstr(last_line, word) == NULL)
        fail_msg("'%s' does not hold '%s'", last_line, word);
    assert_null(copy.callable.kernels);
}

static void faults_are_named(void **state)
{
    (void)state;
    struct simpler_callable bad = good;
    struct simpler_kernel list[3];
    const uint8_t late_tensor[] = {SIMPLER_DIR_SCALAR, SIMPLER_DIR_IN};
    const uint8_t unknown[] = {4};

    simpler_log_set_callback(keep_line, NULL);
    refused(NULL, "NULL");
    bad.orchestrate = NULL;
    refused(&bad, "sum: there is no orchestration");
    bad = good;
    bad.kernels = NULL;
    refused(&bad, "3 kernels");
#define BAD_KERNEL(change, word)             \
    do {                                     \
        memcpy(list, kernels, sizeof(list)); \
        bad = good;                          \
        bad.kernels = list;                  \
        change;                              \
        refused(&bad, word);                 \
    } while (0)
    BAD_KERNEL(list[2].fn = NULL, "kernel 1023 has no function");
    BAD_KERNEL(list[2].func_id = 1024, "1024 is above 1023");
    BAD_KERNEL(list[2].func_id = 7, "func_id 7 is given twice");
    BAD_KERNEL(list[2].core_type = 2, "core type 2");
    BAD_KERNEL(list[2].signature_count = 1, "signature is NULL");
    BAD_KERNEL((list[0].signature_count = 49), "49 arguments, 48 are possible");
    BAD_KERNEL((list[1].signature = late_tensor, list[1].signature_count = 2),
               "argument 1: a tensor after a scalar");
    BAD_KERNEL((list[1].signature = unknown, list[1].signature_count = 1), "4 is no direction");
#undef BAD_KERNEL
    simpler_log_set_callback(NULL, NULL);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct simpler_callable_copy copy;
    uint64_t failures = 0;
    int rc;

    if (!failing_alloc_available())
        skip();
    simpler_log_set_callback(keep_line, NULL);
    for (;; failures++) {
        failing_alloc_arm(failures);
        rc = simpler_callable_copy_init(&copy, &good);
        if (!failing_alloc_fired())
            break;
        assert_int_equal(rc, SIMPLER_ENOMEM);
        assert_null(copy.callable.name);
        simpler_callable_copy_fini(&copy);
    }
    failing_alloc_disarm();
    assert_int_equal(rc, 0);
    /* name, file, the kernels, three names, one signature */
    assert_int_equal(failures, 7);
    simpler_callable_copy_fini(&copy);
    simpler_log_set_callback(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_owns_everything),    cmocka_unit_test(names_have_defaults),
        cmocka_unit_test(content_decides_equality),  cmocka_unit_test(faults_are_named),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
