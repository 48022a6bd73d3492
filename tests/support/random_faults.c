/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table is at the end; above it what each fault does.  Kernels and the orchestration are
 * reached by the hooks of graph_execute, the library by its test points (debug builds), the
 * system by limits and by what lies where a file is to be.
 */
#include "random_faults.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testpoint.h"
#include "failing_alloc.h"
#include "transport_rough.h"

static uint32_t below(struct fault_round *round, uint32_t n)
{
    return kit_random_below(&round->random, n);
}

static void fire(struct fault_round *round)
{
    atomic_store_explicit(&round->fired, true, memory_order_release);
}

/* ---- where it can be done ---- */

bool random_fault_has_seams(void)
{
    return failing_alloc_available();
}

static bool has_seams(const struct fault_round *round)
{
    (void)round;
    return random_fault_has_seams();
}

static bool has_diagnostics(const struct fault_round *round)
{
    return round->config.enable_scope_stats != 0 || round->config.enable_dump_args != 0;
}

static bool has_seams_and_diagnostics(const struct fault_round *round)
{
    return random_fault_has_seams() && has_diagnostics(round);
}

static bool has_kernels(const struct fault_round *round)
{
    return round->program->kernel_count != 0;
}

static bool has_kernels_and_diagnostics(const struct fault_round *round)
{
    return has_kernels(round) && has_diagnostics(round);
}

static bool can_hang(const struct fault_round *round)
{
    return has_kernels(round) && round->short_budget;
}

static bool has_small_disk(const struct fault_round *round)
{
    return round->small_disk != NULL && has_diagnostics(round);
}

static bool is_rough(const struct fault_round *round)
{
    return round->rough && has_diagnostics(round);
}

/* These take half a second each. */
static bool can_lose(const struct fault_round *round)
{
    for (uint32_t i = 0; i < round->program->op_count; i++) {
        /* An orchestration that waits for the data has 15 s (code 8). */
        if (round->program->op[i].kind >= GRAPH_OP_GET)
            return false;
    }
    return round->rare && has_seams(round);
}

static bool can_turn(const struct fault_round *round)
{
    return can_lose(round) && round->config.runtime == NULL;
}

/* ---- kernels ---- */

static void choose_kernel(struct fault_round *round)
{
    uint32_t n = below(round, round->program->kernel_count), i = 0;

    while (round->program->task[i].kind != GRAPH_TASK_KERNEL || n-- > 0)
        i++;
    round->victim = i;
}

static int fail_kernel(void *user, uint32_t task)
{
    struct fault_round *round = user;

    if (task != round->victim)
        return 0;
    fire(round);
    return 7;
}

static void arm_kernel_failure(struct fault_round *round)
{
    choose_kernel(round);
    round->hooks.kernel = fail_kernel;
}

static int be_slow(void *user, uint32_t task)
{
    const struct fault_round *round = user;

    if (task == round->victim)
        kit_sleep_ns(round->delay_ns);
    return 0;
}

static void arm_slow_kernel(struct fault_round *round)
{
    choose_kernel(round);
    round->delay_ns = below(round, 5000000);
    round->hooks.kernel = be_slow;
}

static int hang(void *user, uint32_t task)
{
    struct fault_round *round = user;

    if (task != round->victim)
        return 0;
    fire(round);
    while (!atomic_load_explicit(&round->let_go, memory_order_acquire))
        kit_sleep_ns(100000);
    return 7;
}

static void arm_hang(struct fault_round *round)
{
    choose_kernel(round);
    round->hooks.kernel = hang;
}

static void end_hang(struct fault_round *round)
{
    atomic_store_explicit(&round->let_go, true, memory_order_release);
}

void random_fault_remove_tree(const char *path);

static int remove_directory(void *user, uint32_t task)
{
    struct fault_round *round = user;

    if (task != round->victim)
        return 0;
    fire(round);
    random_fault_remove_tree(round->prefix);
    return 0;
}

static void arm_removal(struct fault_round *round)
{
    choose_kernel(round);
    round->hooks.kernel = remove_directory;
}

/* ---- the orchestration ---- */

static void choose_operation(struct fault_round *round)
{
    round->victim = below(round, round->program->op_count);
}

