/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that fail, are done later, hang or crash inside a stretch (tmr/passing.h), and runs that
 * are ended in one: a report names that very task, and the counts around it are exact.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hang_rig.h"
#include "passing_rig.h"

static struct simpler_tensor cell(uint32_t index)
{
    return kit_tensor(hang_cells[index], 8, SIMPLER_DTYPE_UINT64);
}

/* @aic: on AIC.  The site is this file's line @line. */
static int submit_on(struct simpler_orch *orch, bool aic, const struct simpler_tensor *tensor,
                     enum simpler_tensor_use use, kit_kernel fn, void *user,
                     struct simpler_task_outputs *out, int line)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add(&args, tensor, use);
    kit_add_call(&args, fn, user);
    return aic ? simpler_orch_submit_aic_at(orch, 1 + KIT_VARIANT * KIT_AIV_VARIANTS, &args, out,
                                            __FILE__, line)
               : simpler_orch_submit_aiv_at(orch, 1, &args, out, __FILE__, line);
}

static int submit_cell(struct simpler_orch *orch, uint32_t index, enum simpler_tensor_use use,
                       kit_kernel fn, void *user)
{
    struct simpler_tensor tensor = cell(index);

    return submit_on(orch, false, &tensor, use, fn, user, NULL, __LINE__);
}

/* Where in a stretch something happens. */
struct place {
    uint32_t k;                 /* tasks of the stretch before it */
    uint32_t scope;             /* depth of the scope in which it is the (k + 1)th task */
    bool aic, with_out, in_out; /* its tensor lies in its own answer */
    /* What was seen. */
    uint64_t id;
    uint64_t before; /* tasks of all rings before it, all done */
    int line;
};

static _Atomic int counted;

/* A stretch in which both of the kernels with one tensor may pass, then @p->k tasks. */
static void go_to(struct simpler_orch *orch, struct place *p)
{
    struct simpler_tensor tensor = cell(9);

    passing_all_short(orch);
    p->before = 0;
    for (int i = 0; i < 300; i++, p->before += 2) {
        KIT_EXPECT_EQUAL(submit_cell(orch, 9, SIMPLER_USE_INOUT, kit_nop_kernel, NULL), 0);
        KIT_EXPECT_EQUAL(
            submit_on(orch, true, &tensor, SIMPLER_USE_INOUT, kit_nop_kernel, NULL, NULL, 1), 0);
    }
    for (uint32_t i = 0; i < p->scope; i++)
        KIT_EXPECT_EQUAL(simpler_orch_scope_begin(orch, SIMPLER_SCOPE_AUTO), 0);
    if (p->scope == 0 || p->k != 0)
        p->before += passing_open(orch, 0, p->k + 1);
    uint32_t ring = p->scope < CHIP_MAX_RING_DEPTH ? p->scope : CHIP_MAX_RING_DEPTH - 1;
    for (uint32_t i = 0; i < p->k; i++, p->before++)
        KIT_EXPECT_EQUAL(
            submit_cell(orch, 10 + i % 7, SIMPLER_USE_INOUT, kit_count_kernel, (void *)&counted),
            0);
    KIT_EXPECT(passing_left(orch) >= 1 || (p->scope != 0 && p->k == 0));
    p->id = (uint64_t)ring << 32 | (ring == 0 ? p->before : p->before - 600);
}

static void leave(struct simpler_orch *orch, const struct place *p)
{
    for (uint32_t i = 0; i < p->scope; i++)
        (void)simpler_orch_scope_end(orch);
}

/* The task of the place, with tensor 0. */
static int submit_it(struct simpler_orch *orch, struct place *p, kit_kernel fn, void *user)
{
    static struct simpler_task_outputs out;
    struct simpler_tensor tensor = cell(0);

    memset(&out, 0xab, sizeof(out));
    if (p->in_out)
        out.tensor[2] = tensor;
    p->line = __LINE__ + 1;
    int rc = submit_on(orch, p->aic, p->in_out ? &out.tensor[2] : &tensor, SIMPLER_USE_INOUT, fn,
                       user, p->with_out || p->in_out ? &out : NULL, p->line);
    if (rc == 0 && (p->with_out || p->in_out))
        KIT_EXPECT(out.id.raw == p->id && out.count == 0);
    return rc;
}

