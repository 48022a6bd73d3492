/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs while every test point delays at random: a race window that a
 * test does not widen is one that a test does not see.  A point of the engine that
 * was never reached fails.  Runs for SIMPLER_TEST_SECONDS (10).
 * ctest: TIMEOUT 1200
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/testpoint.h"
#include "cm.h"
#include "faults.h"
#include "graph_gen.h"

#if defined(SIMPLER_DEBUG)
static const char *const names[] = {
#define X(NAME) #NAME,
    SIMPLER_TESTPOINT_MAP(X)
#undef X
};

/* The engine's points; those of the collectors are reached by tests of their own. */
static const char *const engine[] = {"ALLOC",     "THREAD_START", "MAP_MEMORY", "PARK_",
                                     "WAKE_",     "COMPLETE_",    "LINK_",      "QUEUE_",
                                     "DROP_EDGE", "SCOPE_TASKS"};

static bool is_engine(const char *name)
{
    for (size_t i = 0; i < sizeof(engine) / sizeof(engine[0]); i++) {
        if (strncmp(name, engine[i], strlen(engine[i])) == 0)
            return true;
    }
    return false;
}

static _Atomic uint64_t ticket;
static _Atomic uint32_t favourite;

/* Mostly nothing, now and then a yield, a few microseconds, or a sleep. */
static bool delay(void *user, enum simpler_testpoint point)
{
    (void)user;
    uint64_t r = kit_mix(atomic_fetch_add_explicit(&ticket, 1, memory_order_relaxed));
    /* One point at a time is slow, so that the others run past it. */
    uint32_t often = point == atomic_load_explicit(&favourite, memory_order_relaxed) ? 4 : 64;
    if (r % often != 0)
        return false;
    r = r / 64 % 100;
    if (r < 50)
        sched_yield();
    else if (r < 92)
        kit_spin_ns(r * 100);
    else
        kit_sleep_ns(20000);
    return false;
}

/* What the random programs do not reach by themselves: failures and tight pools. */
static void seldom(struct kit *kit, uint64_t seed)
{
    struct graph_options options = {.calm = false};
    kit_close(kit);
    kit_open(kit);
    assert_true(graph_try_seed(seed, kit, &options));
}

static void every_point_delays(void **state)
{
    (void)state;
    struct kit kit;
    uint64_t end = kit_now_ns() + (uint64_t)(kit_seconds(10) * 1e9);
    uint64_t seed = kit_now_ns();
    uint32_t missing = 0;
    uint64_t count = 0;
    simpler_testpoint_reset_hits();
    simpler_testpoint_set(delay, NULL);
    kit_open(&kit);
    for (; kit_now_ns() < end; count++, seed++) {
        struct graph_options options = {.calm = count % 3 != 0};
        atomic_store(&favourite, (uint32_t)(count / 20 % (SIMPLER_TESTPOINT_NUM + 1)));
        if (count % 200 == 199)
            seldom(&kit, seed);
        assert_true(graph_try_seed(seed, &kit, &options));
    }
    kit_close(&kit);
    simpler_testpoint_set(NULL, NULL);
    for (int i = 0; i < SIMPLER_TESTPOINT_NUM; i++) {
        uint64_t hits = simpler_testpoint_hits((enum simpler_testpoint)i);
        print_message("%-28s %llu\n", names[i], (unsigned long long)hits);
        missing += hits == 0 && is_engine(names[i]);
    }
    print_message("%llu programs\n", (unsigned long long)count);
    assert_int_equal(missing, 0);
    fault_saw_times("thread-delayed", count, "programs=right");
}
#endif

static void test_points(void **state)
{
#if defined(SIMPLER_DEBUG)
    every_point_delays(state);
#else
    (void)state;
    SKIP_TEST("test points are in debug builds");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_points)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
