/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each fetch and flush of a run may fail, once or for ever: the session says
 * EIO and calls nothing complete, or everything is there; it never hangs, and
 * what was collected is in order and without doubles.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "cm.h"
#include "faults.h"
#include "prof/session_state.h"
#include "prof_rig.h"
#include "simpler/log.h"
#include "simpler/status.h"
#include "transport_rough.h"

#define LANES 2u

static const enum simpler_lane_end complete[LANES];
static struct simpler_producer producers[LANES * RIG_KINDS];

static void is_in_order(const struct rig_stream *s)
{
    assert_int_equal(s->torn + s->misplaced + s->order, 0);
    assert_true(s->got.count <= s->sent.count);
}

/* The failure is over: the next run on the same session is whole. */
static void a_good_run(struct rig *rig, uint32_t epoch)
{
    struct simpler_prof_accounting accounting;

    transport_rough_fail(INT64_MAX, 0);
    rig_begin(rig, producers, epoch);
    for (uint32_t i = 0; i < 9; i++)
        (void)rig_append(rig, &producers[1]);
    assert_int_equal(simpler_prof_session_quiesce(rig->session, complete, &accounting), 0);
    assert_true(accounting.known);
    assert_int_equal(accounting.total, 9);
    assert_int_equal(accounting.received, rig->streams[1].sent.count);
}

/* What a failure came to. */
struct failures {
    uint32_t of_open, of_a_run;
};

/* False when the run ended without meeting the failure. */
static bool one_run(uint64_t nth, uint64_t times, struct failures *failures)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    rig_defaults(&rig, LANES, 1, 1);
    rig.config.transport = &transport_rough;
    rig.config.backstop_ns = 3000000;
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++) {
        rig.client.buffers_per_lane[kind] = 2;
        rig.config.kind[kind].records_per_buffer = 4;
    }
    transport_rough_fail(nth, times);
    int rc = rig_open(&rig);
    if (rc != 0) {
        assert_true(transport_rough_failed());
        failures->of_open++;
        rig_close(&rig);
        return true;
    }
    rig_begin(&rig, producers, 1);
    for (uint32_t i = 0; i < 30; i++) {
        for (uint32_t lane = 0; lane < LANES; lane++)
            (void)rig_append(&rig, &producers[lane * RIG_KINDS + 1]);
    }
    rc = simpler_prof_session_quiesce(rig.session, complete, &accounting);
    bool met = transport_rough_failed();
    if (rc == 0) {
        rig_compare(&rig, &accounting);
    } else {
        assert_int_equal(rc, SIMPLER_EIO);
        assert_true(met);
        assert_false(accounting.known);
        failures->of_a_run++;
    }
    for (uint32_t i = 0; i < LANES * RIG_KINDS; i++)
        is_in_order(&rig.streams[i]);
    a_good_run(&rig, 2);
    fault_saw_times("session-transport-fails", met, "settle=%s next=whole",
                    simpler_status_name(rc));
    rig_close(&rig);
    return met;
}

/* Calls without which no session opens: the region and each buffer; and without which none ends:
 * each lane and a buffer of it, the epoch, and each state twice. */
#define CALLS_OF_OPEN  (1 + LANES * RIG_KINDS * 2)
#define CALLS_OF_A_RUN (LANES * 3 + 1 + LANES * RIG_KINDS * 2)

static void sweep(uint64_t times, uint64_t step)
{
    struct failures failures = {0, 0};
    uint64_t nth = 0;

    /* Without end of its own a run polls, as often as the machine allows, so that the bound is the
     * calls of a run. */
    for (; nth < 400 && one_run(nth, times, &failures); nth += step)
        ;
    print_message("%u of open and %u of a run failed of %u\n", failures.of_open, failures.of_a_run,
                  (unsigned)(nth / step));
    assert_in_range(failures.of_open, CALLS_OF_OPEN / step, CALLS_OF_OPEN / step + 1);
    assert_true(failures.of_a_run >= CALLS_OF_A_RUN / step);
}

static void a_call_fails_once(void **state)
{
    (void)state;
    sweep(1, 2);
}

static void all_calls_fail_from_one_on(void **state)
{
    (void)state;
    sweep(INT64_MAX / 2, 6);
}

/* A transport that cannot read what lies at one place of the host; NULL: it can read all. */
static struct simpler_transport_ops blinkered;
static const void *_Atomic blind_at;

static int fetch_unless_blind(const struct simpler_region *region, size_t offset, size_t bytes)
{
    if (region->host + offset == atomic_load(&blind_at))
        return SIMPLER_EIO;
    return simpler_transport_shadow.fetch(region, offset, bytes);
}

