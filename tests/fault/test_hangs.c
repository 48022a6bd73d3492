/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 300
 * runtimes: all
 * Runs that do not end by themselves: each ends within its budget, says what it
 * hung on, and leaves a device that is busy exactly as long as a thread is inside.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "graph_gen.h"

#define BUDGET_MS 300u

static struct kit kit;
static struct simpler_run_result result;
static uint64_t cells[64][8];
static char lines[64][1024];
static _Atomic int line_count;
static _Atomic int hold; /* 0: a thread stands at a test point */

static void keep_line(void *user, int level, const char *line)
{
    (void)user;
    if (level < SIMPLER_LOG_ERROR)
        return;
    int at = atomic_fetch_add(&line_count, 1);
    if (at < 64)
        (void)snprintf(lines[at], sizeof(lines[at]), "%s", line);
}

/* A line of the log that has both. */
static bool was_logged(const char *a, const char *b)
{
    for (int i = 0; i < atomic_load(&line_count) && i < 64; i++) {
        if (strstr(lines[i], a) != NULL && strstr(lines[i], b) != NULL)
            return true;
    }
    return false;
}

static void must_say(const char *text)
{
    if (strstr(result.message, text) == NULL)
        fail_msg("'%s' is not in:\n%s", text, result.message);
}

/* There the orchestration is the caller's own code, and every task is of ring 0. */
static bool on_hbg(void)
{
    const char *runtime = getenv("SIMPLER_TEST_RUNTIME");
    return runtime != NULL && strcmp(runtime, "host_build_graph") == 0;
}

static void call_orch(struct simpler_orch *orch, const struct simpler_orch_args *args);
static uint32_t call_handle;

static void open_worker(void)
{
    struct simpler_callable callable = kit_callable();
    kit_open(&kit);
    callable.name = "hangs";
    callable.orchestrate = call_orch;
    assert_int_equal(simpler_worker_register(kit.worker, &callable, &call_handle), 0);
}

static int start(void **state)
{
    (void)state;
    char budget[16];
    (void)snprintf(budget, sizeof(budget), "%u", BUDGET_MS);
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", budget, 1);
    simpler_log_set_callback(keep_line, NULL);
    atomic_store(&line_count, 0);
    open_worker();
    return 0;
}

static int end(void **state)
{
    (void)state;
    atomic_store(&hold, 1);
    assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
    simpler_testpoint_set(NULL, NULL);
    kit_close(&kit);
    return 0;
}

/* What a hung run still uses stays until the device is free: calls have places of their own. */
struct call {
    kit_orch fn;
    void *user;
};
static struct call calls[64];
static uint32_t call_count;

static void call_orch(struct simpler_orch *orch, const struct simpler_orch_args *args)
{
    const struct call *call = args->user;
    call->fn(orch, call->user);
}

static int hang_run(kit_orch fn, void *user, const struct simpler_call_config *config)
{
    struct call *call = &calls[call_count++ % 64];
    struct simpler_orch_args args = {.user = call};
    *call = (struct call){fn, user};
    int before = kit_unexpected();
    int rc = simpler_worker_run(kit.worker, call_handle, &args, config, &result);
    return kit_unexpected() != before ? KIT_UNEXPECTED : rc;
}

static void next_runs_are_right(void)
{
    struct graph_options options = {.calm = true};
    static uint64_t seed = 810000;
    for (int i = 0; i < 5; i++)
        assert_true(graph_try_seed(seed++, &kit, &options));
}

/* The kernel's own memory: a gate that it spins at, and what it has written. */
struct spinner {
    _Atomic int inside;
    _Atomic int let_go;
    uint64_t own_ns; /* a hot kernel comes back by itself after that; 0: never */
};

static int spin_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    struct spinner *s = user;
    if (tensors != 0)
        *(uint64_t *)simpler_kernel_data(args, 0) = 42;
    atomic_fetch_add_explicit(&s->inside, 1, memory_order_acq_rel);
    while (!atomic_load_explicit(&s->let_go, memory_order_acquire))
        kit_sleep_ns(100000);
    return 0;
}

