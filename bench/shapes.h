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
 *   metg   stencil of width 8, 1000 steps, kernel of g nanoseconds
 *   fan    one writer that is held back, g readers of its cell, one writer more
 *   pending g tasks that wait for one that is held back: resident bytes of each
 *
 * The kernel of metg computes and reads no clock, as Task Bench's does (Slaughter et al., Task
 * Bench, SC20, section 4): a loop whose rounds are timed before and after each run.
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
/* With BENCH_REPLAY a graph is built once and run again and again: the first runs do not count,
 * nor do the first with kernels of another length. */
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

/* Each round waits for the one before: no width of the CPU makes it shorter. */
static inline void bench_compute(uint64_t rounds)
{
    uint64_t x = rounds;
    for (uint64_t i = 0; i < rounds; i++) {
        x = x * 3 + 1;
        __asm__ volatile("" : "+r"(x));
    }
}

#define BENCH_CALIBRATION 20000

/* Nanoseconds that BENCH_CALIBRATION rounds take when nothing interrupts them. */
static double bench_calibrate(void)
{
    double best = 1e18;
    for (int i = 0; i < 10; i++) {
        uint64_t start = bench_ns();
        bench_compute(BENCH_CALIBRATION);
        double took = (double)(bench_ns() - start);
        best = took < best ? took : best;
    }
    return best;
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
                                 const struct bench_cell *c, struct bench_cell *own,
                                 uint64_t rounds)
{
    uint64_t sum = a->value + b->value + c->value;
    bench_compute(rounds);
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

/* The cells that a shape uses: clearing and summing all would empty the caches between two runs. */
static inline uint32_t bench_used(const char *shape)
{
    if (strcmp(shape, "own") == 0)
        return BENCH_TASKS;
    if (strcmp(shape, "wave") == 0)
        return (BENCH_SIDE + 1) * (BENCH_SIDE + 1);
    if (strcmp(shape, "tree") == 0)
        return 2 * BENCH_LEAVES;
    return strcmp(shape, "metg") == 0 ? 2 * BENCH_WIDTH : 1;
}

static inline void bench_clear(const char *shape)
{
    memset(bench_cells, 0, bench_used(shape) * sizeof(*bench_cells));
}

static inline uint64_t bench_sum(const char *shape)
{
    uint64_t sum = 0;
    uint32_t n = bench_used(shape);
    for (uint32_t i = 0; i < n; i++)
        sum = sum * 31 + bench_cells[i].value;
    return sum;
}

/* What a serial program leaves in the cells, as one number. */
static uint64_t bench_serial(const char *shape)
{
    bench_clear(shape);
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
    return bench_sum(shape);
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

/* Runs one shape; false when there is no such shape.  @g: rounds of metg's kernel, or a count. */
typedef int (*bench_run_fn)(const char *shape, uint64_t g);

static const char *const bench_shapes[] = {"empty", "own", "chain", "wave", "tree", "metg"};
#define BENCH_SHAPES 6
#define BENCH_METG   5

static int bench_shape(const char *name)
{
    int at = 0;
    while (at < BENCH_SHAPES && strcmp(bench_shapes[at], name) != 0)
        at++;
    return at;
}

static void bench_answer(double value)
{
    if (value < 0)
        puts("wrong");
    else
        printf("%.3f\n", value);
    (void)fflush(stdout);
}

/* Nanoseconds a reader. */
static double bench_fan(bench_run_fn run, uint64_t readers)
{
    uint64_t begin = bench_ns();
    if (!run("fan", readers) || bench_cells[0].value != 1)
        return -1;
    return (double)(bench_ns() - begin) / (double)readers;
}

/*
 * A thread that has ended a run is preempted by the caller whom it woke, and waits behind that with
 * nothing left to do, which the scheduler counts as a wait for a CPU.  So the caller leaves it.
 */
static void bench_make_way(void)
{
    struct timespec ts = {0, 100000};
    (void)nanosleep(&ts, NULL);
}

/* Nanoseconds a task of one run, or -1 when it is not what @expected says. */
static double bench_time(bench_run_fn run, const char *shape, uint64_t g, uint64_t expected)
{
    bench_clear(shape);
    uint64_t start = bench_ns();
    int known = run(shape, g);
    uint64_t wall = bench_ns() - start;
    bench_make_way();
    if (!known || bench_sum(shape) != expected)
        return -1;
    return (double)wall / (double)bench_task_count(shape);
}

/* The same with kernels of @ns; once more when they have become shorter than that meanwhile. */
static double bench_metg(bench_run_fn run, uint64_t ns, uint64_t expected)
{
    static uint64_t warm; /* with kernels of this length */
    double before, after, got;
    int tries = 0, i = 0;
    do {
        before = bench_calibrate();
        uint64_t rounds = (uint64_t)((double)ns * BENCH_CALIBRATION / before + 0.5);
        for (; warm != ns && i < BENCH_WARM_RUNS; i++)
            (void)run("metg", rounds);
        warm = ns;
        got = bench_time(run, "metg", rounds, expected);
        after = bench_calibrate();
    } while (got >= 0 && after < before * 0.98 && ++tries < 10);
    return got;
}

/* Reads requests until the end of input. */
static int bench_serve(bench_run_fn run)
{
    uint64_t expected[BENCH_SHAPES];
    int warm[BENCH_SHAPES] = {0};
    char line[128], shape[64];

    bench_cells = (struct bench_cell *)aligned_alloc(64, BENCH_CELLS * sizeof(struct bench_cell));
    if (bench_cells == NULL)
        return 1;
    memset(bench_cells, 0, BENCH_CELLS * sizeof(*bench_cells));
    for (int i = 0; i < BENCH_SHAPES; i++)
        expected[i] = bench_serial(bench_shapes[i]);
    while (fgets(line, sizeof(line), stdin) != NULL) {
        unsigned long long g = 0;
        if (sscanf(line, "%63s %llu", shape, &g) < 1)
            continue;
        int at = bench_shape(shape);
        bench_gate = bench_gate_entered = 0;
        bench_clear(shape);
        for (; at < BENCH_METG && warm[at] < BENCH_WARM_RUNS; warm[at]++)
            (void)run(shape, g);
        bench_make_way();
        if (strcmp(shape, "fan") == 0)
            bench_answer(bench_fan(run, g));
        else if (strcmp(shape, "pending") == 0)
            bench_answer(run(shape, g) ? bench_pending_bytes : -1);
        else if (strcmp(shape, "metg") == 0)
            bench_answer(bench_metg(run, g, expected[at]));
        else
            bench_answer(at < BENCH_SHAPES ? bench_time(run, shape, g, expected[at]) : -1);
    }
    return 0;
}

#endif
