/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes on StarPU: tasks inserted with data handles, dependencies inferred. */
#include <starpu.h>

#include "shapes.h"

static starpu_data_handle_t *handles; /* one a cell, made when first used */

static starpu_data_handle_t handle_of(struct bench_cell *cell)
{
    starpu_data_handle_t *h = &handles[cell - bench_cells];
    if (*h == NULL)
        starpu_variable_data_register(h, STARPU_MAIN_RAM, (uintptr_t)cell, sizeof(*cell));
    return *h;
}

static struct bench_cell *cell_of(void *buffers[], int i)
{
    return (struct bench_cell *)STARPU_VARIABLE_GET_PTR(buffers[i]);
}

static void run_empty(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static void run_inc(void *buffers[], void *arg)
{
    (void)arg;
    bench_inc(cell_of(buffers, 0));
}

static void run_wave(void *buffers[], void *arg)
{
    (void)arg;
    bench_wave(cell_of(buffers, 0), cell_of(buffers, 1), cell_of(buffers, 2), cell_of(buffers, 3));
}

static void run_join(void *buffers[], void *arg)
{
    (void)arg;
    bench_join(cell_of(buffers, 0), cell_of(buffers, 1), cell_of(buffers, 2));
}

static uint64_t stencil_rounds;

static void run_stencil(void *buffers[], void *arg)
{
    (void)arg;
    bench_stencil(cell_of(buffers, 0), cell_of(buffers, 1), cell_of(buffers, 2),
                  cell_of(buffers, 3), stencil_rounds);
}

static void run_edge2(void *buffers[], void *arg)
{
    (void)arg;
    struct bench_cell *a = cell_of(buffers, 0), *b = cell_of(buffers, 1);
    /* At a border one cell is read twice; a handle may be given once. */
    if (a < b)
        bench_stencil(a, a, b, cell_of(buffers, 2), stencil_rounds);
    else
        bench_stencil(b, a, a, cell_of(buffers, 2), stencil_rounds);
}

static struct starpu_codelet empty = {.cpu_funcs = {run_empty}, .nbuffers = 0};
static struct starpu_codelet inc = {.cpu_funcs = {run_inc}, .nbuffers = 1, .modes = {STARPU_RW}};
static struct starpu_codelet wave = {
    .cpu_funcs = {run_wave}, .nbuffers = 4, .modes = {STARPU_R, STARPU_R, STARPU_R, STARPU_W}};
static struct starpu_codelet join = {
    .cpu_funcs = {run_join}, .nbuffers = 3, .modes = {STARPU_R, STARPU_R, STARPU_W}};
static struct starpu_codelet stencil = {
    .cpu_funcs = {run_stencil}, .nbuffers = 4, .modes = {STARPU_R, STARPU_R, STARPU_R, STARPU_W}};
static struct starpu_codelet edge = {
    .cpu_funcs = {run_edge2}, .nbuffers = 3, .modes = {STARPU_R, STARPU_R, STARPU_W}};

static void submit(struct starpu_codelet *codelet, int n, struct bench_cell *const *cells)
{
    struct starpu_task *task = starpu_task_create();
    task->cl = codelet;
    for (int i = 0; i < n; i++)
        task->handles[i] = handle_of(cells[i]);
    if (starpu_task_submit(task) != 0)
        abort();
}

static void submit_metg(void)
{
    for (uint32_t s = 1; s <= BENCH_STEPS; s++) {
        for (uint32_t i = 0; i < BENCH_WIDTH; i++) {
            struct bench_cell *l = bench_row(s - 1, bench_left(i)), *m = bench_row(s - 1, i);
            struct bench_cell *r = bench_row(s - 1, bench_right(i)), *o = bench_row(s, i);
            if (l == m)
                submit(&edge, 3, (struct bench_cell *[]){m, r, o});
            else if (r == m)
                submit(&edge, 3, (struct bench_cell *[]){m, l, o});
            else
                submit(&stencil, 4, (struct bench_cell *[]){l, m, r, o});
        }
    }
}

static void submit_shape(const char *shape)
{
    if (strcmp(shape, "wave") == 0) {
        for (uint32_t i = 1; i <= BENCH_SIDE; i++)
            for (uint32_t j = 1; j <= BENCH_SIDE; j++)
                submit(&wave, 4,
                       (struct bench_cell *[]){bench_grid(i - 1, j), bench_grid(i, j - 1),
                                               bench_grid(i - 1, j - 1), bench_grid(i, j)});
    } else if (strcmp(shape, "tree") == 0) {
        for (uint32_t i = BENCH_LEAVES; i < 2 * BENCH_LEAVES; i++)
            submit(&inc, 1, (struct bench_cell *[]){&bench_cells[i]});
        for (uint32_t i = BENCH_LEAVES - 1; i > 0; i--)
            submit(&join, 3,
                   (struct bench_cell *[]){&bench_cells[2 * i], &bench_cells[2 * i + 1],
                                           &bench_cells[i]});
    } else if (strcmp(shape, "metg") == 0) {
        submit_metg();
    } else {
        for (uint32_t i = 0; i < BENCH_TASKS; i++)
            submit(shape[0] == 'e' ? &empty : &inc, shape[0] != 'e',
                   (struct bench_cell *[]){&bench_cells[shape[0] == 'o' ? i : 0]});
    }
}

static int run(const char *shape, uint64_t ns)
{
    if (strcmp(shape, "pending") == 0 || strcmp(shape, "fan") == 0)
        return 0;
    stencil_rounds = ns;
    submit_shape(shape);
    (void)starpu_task_wait_for_all();
    return 1;
}

int main(void)
{
    struct starpu_conf conf;

    handles = calloc(BENCH_CELLS, sizeof(*handles));
    (void)starpu_conf_init(&conf);
    conf.ncpus = BENCH_THREADS;
    if (handles == NULL || starpu_init(&conf) != 0)
        return 1;
    return bench_serve(run);
}
