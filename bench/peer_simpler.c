/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shapes on this project's runtimes: hazards all, a window of 4096, 256 tasks a
 * scope; or, with BENCH_REPLAY, as graphs that host_build_graph has recorded.
 */
#include "shapes.h"

#include "simpler/simpler.h"

enum { EMPTY, INC, WAVE, JOIN, STENCIL, GATE };

static struct simpler_worker *worker;
static uint32_t handle;

static struct bench_cell *cell_of(const int64_t *args, uint32_t i)
{
    return simpler_kernel_data(args, i);
}

static int kernel_empty(int64_t *args)
{
    (void)args;
    return 0;
}

static int kernel_inc(int64_t *args)
{
    bench_inc(cell_of(args, 0));
    return 0;
}

static int kernel_gate(int64_t *args)
{
    (void)args;
    bench_gate_entered = 1;
    bench_wait_gate();
    return 0;
}

static int kernel_wave(int64_t *args)
{
    bench_wave(cell_of(args, 0), cell_of(args, 1), cell_of(args, 2), cell_of(args, 3));
    return 0;
}

static int kernel_join(int64_t *args)
{
    bench_join(cell_of(args, 0), cell_of(args, 1), cell_of(args, 2));
    return 0;
}

static int kernel_stencil(int64_t *args)
{
    bench_stencil(cell_of(args, 0), cell_of(args, 1), cell_of(args, 2), cell_of(args, 3),
                  (uint64_t)args[4]);
    return 0;
}

/* Descriptors of one cell each, made once; a task moves them to its cells. */
static struct simpler_tensor views[4];

static struct simpler_tensor *view(int i, const struct bench_cell *cell)
{
    views[i].start_offset = (uint64_t)(cell - bench_cells) * (sizeof(*cell) / 8);
    return &views[i];
}

static struct simpler_tensor all;

static int make_views(void)
{
    uint32_t words = BENCH_CELLS * (uint32_t)(sizeof(*bench_cells) / 8);
    uint32_t shape = sizeof(*bench_cells) / 8, offset = 0;
    int rc =
        all.addr != 0 ? 0 : simpler_tensor_init(&all, bench_cells, &words, 1, SIMPLER_DTYPE_UINT64);

    for (int i = 0; i < 4 && rc == 0; i++)
        rc = simpler_tensor_view(&all, &shape, &offset, &views[i]);
    return rc;
}

static void submit_plain(struct simpler_orch *orch, const char *shape)
{
    struct simpler_task_args args;
    bool empty = shape[0] == 'e', own = shape[0] == 'o';

    for (uint32_t i = 0; i < BENCH_TASKS; i += 256) {
        SIMPLER_SCOPE(orch)
        {
            for (uint32_t k = i; k < i + 256 && k < BENCH_TASKS; k++) {
                simpler_task_args_reset(&args);
                if (!empty)
                    simpler_task_args_add_inout(&args, view(0, &bench_cells[own ? k : 0]));
                (void)simpler_orch_submit_aiv(orch, empty ? EMPTY : INC, &args, NULL);
            }
        }
    }
}

static void submit_wave(struct simpler_orch *orch)
{
    struct simpler_task_args args;
    for (uint32_t i = 1; i <= BENCH_SIDE; i++) {
        SIMPLER_SCOPE(orch)
        {
            for (uint32_t j = 1; j <= BENCH_SIDE; j++) {
                simpler_task_args_reset(&args);
                simpler_task_args_add_input(&args, view(0, bench_grid(i - 1, j)));
                simpler_task_args_add_input(&args, view(1, bench_grid(i, j - 1)));
                simpler_task_args_add_input(&args, view(2, bench_grid(i - 1, j - 1)));
                simpler_task_args_add_output(&args, view(3, bench_grid(i, j)));
                (void)simpler_orch_submit_aiv(orch, WAVE, &args, NULL);
            }
        }
    }
}

static void submit_tree(struct simpler_orch *orch)
{
    struct simpler_task_args args;
    for (uint32_t i = BENCH_LEAVES; i < 2 * BENCH_LEAVES; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, view(0, &bench_cells[i]));
        (void)simpler_orch_submit_aiv(orch, INC, &args, NULL);
    }
    for (uint32_t i = BENCH_LEAVES - 1; i > 0; i--) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, view(0, &bench_cells[2 * i]));
        simpler_task_args_add_input(&args, view(1, &bench_cells[2 * i + 1]));
        simpler_task_args_add_output(&args, view(2, &bench_cells[i]));
        (void)simpler_orch_submit_aiv(orch, JOIN, &args, NULL);
    }
}

static void submit_metg(struct simpler_orch *orch, const uint64_t *rounds)
{
    struct simpler_task_args args;
    for (uint32_t s = 1; s <= BENCH_STEPS; s++) {
        for (uint32_t i = 0; i < BENCH_WIDTH; i++) {
            simpler_task_args_reset(&args);
            simpler_task_args_add_input(&args, view(0, bench_row(s - 1, bench_left(i))));
            simpler_task_args_add_input(&args, view(1, bench_row(s - 1, i)));
            simpler_task_args_add_input(&args, view(2, bench_row(s - 1, bench_right(i))));
            simpler_task_args_add_output(&args, view(3, bench_row(s, i)));
            simpler_task_args_add_scalar(&args, rounds, SIMPLER_DTYPE_UINT64);
            (void)simpler_orch_submit_aiv(orch, STENCIL, &args, NULL);
        }
    }
}

