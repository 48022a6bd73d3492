/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deferred completions amid other tasks (SY-05): what raises the counter may come later, also
 * where host_build_graph has put it into one grain with the task that waits, or behind one.
 * The kernels are new, known to defer, or known and never seen to; as they are, with a timing
 * slot, of several blocks, mixed; in recorded graphs with other tensors and scalars.
 * ctest: TIMEOUT 240
 * runtimes: all
 */
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "kit.h"

#define LINES 12u

static struct kit kit;
static struct simpler_run_result result;

/* One line's: the raiser writes value, then raises the counter. */
static struct transfer {
    struct simpler_async_counter counter;
    uint64_t value;
    _Atomic bool raised;
} transfers[LINES];

enum form { PLAIN, TIMED, BLOCKS, MIXED, FORMS };
enum { BEGIN, STEP, OTHER, REST, CELLS };

static struct {
    struct {
        enum form form;
        uint32_t graph; /* which of several recordings */
    } recording;        /* the configuration of the graph */
    bool defers;        /* else the kernel only could */
    int status;         /* of the kernel that defers */
    bool raises, recorded;
    bool outside;   /* what raises comes behind the recorded graph, independent of it */
    uint32_t shift; /* line i raises for line i + shift */
} plan;
static int64_t cells[LINES][CELLS], far[LINES];
static _Atomic uint32_t early, wrong, looks, others, registered;

static uint64_t line_of(const int64_t *args, uint32_t tensors)
{
    return (uint64_t)args[tensors + 2];
}

static int wait_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    struct transfer *t = &transfers[line_of(args, tensors)];
    struct simpler_async_condition condition = {SIMPLER_ASYNC_EVENT, 0, &t->counter, 0};
    int rc = 0;

    (void)user;
    /* Of all blocks and lanes the last one: it runs on whatever thread. */
    if (plan.defers && simpler_kernel_block_idx(args) == simpler_kernel_block_num(args) - 1)
        rc = simpler_kernel_defer(args, &condition);
    atomic_fetch_add(&registered, 1);
    return rc == 0 ? plan.status : rc;
}

/* @user: NULL in a line, else outside. */
static int raise_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    struct transfer *t = &transfers[line_of(args, tensors)];

    if (!plan.raises || plan.outside != (user != NULL))
        return 0;
    t->value = 4711;
    atomic_store(&t->raised, true);
    simpler_async_counter_add(&t->counter, 1);
    return 0;
}

static int look_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    struct transfer *t = &transfers[line_of(args, tensors)];

    (void)user;
    atomic_fetch_add(&looks, 1);
    if (!plan.defers)
        return 0;
    if (!atomic_load(&t->raised))
        atomic_fetch_add(&early, 1);
    if (t->value != 4711)
        atomic_fetch_add(&wrong, 1);
    return 0;
}

static int other_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)user;
    (void)tensors;
    ++*(int64_t *)simpler_kernel_data(args, 0);
    atomic_fetch_add(&others, 1);
    return 0;
}

/* What a line is made of: its cells, and for whom it waits and raises. */
struct line {
    struct simpler_tensor cell[CELLS];
    const uint64_t *waits, *raises;
};

/* @func_id: what defers has one of its own, so that the others are not known to. */
static void submit(struct simpler_orch *orch, struct simpler_task_args *args, uint32_t func_id,
                   kit_kernel fn, const uint64_t *line)
{
    kit_add_call(args, fn, NULL);
    simpler_task_args_add_scalar(args, line, SIMPLER_DTYPE_UINT64);
    KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, func_id, args, NULL), 0);
}

static void submit_one(struct simpler_orch *orch, struct line *l, int inout, int input,
                       kit_kernel fn, const uint64_t *line)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &l->cell[inout]);
    if (input >= 0)
        simpler_task_args_add_input(&args, &l->cell[input]);
    submit(orch, &args, args.tensor_count, fn, line);
}

static void submit_wait(struct simpler_orch *orch, struct line *l)
{
    struct simpler_mixed_kernels mixed = {1 + (int32_t)(KIT_VARIANT * KIT_AIV_VARIANTS),
                                          1 + KIT_VARIANT, 1};
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    simpler_task_args_add_inout(&args, &l->cell[BEGIN]);
    if (plan.recording.form == TIMED)
        simpler_task_args_set_task_timing_slot(&args, 1);
    if (plan.recording.form == BLOCKS)
        simpler_task_args_set_block_num(&args, 5);
    if (plan.recording.form != MIXED) {
        submit(orch, &args, 1 + KIT_VARIANT, wait_kernel, l->waits);
        return;
    }
    kit_add_call(&args, wait_kernel, NULL);
    simpler_task_args_add_scalar(&args, l->waits, SIMPLER_DTYPE_UINT64);
    KIT_EXPECT_EQUAL(simpler_orch_submit_mixed(orch, &mixed, &args, NULL), 0);
}