static int submit_on(struct simpler_orch *orch, uint32_t index, uint32_t variant, kit_kernel fn,
                     void *user)
{
    struct simpler_tensor tensor = kit_tensor(cells[index], 8, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &tensor);
    return kit_submit_variant(orch, variant, &args, fn, user, NULL);
}

/* ---- a kernel that spins ---- */

static void spin_and_wait(struct simpler_orch *orch, void *user)
{
    struct spinner *s = user;
    SIMPLER_SCOPE(orch)
    {
        KIT_EXPECT_EQUAL(submit_on(orch, 0, KIT_LONG, spin_kernel, s), 0);
        for (int i = 0; i < 5; i++)
            KIT_EXPECT_EQUAL(submit_on(orch, 0, KIT_LONG, kit_nop_kernel, NULL), 0);
    }
}

static void run_spinner(uint32_t threads, uint32_t exec)
{
    static struct spinner s;
    struct simpler_call_config config = kit_config(threads);
    /* The scope's ring. */
    const char *id = on_hbg() ? "0x0000000000000000" : "0x0000000100000000";
    char words[128];

    memset(&s, 0, sizeof(s));
    config.exec = exec;
    uint64_t before = kit_now_ns();
    int rc = hang_run(spin_and_wait, &s, &config);
    uint64_t took_ms = (kit_now_ns() - before) / 1000000;
    assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    assert_int_equal(atomic_load(&s.inside), 1);
    assert_in_range(took_ms, BUDGET_MS, 10 * BUDGET_MS);
    must_say("orch_error_code=0 sched_error_code=100 runtime_status=-100");
    (void)snprintf(words, sizeof(words), "is still inside kernel kit_aiv (func_id 193) of task %s",
                   id);
    must_say(words);
    must_say("submitted at ");
    must_say("test_hangs.c:");
    assert_true(was_logged("[STALL thread=", "state=RUNNING"));
    assert_true(was_logged("[SHUTDOWN_SNAPSHOT trigger_thread=", "sub_class=S1:running-stalled"));
    if (config.aicpu_thread_num == 1 && !on_hbg()) {
        /* It runs while it is submitted: the others do not exist yet.  (A chip has two threads.) */
        must_say("1 of 1 tasks are not done: 1 running, 0 ready, 0 waiting");
        must_say("the oldest unfinished: kernel kit_aiv (func_id 193) of task 0x0000000100000000");
        must_say("it runs on the orchestrator thread");
    } else {
        must_say("6 of 6 tasks are not done: 1 running, 0 ready, 5 waiting");
        (void)snprintf(words, sizeof(words),
                       "the oldest unfinished: task %s, kernel kit_aiv (func_id 193)", id);
        must_say(words);
        must_say("in a scope of depth 1 that has ended; it runs on ");
        assert_true(was_logged("[STALL thread=", "state=WAIT"));
        (void)snprintf(words, sizeof(words), "stuck_task_id=%s", id);
        assert_true(was_logged(words, "completed=0/6 running=1"));
    }

    /* Busy while the kernel is inside; nothing else may run meanwhile. */
    assert_int_equal(simpler_worker_quiesce(kit.worker, 1000000), SIMPLER_ETIMEDOUT);
    assert_int_equal(hang_run(spin_and_wait, &s, &config), SIMPLER_EBUSY);
    must_say("kernel kit_aiv");
    assert_int_equal(atomic_load(&s.inside), 1);
    atomic_store(&s.let_go, 1);
    assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
    assert_int_equal(simpler_worker_quiesce(kit.worker, 0), 0);
    next_runs_are_right();
}

static void a_kernel_that_spins_on_a_scheduler(void **state)
{
    (void)state;
    run_spinner(2, SIMPLER_EXEC_INLINE);
    run_spinner(4, SIMPLER_EXEC_INLINE);
}

static void a_kernel_that_spins_on_the_orchestrator(void **state)
{
    (void)state;
    /* Alone, the orchestrator runs every kernel; a chip has a scheduler as well. */
    if (kit_threads(1) != 1)
        skip();
    run_spinner(1, SIMPLER_EXEC_INLINE);
}

