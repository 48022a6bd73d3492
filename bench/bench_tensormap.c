/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one access of the tensormap costs, in nanoseconds: medians of slices.
 *
 *   bench_tensormap [NAME [SLICES]]
 *
 * With a name only that case runs, for callgrind.  16384 views are live unless
 * a case says otherwise; each access is a task of its own.  Every figure
 * contains what "nothing" costs: the loop and the retirement of its task.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "task/tensormap.h"

#define SIDE   128
#define VIEWS  (SIDE * SIDE)
#define LAG    20000 /* tasks that are live */
#define WINDOW 32768
#define SLICES 21
#define SLICE  (4 * VIEWS)

static uint32_t alive[CHIP_MAX_RING_DEPTH];
static uint64_t ids[64];
static uint64_t edges;
static uint32_t next_task;
static uint32_t lag;
static uint32_t shuffled[VIEWS];
static struct simpler_tensormap *map;

static void discard(struct simpler_edge_sink *sink)
{
    edges += sink->count;
    sink->count = 0;
}

static struct simpler_edge_sink sink = {.ids = ids, .capacity = 64, .flush = discard};

static inline void next(void)
{
    edges += sink.count;
    sink.count = 0;
    next_task++;
    if (next_task % 64 == 0 && next_task > lag + 64) {
        simpler_tensormap_retire(map, 0, alive[0], next_task - lag);
        alive[0] = next_task - lag;
    }
}

static inline void use(const struct simpler_tensor *t, enum simpler_tensor_use how)
{
    simpler_tensormap_access(map, t, how, next_task, &sink);
    next();
}

static struct simpler_tensor tensor(uint32_t rows, uint32_t columns)
{
    struct simpler_tensor t;
    uint32_t shape[] = {rows, columns};
    if (simpler_tensor_init(&t, (void *)(uintptr_t)0x7f0000000000, shape, 2, 0) != 0)
        abort();
    return t;
}

static struct simpler_tensor block(const struct simpler_tensor *t, uint32_t row, uint32_t column,
                                   uint32_t rows, uint32_t columns)
{
    struct simpler_tensor view;
    uint32_t shape[] = {rows, columns};
    uint32_t offset[] = {row, column};
    if (simpler_tensor_view(t, shape, offset, &view) != 0)
        abort();
    return view;
}

static void nothing(uint32_t n)
{
    struct simpler_tensor t = tensor(1, 16);
    for (uint32_t i = 0; i < n; i++) {
        *(volatile uint64_t *)&t.start_offset = i;
        next();
    }
}

static void chain(uint32_t n)
{
    struct simpler_tensor t = tensor(1, 16);
    for (uint32_t i = 0; i < n; i++)
        use(&t, SIMPLER_USE_INOUT);
}

static void cells(uint32_t n)
{
    struct simpler_tensor whole = tensor(VIEWS, 16);
    struct simpler_tensor t = block(&whole, 0, 0, 1, 16);
    for (uint32_t i = 0; i < n; i++) {
        t.start_offset = i % VIEWS * 16;
        use(&t, SIMPLER_USE_INOUT);
    }
}

/* Every cell is new. */
static void fresh(uint32_t n)
{
    struct simpler_tensor whole = tensor(1u << 28, 1);
    struct simpler_tensor t = block(&whole, 0, 0, 16, 1);
    static uint64_t at;
    for (uint32_t i = 0; i < n; i++) {
        t.start_offset = at++ * 16 % (1u << 27);
        use(&t, SIMPLER_USE_INOUT);
    }
}

static void tiles_of(uint32_t n, uint32_t edge, bool shuffle)
{
    struct simpler_tensor whole = tensor(SIDE * edge, SIDE * edge);
    struct simpler_tensor t = block(&whole, 0, 0, edge, edge);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t tile = shuffle ? shuffled[i % VIEWS] : i % VIEWS;
        t.start_offset = ((uint64_t)(tile / SIDE) * edge * SIDE + tile % SIDE) * edge;
        use(&t, SIMPLER_USE_INOUT);
    }
}

static void tiles(uint32_t n)
{
    tiles_of(n, 64, false);
}

static void tiles_100(uint32_t n)
{
    tiles_of(n, 100, false);
}

static void tiles_random(uint32_t n)
{
    tiles_of(n, 100, true);
}

static void buffers_in(uint32_t n, bool shuffle)
{
    struct simpler_tensor t = tensor(64, 64);
    uint64_t base = t.addr;
    for (uint32_t i = 0; i < n; i++) {
        t.addr = base + (shuffle ? shuffled[i % VIEWS] : i % VIEWS) * t.buffer_bytes;
        use(&t, SIMPLER_USE_INOUT);
    }
}

static void buffers(uint32_t n)
{
    buffers_in(n, false);
}

static void buffers_random(uint32_t n)
{
    buffers_in(n, true);
}

