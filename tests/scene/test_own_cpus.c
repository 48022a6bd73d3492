/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With as many threads as CPUs each thread gets one: threads that slept are not put
 * on one CPU, where they would take turns for milliseconds.  Each kernel notes where it
 * ran, after a pause in which all threads have gone to sleep.
 *
 * That says something only while the second CPU is there: samples are taken between
 * two probes.  Too few good ones: the test is skipped and says so.
 * ctest: RUN_SERIAL TRUE
 * runtimes: all
 */
#include <sched.h>
#include <unistd.h>

#include "cm.h"
#include "kit.h"
#include "platform/platform.h"

#define TASKS   100
#define SAMPLES 20
#define TRIES   60

static struct kit kit;
static struct simpler_run_result result;
static int cpu_of[TASKS];

static int note_cpu(const int64_t *args, uint32_t tensors, void *user)
{
    (void)args;
    (void)tensors;
    kit_spin_ns(20000);
    *(int *)user = sched_getcpu();
    return 0;
}

static void submit_all(struct simpler_orch *orch, void *user)
{
    struct simpler_task_args args;

    (void)user;
    for (int i = 0; i < TASKS; i++) {
        simpler_task_args_reset(&args);
        kit_submit(orch, &args, note_cpu, &cpu_of[i], NULL);
    }
}

/* Tasks that ran elsewhere than most did. */
static int count_elsewhere(void)
{
    int most = 0;

    for (int i = 0; i < TASKS; i++) {
        int same = 0;
        for (int k = 0; k < TASKS; k++)
            same += cpu_of[k] == cpu_of[i];
        most = same > most ? same : most;
    }
    return TASKS - most;
}

static int sample(void)
{
    struct simpler_call_config config = kit_config(simpler_platform_usable_cpus());

    (void)usleep(2000);
    if (kit_run(&kit, submit_all, NULL, &config, &result) != 0)
        fail_msg("%s", result.message);
    return count_elsewhere();
}

static void each_thread_has_a_cpu(void **state)
{
    double elsewhere[SAMPLES];
    int good = 0, tries = 0;

    (void)state;
    if (simpler_platform_usable_cpus() < 2)
        SKIP_TEST("there is one CPU");
    (void)sample();
    bool before = kit_second_cpu();
    for (; good < SAMPLES && tries < TRIES; tries++) {
        int n = sample();
        bool after = kit_second_cpu();
        if (before && after)
            elsewhere[good++] = n;
        before = after;
    }
    if (good < SAMPLES)
        SKIP_TEST("the second CPU was not there");
    double n = kit_median(elsewhere, SAMPLES);
    print_message("%g of %d kernels did not run on the CPU that had most\n", n, TASKS);
    assert_true(n >= TASKS / 4);
}

KIT_FIXTURE(kit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_has_a_cpu),
    };
    return cmocka_run_group_tests(tests, open_kit, close_kit);
}
