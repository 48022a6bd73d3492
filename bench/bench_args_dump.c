/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an args dump costs: bench_args_dump [DIRECTORY [one|small|big|marks|count TASKS]]
 * (default: a new one in /tmp; everything)
 *
 *   - 512 tensors of 1 MiB at level 2 against a plain write loop over the same
 *     bytes, from memory to a new file, in blocks of 1 MiB; the two in turns; and
 *     how much anonymous memory more is resident after it
 *   - tensors of 64 bytes: nanoseconds a record, the export apart
 *   - the manifest: entries and bytes a second
 *   - one task, warm: the whole run with a dump
 *   - level 0 against a worker that never had a dump: submit to completion
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "simpler/simpler.h"

#define MIB    ((size_t)1 << 20)
#define BIG    512u
#define SMALL  100000u
#define WIDE   8u
#define ROUNDS 5

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int nothing(int64_t *args)
{
    (void)args;
    return 0;
}

struct job {
    uint8_t *bytes;
    uint32_t tasks, tensors, tensor_bytes;
};

static void orchestrate(struct simpler_orch *orch, const struct simpler_orch_args *run)
{
    const struct job *job = run->user;
    struct simpler_tensor t[WIDE];
    struct simpler_task_args args;

    for (uint32_t i = 0; i < job->tasks; i++) {
        simpler_task_args_reset(&args);
        for (uint32_t k = 0; k < job->tensors; k++) {
            size_t at = ((size_t)i * job->tensors + k) % (BIG * MIB / job->tensor_bytes);
            (void)simpler_tensor_init(&t[k], job->bytes + at * job->tensor_bytes,
                                      &job->tensor_bytes, 1, SIMPLER_DTYPE_UINT8);
            simpler_task_args_add_input(&args, &t[k]);
        }
        (void)simpler_orch_submit_aiv(orch, 0, &args, NULL);
    }
}

struct setup {
    struct simpler_worker *worker;
    uint32_t handle, marks;
    const char *directory;
    uint8_t *bytes;
};

static void die(const char *what)
{
    (void)fprintf(stderr, "bench_args_dump: %s\n", what);
    exit(1);
}

static struct simpler_run_result run(const struct setup *s, struct job job, uint32_t level,
                                     uint64_t *ns)
{
    static struct simpler_run_result result;
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    struct simpler_orch_args args = {.user = &job};

    job.bytes = s->bytes;
    config.aicpu_thread_num = 2;
    config.enable_dump_args = level;
    config.output_prefix = s->directory;
    uint64_t start = now_ns();
    if (simpler_worker_run(s->worker, s->handle, &args, &config, &result) != 0 ||
        result.args_dump.status != 0)
        die("a run has failed");
    *ns = now_ns() - start;
    return result;
}

static uint64_t plain_write(const struct setup *s)
{
    char path[1024];

    (void)snprintf(path, sizeof(path), "%s/plain.bin", s->directory);
    (void)unlink(path);
    uint64_t start = now_ns();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (uint32_t i = 0; i < BIG; i++) {
        if (write(fd, s->bytes + i * MIB, MIB) != (ssize_t)MIB)
            die("a plain write has failed");
    }
    (void)close(fd);
    uint64_t ns = now_ns() - start;
    (void)unlink(path);
    return ns;
}

static void remove_dump(const struct setup *s)
{
    char path[1024];

    (void)snprintf(path, sizeof(path), "%s/args_dump/args.bin", s->directory);
    (void)unlink(path);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), compare);
    return values[n / 2];
}

/* What this process has in memory that no file backs, in MiB. */
static double resident_mib(void)
{
    char line[256];
    double anon = 0, shared = 0;
    FILE *f = fopen("/proc/self/status", "r");

    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        (void)sscanf(line, "RssAnon: %lf", &anon);
        (void)sscanf(line, "RssShmem: %lf", &shared);
    }
    if (f != NULL)
        (void)fclose(f);
    return (anon + shared) / 1024;
}

static void measure_big(const struct setup *s)
{
    double ratio[ROUNDS], rate[ROUNDS], plain[ROUNDS], before;
    uint64_t ns;

    (void)run(s, (struct job){.tasks = 1, .tensors = 1, .tensor_bytes = MIB}, 0, &ns);
    before = resident_mib();

    (void)run(s, (struct job){.tasks = BIG, .tensors = 1, .tensor_bytes = MIB}, 2, &ns);
    for (int i = 0; i < ROUNDS; i++) {
        remove_dump(s);
        uint64_t write_ns = plain_write(s);
        (void)run(s, (struct job){.tasks = BIG, .tensors = 1, .tensor_bytes = MIB}, 2, &ns);
        ratio[i] = (double)write_ns / (double)ns;
        rate[i] = (double)BIG * MIB / (double)ns;
        plain[i] = (double)BIG * MIB / (double)write_ns;
    }
    printf("512 x 1 MiB, level 2: %.2f GB/s, plain writes %.2f GB/s, ratio %.2f (wanted 0.85)\n",
           median(rate, ROUNDS), median(plain, ROUNDS), median(ratio, ROUNDS));
    printf("resident after it: %.0f MiB more than before, of 2 arenas of 128 MiB (at most 307)\n",
           resident_mib() - before);
}