/* What raises depends on what stands before the task that waits, and on nothing of that. */
#define LINE_TASKS 9u
static void submit_line(struct simpler_orch *orch, struct line *l)
{
    submit_one(orch, l, OTHER, -1, other_kernel, l->waits);
    submit_one(orch, l, STEP, -1, other_kernel, l->waits);
    submit_wait(orch, l);
    submit_one(orch, l, REST, BEGIN, look_kernel, l->waits);
    submit_one(orch, l, OTHER, -1, other_kernel, l->waits);
    submit_one(orch, l, STEP, OTHER, raise_kernel, l->raises);
    submit_one(orch, l, REST, STEP, look_kernel, l->waits);
    submit_one(orch, l, BEGIN, -1, look_kernel, l->waits);
    submit_one(orch, l, OTHER, -1, other_kernel, l->waits);
}

static void line_graph(struct simpler_orch *orch, const struct simpler_graph_args *g)
{
    struct line l = {.waits = &g->scalar[0], .raises = &g->scalar[1]};

    memcpy(l.cell, g->tensor, sizeof(l.cell));
    submit_line(orch, &l);
}

static void lines(struct simpler_orch *orch, void *user)
{
    (void)user;
    for (uint64_t i = 0; i < LINES; i++) {
        uint64_t raises = (i + plan.shift) % LINES;
        struct simpler_tensor all = kit_tensor(cells[i], CELLS, SIMPLER_DTYPE_INT64);
        struct line l = {.waits = &i, .raises = &raises};
        struct simpler_task_args args;
        simpler_task_args_reset(&args);
        for (uint32_t c = 0; c < CELLS; c++) {
            l.cell[c] = kit_cell(&all, c);
            simpler_task_args_add_inout(&args, &l.cell[c]);
        }
        if (!plan.recorded) {
            submit_line(orch, &l);
            continue;
        }
        simpler_task_args_add_scalar(&args, &i, SIMPLER_DTYPE_UINT64);
        simpler_task_args_add_scalar(&args, &raises, SIMPLER_DTYPE_UINT64);
        KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, line_graph, &args, &plan.recording,
                                                   sizeof(plan.recording)),
                         0);
        /* Behind the graph. */
        submit_one(orch, &l, REST, -1, look_kernel, l.waits);
        if (!plan.outside)
            continue;
        struct simpler_tensor other = kit_tensor(&far[i], 1, SIMPLER_DTYPE_INT64);
        simpler_task_args_reset(&args);
        simpler_task_args_add_output(&args, &other);
        kit_add_call(&args, raise_kernel, far);
        simpler_task_args_add_scalar(&args, l.raises, SIMPLER_DTYPE_UINT64);
        KIT_EXPECT_EQUAL(simpler_orch_submit_aiv(orch, 1, &args, NULL), 0);
    }
}

static uint32_t task_count(void)
{
    return LINES * (LINE_TASKS + plan.recorded + plan.outside);
}

static void note_progress(void *user, uint64_t tasks_done)
{
    *(uint64_t *)user = tasks_done;
}

static int run_lines(struct simpler_call_config config)
{
    memset(transfers, 0, sizeof(transfers));
    atomic_store(&early, 0);
    atomic_store(&wrong, 0);
    atomic_store(&looks, 0);
    atomic_store(&others, 0);
    atomic_store(&registered, 0);
    return kit_run(&kit, lines, NULL, &config, &result);
}

static void lines_pass(struct simpler_call_config config)
{
    uint64_t done = 0;

    config.progress = note_progress;
    config.progress_user = &done;
    int rc = run_lines(config);
    if (rc != 0)
        fail_msg("%d: %s", rc, result.message);
    assert_int_equal(atomic_load(&early), 0);
    assert_int_equal(atomic_load(&wrong), 0);
    assert_int_equal(atomic_load(&looks), LINES * (3 + plan.recorded));
    assert_int_equal(atomic_load(&others), 4 * LINES);
    assert_int_equal(result.stats.tasks_run, task_count());
    assert_int_equal(done, task_count());
    if (plan.recording.form == TIMED)
        assert_int_equal(result.timing[1].tasks, LINES);
}