static void a_kernel_that_spins_on_a_core_thread(void **state)
{
    (void)state;
    run_spinner(2, SIMPLER_EXEC_THREADS);
    run_spinner(3, SIMPLER_EXEC_THREADS);
}

/* A run on a busy device looks whether the kernel has come back meanwhile. */
static void a_kernel_that_comes_back_frees_the_device(void **state)
{
    (void)state;
    static struct spinner s;
    struct simpler_call_config config = kit_config(2);

    memset(&s, 0, sizeof(s));
    assert_int_equal(hang_run(spin_and_wait, &s, &config), -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    atomic_store(&s.let_go, 1);
    int rc = SIMPLER_EBUSY;
    for (int i = 0; i < 1000 && rc == SIMPLER_EBUSY; i++) {
        kit_sleep_ns(1000000);
        rc = hang_run(spin_and_wait, &s, &config);
    }
    assert_int_equal(rc, 0);
}

/* ---- an orchestration that never returns ---- */

struct never {
    _Atomic int inside, let_go;
    bool with_task;
    int answer;
};

static void never_return(struct simpler_orch *orch, void *user)
{
    struct never *n = user;
    if (n->with_task)
        KIT_EXPECT_EQUAL(submit_on(orch, 1, KIT_LONG, kit_nop_kernel, NULL), 0);
    atomic_store(&n->inside, 1);
    while (!atomic_load_explicit(&n->let_go, memory_order_acquire))
        kit_sleep_ns(100000);
    n->answer = submit_on(orch, 1, KIT_LONG, kit_nop_kernel, NULL);
}

static void an_orchestration_that_never_returns(void **state)
{
    (void)state;
    static struct never n;
    if (on_hbg())
        skip();
    for (int i = 0; i < 3; i++) {
        struct simpler_call_config config = kit_config(i == 2 ? 1 : 3);
        memset(&n, 0, sizeof(n));
        n.with_task = i == 1;
        int rc = hang_run(never_return, &n, &config);
        assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        must_say("sched_error_code=100");
        must_say("orchestrator thread");
        must_say("has not come back from the orchestration's own code");
        assert_true(was_logged("[SHUTDOWN_SNAPSHOT", "sub_class=S5:orchestrator-starvation"));
        assert_int_equal(simpler_worker_quiesce(kit.worker, 0), SIMPLER_ETIMEDOUT);
        atomic_store(&n.let_go, 1);
        assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
        /* What came back was told that its run is over. */
        assert_int_equal(n.answer, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        next_runs_are_right();
    }
}

static void a_deadline_ends_an_orchestration_that_never_calls(void **state)
{
    (void)state;
    static struct never n;
    struct simpler_call_config config = kit_config(2);
    if (on_hbg())
        skip();
    memset(&n, 0, sizeof(n));
    config.deadline_ns = 50000000;
    int rc = hang_run(never_return, &n, &config);
    assert_int_equal(rc, SIMPLER_ETIMEDOUT);
    must_say("has not come back from the orchestration's own code");
    atomic_store(&n.let_go, 1);
    assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
    assert_int_equal(n.answer, SIMPLER_ETIMEDOUT);
}

/* ---- slow is no hang ---- */

static int sleep_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_sleep_ns(600000000);
    return 0;
}

static void slow(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (int i = 0; i < 5; i++)
        KIT_EXPECT_EQUAL(submit_on(orch, 2, KIT_LONG, sleep_kernel, NULL), 0);
}

static void slow_kernels_are_no_hang(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);
    kit_close(&kit);
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", "2000", 1);
    open_worker();
    int rc = hang_run(slow, NULL, &config);
    if (rc != 0)
        fail_msg("%s", result.message);
    assert_int_equal(result.message[0], '\0');
}

/* ---- diagnostics of a hung run (AD-29, SS-19, SS-20, SS-21) ---- */

static char prefix[] = "/tmp/test_hangs.XXXXXX";
static char text[1 << 20];

static const char *read_file(const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", prefix, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    size_t n = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    text[n] = '\0';
    return text;
}

static int count_of(const char *haystack, const char *needle)
{
    int n = 0;
    for (const char *p = haystack; (p = strstr(p, needle)) != NULL; p++)
        n++;
    return n;
}