static void measure_small(const struct setup *s)
{
    struct job job = {.tasks = SMALL, .tensors = WIDE, .tensor_bytes = 64};
    double on[ROUNDS], off[ROUNDS], settle[ROUNDS];
    struct simpler_run_result r;
    struct stat st = {0};
    char path[1024];
    uint64_t ns;

    (void)run(s, job, 2, &ns);
    for (int i = 0; i < ROUNDS; i++) {
        r = run(s, job, 0, &ns);
        off[i] = (double)r.stats.wall_ns;
        r = run(s, job, 2, &ns);
        on[i] = (double)r.stats.wall_ns;
        settle[i] = (double)(ns - r.stats.wall_ns);
    }
    (void)snprintf(path, sizeof(path), "%s/args_dump/args_dump.json", s->directory);
    (void)stat(path, &st);
    double end = median(settle, ROUNDS), records = (double)r.args_dump.records;
    printf("64-byte tensors: %.0f ns a record (wanted 150), %.0f records\n",
           (median(on, ROUNDS) - median(off, ROUNDS)) / records, records);
    printf("manifest: %.1f million entries/s, %.2f GB/s (wanted 1), rest of the writing included\n",
           records / end * 1e3, (double)st.st_size / end);
}

static void measure_one(const struct setup *s)
{
    double on[101], off[101];
    uint64_t ns;

    for (int i = 0; i < 101; i++) {
        (void)run(s, (struct job){.tasks = 1, .tensors = 1, .tensor_bytes = 64}, 0, &ns);
        off[i] = (double)ns;
        (void)run(s, (struct job){.tasks = 1, .tensors = 1, .tensor_bytes = 64}, 2, &ns);
        on[i] = (double)ns;
    }
    printf("one task, warm: %.0f us with a dump (wanted 200), %.0f us without\n",
           median(on, 101) / 1e3, median(off, 101) / 1e3);
}

/* The same marks at the beginning and at the end of many. */
static void mark(struct simpler_orch *orch, const struct simpler_orch_args *run)
{
    double *ns = run->user;
    struct simpler_tensor t;
    uint32_t shape = 16;
    struct simpler_task_args args;
    uint64_t start = now_ns();

    (void)simpler_tensor_init(&t, &shape, &shape, 1, SIMPLER_DTYPE_UINT8);
    for (uint32_t i = 0; i < 100000; i++) {
        simpler_task_args_reset(&args);
        simpler_task_args_add_input(&args, &t);
        simpler_task_args_dump(&args, &t);
        (void)simpler_orch_submit_aiv(orch, 0, &args, NULL);
        if (i == 9999 || i == 89999 || i == 99999) {
            ns[i == 9999 ? 0 : i == 89999 ? 1 : 2] = (double)(now_ns() - start);
        }
    }
}

static void measure_marks(const struct setup *s)
{
    struct simpler_call_config config = SIMPLER_CALL_CONFIG_INIT;
    double ns[3], first[ROUNDS], last[ROUNDS];
    struct simpler_orch_args args = {.user = ns};

    config.enable_dump_args = 1;
    config.output_prefix = s->directory;
    (void)simpler_worker_run(s->worker, s->marks, &args, &config, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        (void)simpler_worker_run(s->worker, s->marks, &args, &config, NULL);
        first[i] = ns[0] / 1e4;
        last[i] = (ns[2] - ns[1]) / 1e4;
    }
    printf("marked tasks: %.0f ns each among the first 10,000, %.0f among the last 10,000\n",
           median(first, ROUNDS), median(last, ROUNDS));
}

static bool is_wanted(const char *what, const char *name)
{
    return what[0] == '\0' || strcmp(what, name) == 0;
}

int main(int argc, char **argv)
{
    static const struct simpler_kernel kernel = {
        .func_id = 0, .core_type = SIMPLER_CORE_AIV, .name = "nothing", .fn = nothing};
    struct simpler_callable callable = {
        .name = "bench", .orchestrate = orchestrate, .kernels = &kernel, .kernel_count = 1};
    char made[] = "/tmp/bench_args_dump_XXXXXX";
    struct setup s = {.directory = argc > 1 ? argv[1] : mkdtemp(made)};
    struct simpler_callable marks = {
        .name = "marks", .orchestrate = mark, .kernels = &kernel, .kernel_count = 1};
    char command[1100];

    s.bytes = malloc(BIG * MIB);
    if (s.bytes == NULL || s.directory == NULL)
        die("no memory or no directory");
    for (size_t i = 0; i < BIG * MIB; i += 8)
        memcpy(s.bytes + i, &i, sizeof(i));
    if (simpler_worker_open(NULL, &s.worker) != 0 ||
        simpler_worker_register(s.worker, &callable, &s.handle) != 0 ||
        simpler_worker_register(s.worker, &marks, &s.marks) != 0)
        die("no worker");
    const char *what = argc > 2 ? argv[2] : "";
    if (strcmp(what, "count") == 0) { /* TASKS: one run, for callgrind */
        struct job job = {.tasks = argc > 3 ? (uint32_t)atoi(argv[3]) : SMALL,
                          .tensors = WIDE,
                          .tensor_bytes = 64};
        uint64_t ns;
        (void)run(&s, job, 2, &ns);
    }
    if (is_wanted(what, "big"))
        measure_big(&s);
    if (is_wanted(what, "one"))
        measure_one(&s);
    if (is_wanted(what, "small"))
        measure_small(&s);
    if (is_wanted(what, "marks"))
        measure_marks(&s);
    simpler_worker_close(s.worker);
    free(s.bytes);
    (void)snprintf(command, sizeof(command), "rm -rf '%s/args_dump'", s.directory);
    if (system(command) != 0 || (argc <= 1 && rmdir(made) != 0))
        die("the directory cannot be removed");
    return 0;
}
