/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run costs when runs follow each other: medians, files under TMPDIR.
 *
 *     bench_runs [RUNS]     default 1000
 *
 * A run is one scope with one task on one small tensor, two device threads.  "call": from
 * the call to the return; "back to back": the whole of RUNS runs with everything written,
 * by run.  Across runs the files are written in the background; then flush and close.
 */
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "simpler/simpler.h"

#define MAX_RUNS 100000

enum { SCOPE_STATS = 1, ARGS_DUMP = 2 };

static int runs = 1000;
static double took[MAX_RUNS];
static char base[256];
static int series; /* every run has a directory of its own */
static uint32_t handle;
static int64_t data[16];
static struct simpler_tensor tensor;

static double now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, int count)
{
    qsort(took, (size_t)count, sizeof(double), by_value);
    printf("%-56s %9.1f us  (%.1f to %.1f)\n", name, took[count / 2], took[count / 10],
           took[count - 1 - count / 10]);
}

static int kernel(int64_t *args)
{
    int64_t *to = simpler_kernel_data(args, 0);
    to[0]++;
    return 0;
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    struct simpler_task_args task;

    SIMPLER_SCOPE(orch)
    {
        simpler_task_args_reset(&task);
        simpler_task_args_add_inout(&task, &args->tensor[0]);
        (void)simpler_orch_submit_aiv(orch, 0, &task, NULL);
    }
}

static struct simpler_worker *open_worker(bool across)
{
    static const struct simpler_kernel kernels[] = {{0, SIMPLER_CORE_AIV, "add", kernel, NULL, 0}};
    struct simpler_callable callable = {"bench", orchestrate, __FILE__, __LINE__, kernels, 1, 0};
    struct simpler_worker_config config = SIMPLER_WORKER_CONFIG_INIT;
    struct simpler_worker *worker;

    config.level = 3;
    config.collect_across_runs = across;
    if (simpler_worker_open(&config, &worker) != 0 ||
        simpler_worker_register(worker, &callable, &handle) != 0)
        abort();
    return worker;
}

static void configure(struct simpler_call_config *config, int with, char prefix[300])
{
    *config = (struct simpler_call_config)SIMPLER_CALL_CONFIG_INIT;
    config->aicpu_thread_num = 2;
    config->enable_scope_stats = (with & SCOPE_STATS) != 0;
    config->enable_dump_args = (with & ARGS_DUMP) != 0 ? 2 : 0;
    config->output_prefix = prefix;
    (void)snprintf(prefix, 300, "%s/%d", base, with != 0 ? series++ : 0);
}

static void run(struct simpler_worker *worker, int with)
{
    struct simpler_orch_args args = {.tensor = &tensor, .tensor_count = 1};
    struct simpler_call_config config;
    static struct simpler_run_result result;
    char prefix[300];

    configure(&config, with, prefix);
    if (simpler_worker_run(worker, handle, &args, &config, &result) != 0 ||
        result.scope_stats.status != 0 || result.args_dump.status != 0)
        abort();
}

static void flush(struct simpler_worker *worker)
{
    if (simpler_worker_flush_diagnostics(worker, UINT64_MAX) != 0)
        abort();
}

static void one_by_one(const char *name, bool across, int with)
{
    struct simpler_worker *worker = open_worker(across);
    char label[80];

    for (int i = 0; i < 20; i++)
        run(worker, with);
    flush(worker);
    double start = now_us();
    for (int i = 0; i < runs; i++) {
        double from = now_us();
        run(worker, with);
        took[i] = now_us() - from;
    }
    flush(worker);
    double all = now_us() - start;
    (void)snprintf(label, sizeof(label), "%s: call", name);
    report(label, runs);
    printf("%-56s %9.1f us\n", "    back to back", all / runs);
    if (simpler_worker_close(worker) != 0)
        abort();
}

/* Two are always admitted. */
static void submitted(const char *name, bool across, int with)
{
    struct simpler_worker *worker = open_worker(across);
    struct simpler_orch_args args = {.tensor = &tensor, .tensor_count = 1};
    struct simpler_run *before = NULL, *next;
    double start = now_us();

    for (int i = 0; i < runs; i++) {
        struct simpler_call_config config;
        char prefix[300];
        configure(&config, with, prefix);
        if (simpler_worker_submit(worker, handle, &args, &config, &next) != 0)
            abort();
        if (before != NULL && simpler_run_wait(before, UINT64_MAX) != 0)
            abort();
        simpler_run_release(before);
        before = next;
    }
    (void)simpler_run_wait(before, UINT64_MAX);
    simpler_run_release(before);
    flush(worker);
    printf("%-56s %9.1f us\n", name, (now_us() - start) / runs);
    if (simpler_worker_close(worker) != 0)
        abort();
}

static void latencies(int pending)
{
    int count = runs < 50 ? runs : 50;
    char label[80];

    struct simpler_worker *worker = open_worker(true);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < pending; k++)
            run(worker, SCOPE_STATS | ARGS_DUMP);
        double from = now_us();
        flush(worker);
        took[i] = now_us() - from;
    }
    (void)snprintf(label, sizeof(label), "flush after %d run%s with both", pending,
                   pending == 1 ? "" : "s");
    report(label, count);
    (void)simpler_worker_close(worker);
    for (int i = 0; i < count; i++) {
        worker = open_worker(true);
        for (int k = 0; k < pending; k++)
            run(worker, SCOPE_STATS | ARGS_DUMP);
        double from = now_us();
        if (simpler_worker_close(worker) != 0)
            abort();
        took[i] = now_us() - from;
    }
    (void)snprintf(label, sizeof(label), "close after %d run%s with both", pending,
                   pending == 1 ? "" : "s");
    report(label, count);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

int main(int argc, char **argv)
{
    const char *directory = getenv("TMPDIR");
    uint32_t shape[] = {16};

    if (argc > 1)
        runs = atoi(argv[1]);
    if (runs < 1 || runs > MAX_RUNS) {
        (void)fprintf(stderr, "usage: bench_runs [RUNS]   1 to %d\n", MAX_RUNS);
        return 2;
    }
    (void)snprintf(base, sizeof(base), "%s/bench_runs_XXXXXX",
                   directory != NULL ? directory : "/tmp");
    if (mkdtemp(base) == NULL ||
        simpler_tensor_init(&tensor, data, shape, 1, SIMPLER_DTYPE_INT64) != 0)
        abort();
    one_by_one("no diagnostics", false, 0);
    submitted("no diagnostics, submitted, two admitted: back to back", false, 0);
    one_by_one("scope stats", false, SCOPE_STATS);
    one_by_one("scope stats across runs", true, SCOPE_STATS);
    one_by_one("scope stats and args dump", false, SCOPE_STATS | ARGS_DUMP);
    one_by_one("scope stats and args dump across runs", true, SCOPE_STATS | ARGS_DUMP);
    submitted("the same, submitted, two admitted: back to back", true, SCOPE_STATS | ARGS_DUMP);
    latencies(1);
    latencies(100);
    (void)nftw(base, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