static int report_fatal(void *user, struct simpler_orch *orch, uint32_t op)
{
    struct fault_round *round = user;

    if (op != round->victim)
        return 0;
    fire(round);
    simpler_orch_report_fatal(orch, SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "operation %u", op);
    return 1;
}

static void arm_fatal(struct fault_round *round)
{
    choose_operation(round);
    round->hooks.operation = report_fatal;
}

static int nothing(const int64_t *args, uint32_t tensors, void *user)
{
    return kit_nop_kernel(args, tensors, user);
}

/* A kernel that nobody has registered; a task without its tensor's memory; too wide a cohort. */
static int submit_nonsense(void *user, struct simpler_orch *orch, uint32_t op)
{
    struct fault_round *round = user;
    struct simpler_task_args args;

    if (op != round->victim)
        return 0;
    fire(round);
    simpler_task_args_reset(&args);
    if (round->delay_ns == 0)
        return simpler_orch_submit_aiv(orch, 1023, &args, NULL);
    if (round->delay_ns == 1)
        return simpler_orch_submit_aic(orch, 0, &args, NULL); /* a kernel of the other cores */
    simpler_task_args_set_block_num(&args, 4096);
    simpler_task_args_set_require_sync_start(&args, true);
    return kit_submit(orch, &args, nothing, NULL, NULL);
}

static void arm_nonsense(struct fault_round *round)
{
    choose_operation(round);
    round->delay_ns = below(round, 3);
    round->hooks.operation = submit_nonsense;
}

static void arm_small_sizes(struct fault_round *round)
{
    struct simpler_runtime_env *env = &round->config.runtime_env;
    uint32_t which = below(round, 5);

    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        if (which == 0)
            env->ring_task_window[r] = 4;
        if (which == 1)
            env->ring_heap[r] = 1024;
        if (which == 2)
            env->ring_dep_pool[r] = 4;
    }
    if (which == 3)
        env->tensormap = 16;
    if (which == 4)
        env->ready_queue = 4;
}

/* ---- from outside ---- */

static void *cancel_later(void *user)
{
    struct fault_round *round = user;

    kit_sleep_ns(round->delay_ns);
    simpler_worker_cancel(round->kit->worker);
    return NULL;
}

static void start_helper(struct fault_round *round, void *(*body)(void *))
{
    if (pthread_create(&round->helper, NULL, body, round) != 0)
        abort();
}

static void arm_cancel(struct fault_round *round)
{
    round->delay_ns = below(round, 1 << (10 + below(round, 12)));
    start_helper(round, cancel_later);
}

static void *report_often(void *user)
{
    struct fault_round *round = user;

    while (!atomic_load_explicit(&round->over, memory_order_acquire)) {
        simpler_worker_report(round->kit->worker);
        (void)simpler_worker_progress(round->kit->worker);
        kit_sleep_ns(20000);
    }
    return NULL;
}

static void arm_reports(struct fault_round *round)
{
    start_helper(round, report_often);
}

static void join_helper(struct fault_round *round)
{
    (void)pthread_join(round->helper, NULL);
}

static void arm_deadline(struct fault_round *round)
{
    round->config.deadline_ns = 1 + below(round, 1 << (10 + below(round, 12)));
}

/* The run is submitted, and the worker closed at some moment. */
static int run_and_close(void *user, struct kit *kit, const struct simpler_orch_args *args,
                         const struct simpler_call_config *config,
                         struct simpler_run_result *result)
{
    struct fault_round *round = user;
    struct simpler_run *run;
    int rc = simpler_worker_submit(kit->worker, kit->handle, args, config, &run);

    if (rc != 0)
        return rc;
    kit_sleep_ns(round->delay_ns);
    (void)simpler_worker_close(kit->worker);
    round->closed = true;
    rc = simpler_run_get_result(run, UINT64_MAX, result);
    simpler_run_release(run);
    return rc != 0 ? rc : result->status;
}

static void arm_close(struct fault_round *round)
{
    round->delay_ns = below(round, 1 << (8 + below(round, 13)));
    round->hooks.start = run_and_close;
}