static struct simpler_call_config with_diagnostics(uint32_t threads)
{
    struct simpler_call_config config = kit_config(threads);
    config.enable_scope_stats = 1;
    config.enable_dump_args = 2;
    config.output_prefix = prefix;
    return config;
}

/* What a kernel wrote before it began to spin: told to the sanitizer through its counter. */
#if defined(SIMPLER_DEBUG)
static bool see_the_kernel(void *user, enum simpler_testpoint point)
{
    struct spinner *s = user;
    if (point == SIMPLER_TESTPOINT_PARTIAL_BEFORE_CAPTURE)
        (void)atomic_load_explicit(&s->inside, memory_order_acquire);
    return false;
}
#endif

static void one_done_one_stuck(struct simpler_orch *orch, void *user)
{
    SIMPLER_SCOPE(orch)
    {
        KIT_EXPECT_EQUAL(submit_on(orch, 6, KIT_LONG, kit_nop_kernel, NULL), 0);
        KIT_EXPECT_EQUAL(submit_on(orch, 7, KIT_LONG, spin_kernel, user), 0);
        KIT_EXPECT_EQUAL(submit_on(orch, 7, KIT_LONG, kit_nop_kernel, NULL), 0);
        KIT_EXPECT_EQUAL(submit_on(orch, 7, KIT_LONG, kit_nop_kernel, NULL), 0);
    }
}

/*
 * Every lane is complete or stopped: the files are whole.  The dump has the inputs of
 * both tasks, the output of the finished one, and what the stuck one has written so far.
 */
static void a_stuck_kernel_leaves_whole_files(void **state)
{
    (void)state;
    static struct spinner s;
    static const uint32_t execs[] = {SIMPLER_EXEC_INLINE, SIMPLER_EXEC_THREADS,
                                     SIMPLER_EXEC_INLINE};
    /* With one thread the tasks pass through. */
    static const uint32_t threads[] = {2, 2, 1};
    for (int i = 0; i < 3; i++) {
        struct simpler_call_config config = with_diagnostics(threads[i]);
        config.exec = execs[i];
        memset(&s, 0, sizeof(s));
        cells[7][0] = 0;
#if defined(SIMPLER_DEBUG)
        simpler_testpoint_set(see_the_kernel, &s);
#endif
        int rc = hang_run(one_done_one_stuck, &s, &config);
        assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        assert_int_equal(result.scope_stats.status, 0);
        assert_int_equal(result.scope_stats.has_file, 1);
        assert_int_equal(result.args_dump.status, 0);
        assert_int_equal(result.args_dump.counts_known, 1);
        /* One tensor in, two scalars, one tensor out, for two tasks. */
        assert_int_equal(result.args_dump.records, 8);
        const char *manifest = read_file("args_dump/args_dump.json");
        assert_non_null(manifest);
        assert_int_equal(count_of(manifest, "\"stage\": \"after_completion\""), 2);
        /* The stuck task's output holds 42 already. */
        const char *entry = on_hbg() ? "\"task_id\": \"0x0000000000000001\""
                                     : "\"task_id\": \"0x0000000100000001\"";
        const char *after = strstr(manifest, entry);
        while (after != NULL && strstr(after, "after_completion") != NULL &&
               strstr(after, "after_completion") > strchr(after, '\n'))
            after = strstr(after + 1, entry);
        assert_non_null(after);
        const char *offset = strstr(after, "\"bin_offset\": ");
        assert_non_null(offset);
        long at = strtol(offset + strlen("\"bin_offset\": "), NULL, 10);
        assert_non_null(read_file("args_dump/args.bin"));
        uint64_t value;
        memcpy(&value, text + at, sizeof(value));
        assert_int_equal(value, 42);
        const char *scope = read_file("scope_stats/scope_stats.jsonl");
        assert_non_null(scope);
        /* There the file is metadata alone, written before the run. */
        assert_non_null(
            strstr(scope, on_hbg() ? "\"dropped\": 0" : "{\"fatal\": true, \"dropped\": 0"));
        atomic_store(&s.let_go, 1);
        assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
        /* What came back late wrote nothing into the next run's files. */
        struct simpler_call_config next = with_diagnostics(threads[i]);
        next.exec = execs[i];
        assert_int_equal(hang_run(one_done_one_stuck, &s, &next), 0);
        assert_int_equal(result.args_dump.refused_epoch, 0);
        assert_int_equal(result.args_dump.counts_known, 1);
        assert_int_equal(result.args_dump.records, 16);
        assert_int_equal(result.scope_stats.status, 0);
    }
}