/* A new worker knows nothing of the kernels; @before: it has seen them, not deferring. */
static void new_worker_passes(uint32_t threads, uint32_t exec, int before)
{
    struct simpler_call_config config = kit_config(threads);

    config.exec = exec;
    kit_open(&kit);
    plan.defers = false;
    for (int i = 0; i < before; i++)
        lines_pass(config);
    plan.defers = true;
    for (int i = 0; i < 3; i++)
        lines_pass(config);
    kit_close(&kit);
}

static void all_ways(bool recorded, uint32_t shift)
{
    memset(&plan, 0, sizeof(plan));
    plan.raises = true;
    plan.recorded = recorded;
    plan.shift = shift;
    for (plan.recording.form = PLAIN; plan.recording.form < FORMS; plan.recording.form++) {
        for (uint32_t threads = 1; threads <= 3; threads++) {
            new_worker_passes(threads, 0, 0);
            new_worker_passes(threads, 0, 4);
        }
        new_worker_passes(2, 1, 1);
    }
}

static void what_raises_may_come_later(void **state)
{
    (void)state;
    all_ways(false, 0);
}

static void what_raises_may_be_another_line(void **state)
{
    (void)state;
    all_ways(false, 1);
}

static void recorded_graphs_wait_for_themselves(void **state)
{
    (void)state;
    all_ways(true, 0);
}

static void recorded_graphs_wait_for_each_other(void **state)
{
    (void)state;
    all_ways(true, 1);
}

/* The raiser may be in a grain with what waits for the graph. */
static void what_raises_may_be_behind_the_graph(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        memset(&plan, 0, sizeof(plan));
        plan.raises = plan.recorded = plan.outside = true;
        new_worker_passes(threads, 0, 0);
        new_worker_passes(threads, 0, 4);
    }
}

/* Of two recordings with the same kernels one is not in the run where they are seen to defer. */
static void a_recording_of_before_learns_it(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct simpler_call_config config = kit_config(threads);
        memset(&plan, 0, sizeof(plan));
        plan.raises = plan.recorded = true;
        kit_open(&kit);
        for (int i = 0; i < 6; i++) {
            plan.recording.graph = (uint32_t)i % 2;
            lines_pass(config);
        }
        plan.defers = true;
        lines_pass(config);
        plan.recording.graph = 0;
        lines_pass(config);
        lines_pass(config);
        kit_close(&kit);
    }
}

/* ---- ends ---- */

static int fail_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    (void)user;
    return 9;
}

/* A task fails, one behind it defers, and a recorded graph comes after the first alone. */
static void poisoned_graph(struct simpler_orch *orch, void *user)
{
    uint64_t one = 1;
    struct simpler_tensor all = kit_tensor(cells[0], CELLS, SIMPLER_DTYPE_INT64);
    struct simpler_tensor apart = kit_tensor(far, LINES, SIMPLER_DTYPE_INT64);
    struct line l = {.waits = &one, .raises = &one};
    struct simpler_task_args args;

    (void)user;
    simpler_task_args_reset(&args);
    for (uint32_t c = 0; c < CELLS; c++) {
        l.cell[c] = kit_cell(&all, c);
        simpler_task_args_add_output(&args, &l.cell[c]);
    }
    submit(orch, &args, CELLS, fail_kernel, &one);
    l.cell[BEGIN] = kit_cell(&apart, 0);
    submit_wait(orch, &l);
    l.cell[BEGIN] = kit_cell(&all, BEGIN);
    simpler_task_args_reset(&args);
    for (uint32_t c = 0; c < CELLS; c++)
        simpler_task_args_add_inout(&args, &l.cell[c]);
    simpler_task_args_add_scalar(&args, &one, SIMPLER_DTYPE_UINT64);
    simpler_task_args_add_scalar(&args, &one, SIMPLER_DTYPE_UINT64);
    KIT_EXPECT_EQUAL(simpler_orch_submit_graph(orch, line_graph, &args, NULL, 0), 0);
    l.cell[STEP] = kit_cell(&apart, 1);
    submit_one(orch, &l, STEP, -1, raise_kernel, &one);
}

static void a_graph_behind_a_failure_is_poisoned(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct simpler_call_config config = kit_config(threads);
        kit_open(&kit);
        memset(&plan, 0, sizeof(plan));
        plan.defers = plan.raises = true;
        memset(transfers, 0, sizeof(transfers));
        atomic_store(&others, 0);
        assert_int_equal(kit_run(&kit, poisoned_graph, NULL, &config, &result), SIMPLER_EKERNEL);
        assert_int_equal(atomic_load(&others), 0);
        assert_int_equal(result.stats.tasks_failed, 1);
        assert_int_equal(result.stats.tasks_poisoned, LINE_TASKS);
        assert_int_equal(result.stats.tasks_run, 2);
        kit_close(&kit);
    }
}