static const struct place places[] = {
    {.k = 0},
    {.k = 1, .with_out = true},
    {.k = 2, .aic = true},
    {.k = 3, .in_out = true},
    {.k = 30, .with_out = true, .aic = true},
    {.k = 45},
    {.k = 58, .in_out = true, .aic = true},
    {.k = 0, .scope = 1},
    {.k = 1, .scope = 1, .in_out = true},
    {.k = 5, .scope = 3, .with_out = true},
    {.k = 35, .scope = 5, .aic = true},
};
#define PLACES (sizeof(places) / sizeof(places[0]))

static const char *kernel_of(const struct place *p)
{
    return p->aic ? "kernel kit_aic (func_id 257)" : "kernel kit_aiv (func_id 1)";
}

/* ---- a status ---- */

static int fails(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    return 7;
}

static void one_fails(struct simpler_orch *orch, void *user)
{
    struct place *p = user;

    go_to(orch, p);
    KIT_EXPECT_EQUAL(submit_it(orch, p, fails, NULL), 0);
    /* Two of its readers, directly and behind one; one that has nothing to do with it. */
    struct simpler_tensor tensor = cell(0), other = cell(1);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    simpler_task_args_add_input(&args, &tensor);
    simpler_task_args_add_inout(&args, &other);
    KIT_EXPECT_EQUAL(kit_submit(orch, &args, kit_count_kernel, (void *)&counted, NULL), 0);
    KIT_EXPECT_EQUAL(submit_cell(orch, 1, SIMPLER_USE_INOUT, kit_count_kernel, (void *)&counted),
                     0);
    KIT_EXPECT_EQUAL(submit_cell(orch, 2, SIMPLER_USE_INOUT, kit_count_kernel, (void *)&counted),
                     0);
    leave(orch, p);
}

static void a_failure_is_reported_and_poisons_what_reads(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2 * PLACES; i++) {
        struct place p = places[i / 2];
        struct simpler_call_config config = kit_config(1 + i % 2);
        char words[256];

        atomic_store(&counted, 0);
        assert_int_equal(hang_run(one_fails, &p, &config), SIMPLER_EKERNEL);
        (void)snprintf(words, sizeof(words),
                       "%s of task 0x%016llx returned 7; it was submitted at %s:%d; 1 kernel "
                       "failed, 2 tasks not run since a task before failed\n",
                       kernel_of(&p), (unsigned long long)p.id, __FILE__, p.line);
        hang_must_say(words);
        assert_int_equal(hang_result.stats.tasks, p.before + 4);
        assert_int_equal(hang_result.stats.tasks_run, p.before + 1);
        assert_int_equal(hang_result.stats.tasks_failed, 1);
        assert_int_equal(hang_result.stats.tasks_poisoned, 2);
        assert_int_equal(simpler_worker_progress(hang_kit.worker), p.before + 4);
        assert_int_equal(atomic_load(&counted), p.k + 1);
    }
}

/* ---- done later ---- */

static struct late {
    struct simpler_async_counter counter;
    _Atomic int registered, raised, early;
} late;

static int defers(const int64_t *args, uint32_t tensors, void *user)
{
    struct simpler_async_condition condition = {SIMPLER_ASYNC_EVENT, 0, &late.counter, 0};
    (void)tensors;
    (void)user;
    int rc = simpler_kernel_defer(args, &condition);
    atomic_store(&late.registered, 1);
    return rc;
}

static int reads_late(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    atomic_fetch_add(&late.early, !atomic_load(&late.raised));
    atomic_fetch_add((_Atomic int *)user, 1);
    return 0;
}

static void *raise_late(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100000 && !atomic_load(&late.registered); i++)
        kit_sleep_ns(100000);
    kit_sleep_ns(3000000);
    atomic_store(&late.raised, 1);
    simpler_async_counter_add(&late.counter, 1);
    return NULL;
}

static void one_is_done_later(struct simpler_orch *orch, void *user)
{
    struct place *p = user;

    go_to(orch, p);
    KIT_EXPECT_EQUAL(submit_it(orch, p, defers, NULL), 0);
    for (int i = 0; i < 5; i++)
        KIT_EXPECT_EQUAL(submit_cell(orch, 0, i == 3 ? SIMPLER_USE_INOUT : SIMPLER_USE_INPUT,
                                     reads_late, (void *)&counted),
                         0);
    leave(orch, p);
}