static void open_blinkered(struct rig *rig)
{
    blinkered = simpler_transport_shadow;
    blinkered.fetch = fetch_unless_blind;
    rig_defaults(rig, LANES, 1, 1);
    rig->config.transport = &blinkered;
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++)
        rig->config.kind[kind].records_per_buffer = 4;
    assert_int_equal(rig_open(rig), 0);
    atomic_store(&blind_at, simpler_session_lane(rig->session, 0));
}

/* One full buffer is in the queue, which cannot be read; the next one is held.  What is held may
 * not come before what is in the queue, which the drain may yet find. */
static void what_is_held_does_not_come_before_what_was_published(void **state)
{
    struct simpler_prof_accounting accounting;
    struct rig rig;

    (void)state;
    open_blinkered(&rig);
    rig_begin(&rig, producers, 1);
    for (uint32_t i = 0; i < 6; i++) {
        assert_true(rig_append(&rig, &producers[1]));
        assert_true(rig_append(&rig, &producers[RIG_KINDS + 1]));
    }
    int rc = simpler_prof_session_quiesce(rig.session, complete, &accounting);
    assert_int_equal(rc, SIMPLER_EIO);
    assert_false(accounting.known);
    assert_int_equal(rig.streams[1].got.count, 0);
    assert_int_equal(rig.streams[RIG_KINDS + 1].got.count, 6);
    atomic_store(&blind_at, NULL);
    a_good_run(&rig, 2);
    fault_saw("session-transport-fails", "settle=%s next=whole", simpler_status_name(rc));
    rig_close(&rig);
}

/* A transport that cannot write what lies at one place of the host. */
static struct simpler_transport_ops mute;
static const void *_Atomic mute_at;
static _Atomic int unsaid;

static int flush_unless_mute(const struct simpler_region *region, size_t offset, size_t bytes)
{
    if (region->host + offset == atomic_load(&mute_at)) {
        atomic_fetch_add(&unsaid, 1);
        return SIMPLER_EIO;
    }
    return simpler_transport_shadow.flush(region, offset, bytes);
}

/* A ready queue of one place, two buffers a lane. */
static void open_mute(struct rig *rig)
{
    mute = simpler_transport_shadow;
    mute.flush = flush_unless_mute;
    rig_defaults(rig, LANES, 1, 1);
    rig->config.transport = &mute;
    rig->config.ready_depth = 1;
    rig->config.backstop_ns = 100000000;
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++) {
        rig->client.buffers_per_lane[kind] = 2;
        rig->config.kind[kind].records_per_buffer = 4;
    }
    assert_int_equal(rig_open(rig), 0);
}

/* @records from a device that is not told what lies @at; its producer gives up waiting. */
static int a_run_untold(struct rig *rig, const void *at, uint32_t records)
{
    struct simpler_prof_accounting accounting;

    atomic_store(&unsaid, 0);
    atomic_store(&mute_at, at);
    rig_begin(rig, producers, 1);
    for (uint32_t i = 0; i < records; i++)
        (void)rig_append(rig, &producers[1]);
    while (atomic_load(&unsaid) == 0)
        (void)sched_yield();
    int rc = simpler_prof_session_quiesce(rig->session, complete, &accounting);
    assert_int_equal(rc, SIMPLER_EIO);
    assert_false(accounting.known);
    is_in_order(&rig->streams[1]);
    atomic_store(&mute_at, NULL);
    return rc;
}

/* All of it, from a producer that waits as long as it takes. */
static void a_whole_run(struct rig *rig, uint32_t epoch)
{
    struct simpler_prof_accounting accounting;

    rig_header(rig)->backstop_ns = 60000000000u;
    rig_begin(rig, producers, epoch);
    for (uint32_t i = 0; i < 40; i++)
        assert_true(rig_append(rig, &producers[1]));
    assert_int_equal(simpler_prof_session_quiesce(rig->session, complete, &accounting), 0);
    rig_compare(rig, &accounting);
}

/* The device does not hear of the buffers that it is given, then of the entries that are taken; the
 * run after is told.  With 12 records the producer has waited, and been answered, in vain. */
static void what_the_device_was_not_told_it_is_told_later(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct rig rig;
        open_mute(&rig);
        const void *tail = &simpler_session_state(rig.session, 0, 1)->free.tail;
        const void *head = &simpler_session_lane(rig.session, 0)->head;
        int rc = a_run_untold(&rig, way % 2 == 0 ? tail : head, way < 2 ? 8 : 12);
        a_whole_run(&rig, 2);
        fault_saw("session-transport-fails", "settle=%s next=whole", simpler_status_name(rc));
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_fails_once),
        cmocka_unit_test(all_calls_fail_from_one_on),
        cmocka_unit_test(what_is_held_does_not_come_before_what_was_published),
        cmocka_unit_test(what_the_device_was_not_told_it_is_told_later),
    };
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
