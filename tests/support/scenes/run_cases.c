/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scene for the tests of `simpler run`: a chain of increments on one number,
 * with parameters that make each part of a round fail.
 */
#include "simpler/scene.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    STEPS,
    FAIL_PREPARE,
    WRONG,
    KERNEL_FAILS,
    KERNEL_MS,
    KEEP,
    FATAL,
    RACY,
    LEAVE_LOG,
    CHECK_MS,
    PARAMS
};

struct state {
    int64_t number;
    struct simpler_tensor tensor;
    uint64_t scalar[PARAMS];
};

static void sleep_ms(int64_t ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    if (ms != 0)
        (void)nanosleep(&t, NULL);
}

/* The first kernel that takes its time says that it has begun. */
static atomic_flag told = ATOMIC_FLAG_INIT;

static int increment(int64_t *args)
{
    int64_t *number = simpler_kernel_data(args, 0);
    int64_t fail_at, ms;

    simpler_kernel_scalar(args, 1, &fail_at, sizeof(fail_at));
    simpler_kernel_scalar(args, 2, &ms, sizeof(ms));
    if (ms != 0 && !atomic_flag_test_and_set(&told))
        (void)fputs("inside\n", stderr);
    sleep_ms(ms);
    if (fail_at != 0 && *number + 1 == fail_at)
        return 3;
    ++*number;
    return 0;
}

static int nothing(int64_t *args)
{
    (void)args;
    return 0;
}

static const struct simpler_kernel kernels[] = {
    {.func_id = 0, .core_type = SIMPLER_CORE_AIV, .name = "increment", .fn = increment},
    {.func_id = 1, .core_type = SIMPLER_CORE_AIC, .name = "nothing", .fn = nothing},
};

/* A write after a read: ordered by hazards all alone. */
static void submit_racy(struct simpler_orch *orch, const struct simpler_tensor *tensor)
{
    struct simpler_task_args task;

    simpler_task_args_reset(&task);
    simpler_task_args_add_input(&task, tensor);
    (void)simpler_orch_submit_aic(orch, 1, &task, NULL);
    simpler_task_args_reset(&task);
    simpler_task_args_add_output(&task, tensor);
    (void)simpler_orch_submit_aic(orch, 1, &task, NULL);
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    struct simpler_create_info info;
    uint32_t one[] = {1};

    (void)simpler_create_info_init(&info, one, 1, SIMPLER_DTYPE_INT64);
    if (args->scalar[FATAL] != 0)
        simpler_orch_report_fatal(orch, SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "as asked by fatal=%d",
                                  (int)args->scalar[FATAL]);
    SIMPLER_SCOPE(orch)
    {
        if (args->scalar[RACY] != 0)
            submit_racy(orch, &args->tensor[0]);
        for (uint64_t i = 0; i < args->scalar[STEPS]; i++) {
            struct simpler_task_args task;
            simpler_task_args_reset(&task);
            simpler_task_args_add_inout(&task, &args->tensor[0]);
            simpler_task_args_add_scalar(&task, &args->scalar[KERNEL_FAILS], SIMPLER_DTYPE_INT64);
            simpler_task_args_add_scalar(&task, &args->scalar[KERNEL_MS], SIMPLER_DTYPE_INT64);
            if (simpler_orch_submit_aiv(orch, 0, &task, NULL) != 0)
                return;
        }
        for (uint64_t i = 0; i < args->scalar[KEEP]; i++) {
            /* It goes on after a failure, so that the report can count the whole scope. */
            struct simpler_task_outputs out;
            (void)simpler_orch_alloc_tensors(orch, &info, 1, &out);
        }
    }
}

static int prepare(struct simpler_scene_run *run, char *message, size_t bytes)
{
    struct state *s = calloc(1, sizeof(*s));
    uint32_t one[] = {1};

    if (s == NULL)
        return SIMPLER_ENOMEM;
    run->state = s;
    for (int i = 0; i < PARAMS; i++)
        s->scalar[i] = (uint64_t)run->param[i];
    (void)simpler_tensor_init(&s->tensor, &s->number, one, 1, SIMPLER_DTYPE_INT64);
    run->args.tensor = &s->tensor;
    run->args.tensor_count = 1;
    run->args.scalar = s->scalar;
    run->args.scalar_count = PARAMS;
    if (run->param[LEAVE_LOG] != 0)
        (void)fprintf(stderr, "prepared %s\n", run->scene_case->name);
    if (run->param[FAIL_PREPARE] != 0) {
        (void)snprintf(message, bytes, "the data set \"x\" is not here");
        return SIMPLER_ENOENT;
    }
    return 0;
}

static int check(struct simpler_scene_run *run, char *message, size_t bytes)
{
    const struct state *s = run->state;
    int64_t expected = run->param[STEPS] + run->param[WRONG];

    sleep_ms(run->param[CHECK_MS]);
    (void)snprintf(message, bytes, "%lld of %lld steps", (long long)s->number, (long long)expected);
    return s->number != expected;
}

static void finish(struct simpler_scene_run *run)
{
    const struct state *s = run->state;

    if (run->param[LEAVE_LOG] != 0 && s != NULL)
        (void)fprintf(stderr, "finished %s at %lld\n", run->scene_case->name, (long long)s->number);
    free(run->state);
}

static const struct simpler_scene_param params[] = {
    [STEPS] = {"steps", "tasks in the chain", 10, 0, 1000000},
    [FAIL_PREPARE] = {"fail_prepare", "1: prepare fails", 0, 0, 1},
    [WRONG] = {"wrong", "distance of the golden result", 0, -9, 9},
    [KERNEL_FAILS] = {"kernel_fails", "step whose kernel fails", 0, 0, 1000000},
    [KERNEL_MS] = {"kernel_ms", "milliseconds of each kernel", 0, 0, 60000},
    [KEEP] = {"keep", "tensors that one scope keeps", 0, 0, 1000000},
    [FATAL] = {"fatal", "1: the orchestration gives up", 0, 0, 9},
    [RACY] = {"racy", "1: a reader, then a writer", 0, 0, 1},
    [LEAVE_LOG] = {"log", "1: prepare and finish say so", 0, 0, 1},
    [CHECK_MS] = {"check_ms", "milliseconds of the check", 0, 0, 60000},
    [PARAMS] = {NULL, NULL, 0, 0, 0},
};
static const struct simpler_scene_value long_params[] = {{"steps", 100}, {NULL, 0}};
static const struct simpler_scene_case cases[] = {
    {.name = "short"},
    {.name = "long", .params = long_params, .config = {.hazards = SIMPLER_HAZARDS_RAW}},
    {.name = "extra", .manual = 1, .config = {.runtime_env = {.ring_heap = {4096, 8192, 0, 0}}}},
    {.name = "chip", .platforms = "a2a3sim"},
};

SIMPLER_API const struct simpler_scene simpler_scene = {
    .abi = SIMPLER_SCENE_ABI,
    .hazards = SIMPLER_HAZARDS_ALL,
    .name = "run_cases",
    .description = "for the tests of simpler run",
    .callable = {.name = "chain",
                 .orchestrate = orchestrate,
                 .file = __FILE__,
                 .line = __LINE__,
                 .kernels = kernels,
                 .kernel_count = 2,
                 .expected_arg_count = 1 + PARAMS},
    .params = params,
    .cases = cases,
    .case_count = 4,
    .prepare = prepare,
    .check = check,
    .finish = finish,
};