static void consumers_wait_for_what_is_done_later(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2 * PLACES; i++) {
        struct place p = places[i / 2];
        struct simpler_call_config config = kit_config(1 + i % 2);
        pthread_t raiser;

        atomic_store(&counted, 0);
        memset(&late, 0, sizeof(late));
        assert_int_equal(pthread_create(&raiser, NULL, raise_late, NULL), 0);
        int rc = hang_run(one_is_done_later, &p, &config);
        pthread_join(raiser, NULL);
        assert_int_equal(rc, 0);
        assert_int_equal(atomic_load(&late.early), 0);
        assert_int_equal(atomic_load(&counted), p.k + 5);
        assert_int_equal(hang_result.stats.tasks, p.before + 6);
        assert_int_equal(hang_result.stats.tasks_run, p.before + 6);
        assert_int_equal(simpler_worker_progress(hang_kit.worker), p.before + 6);
    }
}

/* ---- a hang ---- */

struct hang {
    struct place place;
    struct hang_spinner spinner;
};

static void one_hangs(struct simpler_orch *orch, void *user)
{
    struct hang *h = user;

    go_to(orch, &h->place);
    KIT_EXPECT(submit_it(orch, &h->place, hang_spin_kernel, &h->spinner) <= 0);
    for (int i = 0; i < 3; i++) /* the run is over: nothing of these is run */
        KIT_EXPECT(submit_cell(orch, 9, SIMPLER_USE_INOUT, kit_count_kernel, (void *)&counted) < 0);
    leave(orch, &h->place);
}

/* Counts of a run that passes, on the device that has had the hang. */
static void a_run_is_counted(struct simpler_orch *orch, void *user)
{
    uint32_t *tasks = user;

    passing_all_short(orch);
    *tasks = passing_open(orch, 0, 50);
    for (int i = 0; i < 20; i++, ++*tasks)
        KIT_EXPECT_EQUAL(submit_cell(orch, 0, SIMPLER_USE_INOUT, kit_nop_kernel, NULL), 0);
}

static void the_next_is_counted(uint32_t threads)
{
    struct simpler_call_config config = kit_config(threads);
    uint32_t tasks = 0;

    assert_int_equal(hang_run(a_run_is_counted, &tasks, &config), 0);
    assert_int_equal(hang_result.stats.tasks, tasks);
    assert_int_equal(hang_result.stats.tasks_run, tasks);
    assert_int_equal(hang_result.stats.ring[0].tasks, tasks);
    assert_int_equal(simpler_worker_progress(hang_kit.worker), tasks);
}

