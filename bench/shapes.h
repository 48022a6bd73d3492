/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BENCH_SHAPES_H
#define SIMPLER_BENCH_SHAPES_H

/*
 * The shapes that every runtime is measured on, and the loop that serves them.
 * All work on 64-byte cells with 2 threads; results are checked against what a
 * serial program leaves.
 *
 *   empty  200,000 tasks without data
 *   own    200,000 tasks, task i inout cell i
 *   chain  200,000 tasks inout one cell
 *   wave   400 x 400 tasks, (i,j) reads up, left, diagonal and writes its own
 *   tree   131,072 leaves, 262,143 tasks
 *   metg   stencil of width 8, 1000 steps, kernel of g nanoseconds (Task Bench)
 *   fan    one writer that is held back, g readers of its cell, one writer more
 *   pending g tasks that wait for one that is held back: resident bytes of each
 *
 * A peer program reads lines "SHAPE [g]" and answers each with the nanoseconds a
 * task of one run, or "wrong" when the result is.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH_TASKS   200000
#define BENCH_SIDE    400
#define BENCH_LEAVES  131072
#define BENCH_WIDTH   8
#define BENCH_STEPS   1000
#define BENCH_THREADS 2
/* With BENCH_REPLAY a graph is built once and run again and again: the first runs do not count. */
#ifdef BENCH_REPLAY
#define BENCH_WARM_RUNS 4
#else
#define BENCH_WARM_RUNS 0
#endif

struct bench_cell {
    uint64_t value;
    uint64_t pad[7];
};

static struct bench_cell *bench_cells; /* enough for every shape */
#define BENCH_CELLS 400000

/* Resident bytes of this process. */
static inline double bench_resident(void)
{
    unsigned long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%lu %lu", &total, &resident) != 2)
            resident = 0;
        (void)fclose(file);
    }
    return (double)resident * 4096;
}

static double bench_pending_bytes;      /* set by a run of the shape "pending" */
static volatile int bench_gate;         /* 1: the held task may end */
static volatile int bench_gate_entered; /* 1: a thread is inside it */

static inline void bench_wait_gate(void)
{
    struct timespec ts = {0, 20000};
    (void)nanosleep(&ts, NULL); /* so that it is a long one, whatever happens */
    while (!bench_gate)
        (void)sched_yield();
}