/* Tiles of 64 and, at the right edge of each row, of 32 columns. */
static void two_classes(uint32_t n)
{
    struct simpler_tensor whole = tensor(SIDE * 64, SIDE * 64 - 32);
    struct simpler_tensor t = block(&whole, 0, 0, 64, 64);
    struct simpler_tensor last = block(&whole, 0, SIDE * 64 - 64, 64, 32);
    uint64_t last_column = last.start_offset;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t tile = i % VIEWS;
        uint64_t row = (uint64_t)(tile / SIDE) * 64 * (SIDE * 64 - 32);
        t.start_offset = row + tile % SIDE * 64;
        last.start_offset = row + last_column;
        use(tile % SIDE == SIDE - 1 ? &last : &t, SIMPLER_USE_INOUT);
    }
}

/* Four tasks read what one wrote. */
static void readers(uint32_t n)
{
    struct simpler_tensor whole = tensor(VIEWS, 16);
    struct simpler_tensor t = block(&whole, 0, 0, 1, 16);
    for (uint32_t i = 0; i < n; i++) {
        t.start_offset = i / 5 % VIEWS * 16;
        use(&t, i % 5 == 0 ? SIMPLER_USE_INOUT : SIMPLER_USE_INPUT);
    }
}

/* A wave front: three reads and a write a task; counted by access. */
static void wave(uint32_t n)
{
    struct simpler_tensor whole = tensor(VIEWS, 16);
    struct simpler_tensor t = block(&whole, 0, 0, 1, 16);
    for (uint32_t i = 0; i < n / 4; i++) {
        uint32_t at = i % VIEWS;
        uint32_t from[] = {(at + VIEWS - SIDE) % VIEWS, (at + VIEWS - 1) % VIEWS,
                           (at + VIEWS - SIDE - 1) % VIEWS, at};
        for (int k = 0; k < 4; k++) {
            t.start_offset = from[k] * 16;
            simpler_tensormap_access(map, &t, k == 3 ? SIMPLER_USE_INOUT : SIMPLER_USE_INPUT,
                                     next_task, &sink);
        }
        next();
    }
}

/* A row of 128 tiles is read, then its tiles are written; counted by tile. */
static void panels(uint32_t n)
{
    struct simpler_tensor whole = tensor(SIDE * 64, SIDE * 64);
    struct simpler_tensor t = block(&whole, 0, 0, 64, 64);
    struct simpler_tensor panel = block(&whole, 0, 0, 64, SIDE * 64);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t tile = i % VIEWS;
        t.start_offset = ((uint64_t)(tile / SIDE) * SIDE * 64 + tile % SIDE) * 64;
        use(&t, SIMPLER_USE_INOUT);
        if (tile % SIDE == SIDE - 1) {
            panel.start_offset = (uint64_t)(tile / SIDE) * SIDE * 64 * 64;
            use(&panel, SIMPLER_USE_INPUT);
        }
    }
}

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static const struct {
    const char *name;
    void (*run)(uint32_t n);
    uint32_t lag;
} cases[] = {
    {"nothing", nothing, 1000},
    {"chain", chain, 1000},
    {"cells", cells, LAG},
    {"cells_dead", cells, 1000},
    {"fresh", fresh, 4000},
    {"tiles", tiles, LAG},
    {"tiles_100", tiles_100, LAG},
    {"tiles_random", tiles_random, LAG},
    {"buffers", buffers, LAG},
    {"buffers_random", buffers_random, LAG},
    {"two_classes", two_classes, LAG},
    {"readers", readers, 1000},
    {"wave", wave, 1000},
    {"panels", panels, LAG},
};

static void measure(size_t c, int slices)
{
    double took[1000];
    simpler_tensormap_reset(map, true);
    memset(alive, 0, sizeof(alive));
    next_task = 0;
    lag = cases[c].lag;
    cases[c].run(SLICE);
    edges = 0;
    for (int i = 0; i < slices; i++) {
        double start = now_ns();
        cases[c].run(SLICE);
        took[i] = (now_ns() - start) / SLICE;
    }
    qsort(took, (size_t)slices, sizeof(double), by_value);
    printf("%-15s %6.2f ns  (%.2f to %.2f)  %.2f edges\n", cases[c].name, took[slices / 2],
           took[slices / 10], took[slices - 1 - slices / 10], (double)edges / slices / SLICE);
}

int main(int argc, char **argv)
{
    struct simpler_tensormap_config config = {
        .capacity = 65536,
        .window = {WINDOW, 4, 4, 4},
        .track_readers = true,
        .alive = alive,
    };
    int slices = argc > 2 ? atoi(argv[2]) : SLICES;
    if (slices < 1 || slices > 1000 || simpler_tensormap_open(&config, &map) != 0)
        return 2;
    for (uint32_t i = 0; i < VIEWS; i++) {
        uint32_t k = (uint32_t)((i * UINT64_C(0x9E3779B97F4A7C15) >> 33) % (i + 1));
        shuffled[i] = shuffled[k];
        shuffled[k] = i;
    }
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        if (argc < 2 || strcmp(argv[1], cases[c].name) == 0)
            measure(c, slices);
    simpler_tensormap_close(map);
    return 0;
}
