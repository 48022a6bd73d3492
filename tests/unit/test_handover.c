/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel time estimates (engine-findings 6.10): an unknown kernel counts as long, one
 * preempted run does not make a tiny kernel long, a kernel that has become long shows
 * within two runs of being timed at once, a steady estimate is not written again, and
 * no probe of the round trip is believed beyond reason.
 */
#include <stddef.h>
#include <stdint.h>

#include "cm.h"
#include "base/clock.h"
#include "tmr/handover.h"

static struct simpler_device device;
static struct simpler_thread thread;
static struct simpler_estimates estimates;
static const struct simpler_task_slot slot = {.func_id = 3, .shape = SIMPLER_SHAPE_AIV};

static int fresh(void **state)
{
    (void)state;
    simpler_clock_calibrate();
    atomic_store(&estimates.ns[3], 0);
    device.estimates = &estimates;
    thread.device = &device;
    thread.timing = 0;
    return 0;
}

static void run_of(uint64_t ns)
{
    simpler_handover_note(&thread, 3, simpler_clock_ns_to_ticks(ns) + 40);
}

static void unknown_is_long_and_a_dummy_is_not(void **state)
{
    (void)state;
    const struct simpler_task_slot dummy = {.func_id = 3, .shape = SIMPLER_SHAPE_DUMMY};
    assert_int_equal(simpler_handover_estimate(&device, &slot), SIMPLER_LONG_NS);
    assert_true(simpler_handover_estimate(&device, &dummy) < 10);
}

static void one_preempted_run_is_forgiven(void **state)
{
    (void)state;
    run_of(10);
    uint32_t tiny = simpler_handover_estimate(&device, &slot);
    assert_in_range(tiny, 1, 20);
    run_of(4000000);
    assert_true(simpler_handover_estimate(&device, &slot) <= 2 * tiny);
    /* The next run is timed at once. */
    assert_int_equal(thread.timing, 0);
    for (int i = 0; i < 20; i++)
        run_of(10);
    assert_in_range(simpler_handover_estimate(&device, &slot), 1, 20);
    assert_true(thread.timing >= 24);
}

static void a_kernel_that_has_become_long_shows(void **state)
{
    (void)state;
    run_of(20);
    int runs = 0;
    while (simpler_handover_estimate(&device, &slot) < 1000 && runs < 100) {
        run_of(1000000);
        runs++;
    }
    /* Each of these runs was timed: the estimate doubles until it is near. */
    assert_true(runs <= 8);
}

static void a_long_kernel_that_has_become_short_shows(void **state)
{
    (void)state;
    run_of(1000000);
    for (int i = 0; i < 40; i++)
        run_of(10);
    assert_true(simpler_handover_estimate(&device, &slot) < 100);
}

static void no_estimate_is_zero_or_the_unknown(void **state)
{
    (void)state;
    simpler_handover_note(&thread, 3, 0);
    assert_int_equal(simpler_handover_estimate(&device, &slot), 1);
    atomic_store(&estimates.ns[3], 0);
    run_of(UINT32_MAX * UINT64_C(4));
    assert_true(simpler_handover_estimate(&device, &slot) < SIMPLER_LONG_NS);
}

/* A probe during which a thread lost its CPU must not make kernels of milliseconds short. */
static void a_disturbed_probe_is_not_believed(void **state)
{
    static struct simpler_orch orch;
    (void)state;
    orch.device = &device;
    simpler_handover_set(&orch, 100);
    assert_int_equal(simpler_handover_threshold(&device), 70);
    assert_int_equal(orch.solo_below_ns, 70);
    simpler_handover_set(&orch, 5000000);
    assert_in_range(simpler_handover_threshold(&device), 70, 2000);
    assert_in_range(orch.solo_below_ns, 70, 2000);
    simpler_handover_set(&orch, UINT64_MAX);
    assert_in_range(orch.solo_below_ns, 70, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(unknown_is_long_and_a_dummy_is_not, fresh),
        cmocka_unit_test_setup(one_preempted_run_is_forgiven, fresh),
        cmocka_unit_test_setup(a_kernel_that_has_become_long_shows, fresh),
        cmocka_unit_test_setup(a_long_kernel_that_has_become_short_shows, fresh),
        cmocka_unit_test_setup(no_estimate_is_zero_or_the_unknown, fresh),
        cmocka_unit_test_setup(a_disturbed_probe_is_not_believed, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