/* Marked tasks alone, and the stuck one is none: with one thread it has no slot either. */
static void one_marked_one_stuck(struct simpler_orch *orch, void *user)
{
    struct simpler_tensor t = kit_tensor(cells[6], 1, SIMPLER_DTYPE_UINT64);
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &t);
    simpler_task_args_dump(&args, &t);
    KIT_EXPECT_EQUAL(kit_submit_variant(orch, KIT_LONG, &args, kit_nop_kernel, NULL, NULL), 0);
    KIT_EXPECT_EQUAL(submit_on(orch, 7, KIT_LONG, spin_kernel, user), 0);
}

static void a_stuck_kernel_that_is_not_marked(void **state)
{
    (void)state;
    static struct spinner s;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct simpler_call_config config = with_diagnostics(threads);
        config.enable_dump_args = 1;
        memset(&s, 0, sizeof(s));
        int rc = hang_run(one_marked_one_stuck, &s, &config);
        assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        assert_int_equal(result.args_dump.status, 0);
        assert_int_equal(result.args_dump.records, 2);
        atomic_store(&s.let_go, 1);
        assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
    }
}

static void scopes_then_never(struct simpler_orch *orch, void *user)
{
    struct never *n = user;
    /* More samples than the first buffer has records. */
    for (int i = 0; n->with_task && i < 600; i++)
        SIMPLER_SCOPE(orch)
        {
        }
    atomic_store(&n->inside, 1);
    while (!atomic_load_explicit(&n->let_go, memory_order_acquire))
        kit_sleep_ns(100000);
    SIMPLER_SCOPE(orch)
    {
    }
}

/*
 * The orchestrator's lane is unproved: scope stats say what the host received, or, when that is
 * nothing, there is no file, and no older one either.
 */