/* The same, and nobody else comes near. */
static int run_submitted(void *user, struct kit *kit, const struct simpler_orch_args *args,
                         const struct simpler_call_config *config,
                         struct simpler_run_result *result)
{
    struct fault_round *round = user;
    struct simpler_run *run;
    int rc = simpler_worker_submit(kit->worker, kit->handle, args, config, &run);

    if (rc != 0)
        return rc;
    if (round->delay_ns != 0)
        simpler_run_cancel(run);
    rc = simpler_run_get_result(run, UINT64_MAX, result);
    simpler_run_release(run);
    return rc != 0 ? rc : result->status;
}

static void arm_submitted(struct fault_round *round)
{
    round->delay_ns = below(round, 2);
    round->hooks.start = run_submitted;
}

/* ---- the library's own steps ---- */

static void arm_steps(struct fault_round *round)
{
    failing_alloc_arm(below(round, 1 << below(round, 9)));
}

static void disarm_steps(struct fault_round *round)
{
    atomic_store_explicit(&round->fired, failing_alloc_fired(), memory_order_relaxed);
    failing_alloc_disarm();
}

#if defined(SIMPLER_DEBUG)
static _Atomic int64_t hits_left;
static _Atomic int failing_point;
static _Atomic bool only_once;

static bool fail_there(void *user, enum simpler_testpoint point)
{
    if ((int)point != atomic_load_explicit(&failing_point, memory_order_relaxed))
        return false;
    int64_t left = atomic_fetch_sub_explicit(&hits_left, 1, memory_order_relaxed);
    if (left > 0 || (left < 0 && atomic_load_explicit(&only_once, memory_order_relaxed)))
        return false;
    fire(user);
    return true;
}

static void arm_point(struct fault_round *round, enum simpler_testpoint point, bool once)
{
    atomic_store_explicit(&failing_point, (int)point, memory_order_relaxed);
    atomic_store_explicit(&hits_left, below(round, 1 << below(round, 6)), memory_order_relaxed);
    atomic_store_explicit(&only_once, once, memory_order_relaxed);
    simpler_testpoint_set(fail_there, round);
}

static void arm_write(struct fault_round *round)
{
    static const enum simpler_testpoint points[] = {
        SIMPLER_TESTPOINT_DUMP_BIN_WRITE, SIMPLER_TESTPOINT_DUMP_SPOOL_WRITE,
        SIMPLER_TESTPOINT_DUMP_MANIFEST_WRITE, SIMPLER_TESTPOINT_SCOPE_FILE_WRITE};

    arm_point(round, points[below(round, 4)], below(round, 2) == 0);
}

static void arm_lost_edge(struct fault_round *round)
{
    arm_point(round, SIMPLER_TESTPOINT_DROP_EDGE, true);
}

static void arm_cycle(struct fault_round *round)
{
    round->config.enable_scope_stats = 0; /* the edge that it adds was not admitted to the pool */
    arm_point(round, SIMPLER_TESTPOINT_MAKE_CYCLE, true);
}

/* Everybody waits for a moment in some window of a race. */
static bool linger(void *user, enum simpler_testpoint point)
{
    static _Atomic uint64_t count;
    uint64_t x = kit_mix(atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) + point);

    (void)user;
    if (x % 64 == 0)
        kit_sleep_ns(x / 64 % 50000);
    return false;
}

static void arm_delays(struct fault_round *round)
{
    simpler_testpoint_set(linger, round);
}
#else
static void arm_write(struct fault_round *round)
{
    (void)round;
}
#define arm_lost_edge arm_write
#define arm_cycle     arm_write
#define arm_delays    arm_write
#endif

static void disarm_point(struct fault_round *round)
{
    (void)round;
    simpler_testpoint_set(NULL, NULL);
}

static void arm_transport(struct fault_round *round)
{
    transport_rough_fail(below(round, 1 << below(round, 10)), 1 + below(round, 4));
}

static void disarm_transport(struct fault_round *round)
{
    (void)round;
    transport_rough_fail(INT64_MAX, 0);
}

/* ---- the system ---- */