/*
 * The writer that is held back.  It waits for the orchestration, which must not come to
 * run it itself when its window is full: another thread has to be inside first.
 */
static void submit_gate(struct simpler_orch *orch, struct simpler_tensor *t)
{
    struct timespec ts = {0, 20000};
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, t);
    (void)simpler_orch_submit_aiv(orch, GATE, &args, NULL);
    while (!bench_gate_entered)
        (void)nanosleep(&ts, NULL);
}

/* The window bounds them: as many as are asked for, at most what it holds. */
static void submit_pending(struct simpler_orch *orch, uint64_t count)
{
    struct simpler_tensor t = *view(0, &bench_cells[0]);
    struct simpler_task_args args;

    submit_gate(orch, &t);
    double before = bench_resident();
    for (uint64_t i = 0; i < count; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_inout(&args, &t);
        (void)simpler_orch_submit_aiv(orch, INC, &args, NULL);
    }
    bench_pending_bytes = (bench_resident() - before) / (double)count;
    bench_gate = 1;
}

static void submit_fan(struct simpler_orch *orch, uint64_t count)
{
    struct simpler_tensor t = *view(0, &bench_cells[0]);
    struct simpler_task_args args;

    submit_gate(orch, &t);
    for (uint64_t i = 0; i < count; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &t);
        (void)simpler_orch_submit_aiv(orch, EMPTY, &args, NULL);
    }
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    bench_gate = 1;
    (void)simpler_orch_submit_aiv(orch, INC, &args, NULL);
}

struct job {
    const char *shape;
    uint64_t ns;
};

static void submit(struct simpler_orch *orch, const struct job *job)
{
    if (strcmp(job->shape, "wave") == 0)
        submit_wave(orch);
    else if (strcmp(job->shape, "tree") == 0)
        submit_tree(orch);
    else if (strcmp(job->shape, "metg") == 0)
        submit_metg(orch, &job->ns);
    else if (strcmp(job->shape, "fan") == 0)
        submit_fan(orch, job->ns);
    else if (strcmp(job->shape, "pending") == 0)
        submit_pending(orch, job->ns);
    else
        submit_plain(orch, job->shape);
}

#ifdef BENCH_REPLAY

/* The cells are the graph's argument, the rounds of a kernel its scalar. */
static void graph(struct simpler_orch *orch, const struct simpler_graph_args *args)
{
    struct simpler_tensor cells = all;
    const struct job *job = args->config;

    all = args->tensor[0];
    if (make_views() == 0 && strcmp(job->shape, "metg") == 0)
        submit_metg(orch, &args->scalar[0]);
    else
        submit(orch, job);
    all = cells;
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    const struct job *job = args->user;
    struct job config = {job->shape, 0};
    struct simpler_task_args graph_args;

    simpler_task_args_reset(&graph_args);
    simpler_task_args_add_inout(&graph_args, &all);
    simpler_task_args_add_scalar(&graph_args, SIMPLER_SCALAR(job->ns));
    (void)simpler_orch_submit_graph(orch, graph, &graph_args, &config, sizeof(config));
}

#else

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    submit(orch, args->user);
}

#endif

static int run(const char *shape, uint64_t ns)
{
#ifdef BENCH_REPLAY
    static const char *const names[] = {"empty", "own", "chain", "wave", "tree", "metg"};
    const char *name = NULL;
    /* Its address is part of the graph's configuration. */
    for (int i = 0; i < 6; i++)
        name = strcmp(names[i], shape) == 0 ? names[i] : name;
    if (name == NULL)
        return 0;
    shape = name;
#endif
    struct job job = {shape, ns};
    struct simpler_orch_args args = {NULL, 0, 0, NULL, &job};
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;

    if (make_views() != 0)
        return 0;
    config.aicpu_thread_num = BENCH_THREADS;
    config.hazards = SIMPLER_HAZARDS_ALL;
    for (int r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        config.runtime_env.ring_task_window[r] = shape[0] == 'f'   ? 32768
                                                 : shape[0] == 'p' ? 16384
                                                                   : 4096;
        config.runtime_env.ring_dep_pool[r] = 65536;
    }
#ifdef BENCH_REPLAY
    config.runtime = "host_build_graph";
    config.runtime_env.ring_task_window[0] = 1u << 19;
    config.runtime_env.tensormap = 1u << 20;
#endif
    return simpler_worker_run(worker, handle, &args, &config, NULL) == 0;
}

int main(void)
{
    static const struct simpler_kernel kernels[] = {
        {EMPTY, SIMPLER_CORE_AIV, "empty", kernel_empty, NULL, 0},
        {INC, SIMPLER_CORE_AIV, "inc", kernel_inc, NULL, 0},
        {WAVE, SIMPLER_CORE_AIV, "wave", kernel_wave, NULL, 0},
        {JOIN, SIMPLER_CORE_AIV, "join", kernel_join, NULL, 0},
        {STENCIL, SIMPLER_CORE_AIV, "stencil", kernel_stencil, NULL, 0},
        {GATE, SIMPLER_CORE_AIV, "gate", kernel_gate, NULL, 0},
    };
    struct simpler_callable callable = {"shapes", orchestrate, __FILE__, __LINE__, kernels, 6, 0};

    if (simpler_worker_open(NULL, &worker) != 0 ||
        simpler_worker_register(worker, &callable, &handle) != 0)
        return 1;
    int rc = bench_serve(run);
    simpler_worker_close(worker);
    return rc;
}