static void run_hang(const struct place *place, uint32_t threads)
{
    static struct hang h;
    struct simpler_call_config config = kit_config(threads);
    char words[256];

    memset(&h, 0, sizeof(h));
    h.place = *place;
    atomic_store(&counted, 0);
    assert_int_equal(hang_run(one_hangs, &h, &config), -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    const struct place *p = &h.place;
    unsigned long long before = p->before;
    (void)snprintf(words, sizeof(words),
                   "1 of %llu tasks is not done: 1 running, 0 ready, 0 waiting", before + 1);
    hang_must_say(words);
    (void)snprintf(words, sizeof(words), "is still inside %s of task 0x%016llx, submitted at %s:%d",
                   kernel_of(p), (unsigned long long)p->id, __FILE__, p->line);
    hang_must_say(words);
    (void)snprintf(words, sizeof(words), "the oldest unfinished: %s of task 0x%016llx",
                   kernel_of(p), (unsigned long long)p->id);
    hang_must_say(words);
    hang_must_say("it runs on the orchestrator thread");
    (void)snprintf(words, sizeof(words), "completed=%llu/%llu running=1", before, before + 1);
    assert_true(hang_was_logged("[SHUTDOWN_SNAPSHOT", words));
    assert_int_equal(hang_result.stats.tasks_run, before);
    /* It is a task only once it has returned. */
    assert_int_equal(hang_result.stats.tasks, before);
    assert_int_equal(simpler_worker_progress(hang_kit.worker), before);
    atomic_store(&h.spinner.let_go, 1);
    assert_int_equal(simpler_worker_quiesce(hang_kit.worker, 10000000000u), 0);
    assert_int_equal(atomic_load(&counted), p->k);
    the_next_is_counted(threads);
    the_next_is_counted(3 - threads);
}

static void a_hang_names_its_task_and_the_device_comes_back(void **state)
{
    (void)state;
    static const uint32_t chosen[] = {0, 4, 6, 9};
    for (uint32_t i = 0; i < 4; i++)
        run_hang(&places[chosen[i]], 1 + i % 2);
}

/* ---- a report while a kernel runs ---- */

static char shown[8192];
static pthread_mutex_t shown_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_shown(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    pthread_mutex_lock(&shown_lock);
    size_t at = strlen(shown);
    (void)snprintf(shown + at, sizeof(shown) - at, "%s\n", line);
    pthread_mutex_unlock(&shown_lock);
}

static bool was_shown(const char *text)
{
    pthread_mutex_lock(&shown_lock);
    bool found = strstr(shown, text) != NULL;
    pthread_mutex_unlock(&shown_lock);
    return found;
}

static void *report_and_let_go(void *user)
{
    struct hang *h = user;

    for (int i = 0; i < 100000 && !atomic_load(&h->spinner.inside); i++)
        kit_sleep_ns(100000);
    simpler_worker_report(hang_kit.worker);
    for (int i = 0; i < 2500 && !was_shown("SUMMARY"); i++)
        kit_sleep_ns(100000);
    atomic_store(&h->spinner.let_go, 1);
    return NULL;
}

static void one_waits(struct simpler_orch *orch, void *user)
{
    struct hang *h = user;

    go_to(orch, &h->place);
    KIT_EXPECT_EQUAL(submit_it(orch, &h->place, hang_spin_kernel, &h->spinner), 0);
    for (int i = 0; i < 3; i++)
        KIT_EXPECT_EQUAL(submit_cell(orch, 9, SIMPLER_USE_INOUT, kit_nop_kernel, NULL), 0);
}

static void a_report_shows_the_kernel_and_changes_nothing(void **state)
{
    (void)state;
    static struct hang h;
    struct simpler_call_config config = kit_config(1);
    pthread_t thread;
    char words[128];

    memset(&h, 0, sizeof(h));
    h.place = places[4];
    shown[0] = '\0';
    simpler_log_set_callback(keep_shown, NULL);
    assert_int_equal(pthread_create(&thread, NULL, report_and_let_go, &h), 0);
    int rc = hang_run(one_waits, &h, &config);
    pthread_join(thread, NULL);
    assert_int_equal(rc, 0);
    assert_true(was_shown("TASK state=RUNNING func_id=257, run while it is submitted"));
    (void)snprintf(words, sizeof(words), "tasks completed since the device was opened: %llu",
                   (unsigned long long)h.place.before);
    assert_true(was_shown(words));
    assert_int_equal(hang_result.stats.tasks, h.place.before + 4);
    assert_int_equal(hang_result.stats.tasks_run, h.place.before + 4);
}

/* ---- a crash ---- */

static int crashes(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    (void)raise(SIGSEGV);
    return 0;
}

struct crash {
    struct place place;
    int to; /* a pipe: what the place came to, before the crash */
};

static void one_crashes(struct simpler_orch *orch, void *user)
{
    struct crash *c = user;

    go_to(orch, &c->place);
    c->place.line = 4711;
    (void)!write(c->to, &c->place, sizeof(c->place));
    struct simpler_tensor tensor = cell(0);
    (void)submit_on(orch, c->place.aic, &tensor, SIMPLER_USE_INOUT, crashes, NULL, NULL, 4711);
}

static void crash_in_child(const struct place *place, int words, int seen)
{
    struct crash c = {*place, seen};
    struct simpler_call_config config = kit_config(1);
    struct simpler_run_result result;
    struct kit kit;

    (void)signal(SIGSEGV, SIG_DFL);
    (void)dup2(words, STDERR_FILENO);
    if (simpler_worker_handle_crashes() != 0)
        _exit(3);
    kit_open(&kit);
    (void)kit_run(&kit, one_crashes, &c, &config, &result);
    _exit(4);
}

static void run_crash(const struct place *place)
{
    struct place p;
    int words[2], seen[2], status;
    char text[4096], expected[256];

    assert_int_equal(pipe(words), 0);
    assert_int_equal(pipe(seen), 0);
    pid_t child = fork();
    if (child == 0)
        crash_in_child(place, words[1], seen[1]);
    (void)close(words[1]);
    (void)close(seen[1]);
    assert_int_equal(read(seen[0], &p, sizeof(p)), sizeof(p));
    size_t at = 0;
    for (ssize_t n;
         at < sizeof(text) - 1 && (n = read(words[0], text + at, sizeof(text) - 1 - at)) > 0;)
        at += (size_t)n;
    text[at] = '\0';
    assert_int_equal(waitpid(child, &status, 0), child);
    (void)close(words[0]);
    (void)close(seen[0]);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    (void)snprintf(expected, sizeof(expected),
                   "crash: SIGSEGV in %s of task 0x%016llx, submitted at %s:4711, on orchestrator",
                   kernel_of(&p), (unsigned long long)p.id, __FILE__);
    if (strstr(text, expected) == NULL)
        fail_msg("'%s' is not in:\n%s", expected, text);
}

static void a_crash_names_its_task(void **state)
{
    (void)state;
    if (kit_is_sanitized())
        SKIP_TEST("a sanitizer has the signal");
    for (uint32_t i = 0; i < PLACES; i++)
        run_crash(&places[i]);
}

/* ---- a cancel, a deadline ---- */

static struct cancelled {
    struct place place;
    _Atomic int inside, done;
    uint64_t ok;
} cancelled;

static int waits_for_cancel(const int64_t *args, uint32_t tensors, void *user)
{
    struct cancelled *c = user;
    (void)args;
    (void)tensors;
    atomic_store(&c->inside, 1);
    while (!atomic_load(&c->done))
        kit_sleep_ns(100000);
    return 0;
}

static void *cancel_inside(void *user)
{
    struct cancelled *c = user;

    for (int i = 0; i < 100000 && !atomic_load(&c->inside); i++)
        kit_sleep_ns(100000);
    simpler_worker_cancel(hang_kit.worker);
    atomic_store(&c->done, 1);
    return NULL;
}

static void canceled_within(struct simpler_orch *orch, void *user)
{
    struct cancelled *c = user;
    struct simpler_task_outputs out;
    struct simpler_tensor tensor = cell(3);

    go_to(orch, &c->place);
    KIT_EXPECT_EQUAL(submit_it(orch, &c->place, waits_for_cancel, c), 0);
    memset(&out, 0xab, sizeof(out));
    KIT_EXPECT_EQUAL(submit_on(orch, false, &tensor, SIMPLER_USE_INOUT, kit_count_kernel,
                               (void *)&counted, &out, 1),
                     SIMPLER_ECANCELED);
    KIT_EXPECT(out.id.raw == SIMPLER_TASK_ID_NONE && out.count == 0);
    KIT_EXPECT(simpler_orch_is_fatal(orch));
    leave(orch, &c->place);
}

static void a_cancel_is_answered_by_the_next_submit(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PLACES; i++) {
        struct simpler_call_config config = kit_config(1 + i % 2);
        struct cancelled *c = &cancelled;
        pthread_t thread;

        memset(c, 0, sizeof(*c));
        c->place = places[i];
        atomic_store(&counted, 0);
        assert_int_equal(pthread_create(&thread, NULL, cancel_inside, c), 0);
        int rc = hang_run(canceled_within, c, &config);
        pthread_join(thread, NULL);
        assert_int_equal(rc, SIMPLER_ECANCELED);
        assert_int_equal(atomic_load(&counted), c->place.k);
        assert_int_equal(hang_result.stats.tasks, c->place.before + 1);
        assert_int_equal(hang_result.stats.tasks_run, c->place.before + 1);
        the_next_is_counted(1 + i % 2);
    }
}

