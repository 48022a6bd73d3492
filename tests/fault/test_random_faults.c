/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs with random diagnostics and one random fault each (support/random_faults.c),
 * on workers that live for some dozens of runs.  What ran has the reference's data; the status is
 * one that the fault allows; each file that was left is read, and says what is missing; whoever
 * closed a worker has no thread, descriptor, region, file or byte more than before.
 *
 * 10,000 runs (fewer under a sanitizer, whose own leak check comes on top), or as many as
 * SIMPLER_TEST_SECONDS allows, then with a seed of the moment.  A failure says how to have it
 * again:
 *
 *   SIMPLER_TEST_SEED=N    the seed
 *   SIMPLER_TEST_ROUND=N   this round, after those before it of the same worker
 *   SIMPLER_TEST_RUNS=N    so many rounds
 *   SIMPLER_TEST_FAULT=X   this fault, in every round where it can be done
 *
 * ctest: TIMEOUT 1200
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm.h"
#include "kit_transport.h"
#include "random_faults.h"
#include "run_files.h"
#include "scope_file.h"
#include "simpler/log.h"
#include "transport_rough.h"
#include "usage.h"

#define LIFE        40 /* rounds of one worker */
#define WATCHDOG_S  120
#define HANG_MS     "300"
#define LOG_LINES   24
#define MAX_SAMPLES 100000
/* What may be more at the end: of malloc, in all, mappings. */
#define SLACK_ALLOCATED 2000
#define SLACK_RESIDENT  (4 << 20)
#define SLACK_MAPPINGS  4

struct life {
    struct simpler_worker_config config;
    const char *platform;
    bool short_budget, rough;
    bool sticky; /* the worker's flush has failed */
    uint64_t epoch;
};

static char base[128], small_disk[160];
static bool has_small_disk;
static uint64_t seed;
static uint64_t now_round;
static struct kit kit;
static struct life life;
static struct fault_round round_now;
static struct graph_program program;
static struct simpler_run_result result;
/* By fault: runs, those that did not end with 0, those that left a file which says that not all is
 * there. */
static struct {
    uint64_t runs, failed, partial, ns;
} seen[64];
static uint64_t files_read, lines_read;
static struct usage samples[MAX_SAMPLES];
static uint32_t sample_count;

/* ---- what is said when something fails ---- */

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the two below */
static char log_lines[LOG_LINES][512];
static uint32_t log_count;

static void keep_line(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)pthread_mutex_lock(&log_lock);
    (void)snprintf(log_lines[log_count++ % LOG_LINES], sizeof(log_lines[0]), "%s", line);
    (void)pthread_mutex_unlock(&log_lock);
}

static void say_where(const char *what)
{
    const struct simpler_call_config *c = &round_now.config;
    const char *name = round_now.fault != NULL ? round_now.fault->name : "?";

    (void)fprintf(
        stderr,
        "round %llu, fault '%s': %s\n  %s, %s, scope stats %u, dump %u%s%s%s; status %d: "
        "%.300s\n"
        "again: SIMPLER_TEST_SEED=%llu SIMPLER_TEST_ROUND=%llu\n",
        (unsigned long long)now_round, name, what, life.platform,
        c->runtime != NULL ? c->runtime : "tensormap_and_ringbuffer", c->enable_scope_stats,
        c->enable_dump_args, life.config.collect_across_runs ? ", across runs" : "",
        life.config.crash_safe ? ", crash-safe" : "", life.rough ? ", rough" : "", result.status,
        result.message, (unsigned long long)seed, (unsigned long long)now_round);
}

static void must(bool truth, const char *what)
{
    if (truth)
        return;
    say_where(what);
    for (uint32_t i = log_count > LOG_LINES ? log_count - LOG_LINES : 0; i < log_count; i++)
        (void)fprintf(stderr, "  | %s\n", log_lines[i % LOG_LINES]);
    graph_print(&program);
    fail_msg("%s", what);
}

static void bite(int number)
{
    (void)number;
    say_where("it has not ended");
    abort();
}

/* ---- workers ---- */

