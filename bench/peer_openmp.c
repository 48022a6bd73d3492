/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes on OpenMP tasks with depend clauses; built with gcc's and with LLVM's runtime. */
#include "shapes.h"

static void submit_plain(const char *shape)
{
    if (shape[0] == 'e') {
        for (uint32_t i = 0; i < BENCH_TASKS; i++) {
#pragma omp task
            __asm__ volatile(""); /* or the task is optimised away */
        }
    } else if (shape[0] == 'o') {
        for (uint32_t i = 0; i < BENCH_TASKS; i++) {
            struct bench_cell *c = &bench_cells[i];
#pragma omp task depend(inout : c[0]) firstprivate(c)
            bench_inc(c);
        }
    } else {
        struct bench_cell *c = &bench_cells[0];
        for (uint32_t i = 0; i < BENCH_TASKS; i++) {
#pragma omp task depend(inout : c[0]) firstprivate(c)
            bench_inc(c);
        }
    }
}

static void submit_wave(void)
{
    for (uint32_t i = 1; i <= BENCH_SIDE; i++) {
        for (uint32_t j = 1; j <= BENCH_SIDE; j++) {
            struct bench_cell *u = bench_grid(i - 1, j), *l = bench_grid(i, j - 1);
            struct bench_cell *d = bench_grid(i - 1, j - 1), *o = bench_grid(i, j);
#pragma omp task depend(in : u[0], l[0], d[0]) depend(out : o[0]) firstprivate(u, l, d, o)
            bench_wave(u, l, d, o);
        }
    }
}

static void submit_tree(void)
{
    for (uint32_t i = BENCH_LEAVES; i < 2 * BENCH_LEAVES; i++) {
        struct bench_cell *c = &bench_cells[i];
#pragma omp task depend(inout : c[0]) firstprivate(c)
        bench_inc(c);
    }
    for (uint32_t i = BENCH_LEAVES - 1; i > 0; i--) {
        struct bench_cell *a = &bench_cells[2 * i], *b = &bench_cells[2 * i + 1];
        struct bench_cell *o = &bench_cells[i];
#pragma omp task depend(in : a[0], b[0]) depend(out : o[0]) firstprivate(a, b, o)
        bench_join(a, b, o);
    }
}

static void submit_metg(uint64_t rounds)
{
    for (uint32_t s = 1; s <= BENCH_STEPS; s++) {
        for (uint32_t i = 0; i < BENCH_WIDTH; i++) {
            struct bench_cell *a = bench_row(s - 1, bench_left(i)), *b = bench_row(s - 1, i);
            struct bench_cell *c = bench_row(s - 1, bench_right(i)), *o = bench_row(s, i);
#pragma omp task depend(in : a[0], b[0], c[0]) depend(out : o[0]) firstprivate(a, b, c, o, rounds)
            bench_stencil(a, b, c, o, rounds);
        }
    }
}

/* A chain whose first task is held back. */
static void submit_pending(uint64_t count)
{
    struct bench_cell *c = &bench_cells[0];
#pragma omp task depend(inout : c[0]) firstprivate(c)
    bench_wait_gate();
    double before = bench_resident();
    for (uint64_t i = 0; i < count; i++) {
#pragma omp task depend(inout : c[0]) firstprivate(c)
        bench_inc(c);
    }
    bench_pending_bytes = (bench_resident() - before) / (double)count;
    bench_gate = 1;
}

static void submit_fan(uint64_t count)
{
    struct bench_cell *c = &bench_cells[0];
#pragma omp task depend(inout : c[0]) firstprivate(c)
    bench_wait_gate();
    for (uint64_t i = 0; i < count; i++) {
#pragma omp task depend(in : c[0]) firstprivate(c)
        __asm__ volatile("");
    }
    bench_gate = 1;
#pragma omp task depend(inout : c[0]) firstprivate(c)
    bench_inc(c);
}

static int run(const char *shape, uint64_t ns)
{
#pragma omp parallel num_threads(BENCH_THREADS)
#pragma omp single
    {
        if (strcmp(shape, "wave") == 0)
            submit_wave();
        else if (strcmp(shape, "tree") == 0)
            submit_tree();
        else if (strcmp(shape, "metg") == 0)
            submit_metg(ns);
        else if (strcmp(shape, "fan") == 0)
            submit_fan(ns);
        else if (strcmp(shape, "pending") == 0)
            submit_pending(ns);
        else
            submit_plain(shape);
    }
    return 1;
}

int main(void)
{
    return bench_serve(run);
}