static void until_the_deadline(struct simpler_orch *orch, void *user)
{
    struct cancelled *c = user;
    int rc;

    passing_all_short(orch);
    for (c->ok = 0;; c->ok++) {
        rc = submit_cell(orch, 3, SIMPLER_USE_INOUT, kit_count_kernel, (void *)&counted);
        if (rc != 0)
            break;
    }
    KIT_EXPECT_EQUAL(rc, SIMPLER_ETIMEDOUT);
    KIT_EXPECT_EQUAL(passing_nop(orch, 0, NULL), SIMPLER_ETIMEDOUT);
}

static void a_deadline_ends_a_stretch(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        struct simpler_call_config config = kit_config(1 + i % 2);
        config.deadline_ns = 10000000 + i * 1234567;
        atomic_store(&counted, 0);
        assert_int_equal(hang_run(until_the_deadline, &cancelled, &config), SIMPLER_ETIMEDOUT);
        assert_int_equal(atomic_load(&counted), cancelled.ok);
        assert_int_equal(hang_result.stats.tasks, cancelled.ok);
        assert_int_equal(hang_result.stats.tasks_run, cancelled.ok);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_names_its_task), /* first: its children come before any thread */
        HANG_TEST(a_failure_is_reported_and_poisons_what_reads),
        HANG_TEST(consumers_wait_for_what_is_done_later),
        HANG_TEST(a_hang_names_its_task_and_the_device_comes_back),
        HANG_TEST(a_report_shows_the_kernel_and_changes_nothing),
        HANG_TEST(a_cancel_is_answered_by_the_next_submit),
        HANG_TEST(a_deadline_ends_a_stretch),
    };
    return hang_main(tests, sizeof(tests) / sizeof(tests[0]));
}