static void limit(struct fault_round *round, __rlimit_resource_t which, rlim_t soft)
{
    (void)getrlimit(which, &round->limit);
    struct rlimit limit = {soft, round->limit.rlim_max};
    (void)setrlimit(which, &limit);
}

static void arm_file_size(struct fault_round *round)
{
    limit(round, RLIMIT_FSIZE, below(round, 1 << (8 + below(round, 10))));
}

static void disarm_file_size(struct fault_round *round)
{
    (void)setrlimit(RLIMIT_FSIZE, &round->limit);
}

static void arm_descriptors(struct fault_round *round)
{
    int fd = dup(0);

    (void)close(fd);
    limit(round, RLIMIT_NOFILE, (rlim_t)fd + below(round, 8));
}

static void disarm_descriptors(struct fault_round *round)
{
    (void)setrlimit(RLIMIT_NOFILE, &round->limit);
}

/* The run writes to the small disk, of which somebody else has a part. */
static void arm_full_disk(struct fault_round *round)
{
    static const char junk[61440];
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/junk", round->small_disk);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, junk, below(round, sizeof(junk))) < 0)
        (void)fprintf(stderr, "%s cannot be written\n", path);
    (void)close(fd);
    (void)snprintf(round->prefix, sizeof(round->prefix), "%s/run", round->small_disk);
}

static void disarm_full_disk(struct fault_round *round)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/junk", round->small_disk);
    (void)unlink(path);
}

/* Something that is not theirs lies where a file or a directory is to be. */
static void arm_obstacle(struct fault_round *round)
{
    static const char *const names[] = {"scope_stats/scope_stats.jsonl.partial",
                                        "scope_stats/scope_stats.jsonl",
                                        "args_dump/args.bin",
                                        "args_dump/args_dump.json",
                                        "args_dump/args_dump.json.partial",
                                        "args_dump/.spool",
                                        "scope_stats",
                                        "args_dump",
                                        ".live",
                                        ""};
    char path[256];
    const char *name = names[below(round, 10)];

    random_fault_remove_tree(round->prefix);
    if (name[0] != '\0')
        (void)mkdir(round->prefix, 0700);
    (void)snprintf(path, sizeof(path), "%s/%.*s", round->prefix, (int)strcspn(name, "/"), name);
    if (strchr(name, '/') != NULL)
        (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof(path), "%s%s%s", round->prefix, name[0] != '\0' ? "/" : "", name);
    switch (below(round, 5)) {
    case 0:
        (void)mkfifo(path, 0600);
        break;
    case 1:
        (void)mkdir(path, 0700);
        break;
    case 2:
        (void)symlink("/nowhere/at/all", path);
        break;
    case 3:
        (void)symlink(path, path);
        break;
    default:
        (void)close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0400));
    }
}

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *walk)
{
    (void)info;
    (void)flag;
    (void)walk;
    (void)remove(path);
    return 0;
}

