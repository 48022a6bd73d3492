/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Element types on every platform and runtime: fp8 and fp4 are refused where the chip does not
 * have them, as an argument of the run, as a tensor and as a create-info of a task,
 * with the type and the platform named; everything else goes through everywhere.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cm.h"
#include "kit.h"
#include "simpler/info.h"

static struct simpler_run_result result;
static char heard[512];

struct attempt {
    uint32_t dtype;
    bool output; /* of the task's; else a tensor that was made before */
    uint64_t cell;
    int status; /* of the submit */
};

static void hear(void *user, int level, const char *text)
{
    (void)user;
    (void)level;
    (void)snprintf(heard, sizeof(heard), "%s", text);
}

static void submit(struct simpler_orch *orch, void *user)
{
    struct attempt *a = user;
    struct simpler_tensor tensor = kit_tensor(&a->cell, 1, a->dtype);
    struct simpler_create_info info = kit_info(1, a->dtype);
    struct simpler_task_outputs out;
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    if (a->output)
        simpler_task_args_add_create(&args, &info);
    else
        simpler_task_args_add_inout(&args, &tensor);
    a->status = kit_submit(orch, &args, kit_nop_kernel, NULL, &out);
}

static void expect_refusal(const char *text, uint32_t dtype, const char *platform)
{
    char wanted[128];

    (void)snprintf(wanted, sizeof(wanted), "platform %s", platform);
    if (strstr(text, simpler_dtype_name(dtype)) == NULL || strstr(text, wanted) == NULL)
        fail_msg("'%s' does not name %s and %s", text, simpler_dtype_name(dtype), wanted);
}

static void as_argument_of_a_task(struct kit *kit, const char *runtime, uint32_t dtype, bool fits,
                                  const char *platform)
{
    struct simpler_call_config config = kit_config(2);

    config.runtime = runtime;
    for (int output = 0; output < 2; output++) {
        struct attempt a = {.dtype = dtype, .output = output != 0};
        int rc = kit_run(kit, submit, &a, &config, &result);
        assert_int_equal(rc, fits ? 0 : -SIMPLER_CODE_INVALID_ARGS);
        assert_int_equal(a.status == 0, fits);
        if (!fits)
            expect_refusal(result.message, dtype, platform);
    }
}

static void nothing(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    (void)orch;
    (void)args;
}

static void as_argument_of_a_run(struct kit *kit, uint32_t dtype, bool fits, const char *platform)
{
    struct simpler_callable callable = {
        .name = "none", .orchestrate = nothing, .file = __FILE__, .line = __LINE__};
    uint64_t cell = 0;
    struct simpler_tensor tensor = kit_tensor(&cell, 1, dtype);
    struct simpler_orch_args args = {.tensor = &tensor, .tensor_count = 1};
    struct simpler_call_config config = kit_config(2);
    uint32_t handle;

    assert_int_equal(simpler_worker_register(kit->worker, &callable, &handle), 0);
    int rc = simpler_worker_run(kit->worker, handle, &args, &config, &result);
    assert_int_equal(rc, fits ? 0 : SIMPLER_EINVAL);
    if (!fits)
        expect_refusal(heard, dtype, platform);
}

static void a_platform_takes_the_types_that_it_has(void **state)
{
    struct simpler_platform_info platform;
    struct simpler_runtime_info runtime;
    uint32_t refused = 0;

    (void)state;
    for (uint32_t p = 0; simpler_info_platform(p, &platform) == 0; p++) {
        struct kit kit;
        kit_open_platform(&kit, platform.name);
        for (uint32_t dtype = 0; dtype < SIMPLER_DTYPE_NUM; dtype++) {
            bool small = dtype >= SIMPLER_DTYPE_FP8E4M3FN && dtype <= SIMPLER_DTYPE_FP4E2M1;
            bool fits = !small || strcmp(platform.name, "a2a3sim") != 0;
            assert_int_equal(platform.dtypes >> dtype & 1, fits);
            for (uint32_t r = 0; simpler_info_runtime(r, &runtime) == 0; r++)
                as_argument_of_a_task(&kit, runtime.name, dtype, fits, platform.name);
            as_argument_of_a_run(&kit, dtype, fits, platform.name);
            refused += !fits;
        }
        kit_close(&kit);
    }
    assert_int_equal(refused, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_platform_takes_the_types_that_it_has),
    };
    simpler_log_set_callback(hear, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