static void plain_lines(bool raises)
{
    memset(&plan, 0, sizeof(plan));
    plan.defers = true;
    plan.raises = raises;
}

static void a_failure_amid_poisons_its_consumers_alone(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        kit_open(&kit);
        plain_lines(true);
        plan.status = 9;
        for (int again = 0; again < 2; again++) {
            assert_int_equal(run_lines(kit_config(threads)), SIMPLER_EKERNEL);
            assert_non_null(strstr(result.message, "returned 9"));
            assert_int_equal(atomic_load(&registered), LINES);
            assert_int_equal(atomic_load(&looks), 0);
            assert_int_equal(atomic_load(&others), 4 * LINES);
            assert_int_equal(result.stats.tasks_failed, LINES);
            assert_int_equal(result.stats.tasks_poisoned, 3 * LINES);
        }
        plan.status = 0;
        lines_pass(kit_config(threads));
        kit_close(&kit);
    }
}

static void a_deadline_ends_what_waits_amid(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct simpler_call_config config = kit_config(threads);
        kit_open(&kit);
        plain_lines(false);
        config.deadline_ns = 250000000; /* the kernels have run by then, on a busy machine too */
        for (int again = 0; again < 2; again++) {
            assert_int_equal(run_lines(config), SIMPLER_ETIMEDOUT);
            assert_int_equal(atomic_load(&registered), LINES);
            assert_int_equal(atomic_load(&looks), 0);
            assert_int_equal(atomic_load(&others), 4 * LINES);
        }
        plain_lines(true);
        lines_pass(kit_config(threads));
        kit_close(&kit);
    }
}

/* Everything else is done, and the report says so and names the conditions. */
static void a_counter_that_nobody_raises_is_named(void **state)
{
    (void)state;
    (void)setenv("SIMPLER_SCHEDULER_TIMEOUT_MS", "700", 1);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        char text[64];
        kit_open(&kit);
        plain_lines(false);
        for (int again = 0; again < 2; again++) {
            uint64_t start = kit_now_ns();
            assert_int_equal(run_lines(kit_config(threads)), -SIMPLER_CODE_SCHEDULER_TIMEOUT);
            assert_true(kit_now_ns() - start > 600000000u);
            assert_int_equal(atomic_load(&looks), 0);
            assert_int_equal(atomic_load(&others), 4 * LINES);
            (void)snprintf(text, sizeof(text), "%u conditions of deferred completions open", LINES);
            if (strstr(result.message, text) == NULL)
                fail_msg("'%s' is not in: %s", text, result.message);
            assert_non_null(strstr(result.message, "a counter that is 0 to be at least 1"));
            assert_non_null(strstr(result.message, "it has returned from its kernel and waits"));
            assert_null(strstr(result.message, "a completion was lost"));
            (void)snprintf(text, sizeof(text), "%u of %u tasks are not done", 4 * LINES,
                           task_count());
            if (strstr(result.message, text) == NULL)
                fail_msg("'%s' is not in: %s", text, result.message);
            assert_int_equal(simpler_worker_quiesce(kit.worker, 10000000000u), 0);
        }
        plain_lines(true);
        lines_pass(kit_config(threads));
        kit_close(&kit);
    }
    (void)unsetenv("SIMPLER_SCHEDULER_TIMEOUT_MS");
}

#if defined(SIMPLER_DEBUG)
static bool force_tracks(void *user, enum simpler_testpoint point)
{
    (void)user;
    return point == SIMPLER_TESTPOINT_PLAN_TRACKS;
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_raises_may_come_later),
        cmocka_unit_test(what_raises_may_be_another_line),
        cmocka_unit_test(recorded_graphs_wait_for_themselves),
        cmocka_unit_test(recorded_graphs_wait_for_each_other),
        cmocka_unit_test(what_raises_may_be_behind_the_graph),
        cmocka_unit_test(a_recording_of_before_learns_it),
        cmocka_unit_test(a_graph_behind_a_failure_is_poisoned),
        cmocka_unit_test(a_failure_amid_poisons_its_consumers_alone),
        cmocka_unit_test(a_deadline_ends_what_waits_amid),
        cmocka_unit_test(a_counter_that_nobody_raises_is_named),
    };
    simpler_log_set_level(SIMPLER_LOG_NONE);
    int failed = cmocka_run_group_tests_name("grains", tests, NULL, NULL);
#if defined(SIMPLER_DEBUG)
    /* Once more where each thread of a recorded graph has its tasks beforehand. */
    simpler_testpoint_set(force_tracks, NULL);
    failed += cmocka_run_group_tests_name("tracks", tests, NULL, NULL);
#endif
    return failed;
}