static void an_orchestration_that_never_returns_is_unproved(void **state)
{
    (void)state;
    static struct never n;
    if (on_hbg())
        skip();
    for (int with = 1; with >= 0; with--) {
        struct simpler_call_config config = with_diagnostics(2);
        memset(&n, 0, sizeof(n));
        n.with_task = with != 0;
        assert_int_equal(hang_run(scopes_then_never, &n, &config), -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        assert_int_equal(result.scope_stats.status, SIMPLER_EPARTIAL);
        assert_int_equal(result.scope_stats.counts_known, 0);
        assert_int_equal(result.scope_stats.has_file, with);
        const char *scope = read_file("scope_stats/scope_stats.jsonl");
        if (with != 0) {
            assert_non_null(scope);
            assert_non_null(strstr(
                scope,
                "{\"fatal\": null, \"dropped\": null, \"total\": null, \"task_window_max\": ["));
            assert_non_null(strstr(scope, "\"collection_verdict\": \"partial_cut_unknown\", "
                                          "\"counts_unknown\": true, "
                                          "\"host_received_records\": 1024, "
                                          "\"host_retained_records\": 1024}"));
            assert_int_equal(count_of(scope, "\n"), 1 + 1024);
        } else {
            assert_null(scope);
        }
        atomic_store(&n.let_go, 1);
        assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
    }
    /* Proved late: the next run has its own numbers alone. */
    struct simpler_call_config config = with_diagnostics(2);
    memset(&n, 0, sizeof(n));
    n.let_go = 1;
    assert_int_equal(hang_run(scopes_then_never, &n, &config), 0);
    assert_int_equal(result.scope_stats.status, 0);
    assert_int_equal(result.scope_stats.records, 4);
    /* The sample that the late orchestrator published when it came back (SS-22). */
    assert_int_equal(result.scope_stats.refused_epoch, 1);
}

#if defined(SIMPLER_DEBUG)
/* ---- seams ---- */

static _Atomic int dropped, held;

static bool drop_one(void *user, enum simpler_testpoint point)
{
    return point == *(enum simpler_testpoint *)user && atomic_fetch_add(&dropped, 1) == 0;
}

static int sleep_a_moment(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    kit_sleep_ns(20000000);
    return 0;
}

static void chain_of_three(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (int i = 0; i < 3; i++)
        KIT_EXPECT_EQUAL(submit_on(orch, 3, KIT_LONG, sleep_a_moment, NULL), 0);
}

/* The file of samples is whole; host_build_graph has no samples, and its file knows no codes
 * (SS-01). */
static void check_samples(void)
{
    const char *scope = read_file("scope_stats/scope_stats.jsonl");

    assert_int_equal(result.scope_stats.status, 0);
    assert_non_null(scope);
    assert_non_null(strstr(scope, on_hbg() ? "{\"fatal\": false, \"dropped\": 0"
                                           : "{\"fatal\": true, \"dropped\": 0"));
    assert_int_equal(count_of(scope, "\n"), 1 + result.scope_stats.records);
}

static void run_with_seam(enum simpler_testpoint seam)
{
    struct simpler_call_config config = with_diagnostics(2);
    atomic_store(&dropped, 0);
    simpler_testpoint_set(drop_one, &seam);
    int rc = hang_run(chain_of_three, NULL, &config);
    simpler_testpoint_set(NULL, NULL);
    assert_true(atomic_load(&dropped) != 0);
    assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    /* Whole files: every task that ran has its tensor twice and two scalars, no other has any. */
    assert_int_equal(result.args_dump.status, 0);
    assert_int_equal(result.args_dump.counts_known, 1);
    assert_int_equal(result.args_dump.records, 4 * result.stats.tasks_run);
    if (result.stats.tasks_run != 0)
        assert_int_equal(count_of(read_file("args_dump/args_dump.json"), "after_completion\","),
                         result.stats.tasks_run);
    check_samples();
    /* Nobody is inside: the device is free. */
    assert_int_equal(simpler_worker_quiesce(kit.worker, 0), 0);
}

static void a_lost_edge_is_named(void **state)
{
    (void)state;
    run_with_seam(SIMPLER_TESTPOINT_DROP_EDGE);
    must_say("is in no queue and waits for no unfinished task");
    next_runs_are_right();
}

static void a_cycle_is_named(void **state)
{
    (void)state;
    /* There a task depends on earlier ones alone. */
    if (on_hbg())
        skip();
    run_with_seam(SIMPLER_TESTPOINT_MAKE_CYCLE);
    must_say("a cycle of dependencies: task 0x");
    must_say("; which waits for task 0x");
    must_say("; which waits for the first");
    assert_true(was_logged("[SHUTDOWN_SNAPSHOT", "sub_class=S4:dependency-deadlock"));
    next_runs_are_right();
}

/* ---- a full disk at the same moment ---- */

static bool disk_is_full(void *user, enum simpler_testpoint point)
{
    struct spinner *s = user;
    if (point == SIMPLER_TESTPOINT_PARTIAL_BEFORE_CAPTURE)
        (void)atomic_load_explicit(&s->inside, memory_order_acquire);
    return point == SIMPLER_TESTPOINT_SCOPE_FILE_WRITE || point == SIMPLER_TESTPOINT_DUMP_BIN_WRITE;
}

/* The run ends in time with its own code; each diagnostic says that it is not whole. */
static void a_stuck_kernel_on_a_full_disk(void **state)
{
    (void)state;
    static struct spinner s;
    struct simpler_call_config config = with_diagnostics(2);
    memset(&s, 0, sizeof(s));
    simpler_testpoint_reset_hits();
    simpler_testpoint_set(disk_is_full, &s);
    uint64_t before = kit_now_ns();
    int rc = hang_run(one_done_one_stuck, &s, &config);
    uint64_t took_ms = (kit_now_ns() - before) / 1000000;
    simpler_testpoint_set(NULL, NULL);
    assert_true(simpler_testpoint_hits(SIMPLER_TESTPOINT_SCOPE_FILE_WRITE) > 0);
    assert_true(simpler_testpoint_hits(SIMPLER_TESTPOINT_DUMP_BIN_WRITE) > 0);
    assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    assert_in_range(took_ms, BUDGET_MS, 30000);
    must_say("is still inside kernel kit_aiv");
    assert_true(result.scope_stats.status != 0);
    assert_true(result.args_dump.status != 0);
    assert_true(result.args_dump.truncated > 0 || result.args_dump.write_failed > 0);
    atomic_store(&s.let_go, 1);
    assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
    next_runs_are_right();
}

/* ---- one of three schedulers is held ---- */

static _Atomic(pthread_t) orchestrator;

static bool hold_one(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point != SIMPLER_TESTPOINT_COMPLETE_BEFORE_CLOSE ||
        pthread_equal(atomic_load(&orchestrator), pthread_self()) ||
        atomic_fetch_add(&held, 1) != 0)
        return false;
    while (!atomic_load_explicit(&hold, memory_order_acquire))
        kit_sleep_ns(100000);
    return false;
}