static void choose_life(uint64_t number)
{
    static const char *const platforms[] = {"cpu", "a2a3sim", "a5sim"};
    static const uint16_t records[] = {4, 16, 64};
    struct kit_random random = {kit_mix(seed * 31 + number)};
    bool chosen = getenv("SIMPLER_TEST_PLATFORM") != NULL;

    life = (struct life){.config = SIMPLER_WORKER_CONFIG_INIT};
    life.platform = chosen ? kit_platform() : platforms[kit_random_below(&random, 3)];
    life.short_budget = kit_random_below(&random, 24) == 0;
    life.rough = kit_random_below(&random, 8) == 0;
    life.config.platform = life.platform;
    life.config.collect_across_runs = kit_random_chance(&random, 25);
    life.config.level = life.config.collect_across_runs ? 3 : 2;
    life.config.crash_safe = !life.config.collect_across_runs && kit_random_chance(&random, 20);
    if (life.config.crash_safe || kit_random_chance(&random, 75)) {
        life.config.dump.records_per_buffer = records[kit_random_below(&random, 3)];
        life.config.dump.buffers_per_thread = 4;
        life.config.dump.avg_tensor_bytes = 16384 / life.config.dump.records_per_buffer;
    }
}

static void open_worker(void)
{
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", life.short_budget ? HANG_MS : "20000", 1);
    kit_set_platform(life.platform);
    kit_open_config(&kit, &life.config);
    if (life.rough)
        kit_set_transport(kit.worker, &transport_rough);
    life.epoch = 0;
    life.sticky = false;
}

static struct usage before_all;

static void close_worker(void)
{
    struct usage now;
    int rc = kit.worker != NULL ? simpler_worker_close(kit.worker) : 0;

    kit.worker = NULL;
    must(rc == 0 || life.sticky || round_now.closed, "close answers as if something had failed");
    if (!usage_is_back(&before_all, &now)) {
        char text[160];
        (void)snprintf(text, sizeof(text),
                       "left behind: %d threads, %d descriptors, %d regions (before: %d, %d, %d)",
                       now.threads, now.descriptors, now.regions, before_all.threads,
                       before_all.descriptors, before_all.regions);
        must(false, text);
    }
}

/* ---- one round ---- */

static bool is_marked(void *user, uint32_t task)
{
    const struct fault_round *round = user;
    return kit_mix(round->program->seed * 257 + task) % 100 < round->mark_percent;
}

static bool is_watched_for_races(void)
{
#if defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
    return __has_feature(thread_sanitizer);
#else
    return false;
#endif
}

/*
 * A dump copies also what no kernel reads: of an argument without dependencies that is not used,
 * and of a deferred task in a run that was ended, whoever writes it may be at it.
 */
static bool dump_is_ordered(void)
{
    for (uint32_t t = 0; t < program.task_count; t++) {
        const struct graph_task *task = &program.task[t];
        if (task->form.deferred)
            return false;
        for (uint32_t i = task->first_access; i < task->first_access + task->access_count; i++) {
            const struct graph_access *a = &program.access[i];
            if (a->use == SIMPLER_USE_NO_DEP && !a->reads && !a->writes)
                return false;
        }
    }
    return true;
}

static void choose_diagnostics(struct fault_round *round, uint64_t number)
{
    bool same = !round->across && kit_random_chance(&round->random, 40);

    round->config.enable_scope_stats = kit_random_chance(&round->random, 50);
    round->config.enable_dump_args =
        kit_random_chance(&round->random, 50) ? 1 + kit_random_below(&round->random, 3) : 0;
    round->mark_percent = kit_random_below(&round->random, 110);
    if (same)
        (void)snprintf(round->prefix, sizeof(round->prefix), "%s/same", base);
    else
        (void)snprintf(round->prefix, sizeof(round->prefix), "%s/%llu", base,
                       (unsigned long long)number);
}

static void choose_round(struct fault_round *round, uint64_t number)
{
    static const uint16_t limits[] = {4, 8, 8, 12, 12, 12, 20, 20, 40, 256};
    struct graph_options options = {0};

    memset(round, 0, sizeof(*round));
    round->random.state = kit_mix(seed * 0x9e3779b97f4a7c15u + number);
    round->kit = &kit;
    round->program = &program;
    round->across = life.config.collect_across_runs;
    round->short_budget = life.short_budget;
    round->rough = life.rough;
    round->rare = kit_random_below(&round->random, 6) == 0;
    round->small_disk = has_small_disk ? small_disk : NULL;
    options.host_built = kit_random_chance(&round->random, 35);
    options.calm = kit_random_chance(&round->random, 90);
    options.task_limit = limits[kit_random_below(&round->random, 10)];
    graph_generate(&program, kit_random_next(&round->random), &options);
    round->config = program.config;
    choose_diagnostics(round, number);
    if (is_watched_for_races() && !dump_is_ordered())
        round->config.enable_dump_args = 0;
    round->hooks.user = round;
    round->hooks.marks = is_marked;
    round->config.output_prefix = round->prefix;
    round->fault = random_fault_choose(round, getenv("SIMPLER_TEST_FAULT"));
    if (round->fault == NULL)
        round->fault = &random_faults[0];
    round->hooks.may_fail = round->fault->status[0] != 0;
}

