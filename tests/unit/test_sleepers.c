/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleepers that are woken by name and put on CPUs.  The waker stays on one CPU; where a sleeper
 * woke is noted by its own thread before it may use all CPUs again, so that nothing here depends
 * on what the kernel likes.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sleepers.h"
#include "base/testpoint.h"
#include "cm.h"
#include "kit.h"

#define MOST      40u /* more than a wake has bits */
#define TOKENS    20000
#define NO_LIMIT  UINT64_MAX
#define SHORT_NS  2000000u
#define LONGER_NS 20000000u

static struct simpler_sleepers group;
static cpu_set_t all;
static int first_cpu, second_cpu;

struct sleeper {
    pthread_t thread;
    uint32_t index;
    int cpu;       /* where it falls asleep; -1: anywhere */
    bool is_bound; /* and must wake */
    uint64_t timeout_ns;
    _Atomic int tid;
    _Atomic int woke; /* times */
    cpu_set_t after;  /* its CPUs when it has woken */
};

static struct sleeper sleepers[MOST];

/* The first two CPUs that this thread may use. */
static bool find_cpus(void)
{
    first_cpu = second_cpu = -1;
    assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
        if (!CPU_ISSET((size_t)cpu, &all))
            continue;
        second_cpu = first_cpu;
        first_cpu = cpu;
    }
    return second_cpu >= 0;
}

static void move_to(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void *sleep_once(void *argument)
{
    struct sleeper *s = argument;

    if (s->cpu >= 0)
        move_to(s->cpu);
    if (!s->is_bound)
        assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    atomic_store(&s->tid, gettid());
    uint32_t seen = simpler_sleepers_prepare_rare(&group, s->index);
    simpler_sleepers_sleep(&group, s->index, seen, s->timeout_ns);
    (void)sched_getaffinity(0, sizeof(s->after), &s->after);
    atomic_fetch_add(&s->woke, 1);
    return NULL;
}

static uint32_t count_parked(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < group.count; i++)
        n += atomic_load(&group.sleeper[i].park) == SIMPLER_PARK_PARKED;
    return n;
}

static uint32_t count_awake(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < group.count; i++)
        n += (uint32_t)atomic_load(&sleepers[i].woke);
    return n;
}

/* Its thread waits in the kernel; before that it may have PARKED, and any wake keeps it awake. */
static bool is_asleep(uint32_t i)
{
    char path[64], text[256] = "";

    if (atomic_load(&group.sleeper[i].park) != SIMPLER_PARK_PARKED)
        return false;
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", atomic_load(&sleepers[i].tid));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)fgets(text, sizeof(text), file);
    (void)fclose(file);
    const char *end_of_name = strrchr(text, ')');
    return end_of_name != NULL && strncmp(end_of_name, ") S", 3) == 0;
}

/* @count of them sleep. */
static void begin(uint32_t count, int cpu, uint64_t timeout_ns)
{
    simpler_sleepers_init(&group);
    assert_int_equal(simpler_sleepers_open(&group, count, 2, 2), 0);
    for (uint32_t i = 0; i < count; i++) {
        struct sleeper *s = &sleepers[i];
        s->index = i;
        s->cpu = cpu;
        s->timeout_ns = timeout_ns;
        s->is_bound = false;
        atomic_store(&s->woke, 0);
        assert_int_equal(pthread_create(&s->thread, NULL, sleep_once, s), 0);
    }
    for (uint32_t i = 0; timeout_ns == NO_LIMIT && i < count; i++) {
        while (!is_asleep(i))
            (void)sched_yield();
    }
}

static void join_all(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(pthread_join(sleepers[i].thread, NULL), 0);
}