/* Its own pause, so that a scheduler takes the first task. */
static void chain_with_pause(struct simpler_orch *orch, void *user)
{
    atomic_store(&orchestrator, pthread_self());
    chain_of_three(orch, user);
    kit_sleep_ns(100000000);
}

static void one_of_three_schedulers_is_held(void **state)
{
    (void)state;
    struct simpler_call_config config = with_diagnostics(4);
    atomic_store(&held, 0);
    atomic_store(&hold, 0);
    simpler_testpoint_set(hold_one, NULL);
    int rc = hang_run(chain_with_pause, NULL, &config);
    assert_int_equal(rc, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    must_say("a thread that took it has not come back");
    must_say("the device is busy");
    /* Its lane is not read; the orchestrator's is complete. */
    assert_int_equal(result.args_dump.status, SIMPLER_EPARTIAL);
    assert_int_equal(result.args_dump.counts_known, 0);
    check_samples();
    assert_int_equal(simpler_worker_quiesce(kit.worker, 1000000), SIMPLER_ETIMEDOUT);
    atomic_store(&hold, 1);
    assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
    simpler_testpoint_set(NULL, NULL);
    next_runs_are_right();
}

/* ---- at the time-out ---- */

static _Atomic int answers;
static struct kit_random chance;

/* The kernel returns when the monitor has decided to end the run, give or take some. */
static bool let_go_at_the_timeout(void *user, enum simpler_testpoint point)
{
    struct spinner *s = user;
    if (point == SIMPLER_TESTPOINT_KERNEL_ASKED)
        atomic_fetch_add(&answers, 1);
    if (point != SIMPLER_TESTPOINT_MONITOR_BEFORE_CLAIM &&
        point != SIMPLER_TESTPOINT_REVOKE_AFTER_ASK)
        return false;
    /* Of the monitor's thread alone. */
    uint32_t way = kit_random_below(&chance, 8);
    if (point == SIMPLER_TESTPOINT_MONITOR_BEFORE_CLAIM ? way != 0 : way <= 2)
        return false; /* later: at the next point, or by the caller */
    atomic_store_explicit(&s->let_go, 1, memory_order_release);
    if (way >= 5)
        kit_spin_ns(kit_random_below(&chance, 3000));
    return false;
}

static int spin_hot(const int64_t *args, uint32_t tensors, void *user)
{
    struct spinner *s = user;
    (void)tensors;
    (*(uint64_t *)simpler_kernel_data(args, 0))++;
    atomic_fetch_add_explicit(&s->inside, 1, memory_order_acq_rel);
    uint64_t end = s->own_ns != 0 ? kit_now_ns() + s->own_ns : UINT64_MAX;
    while (!atomic_load_explicit(&s->let_go, memory_order_acquire) && kit_now_ns() < end)
        ;
    return 0;
}

static void spin_hot_graph(struct simpler_orch *orch, void *user)
{
    /* The run may have ended before the second. */
    (void)submit_on(orch, 4, KIT_LONG, spin_hot, user);
    (void)submit_on(orch, 4, KIT_LONG, spin_hot, user);
}

/* Entries of a directory of /proc/self. */
static int entries_of(const char *path)
{
    int n = 0;
    DIR *directory = opendir(path);
    assert_non_null(directory);
    while (readdir(directory) != NULL)
        n++;
    (void)closedir(directory);
    return n;
}

/* Whatever the runs came to, they leave no thread and no descriptor behind. */
static void a_kernel_returns_at_the_timeout(void **state)
{
    (void)state;
    static struct spinner s;
    struct simpler_call_config config = kit_config(2);
    int ended[2] = {0, 0};
    const char *wanted = getenv("SIMPLER_TEST_ROUNDS");
    int rounds = wanted != NULL ? atoi(wanted) : 300;

    kit_close(&kit);
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", "1", 1);
    open_worker();
    int threads = 0, descriptors = 0;
    simpler_testpoint_reset_hits();
    chance.state = 77;
    atomic_store(&answers, 0);
    for (int i = 0; i < rounds; i++) {
        memset(&s, 0, sizeof(s));
        cells[4][0] = 0;
        /* Every second one returns by itself around the budget of 1 ms. */
        s.own_ns = i % 2 == 0 ? 0 : 200000 + (uint64_t)(i % 20) * 100000;
        simpler_testpoint_set(let_go_at_the_timeout, &s);
        int rc = hang_run(spin_hot_graph, &s, &config);
        assert_true(rc == 0 || rc == -SIMPLER_CODE_SCHEDULER_TIMEOUT);
        ended[rc != 0]++;
        atomic_store_explicit(&s.let_go, 1, memory_order_release);
        assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
        simpler_testpoint_set(NULL, NULL);
        /* Each kernel ran once or, behind the end of the run, not at all. */
        assert_int_equal(cells[4][0], atomic_load(&s.inside));
        assert_in_range(cells[4][0], rc == 0 ? 2 : 0, 2);
        assert_true(result.stats.tasks_run <= cells[4][0]);
        if (i == 0) {
            threads = entries_of("/proc/self/task");
            descriptors = entries_of("/proc/self/fd");
        }
    }
    /* After a run that ended by itself the device's two threads stay. */
    assert_in_range(entries_of("/proc/self/task"), threads - 2, threads + 2);
    assert_int_equal(entries_of("/proc/self/fd"), descriptors);
    /* All of it happened: ends by itself, ends by the monitor, revoked, and asked in vain. */
    assert_true(ended[0] > 0);
    assert_true(ended[1] > 0);
    assert_true(atomic_load(&answers) > 0);
    assert_true(simpler_testpoint_hits(SIMPLER_TESTPOINT_REVOKE_AFTER_ASK) > 0);
    print_message("%d ended by themselves, %d by the monitor, %d met the question\n", ended[0],
                  ended[1], atomic_load(&answers));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, start, end)
        TEST(a_kernel_that_spins_on_a_scheduler),
        TEST(a_kernel_that_spins_on_the_orchestrator),
        TEST(a_kernel_that_spins_on_a_core_thread),
        TEST(a_kernel_that_comes_back_frees_the_device),
        TEST(an_orchestration_that_never_returns),
        TEST(a_deadline_ends_an_orchestration_that_never_calls),
        TEST(slow_kernels_are_no_hang),
        TEST(a_stuck_kernel_leaves_whole_files),
        TEST(a_stuck_kernel_that_is_not_marked),
        TEST(an_orchestration_that_never_returns_is_unproved),
#if defined(SIMPLER_DEBUG)
        TEST(a_lost_edge_is_named),
        TEST(a_cycle_is_named),
        TEST(a_stuck_kernel_on_a_full_disk),
        TEST(one_of_three_schedulers_is_held),
        TEST(a_kernel_returns_at_the_timeout),
#endif
    };
    if (mkdtemp(prefix) == NULL)
        return 1;
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    char command[64];
    (void)snprintf(command, sizeof(command), "rm -rf %s", prefix);
    return system(command) != 0 ? 1 : rc;
}