/* The files are written; what the worker says of all of its life. */
static void flush(struct fault_round *round, int rc)
{
    int flushed = simpler_worker_flush_diagnostics(kit.worker, UINT64_C(60000000000));
    bool code = rc < 0 && rc > -1000;

    must(flushed == 0 || round->fault->disturbs || (code && round->across),
         "the flush answers as if something had failed");
    life.sticky = flushed != 0;
}

static bool judge_data(int rc, char *message, size_t bytes)
{
    if (rc == 0)
        return graph_judge(&result, message, bytes);
    return graph_judge_part(rc, message, bytes);
}

/* The run was refused before it was admitted: nothing was touched. */
static bool was_refused(int rc)
{
    return rc == SIMPLER_EEXIST || rc == SIMPLER_EBUSY || rc == SIMPLER_EINVAL;
}

static void check_files(struct fault_round *round, int rc)
{
    static struct run_files files;

    if (was_refused(rc))
        return;
    files = (struct run_files){.prefix = round->prefix,
                               .config = &round->config,
                               .result = &result,
                               .program = &program,
                               .hooks = &round->hooks,
                               .across = round->across && round->config.runtime == NULL,
                               .disturbed = round->fault->disturbs,
                               .stray = round->fault->stray,
                               .unknown = round->fault->unknown,
                               .epoch = &life.epoch};
    must(run_files_check(&files), files.message);
    files_read += files.files_read;
    lines_read += files.lines_read;
    seen[round->fault - random_faults].partial += files.partial;
}

static void clean_up(struct fault_round *round)
{
    const char *slash = strrchr(round->prefix, '/');

    if (round->fault->disturbs || round->closed || strcmp(slash, "/same") != 0)
        random_fault_remove_tree(round->prefix);
    if (round->closed)
        kit.worker = NULL;
    if (round->closed || life.sticky) {
        close_worker();
        open_worker();
    }
}

static void run_round(uint64_t number)
{
    struct fault_round *round = &round_now;
    char message[512] = "";
    uint64_t start = kit_now_ns();

    now_round = number;
    choose_round(round, number);
    (void)alarm(WATCHDOG_S);
    if (round->fault->arm != NULL)
        round->fault->arm(round);
    int rc = graph_execute(&program, &kit, &round->config, &round->hooks, &result);
    atomic_store_explicit(&round->over, true, memory_order_release);
    if (round->fault->disarm != NULL)
        round->fault->disarm(round);
    if (!round->closed) {
        must(simpler_worker_quiesce(kit.worker, UINT64_C(30000000000)) == 0, "it stays busy");
        flush(round, rc);
    }
    seen[round->fault - random_faults].runs++;
    seen[round->fault - random_faults].failed += rc != 0;
    must(random_fault_allows(round, rc), "the fault does not allow that status");
    must(rc == result.status || was_refused(rc) || rc == SIMPLER_ENOMEM || rc == SIMPLER_ETHREAD,
         "the result has another status");
    result.status = rc;
    must(judge_data(rc, message, sizeof(message)), message);
    check_files(round, rc);
    (void)alarm(0);
    clean_up(round);
    seen[round->fault - random_faults].ns += kit_now_ns() - start;
}

/* ---- the loop ---- */

static void begin_life(uint64_t number)
{
    choose_life(number);
    open_worker();
}

static void end_life(void)
{
    char path[160];

    close_worker();
    /* What is there is left to the next worker as an earlier run's. */
    (void)snprintf(path, sizeof(path), "%s/same", base);
    must(usage_entries(base) == 2 + has_small_disk + (access(path, F_OK) == 0),
         "files are left behind");
    if (sample_count < MAX_SAMPLES)
        samples[sample_count++] = usage_now();
}

/* The least that was held after one of these lives: noise is only ever more. */
static struct usage least(uint32_t from, uint32_t to)
{
    struct usage u = samples[from];

    for (uint32_t i = from; i < to; i++) {
        const struct usage *s = &samples[i];
        u.allocated = s->allocated < u.allocated ? s->allocated : u.allocated;
        u.resident = s->resident < u.resident ? s->resident : u.resident;
        u.mappings = s->mappings < u.mappings ? s->mappings : u.mappings;
    }
    return u;
}

