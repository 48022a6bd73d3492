/* SPDX-License-Identifier: Apache-2.0 */
/* A scene for the tests of `simpler run` that does what a scene should not. */
#include "simpler/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_IN, FORK, PRINT, LONG_MESSAGE };
enum { PREPARE = 1, ORCHESTRATE, KERNEL, CHECK };

static int64_t param[4];

static void maybe_exit(int place)
{
    if (param[EXIT_IN] == place)
        exit(0);
}

static int kernel(int64_t *args)
{
    (void)args;
    maybe_exit(KERNEL);
    if (param[PRINT] != 0)
        printf("printed by the kernel\n");
    if (param[FORK] != 0) {
        pid_t child = fork();
        if (child == 0)
            exit(5);
        (void)waitpid(child, NULL, 0);
    }
    return 0;
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    struct simpler_task_args task;

    (void)args;
    maybe_exit(ORCHESTRATE);
    simpler_task_args_reset(&task);
    (void)simpler_orch_submit_aiv(orch, 0, &task, NULL);
}

static int prepare(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    (void)message;
    (void)message_bytes;
    memcpy(param, run->param, sizeof(param));
    maybe_exit(PREPARE);
    return 0;
}

static int check(struct simpler_scene_run *run, char *message, size_t message_bytes)
{
    (void)run;
    maybe_exit(CHECK);
    if (param[LONG_MESSAGE] == 0)
        return 0;
    memset(message, 'y', message_bytes);
    return 1;
}

static const struct simpler_kernel kernels[] = {{.core_type = SIMPLER_CORE_AIV, .fn = kernel}};
static const struct simpler_scene_param params[] = {{"exit_in", "place", 0, 0, 4},
                                                    {"fork", "1: forks", 0, 0, 1},
                                                    {"print", "1: prints", 0, 0, 1},
                                                    {"long_message", "1: no NUL", 0, 0, 1},
                                                    {.name = NULL}};
static const struct simpler_scene_case cases[] = {{.name = "default"}};
SIMPLER_API const struct simpler_scene simpler_scene = {
    .abi = SIMPLER_SCENE_ABI,
    .name = "run_rude",
    .callable = {.name = "rude", .orchestrate = orchestrate, .kernels = kernels, .kernel_count = 1},
    .params = params,
    .cases = cases,
    .case_count = 1,
    .prepare = prepare,
    .check = check,
};
