/* SPDX-License-Identifier: Apache-2.0 */
/* ctest: TIMEOUT 300 */
/*
 * SY-04: four kinds, several lanes and shards, random buffer sizes, depths,
 * delays at each test point and stalls of the host: every accepted record comes
 * exactly once and in order, every other is counted once, by cause.  Queues start
 * 16 before the wrap of their indices.
 *
 *     test_prof_exact [SEED [ROUNDS]]
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "cm.h"
#include "base/event.h"
#include "base/testpoint.h"
#include "prof_rig.h"
#include "simpler/log.h"
#include "transport_rough.h"

#define EPOCHS 3u

static uint64_t first_seed = 1;
static uint32_t rounds = 8;
static uint64_t received, lost;
static const struct simpler_transport_ops *transport = &simpler_transport_mapped;
static bool old_kernel;

static void one_round(uint64_t seed, uint64_t backstop_ns, uint32_t slow_us)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;
    uint64_t state = seed;
    uint32_t lanes = 1 + (uint32_t)(rig_random(&state) % 6);
    uint32_t shards = 1 + (uint32_t)(rig_random(&state) % 3);

    rig_defaults(&rig, lanes, shards, seed);
    rig_randomize(&rig);
    rig.config.transport = transport;
    rig.config.backstop_ns = backstop_ns;
    rig.records = 6000 / lanes;
    rig.refuse_one_in = 50;
    rig.hold_one_in = 2;
    rig.slow_one_in = 40;
    rig.slow_us = slow_us;
    rig.gap_one_in = 500;
    rig.gap_us = 300;
    assert_int_equal(rig_open(&rig), 0);
    if (old_kernel) {
        /* The threads sleep by now; nobody notifies while the way changes. */
        (void)nanosleep(&(struct timespec){0, 3000000}, NULL);
        atomic_store(&simpler_event_has_membarrier, false);
    }
    for (uint32_t epoch = 1; epoch <= EPOCHS; epoch++) {
        rig_run(&rig, epoch, &accounting);
        received += accounting.received;
        lost += accounting.dropped_no_free + accounting.dropped_ready_full;
        if (backstop_ns > 1000000000u)
            assert_int_equal(accounting.dropped_no_free + accounting.dropped_ready_full, 0);
    }
    rig_close(&rig);
}

/* A host that is only slow loses nothing: the crash clock never runs out. */
static void a_slow_host_loses_nothing(void **state)
{
    (void)state;
    rig_delays_start(first_seed, 24);
    for (uint32_t i = 0; i < rounds; i++)
        one_round(first_seed + i, 30000000000u, 1000);
    rig_delays_stop();
    print_message("%u rounds, %llu records\n", rounds, (unsigned long long)received);
}

/* Host and device with memory of their own: the discipline of index and data. */
static void split_memory_loses_nothing(void **state)
{
    (void)state;
    transport = &transport_rough;
    rig_delays_start(first_seed + 2000, 24);
    for (uint32_t i = 0; i < rounds; i++)
        one_round(first_seed + 2000 + i, 30000000000u, 1000);
    rig_delays_stop();
    transport = &simpler_transport_mapped;
}

/* Where the kernel has no membarrier, notifiers pay a read-modify-write. */
static void without_membarrier_nothing_is_lost(void **state)
{
    (void)state;
    old_kernel = true;
    rig_delays_start(first_seed + 3000, 24);
    for (uint32_t i = 0; i < rounds / 2 + 1; i++)
        one_round(first_seed + 3000 + i, 30000000000u, 1000);
    rig_delays_stop();
    old_kernel = false;
    simpler_event_setup();
}

/* A clock shorter than the host's stalls: losses, all of them counted. */
static void losses_are_counted_once(void **state)
{
    (void)state;
    received = lost = 0;
    rig_delays_start(first_seed + 1000, 24);
    for (uint32_t i = 0; i < rounds; i++)
        one_round(first_seed + 1000 + i, 200000, 3000);
    rig_delays_stop();
    print_message("%llu received, %llu lost\n", (unsigned long long)received,
                  (unsigned long long)lost);
    assert_true(lost > 0);
    assert_true(received > 0);
}

/* The windows that the delays are for were reached. */
static void each_window_was_reached(void **state)
{
    (void)state;
#if defined(SIMPLER_DEBUG)
    static const enum simpler_testpoint points[] = {
        SIMPLER_TESTPOINT_PARK_BEFORE_RECHECK,     SIMPLER_TESTPOINT_PARK_BEFORE_WAIT,
        SIMPLER_TESTPOINT_WAKE_BEFORE_CHECK,       SIMPLER_TESTPOINT_GATE_BEFORE_LOOK,
        SIMPLER_TESTPOINT_PRODUCER_BEFORE_PUBLISH, SIMPLER_TESTPOINT_PRODUCER_AFTER_PUBLISH,
        SIMPLER_TESTPOINT_PRODUCER_BEFORE_TAKE,    SIMPLER_TESTPOINT_SPSC_BEFORE_PUBLISH,
        SIMPLER_TESTPOINT_SPSC_BEFORE_TAKE,        SIMPLER_TESTPOINT_DRAIN_BEFORE_GIVE,
        SIMPLER_TESTPOINT_DRAIN_BEFORE_RELEASE,    SIMPLER_TESTPOINT_COLLECTOR_BEFORE_COLLECT,
        SIMPLER_TESTPOINT_REPLENISH_BEFORE_STOCK,
    };
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        if (simpler_testpoint_hits(points[i]) == 0)
            fail_msg("test point %d was never hit", (int)points[i]);
    }
#else
    skip();
#endif
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_host_loses_nothing),
        cmocka_unit_test(split_memory_loses_nothing),
        cmocka_unit_test(without_membarrier_nothing_is_lost),
        cmocka_unit_test(losses_are_counted_once),
        cmocka_unit_test(each_window_was_reached),
    };
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        rounds = (uint32_t)strtoul(argv[2], NULL, 10);
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
