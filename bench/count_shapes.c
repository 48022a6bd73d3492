/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of one shape on one device thread, for instruction counts: the
 * difference between two task counts is what a task costs.
 *
 *     count_shapes [held-|built-|replay-]empty|own|chain|wave|scope TASKS
 *
 * scope is a scope without a task, scope stats off.  With held- there are 256 tasks a
 * scope, which begins with an alloc_tensors: the scope keeps them all until it ends,
 * so that none can pass through and each is known by its slot and the map.  With
 * built- they are one graph of host_build_graph, with replay- a recorded graph of 2000
 * tasks that is replayed run after run.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simpler/simpler.h"

#define SIDE  256u
#define SCOPE 256u
#define CELLS (SIDE * SIDE)

static uint64_t cells[CELLS * 8];
static struct simpler_tensor all_cells;

struct job {
    char shape; /* first letter */
    bool held;
    uint32_t tasks;
};

static int kernel_nothing(int64_t *args)
{
    (void)args;
    return 0;
}

#define GRAPH 2000u

static struct simpler_tensor cell(uint32_t i)
{
    struct simpler_tensor t = all_cells;
    t.start_offset = (uint64_t)(i % CELLS) * 8;
    t.shape[0] = 8;
    t.extent = 8;
    return t;
}

static void submit_wave(struct simpler_orch *orch, uint32_t i)
{
    uint32_t at = i % (CELLS - SIDE - 1) + SIDE + 1;
    struct simpler_tensor t[4] = {cell(at - SIDE), cell(at - 1), cell(at - SIDE - 1), cell(at)};
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    for (int k = 0; k < 3; k++)
        simpler_task_args_add_input(&args, &t[k]);
    simpler_task_args_add_output(&args, &t[3]);
    (void)simpler_orch_submit_aiv(orch, 0, &args, NULL);
}

static void submit_some(struct simpler_orch *orch, const struct job *job, uint32_t from,
                        uint32_t to)
{
    struct simpler_task_args args;

    for (uint32_t i = from; i < to; i++) {
        if (job->shape == 'w') {
            submit_wave(orch, i);
            continue;
        }
        if (job->shape == 's') {
            SIMPLER_SCOPE(orch)
            {
            }
            continue;
        }
        struct simpler_tensor t = cell(job->shape == 'o' ? i : 0);
        simpler_task_args_reset(&args);
        if (job->shape != 'e')
            simpler_task_args_add_inout(&args, &t);
        (void)simpler_orch_submit_aiv(orch, 0, &args, NULL);
    }
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *orch_args)
{
    static const struct simpler_create_info info = {.ndims = 1, .shape = {1}};
    const struct job *job = orch_args->user;
    struct simpler_task_outputs out;

    for (uint32_t i = 0; i < job->tasks && job->held; i += SCOPE) {
        SIMPLER_SCOPE(orch)
        {
            (void)simpler_orch_alloc_tensors(orch, &info, 1, &out);
            submit_some(orch, job, i, i + SCOPE);
        }
    }
    if (!job->held)
        submit_some(orch, job, 0, job->tasks);
}

static void graph(struct simpler_orch *orch, const struct simpler_graph_args *args)
{
    struct simpler_tensor cells_of_the_caller = all_cells;

    all_cells = args->tensor[0];
    submit_some(orch, args->config, 0, GRAPH);
    all_cells = cells_of_the_caller;
}

static void replay(struct simpler_orch *orch, const struct simpler_orch_args *orch_args)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &all_cells);
    (void)simpler_orch_submit_graph(orch, graph, &args, orch_args->user, sizeof(struct job));
}

int main(int argc, char **argv)
{
    static const struct simpler_kernel kernel = {
        0, SIMPLER_CORE_AIV, "nothing", kernel_nothing, NULL, 0};
    struct simpler_callable callable = {"count", orchestrate, __FILE__, __LINE__, &kernel, 1, 0};
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    struct simpler_worker *worker;
    uint32_t handle, words = CELLS * 8;

    bool held = argc == 3 && strncmp(argv[1], "held-", 5) == 0;
    bool built = argc == 3 && strncmp(argv[1], "built-", 6) == 0;
    bool replayed = argc == 3 && strncmp(argv[1], "replay-", 7) == 0;
    const char *shape = argc != 3 ? "" : argv[1] + 5 * held + 6 * built + 7 * replayed;

    if (shape[0] == '\0' || strchr("eocws", shape[0]) == NULL) {
        (void)fprintf(
            stderr, "usage: count_shapes [held-|built-|replay-]empty|own|chain|wave|scope TASKS\n");
        return 2;
    }
    struct job job = {shape[0], held, (uint32_t)strtoul(argv[2], NULL, 10)};
    struct simpler_orch_args args = {NULL, 0, 0, NULL, &job};
    config.aicpu_thread_num = 1;
    config.hazards = SIMPLER_HAZARDS_ALL;
    for (int r = 0; r < CHIP_MAX_RING_DEPTH; r++)
        config.runtime_env.ring_task_window[r] = built ? 65536 : 4096;
    if (built || replayed)
        config.runtime = "host_build_graph";
    callable.orchestrate = replayed ? replay : orchestrate;
    if (simpler_tensor_init(&all_cells, cells, &words, 1, SIMPLER_DTYPE_UINT64) != 0 ||
        simpler_worker_open(NULL, &worker) != 0 ||
        simpler_worker_register(worker, &callable, &handle) != 0)
        return 1;
    int rc = 0;
    for (uint32_t run = 0; rc == 0 && run < (replayed ? job.tasks / GRAPH : 1); run++)
        rc = simpler_worker_run(worker, handle, &args, &config, NULL);
    simpler_worker_close(worker);
    return rc != 0;
}