static void tell(uint64_t rounds)
{
    print_message("%llu runs; %llu files with %llu samples and entries\n",
                  (unsigned long long)rounds, (unsigned long long)files_read,
                  (unsigned long long)lines_read);
    for (uint32_t i = 0; i < random_fault_count; i++)
        print_message("  %-18s %6llu runs, %6llu ended with a status, %5llu left partial files, "
                      "%6.2f s\n",
                      random_faults[i].name, (unsigned long long)seen[i].runs,
                      (unsigned long long)seen[i].failed, (unsigned long long)seen[i].partial,
                      (double)seen[i].ns / 1e9);
}

static void nothing_grows(void)
{
    if (sample_count < 40)
        return;
    struct usage early = least(sample_count / 5, sample_count / 2);
    struct usage late = least(sample_count * 7 / 10, sample_count);
    print_message("%+ld bytes allocated, %+ld KiB resident, %+d mappings\n",
                  late.allocated - early.allocated, (late.resident - early.resident) / 1024,
                  late.mappings - early.mappings);
    if (kit_is_sanitized())
        return; /* it keeps what was freed; its own check of leaks comes at the end */
    must(late.allocated - early.allocated <= SLACK_ALLOCATED, "allocated memory grows");
    must(late.resident - early.resident <= SLACK_RESIDENT, "resident memory grows");
    must(late.mappings - early.mappings <= SLACK_MAPPINGS, "mappings grow");
}

static uint64_t from_environment(const char *name, uint64_t value)
{
    const char *text = getenv(name);
    return text != NULL ? strtoull(text, NULL, 0) : value;
}

static void *nothing(void *user)
{
    return user;
}

/* ThreadSanitizer has one of its own from then on. */
static void start_first_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, nothing, NULL) == 0)
        (void)pthread_join(thread, NULL);
}

static void runs_with_faults(void **state)
{
    (void)state;
    uint64_t only = from_environment("SIMPLER_TEST_ROUND", UINT64_MAX);
    uint64_t count = from_environment("SIMPLER_TEST_RUNS", kit_is_sanitized() ? 2000 : 10000);
    uint64_t end = UINT64_MAX, number = 0;

    if (getenv("SIMPLER_TEST_SECONDS") != NULL && only == UINT64_MAX) {
        end = kit_now_ns() + (uint64_t)(kit_seconds(20) * 1e9);
        count = UINT64_MAX;
    }
    if (only != UINT64_MAX) {
        number = only / LIFE * LIFE;
        count = only + 1;
    }
    start_first_thread();
    before_all = usage_now();
    for (; number < count && kit_now_ns() < end; number++) {
        if (number % LIFE == 0)
            begin_life(number / LIFE);
        run_round(number);
        if (number % LIFE == LIFE - 1 || number + 1 == count)
            end_life();
    }
    if (kit.worker != NULL)
        end_life();
    tell(number);
    nothing_grows();
}

/* ---- the process ---- */

/* A disk of 64 KiB, in a mount namespace of this process. */
static bool mount_small_disk(void)
{
    (void)snprintf(small_disk, sizeof(small_disk), "%s/small", base);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mkdir(small_disk, 0700) != 0)
        return false;
    if (mount("none", small_disk, "tmpfs", 0, "size=64k") == 0)
        return true;
    (void)rmdir(small_disk);
    return false;
}

/* The C library keeps freed blocks for each thread, and counts them as given out; and makes heaps.
 */
static void start_without_caches(char **argv)
{
    if (kit_is_sanitized() || getenv("GLIBC_TUNABLES") != NULL)
        return;
    (void)setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1", 1);
    (void)execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_with_faults)};
    (void)argc;
    start_without_caches(argv);
    bool fixed = getenv("SIMPLER_TEST_SECONDS") == NULL;

    seed = from_environment("SIMPLER_TEST_SEED", fixed ? 1 : kit_now_ns());
    scope_file_make_prefix(base);
    has_small_disk = mount_small_disk();
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)signal(SIGALRM, bite);
    simpler_log_set_callback(keep_line, NULL);
    print_message("seed %llu, %s\n", (unsigned long long)seed,
                  has_small_disk ? "with a small disk" : "no small disk can be mounted");
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    if (has_small_disk)
        (void)umount2(small_disk, MNT_DETACH);
    scope_file_remove_prefix(base);
    return rc;
}
