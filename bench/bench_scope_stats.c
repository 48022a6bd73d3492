/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scope stats cost: medians of slices, files under TMPDIR.
 *
 *     bench_scope_stats [SLICES]     default 15
 *
 * probe: the gate alone against an empty loop.  boundary: time on the orchestrator,
 * with few enough samples that it never waits for the host.  whole run: a million
 * scopes with their file, from the call to the return.  lines: the writer alone.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collect/scope_stats/scope_stats_file.h"
#include "simpler/simpler.h"
#include "tmr/scope_sample.h"

#define MAX_SLICES  1000
#define FEW_SCOPES  900 /* two samples each fill less than four buffers of 512 */
#define MANY_SCOPES 1000000
#define LINES       2000000u

static int slices = 15;
static double took[MAX_SLICES];
static char prefix[256];
static struct simpler_worker *worker;
static uint32_t handle;

struct job {
    uint32_t scopes, tasks;
    double loop_ns; /* on the orchestrator */
};

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* CPU time of this thread: what a busy machine does not lengthen. */
static double cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, const char *unit, int count)
{
    qsort(took, (size_t)count, sizeof(double), by_value);
    printf("%-44s %10.2f %s  (%.2f to %.2f)\n", name, took[count / 2], unit, took[count / 10],
           took[count - 1 - count / 10]);
}

static int kernel_nothing(int64_t *args)
{
    (void)args;
    return 0;
}

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    struct job *job = args->user;
    struct simpler_task_args task;

    simpler_task_args_reset(&task);
    double from = now_ns();
    for (uint32_t i = 0; i < job->scopes; i++) {
        SIMPLER_SCOPE(orch)
        {
            for (uint32_t k = 0; k < job->tasks; k++)
                (void)simpler_orch_submit_aiv(orch, 0, &task, NULL);
        }
    }
    job->loop_ns = now_ns() - from;
}

/* Time of the whole call. */
static double run(struct job *job, bool on)
{
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    struct simpler_orch_args args = {.user = job};
    struct simpler_run_result result;

    config.enable_scope_stats = on;
    config.output_prefix = prefix;
    double from = now_ns();
    int rc = simpler_worker_run(worker, handle, &args, &config, &result);
    double whole = now_ns() - from;
    if (rc != 0 || result.scope_stats.status != 0)
        abort();
    return whole;
}

static void boundary(const char *name, uint32_t tasks, bool on)
{
    struct job job = {FEW_SCOPES, tasks, 0};

    for (int s = -3; s < slices; s++) {
        double sum = 0;
        for (int r = 0; r < 10; r++) {
            (void)run(&job, on);
            sum += job.loop_ns;
        }
        if (s >= 0)
            took[s] = sum / (10 * 2.0 * FEW_SCOPES);
    }
    report(name, "ns", slices);
}

static void whole_run(const char *name, uint32_t tasks)
{
    struct job job = {MANY_SCOPES, tasks, 0};
    int count = slices < 5 ? slices : 5;

    for (int s = 0; s < count; s++)
        took[s] = run(&job, true) / (2.0 * MANY_SCOPES);
    report(name, "ns", count);
}

static void one_task(const char *name, bool on)
{
    struct job job = {1, 1, 0};

    for (int s = -10; s < slices * 10 && s < MAX_SLICES; s++) {
        double whole = run(&job, on) / 1e3;
        if (s >= 0)
            took[s] = whole;
    }
    report(name, "us", slices * 10 < MAX_SLICES ? slices * 10 : MAX_SLICES);
}

/* The loop's body is opaque to the compiler, with and without the gate. */
static void probe(const char *name, bool gate)
{
    static struct simpler_orch orch;
    uint32_t rounds = 10000000;

    for (int s = 0; s < slices; s++) {
        double from = now_ns();
        for (uint32_t i = 0; i < rounds; i++) {
            __asm__ volatile("" ::: "memory");
            if (gate && simpler_scope_sample_is_on(&orch))
                simpler_scope_sample_end(&orch);
        }
        took[s] = (now_ns() - from) / rounds;
    }
    report(name, "ns", slices);
}

static void lines(const char *name, double (*clock)(void))
{
    static struct scope_stats_record records[SCOPE_STATS_RECORDS];
    struct scope_stats_file file;
    struct scope_stats_metadata metadata = {.fatal_known = true};
    int count = slices < 5 ? slices : 5;

    for (uint32_t i = 0; i < SCOPE_STATS_RECORDS; i++)
        records[i] = (struct scope_stats_record){.site = "paged_attention_orch.cpp",
                                                 .line = 100 + (int32_t)i % 30,
                                                 .depth = 2,
                                                 .ring = 2,
                                                 .phase = i % 2 != 0,
                                                 .task_start = 1234567,
                                                 .task_end = 1234667,
                                                 .heap_start = 123456789012,
                                                 .heap_end = 123456889012,
                                                 .dep_pool_start = 44444,
                                                 .dep_pool_end = 55555,
                                                 .tensormap = 1234};
    if (simpler_scope_stats_file_init(&file) != 0)
        abort();
    for (int s = 0; s < count; s++) {
        if (simpler_scope_stats_file_open(&file, prefix) != 0)
            abort();
        double from = clock();
        for (uint32_t i = 0; i < LINES / SCOPE_STATS_RECORDS; i++)
            simpler_scope_stats_file_append(&file, records, SCOPE_STATS_RECORDS, 1, i);
        simpler_scope_stats_file_flush(&file);
        took[s] = (double)file.lines / (clock() - from) * 1e3;
        if (simpler_scope_stats_file_close(&file, &metadata) != 0)
            abort();
    }
    report(name, "million/s", count);
    simpler_scope_stats_file_fini(&file);
}

static void set_up(void)
{
    static const struct simpler_kernel kernel = {
        0, SIMPLER_CORE_AIV, "nothing", kernel_nothing, NULL, 0};
    struct simpler_callable callable = {"bench", orchestrate, __FILE__, __LINE__, &kernel, 1, 0};
    const char *base = getenv("TMPDIR");

    (void)snprintf(prefix, sizeof(prefix), "%s/bench_scope_XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(prefix) == NULL || simpler_worker_open(NULL, &worker) != 0 ||
        simpler_worker_register(worker, &callable, &handle) != 0)
        abort();
}

static void clean_up(void)
{
    char path[512];

    simpler_worker_close(worker);
    (void)snprintf(path, sizeof(path), "%s/scope_stats/scope_stats.jsonl", prefix);
    (void)unlink(path);
    (void)snprintf(path, sizeof(path), "%s/scope_stats", prefix);
    (void)rmdir(path);
    (void)rmdir(prefix);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        slices = atoi(argv[1]);
    if (slices < 1 || slices > MAX_SLICES) {
        (void)fprintf(stderr, "usage: bench_scope_stats [SLICES]\n");
        return 2;
    }
    set_up();
    probe("an empty loop", false);
    probe("the probe, off", true);
    boundary("boundary, empty scopes, off", 0, false);
    boundary("boundary, empty scopes, on", 0, true);
    boundary("boundary, one task a scope, off", 1, false);
    boundary("boundary, one task a scope, on", 1, true);
    one_task("warm run of one task, off", false);
    one_task("warm run of one task, on", true);
    whole_run("whole run, boundary, empty scopes", 0);
    whole_run("whole run, boundary, one task a scope", 1);
    lines("lines of 280 bytes written", now_ns);
    lines("the same, a second of CPU time", cpu_ns);
    clean_up();
    return 0;
}
