/* SPDX-License-Identifier: Apache-2.0 */
/* A scene for the tests of `simpler run` whose kernel or orchestration hangs or crashes. */
#include "simpler/scene.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HANG, CRASH, PLACE, SLOW };
enum { IN_KERNEL = 1, IN_ORCHESTRATION = 2 };
enum { BY_NULL = 1, BY_ABORT, BY_STACK, BY_KILL };

static int64_t param[4];
static int32_t value[16];
static int finished;

static int overflow(volatile char *up)
{
    volatile char here[4096];
    here[0] = up == NULL ? 0 : up[0];
    return overflow(here) + here[0];
}

static void crash(void)
{
    volatile int *nowhere = NULL;
    if (param[CRASH] == BY_NULL)
        *nowhere = 1;
    if (param[CRASH] == BY_ABORT)
        abort();
    if (param[CRASH] == BY_STACK)
        (void)overflow(NULL);
    if (param[CRASH] == BY_KILL)
        (void)raise(SIGBUS);
}

static void go_wrong(int place)
{
    if (param[PLACE] != place)
        return;
    if (param[HANG] != 0) {
        for (;;)
            (void)usleep(1000);
    }
    crash();
}

static int stuck(int64_t *args)
{
    *(int32_t *)simpler_kernel_data(args, 0) = 7;
    if (param[SLOW] != 0)
        (void)fprintf(stderr, "inside\n");
    (void)usleep((useconds_t)param[SLOW] * 1000);
    go_wrong(IN_KERNEL);
    return 0;
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    struct simpler_task_args task;

    SIMPLER_SCOPE(orch)
    {
        for (int i = 0; i < 3; i++) {
            simpler_task_args_reset(&task);
            (void)simpler_task_args_add_inout(&task, &args->tensor[0]);
            (void)simpler_orch_submit_aiv(orch, 5, &task, NULL);
        }
    }
    go_wrong(IN_ORCHESTRATION);
}

static struct simpler_tensor tensor;

static int prepare(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    uint32_t shape[] = {16};

    (void)message;
    (void)message_bytes;
    memcpy(param, run->param, sizeof(param));
    run->args.tensor = &tensor;
    run->args.tensor_count = 1;
    return simpler_tensor_init(&tensor, value, shape, 1, SIMPLER_DTYPE_INT32);
}

static void finish(struct simpler_scene_run *run)
{
    (void)run;
    printf("finished %d\n", ++finished);
}

static const struct simpler_kernel kernels[] = {
    {.func_id = 5, .core_type = SIMPLER_CORE_AIV, .fn = stuck, .name = "stuck"}};
static const struct simpler_scene_param params[] = {{"hang", "1: hangs", 0, 0, 1},
                                                    {"crash", "how", 0, 0, 4},
                                                    {"place", "1 kernel, 2 orchestration", 1, 1, 2},
                                                    {"slow", "milliseconds", 0, 0, 100000},
                                                    {.name = NULL}};
static const struct simpler_scene_case cases[] = {{.name = "one"}, {.name = "two"}};
SIMPLER_API const struct simpler_scene simpler_scene = {
    .abi = SIMPLER_SCENE_ABI,
    .name = "run_hang",
    .callable = {.name = "hang", .orchestrate = orchestrate, .kernels = kernels, .kernel_count = 1},
    .params = params,
    .cases = cases,
    .case_count = 2,
    .prepare = prepare,
    .finish = finish,
};