static void end(uint32_t count)
{
    simpler_sleepers_ask_out(&group);
    simpler_sleepers_settle(&group);
    join_all(count);
    simpler_sleepers_close(&group);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

/* A sleeper that fell asleep on @asleep is woken from the first CPU: where it runs. */
static int where_it_wakes(int asleep, enum simpler_wake_place place)
{
    begin(1, asleep, NO_LIMIT);
    move_to(first_cpu);
    simpler_sleepers_wake_one(&group, place);
    join_all(1);
    int cpu = atomic_load(&group.sleeper[0].cpu);
    /* What it had taken away is given back, and nothing was that it had not. */
    if (place != SIMPLER_WAKE_HERE || asleep != first_cpu)
        assert_true(CPU_EQUAL(&sleepers[0].after, &all));
    simpler_sleepers_close(&group);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    return cpu;
}

static void woken_apart_it_does_not_run_on_the_wakers_cpu(void **state)
{
    (void)state;
    if (!find_cpus())
        SKIP_TEST("there is one CPU");
    for (int i = 0; i < 50; i++) {
        assert_int_not_equal(where_it_wakes(first_cpu, SIMPLER_WAKE_APART), first_cpu);
        assert_int_not_equal(where_it_wakes(second_cpu, SIMPLER_WAKE_APART), first_cpu);
    }
}

/* Who fell asleep there is left to the kernel, which may see another CPU idle: no claim. */
static void woken_here_it_runs_on_the_wakers_cpu(void **state)
{
    (void)state;
    if (!find_cpus())
        SKIP_TEST("there is one CPU");
    for (int i = 0; i < 50; i++) {
        (void)where_it_wakes(first_cpu, SIMPLER_WAKE_HERE);
        assert_int_equal(where_it_wakes(second_cpu, SIMPLER_WAKE_HERE), first_cpu);
    }
}

/* By taskset, or a job scheduler, since the group was opened. */
static void one_that_was_bound_stays_bound(void **state)
{
    (void)state;
    if (!find_cpus())
        SKIP_TEST("there is one CPU");
    for (int place = SIMPLER_WAKE_APART; place <= SIMPLER_WAKE_HERE; place++) {
        struct sleeper *s = &sleepers[0];
        cpu_set_t second;
        simpler_sleepers_init(&group);
        assert_int_equal(simpler_sleepers_open(&group, 1, 2, 2), 0);
        *s = (struct sleeper){.cpu = second_cpu, .is_bound = true, .timeout_ns = NO_LIMIT};
        assert_int_equal(pthread_create(&s->thread, NULL, sleep_once, s), 0);
        while (count_parked() != 1)
            (void)sched_yield();
        move_to(place == SIMPLER_WAKE_APART ? second_cpu : first_cpu);
        simpler_sleepers_wake_one(&group, (enum simpler_wake_place)place);
        join_all(1);
        CPU_ZERO(&second);
        CPU_SET((size_t)second_cpu, &second);
        assert_true(CPU_EQUAL(&s->after, &second));
        simpler_sleepers_close(&group);
        assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
    }
}

/* It had found something itself when it was called: another one is called. */
static void what_one_was_called_for_is_anothers(void **state)
{
    (void)state;
    (void)find_cpus();
    begin(2, -1, NO_LIMIT);
    atomic_store(&group.sleeper[0].park, SIMPLER_PARK_WOKEN);
    /* As its thread would, which sleeps here. */
    (void)simpler_event_prepare(&group.event);
    simpler_sleepers_cancel(&group, 0);
    assert_int_equal(pthread_join(sleepers[1].thread, NULL), 0);
    assert_int_equal(atomic_load(&sleepers[0].woke), 0);
    simpler_sleepers_ask_out(&group);
    simpler_sleepers_settle(&group);
    assert_int_equal(pthread_join(sleepers[0].thread, NULL), 0);
    simpler_sleepers_close(&group);
}

/* Another one of the group is awake on the waker's CPU, and will run there when it sleeps. */
static void here_is_apart_when_somebody_is_here_already(void **state)
{
    (void)state;
    if (!find_cpus())
        SKIP_TEST("there is one CPU");
    begin(2, -1, NO_LIMIT);
    move_to(first_cpu);
    simpler_sleepers_wake_one(&group, SIMPLER_WAKE_HERE);
    while (count_awake() != 1)
        (void)sched_yield();
    uint32_t awake = atomic_load(&sleepers[0].woke) != 0 ? 0 : 1;
    /* Wherever the kernel has put it. */
    atomic_store(&group.sleeper[awake].cpu, first_cpu);
    simpler_sleepers_wake_one(&group, SIMPLER_WAKE_HERE);
    join_all(2);
    assert_int_not_equal(atomic_load(&group.sleeper[1 - awake].cpu), first_cpu);
    simpler_sleepers_close(&group);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

/* Whoever was last seen awake on a CPU keeps it, as long as there is another one. */
static void apart_is_where_nobody_is_awake(void **state)
{
    (void)state;
    if (!find_cpus())
        SKIP_TEST("there is one CPU");
    if (CPU_COUNT(&all) < 3)
        SKIP_TEST("there are two CPUs");
    begin(2, -1, NO_LIMIT);
    move_to(first_cpu);
    simpler_sleepers_wake_one(&group, SIMPLER_WAKE_APART);
    while (count_awake() != 1)
        (void)sched_yield();
    uint32_t awake = atomic_load(&sleepers[0].woke) != 0 ? 0 : 1;
    simpler_sleepers_wake_one(&group, SIMPLER_WAKE_APART);
    join_all(2);
    assert_int_not_equal(atomic_load(&group.sleeper[0].cpu), atomic_load(&group.sleeper[1].cpu));
    assert_int_not_equal(atomic_load(&group.sleeper[1 - awake].cpu), first_cpu);
    simpler_sleepers_close(&group);
    assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

/*
 * More sleepers than bits: those that share one may wake together, none stays behind.  Whether no
 * wake has woken more than two; one that has parked and does not sleep yet wakes by any of them.
 */
static bool wakes_one_by_one(void)
{
    bool few = true;

    begin(MOST, -1, NO_LIMIT);
    for (uint32_t n = 1; count_awake() < MOST; n++) {
        uint32_t before = count_parked();
        simpler_sleepers_wake(&group, 1);
        while (before != 0 && count_parked() >= before)
            (void)sched_yield();
        assert_true(n <= MOST);
        few = few && count_parked() + 2 >= before;
        while (count_parked() + count_awake() != MOST)
            (void)sched_yield();
    }
    end(MOST);
    return few;
}

static void each_wake_wakes_somebody(void **state)
{
    bool few = false;

    (void)state;
    (void)find_cpus();
    for (int i = 0; i < 50 && !few; i++)
        few = wakes_one_by_one();
    assert_true(few);
}

static void many_are_woken_at_once(void **state)
{
    (void)state;
    (void)find_cpus();
    begin(MOST, -1, NO_LIMIT);
    simpler_sleepers_wake(&group, UINT32_MAX);
    join_all(MOST);
    assert_int_equal(count_awake(), MOST);
    simpler_sleepers_close(&group);
}

static bool wakes_one_of_three(void)
{
    begin(3, -1, NO_LIMIT);
    simpler_sleepers_wake(&group, 1);
    while (count_awake() == 0)
        (void)sched_yield();
    kit_sleep_ns(LONGER_NS);
    bool one = count_awake() == 1 && count_parked() == 2;
    end(3);
    return one;
}

static void one_of_few_is_woken(void **state)
{
    bool one = false;

    (void)state;
    (void)find_cpus();
    for (int i = 0; i < 20 && !one; i++)
        one = wakes_one_of_three();
    assert_true(one);
}

/* It has been called and has not come to run: it will look, but it is not the other one. */
static void one_that_is_about_to_run_is_not_called_again(void **state)
{
    (void)state;
    (void)find_cpus();
    begin(2, -1, NO_LIMIT);
    atomic_store(&group.sleeper[0].park, SIMPLER_PARK_WOKEN);
    simpler_sleepers_wake(&group, 1);
    assert_int_equal(pthread_join(sleepers[1].thread, NULL), 0);
    assert_int_equal(atomic_load(&sleepers[0].woke), 0);
    uint32_t epoch = simpler_event_epoch(&group.event);
    simpler_sleepers_wake(&group, 1);
    assert_int_equal(simpler_event_epoch(&group.event), epoch);
    simpler_sleepers_ask_out(&group);
    simpler_sleepers_settle(&group);
    assert_int_equal(pthread_join(sleepers[0].thread, NULL), 0);
    simpler_sleepers_close(&group);
}

/* It has announced itself, and that it is PARKED is not to be seen yet. */
static void one_that_is_not_seen_is_woken(void **state)
{
    (void)state;
    (void)find_cpus();
    begin(2, -1, NO_LIMIT);
    atomic_store(&group.sleeper[1].park, SIMPLER_PARK_NOT);
    simpler_sleepers_wake(&group, 2);
    join_all(2);
    simpler_sleepers_close(&group);
}

#if defined(SIMPLER_DEBUG)
static _Atomic int late;

/* The sleeper's time is over before it is moved. */
static bool wait_for_the_sleeper(void *user, enum simpler_testpoint point)
{
    (void)user;
    while (point == SIMPLER_TESTPOINT_APART_BEFORE_SET && count_awake() == 0)
        (void)sched_yield();
    if (point == SIMPLER_TESTPOINT_APART_BEFORE_SET)
        atomic_fetch_add(&late, 1);
    return false;
}

/* It gives the waker time, and shows what it has afterwards. */
static void *sleep_and_linger(void *argument)
{
    struct sleeper *s = argument;

    (void)sleep_once(s);
    while (atomic_load(&late) == 0)
        (void)sched_yield();
    kit_sleep_ns(LONGER_NS);
    (void)sched_getaffinity(0, sizeof(s->after), &s->after);
    return NULL;
}
#endif

static void one_that_woke_meanwhile_keeps_its_cpus(void **state)
{
    (void)state;
#if defined(SIMPLER_DEBUG)
    if (!find_cpus())
        SKIP_TEST("there is one CPU");
    simpler_sleepers_init(&group);
    assert_int_equal(simpler_sleepers_open(&group, 1, 2, 2), 0);
    sleepers[0] = (struct sleeper){.cpu = -1, .timeout_ns = 10 * SHORT_NS};
    atomic_store(&late, 0);
    simpler_testpoint_set(wait_for_the_sleeper, NULL);
    assert_int_equal(pthread_create(&sleepers[0].thread, NULL, sleep_and_linger, &sleepers[0]), 0);
    while (count_parked() != 1 && count_awake() == 0)
        (void)sched_yield();
    simpler_sleepers_wake_one(&group, SIMPLER_WAKE_APART);
    if (atomic_load(&late) == 0) {
        atomic_store(&late, 1);
        print_message("it woke too early to be claimed\n");
    }
    join_all(1);
    simpler_testpoint_set(NULL, NULL);
    assert_true(CPU_EQUAL(&sleepers[0].after, &all));
    simpler_sleepers_close(&group);
#else
    skip();
#endif
}

static void a_time_limit_ends_a_sleep(void **state)
{
    (void)state;
    (void)find_cpus();
    begin(2, -1, SHORT_NS);
    join_all(2);
    assert_int_equal(count_awake(), 2);
    assert_int_equal(atomic_load(&group.event.waiters), 0);
    simpler_sleepers_close(&group);
}

/* ---- nothing is lost ---- */

static _Atomic int tokens, taken;

static bool try_take(void)
{
    int n = atomic_load(&tokens);
    while (n > 0 && !atomic_compare_exchange_weak(&tokens, &n, n - 1))
        ;
    return n > 0;
}

static void *take_tokens(void *argument)
{
    const struct sleeper *s = argument;

    while (atomic_load(&taken) < TOKENS) {
        if (try_take()) {
            atomic_fetch_add(&taken, 1);
            continue;
        }
        uint32_t seen = simpler_sleepers_prepare(&group, s->index);
        if (atomic_load(&tokens) != 0 || atomic_load(&taken) >= TOKENS)
            simpler_sleepers_cancel(&group, s->index);
        else
            simpler_sleepers_sleep(&group, s->index, seen, NO_LIMIT);
    }
    simpler_sleepers_wake(&group, UINT32_MAX);
    return NULL;
}

/* Each token is followed by one wake; a lost one would leave both asleep. */
static void no_wake_is_lost(void **state)
{
    (void)state;
    (void)find_cpus();
    simpler_event_setup();
    simpler_sleepers_init(&group);
    assert_int_equal(simpler_sleepers_open(&group, 2, 2, 2), 0);
    atomic_store(&tokens, 0);
    atomic_store(&taken, 0);
    for (uint32_t i = 0; i < 2; i++) {
        sleepers[i].index = i;
        assert_int_equal(pthread_create(&sleepers[i].thread, NULL, take_tokens, &sleepers[i]), 0);
    }
    for (int i = 0; i < TOKENS; i++) {
        atomic_fetch_add(&tokens, 1);
        simpler_sleepers_wake(&group, 1);
        if (i % 64 == 0)
            while (atomic_load(&taken) <= i)
                (void)sched_yield();
    }
    join_all(2);
    assert_int_equal(atomic_load(&taken), TOKENS);
    simpler_sleepers_close(&group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(woken_apart_it_does_not_run_on_the_wakers_cpu),
        cmocka_unit_test(woken_here_it_runs_on_the_wakers_cpu),
        cmocka_unit_test(one_that_was_bound_stays_bound),
        cmocka_unit_test(what_one_was_called_for_is_anothers),
        cmocka_unit_test(here_is_apart_when_somebody_is_here_already),
        cmocka_unit_test(apart_is_where_nobody_is_awake),
        cmocka_unit_test(each_wake_wakes_somebody),
        cmocka_unit_test(many_are_woken_at_once),
        cmocka_unit_test(one_of_few_is_woken),
        cmocka_unit_test(one_that_is_about_to_run_is_not_called_again),
        cmocka_unit_test(one_that_is_not_seen_is_woken),
        cmocka_unit_test(one_that_woke_meanwhile_keeps_its_cpus),
        cmocka_unit_test(a_time_limit_ends_a_sleep),
        cmocka_unit_test(no_wake_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
