/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that becomes long in the midst of a stretch (tmr/passing.h) is handed over again, one
 * that becomes short stays with the orchestrator again: which thread ran a task is noted, and
 * whether it passed through.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cm.h"
#include "kit.h"
#include "passing_rig.h"
#include "tmr/handover.h"
#include "tmr/passing.h"

#define SHORT_NS 20000u  /* below that a kernel counts as short, whatever the machine */
#define LONG_NS  200000u /* what the long ones take, without a CPU: the other thread gets it */
#define MANY     4000
#define TRAINING 600

static struct kit kit;
static struct simpler_run_result result;

static struct task {
    uint32_t long_ns;
    int thread;
    bool passed;
} tasks[MANY];

static struct plan {
    struct simpler_orch *orch;
    int orchestrator;
    uint32_t kernels;  /* in turn; the last is the one that becomes long */
    uint32_t from, to; /* tasks in which it is long */
    uint32_t all;
} plan;

static int timed_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    struct task *task = user;
    (void)args;
    (void)tensors;
    task->thread = (int)syscall(SYS_gettid);
    task->passed = task->thread == plan.orchestrator &&
                   atomic_load(&plan.orch->thread->counts.guard.kernel) <= UINT16_MAX;
    if (task->long_ns != 0)
        kit_sleep_ns(task->long_ns);
    return 0;
}

/* Any thread may run it: it takes so many nanoseconds and notes nothing. */
static int slow_kernel(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    if (user != NULL)
        kit_sleep_ns((uintptr_t)user);
    return 0;
}

static void submit_slow(struct simpler_orch *orch, uint32_t variant, uint32_t ns)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    KIT_EXPECT_EQUAL(
        kit_submit_variant(orch, variant, &args, slow_kernel, (void *)(uintptr_t)ns, NULL), 0);
}

static void submit_one(struct simpler_orch *orch, uint32_t variant, struct task *task)
{
    struct simpler_task_args args;

    simpler_task_args_reset(&args);
    KIT_EXPECT_EQUAL(kit_submit_variant(orch, variant, &args, timed_kernel, task, NULL), 0);
}

static void submit_all(struct simpler_orch *orch, void *user)
{
    static struct task trained;
    (void)user;

    plan.orch = orch;
    plan.orchestrator = (int)syscall(SYS_gettid);
    /* Every kernel is known, and nothing has been handed over. */
    passing_all_short(orch);
    for (uint32_t i = 0; i < TRAINING; i++)
        submit_one(orch, i % plan.kernels, &trained);
    /* Also one that has lost its CPU while it was timed. */
    for (uint32_t k = 0; k < plan.kernels; k++)
        atomic_store(&orch->device->estimates->ns[KIT_VARIANT * k], 500);
    passing_short_below(orch, SHORT_NS);
    for (uint32_t i = 0; i < plan.all; i++) {
        bool is_long = i % plan.kernels == plan.kernels - 1 && i >= plan.from && i < plan.to;
        tasks[i] = (struct task){is_long ? LONG_NS : 0, 0, false};
        submit_one(orch, i % plan.kernels, &tasks[i]);
    }
}

/* Of the tasks @from to @to of the last kernel, those that passed through. */
static uint32_t passed(uint32_t from, uint32_t to)
{
    uint32_t n = 0;

    for (uint32_t i = from; i < to; i++)
        n += i % plan.kernels == plan.kernels - 1 && tasks[i].passed;
    return n;
}

/* Of those of any kernel, the ones that the other thread has run. */
static uint32_t elsewhere(uint32_t from, uint32_t to)
{
    uint32_t n = 0;

    for (uint32_t i = from; i < to; i++)
        n += tasks[i].thread != plan.orchestrator;
    return n;
}

static void run(const struct plan *wanted)
{
    struct simpler_call_config config = kit_config(2);

    plan = *wanted;
    assert_int_equal(kit_run(&kit, submit_all, NULL, &config, &result), 0);
    assert_int_equal(result.stats.tasks_run, plan.all + TRAINING);
}

/* Until 600 tasks later at most it passes; then it is offered, and another thread runs some. */
static void becomes_long(uint32_t kernels, uint32_t from)
{
    run(&(struct plan){.kernels = kernels, .from = from, .to = MANY, .all = from + 1200});
    assert_true(passed(0, from) > 0);
    assert_int_equal(passed(from + 600, plan.all), 0);
    assert_true(elsewhere(from, plan.all) > 0);
}

static void one_that_becomes_long_is_handed_over(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        becomes_long(1, 500 + 37 * i);
}

/* However calm it was: 64 at most pass before it is seen, and some more until it counts as long. */
static void one_that_was_short_for_long_is_handed_over_as_soon(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t from = 2400 + 37 * i;
        run(&(struct plan){.kernels = 1, .from = from, .to = MANY, .all = from + 400});
        assert_in_range(passed(from, plan.all), 0, 64 + 32);
        assert_true(elsewhere(from, plan.all) > 0);
    }
}

/* The other kernels stay short meanwhile. */
static void one_of_several_is_found(void **state)
{
    (void)state;
    for (uint32_t kernels = 2; kernels <= 4; kernels++)
        becomes_long(kernels, 500);
}