static inline uint64_t bench_ns(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void bench_spin(uint64_t ns)
{
    uint64_t end = bench_ns() + ns;
    while (bench_ns() < end)
        ;
}

/* Kernels, the same for everybody. */
static inline void bench_inc(struct bench_cell *c)
{
    c->value++;
}

static inline void bench_wave(const struct bench_cell *up, const struct bench_cell *left,
                              const struct bench_cell *diagonal, struct bench_cell *own)
{
    own->value = up->value + left->value + diagonal->value + 1;
}

static inline void bench_join(const struct bench_cell *a, const struct bench_cell *b,
                              struct bench_cell *own)
{
    own->value = a->value + b->value;
}

static inline void bench_stencil(const struct bench_cell *a, const struct bench_cell *b,
                                 const struct bench_cell *c, struct bench_cell *own, uint64_t ns)
{
    uint64_t sum = a->value + b->value + c->value;
    bench_spin(ns);
    own->value = sum * 3 + 1;
}

static inline struct bench_cell *bench_grid(uint32_t i, uint32_t j)
{
    return &bench_cells[i * (BENCH_SIDE + 1) + j];
}

/* Two rows that take turns. */
static inline struct bench_cell *bench_row(uint32_t step, uint32_t i)
{
    return &bench_cells[(step & 1) * BENCH_WIDTH + i];
}

static inline uint32_t bench_left(uint32_t i)
{
    return i == 0 ? 0 : i - 1;
}

static inline uint32_t bench_right(uint32_t i)
{
    return i == BENCH_WIDTH - 1 ? i : i + 1;
}

static inline void bench_clear(void)
{
    memset(bench_cells, 0, BENCH_CELLS * sizeof(*bench_cells));
}

static inline uint64_t bench_sum(uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum = sum * 31 + bench_cells[i].value;
    return sum;
}

/* What a serial program leaves in the cells, as one number. */
static uint64_t bench_serial(const char *shape)
{
    bench_clear();
    if (strcmp(shape, "own") == 0) {
        for (uint32_t i = 0; i < BENCH_TASKS; i++)
            bench_inc(&bench_cells[i]);
    } else if (strcmp(shape, "chain") == 0) {
        for (uint32_t i = 0; i < BENCH_TASKS; i++)
            bench_inc(&bench_cells[0]);
    } else if (strcmp(shape, "wave") == 0) {
        for (uint32_t i = 1; i <= BENCH_SIDE; i++)
            for (uint32_t j = 1; j <= BENCH_SIDE; j++)
                bench_wave(bench_grid(i - 1, j), bench_grid(i, j - 1), bench_grid(i - 1, j - 1),
                           bench_grid(i, j));
    } else if (strcmp(shape, "tree") == 0) {
        for (uint32_t i = BENCH_LEAVES; i < 2 * BENCH_LEAVES; i++)
            bench_inc(&bench_cells[i]);
        for (uint32_t i = BENCH_LEAVES - 1; i > 0; i--)
            bench_join(&bench_cells[2 * i], &bench_cells[2 * i + 1], &bench_cells[i]);
    } else if (strcmp(shape, "metg") == 0) {
        for (uint32_t s = 1; s <= BENCH_STEPS; s++)
            for (uint32_t i = 0; i < BENCH_WIDTH; i++)
                bench_stencil(bench_row(s - 1, bench_left(i)), bench_row(s - 1, i),
                              bench_row(s - 1, bench_right(i)), bench_row(s, i), 0);
    }
    return bench_sum(BENCH_CELLS);
}

static inline uint64_t bench_task_count(const char *shape)
{
    if (strcmp(shape, "wave") == 0)
        return (uint64_t)BENCH_SIDE * BENCH_SIDE;
    if (strcmp(shape, "tree") == 0)
        return 2 * (uint64_t)BENCH_LEAVES - 1;
    if (strcmp(shape, "metg") == 0)
        return (uint64_t)BENCH_WIDTH * BENCH_STEPS;
    return BENCH_TASKS;
}

/* Runs one shape; false when there is no such shape. */
typedef int (*bench_run_fn)(const char *shape, uint64_t ns);

/* Reads requests until the end of input. */
static int bench_serve(bench_run_fn run)
{
    static const char *const shapes[] = {"empty", "own", "chain", "wave", "tree", "metg"};
    uint64_t expected[6];
    int warm[6] = {0};
    char line[128], shape[64];

    bench_cells = (struct bench_cell *)aligned_alloc(64, BENCH_CELLS * sizeof(struct bench_cell));
    if (bench_cells == NULL)
        return 1;
    for (int i = 0; i < 6; i++)
        expected[i] = bench_serial(shapes[i]);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        unsigned long long ns = 0;
        int at = 0;
        if (sscanf(line, "%63s %llu", shape, &ns) < 1)
            continue;
        while (at < 6 && strcmp(shapes[at], shape) != 0)
            at++;
        bench_clear();
        bench_gate = bench_gate_entered = 0;
        if (strcmp(shape, "fan") == 0) {
            uint64_t begin = bench_ns();
            if (run(shape, ns) && bench_cells[0].value == 1)
                printf("%.3f\n", (double)(bench_ns() - begin) / (double)ns);
            else
                puts("wrong");
            (void)fflush(stdout);
            continue;
        }
        if (strcmp(shape, "pending") == 0) {
            if (run(shape, ns))
                printf("%.1f\n", bench_pending_bytes);
            else
                puts("wrong");
            (void)fflush(stdout);
            continue;
        }
        int known = at < 6;
        while (known && warm[at] < BENCH_WARM_RUNS) {
            warm[at]++;
            known = run(shape, ns);
            bench_clear();
        }
        uint64_t start = bench_ns();
        known = known && run(shape, ns);
        uint64_t wall = bench_ns() - start;
        if (!known || bench_sum(BENCH_CELLS) != expected[at])
            puts("wrong");
        else
            printf("%.3f\n", (double)wall / (double)bench_task_count(shape));
        (void)fflush(stdout);
    }
    return 0;
}

#endif