void random_fault_remove_tree(const char *path)
{
    (void)nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- the table ---- */

#define CODE(NAME) (-SIMPLER_CODE_##NAME)
#define NO_MEMORY  SIMPLER_ENOMEM, SIMPLER_ETHREAD
/* Who waits for room that such a task keeps is told first. */
#define NO_ROOM                                                                  \
    CODE(SCOPE_DEADLOCK), CODE(HEAP_RING_DEADLOCK), CODE(FLOW_CONTROL_DEADLOCK), \
        CODE(DEP_POOL_OVERFLOW), CODE(TENSORMAP_OVERFLOW)

const struct random_fault random_faults[] = {
    {"none", 60, NULL, NULL, NULL, {0}, false, false, false, false},
    {"submitted, canceled",
     10,
     NULL,
     arm_submitted,
     NULL,
     {SIMPLER_ECANCELED},
     false,
     false,
     false,
     false},
    {"slow kernel", 4, has_kernels, arm_slow_kernel, NULL, {0}, false, false, false, false},
    {"reports", 6, NULL, arm_reports, join_helper, {0}, false, false, false, false},
    {"delays", 6, has_seams, arm_delays, disarm_point, {0}, false, false, false, false},
    {"kernel fails",
     20,
     has_kernels,
     arm_kernel_failure,
     NULL,
     {SIMPLER_EKERNEL, NO_ROOM},
     true,
     false,
     false,
     false},
    {"fatal", 12, NULL, arm_fatal, NULL, {CODE(EXPLICIT_ORCH_FATAL)}, true, false, false, false},
    {"nonsense",
     12,
     NULL,
     arm_nonsense,
     NULL,
     {CODE(INVALID_ARGS), CODE(REQUIRE_SYNC_START_INVALID)},
     true,
     false,
     false,
     false},
    {"small sizes",
     30,
     NULL,
     arm_small_sizes,
     NULL,
     {NO_ROOM, CODE(READY_QUEUE_OVERFLOW)},
     false,
     false,
     false,
     false},
    {"cancel", 20, NULL, arm_cancel, join_helper, {SIMPLER_ECANCELED}, false, false, false, false},
    {"deadline", 20, NULL, arm_deadline, NULL, {SIMPLER_ETIMEDOUT}, false, false, false, false},
    {"close", 6, NULL, arm_close, NULL, {SIMPLER_ECANCELED}, false, false, false, false},
    {"steps",
     60,
     has_seams,
     arm_steps,
     disarm_steps,
     {NO_MEMORY, SIMPLER_EKERNEL},
     false,
     true,
     false,
     true},
    {"write fails",
     30,
     has_seams_and_diagnostics,
     arm_write,
     disarm_point,
     {0},
     false,
     true,
     false,
     false},
    {"file size",
     30,
     has_diagnostics,
     arm_file_size,
     disarm_file_size,
     {0},
     false,
     true,
     false,
     false},
    {"full disk",
     30,
     has_small_disk,
     arm_full_disk,
     disarm_full_disk,
     {0},
     false,
     true,
     false,
     false},
    {"descriptors",
     20,
     NULL,
     arm_descriptors,
     disarm_descriptors,
     {NO_MEMORY},
     false,
     true,
     false,
     false},
    {"directory removed",
     20,
     has_kernels_and_diagnostics,
     arm_removal,
     NULL,
     {0},
     false,
     true,
     true,
     false},
    {"obstacle",
     30,
     has_diagnostics,
     arm_obstacle,
     NULL,
     {SIMPLER_EEXIST, SIMPLER_EINVAL},
     false,
     true,
     true,
     false},
    {"transport", 60, is_rough, arm_transport, disarm_transport, {0}, false, true, false, true},
    {"hang", 20, can_hang, arm_hang, end_hang, {CODE(SCHEDULER_TIMEOUT)}, true, true, false, true},
    {"lost edge",
     1,
     can_lose,
     arm_lost_edge,
     disarm_point,
     {CODE(SCHEDULER_TIMEOUT), NO_ROOM},
     true,
     false,
     false,
     false},
    {"cycle",
     1,
     can_turn,
     arm_cycle,
     disarm_point,
     {CODE(SCHEDULER_TIMEOUT), NO_ROOM},
     false,
     false,
     false,
     false},
};
const uint32_t random_fault_count = sizeof(random_faults) / sizeof(random_faults[0]);

const struct random_fault *random_fault_choose(struct fault_round *round, const char *name)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < random_fault_count; i++) {
        const struct random_fault *f = &random_faults[i];
        bool fits = f->fits == NULL || f->fits(round);
        if (name != NULL && strcmp(f->name, name) == 0)
            return fits ? f : NULL;
        sum += fits ? f->weight : 0;
    }
    uint32_t at = below(round, sum);
    for (uint32_t i = 0; i < random_fault_count; i++) {
        const struct random_fault *f = &random_faults[i];
        uint32_t weight = f->fits == NULL || f->fits(round) ? f->weight : 0;
        if (at < weight)
            return f;
        at -= weight;
    }
    return &random_faults[0];
}

bool random_fault_allows(const struct fault_round *round, int status)
{
    const struct random_fault *f = round->fault;
    bool fired = atomic_load_explicit(&round->fired, memory_order_acquire);

    if (status == 0)
        return !(f->sure && fired);
    if (f->sure && !fired)
        return false;
    for (uint32_t i = 0; i < 8 && f->status[i] != 0; i++) {
        if (f->status[i] == status)
            return true;
    }
    return false;
}