static void one_that_becomes_short_stays_again(void **state)
{
    (void)state;
    run(&(struct plan){.kernels = 1, .from = 500, .to = 1400, .all = MANY});
    assert_true(elsewhere(500, 1400) > 0);
    assert_true(elsewhere(MANY - 1000, MANY) < 50);
}

/* The longest stretch of the next @n tasks, of which each takes @ns. */
static uint32_t longest(struct simpler_orch *orch, uint32_t n, uint32_t ns)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < n; i++) {
        submit_slow(orch, 0, ns);
        if (passing_left(orch) > most)
            most = passing_left(orch);
    }
    return most;
}

/* One thread: long kernels are not handed over, the looks alone tell stretches how long to be. */
static void calm_and_long(struct simpler_orch *orch, void *user)
{
    (void)user;

    passing_short_below(orch, 1000000);
    uint32_t first = longest(orch, 600, 0);
    KIT_EXPECT(first > 16 && first <= SIMPLER_STRETCH_FIRST);
    longest(orch, 600, 0);
    KIT_EXPECT(longest(orch, 1200, 0) > SIMPLER_STRETCH_FIRST);
    KIT_EXPECT(orch->calm == SIMPLER_CALM_LOOKS);
    /* Now they are long. */
    passing_short_below(orch, 2000);
    longest(orch, 300, 20000);
    KIT_EXPECT(orch->calm < SIMPLER_CALM_LOOKS);
    passing_short_below(orch, 1000000);
    KIT_EXPECT(longest(orch, 500, 0) <= SIMPLER_STRETCH_FIRST);
}

static void stretches_are_longer_when_all_was_short(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(1);

    assert_int_equal(kit_run(&kit, calm_and_long, NULL, &config, &result), 0);
}

/* A kernel on AIV and one on AIC have passed; what they are known to take. */
static void know_two(struct simpler_orch *orch, uint32_t aic_ns)
{
    const uint32_t aic = KIT_AIV_VARIANTS;

    plan.orch = orch;
    plan.orchestrator = (int)syscall(SYS_gettid);
    passing_all_short(orch);
    for (uint32_t i = 0; i < TRAINING; i++)
        submit_slow(orch, i % 2 * aic, 0);
    passing_short_below(orch, SHORT_NS);
    atomic_store(&orch->device->estimates->ns[0], 500);
    atomic_store(&orch->device->estimates->ns[KIT_VARIANT * aic], aic_ns);
}

/* A kernel on AIC has passed, is known to be long, is handed over; one on AIV opens a stretch. */
static void one_has_left(struct simpler_orch *orch, void *user)
{
    const uint32_t aic = KIT_AIV_VARIANTS;
    (void)user;

    know_two(orch, LONG_NS);
    struct simpler_task_args args;
    simpler_task_args_reset(&args);
    KIT_EXPECT_EQUAL(simpler_orch_submit_dummy(orch, &args, NULL), 0); /* ends the stretch */
    for (uint32_t i = 0; i < 11; i++) {
        tasks[i] = (struct task){LONG_NS, 0, false};
        submit_one(orch, aic, &tasks[i]);
        for (uint32_t k = 0; i == 0 && k < 2000000 && !passing_is_open(orch); k++)
            submit_slow(orch, 0, 0);
        KIT_EXPECT(i != 0 || passing_is_open(orch));
    }
}

static void one_that_was_handed_over_is_forgotten(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);

    assert_int_equal(kit_run(&kit, one_has_left, NULL, &config, &result), 0);
    for (uint32_t i = 0; i < 11; i++)
        assert_false(tasks[i].passed);
}

/* One on AIC turns out long while each run is timed; one on AIV opens a stretch. */
static void one_is_found_closely(struct simpler_orch *orch, void *user)
{
    const uint32_t aic = KIT_AIV_VARIANTS;
    (void)user;

    know_two(orch, SHORT_NS - 1);
    simpler_passing_end(orch);
    orch->closely = 3;
    orch->thread->timing = 0;
    tasks[0] = tasks[1] = (struct task){LONG_NS, 0, false};
    submit_one(orch, aic, &tasks[0]);
    KIT_EXPECT(atomic_load(&orch->device->estimates->ns[KIT_VARIANT * aic]) >= SHORT_NS);
    orch->closely = 0;
    orch->thread->timing = 1000;
    for (uint32_t k = 0; k < 2000000 && !passing_is_open(orch); k++)
        submit_slow(orch, 0, 0);
    KIT_EXPECT(passing_is_open(orch));
    submit_one(orch, aic, &tasks[1]);
}

static void one_that_is_found_long_is_forgotten(void **state)
{
    (void)state;
    struct simpler_call_config config = kit_config(2);

    assert_int_equal(kit_run(&kit, one_is_found_closely, NULL, &config, &result), 0);
    assert_true(tasks[0].passed);
    assert_false(tasks[1].passed);
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_becomes_long_is_handed_over),
        cmocka_unit_test(one_that_was_short_for_long_is_handed_over_as_soon),
        cmocka_unit_test(one_of_several_is_found),
        cmocka_unit_test(one_that_becomes_short_stays_again),
        cmocka_unit_test(stretches_are_longer_when_all_was_short),
        cmocka_unit_test(one_that_was_handed_over_is_forgotten),
        cmocka_unit_test(one_that_is_found_long_is_forgotten),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
