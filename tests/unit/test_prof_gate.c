/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SY-04: the gates and their host-crash clock.  A host that stops costs a lane
 * one bounded stall, then each record is dropped at once; when it moves again
 * records are taken again.  A host that is only slow loses nothing.  No other
 * lane is involved.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "cm.h"
#include "base/clock.h"
#include "prof/session_state.h"
#include "prof_rig.h"
#include "simpler/log.h"

#define LANES       2u
#define BACKSTOP_NS 20000000u
/* A sign of life may be late by half a second on a busy machine; what is waited for is longer. */
#define PATIENT_NS (BACKSTOP_NS * 30)
#define LONG_NS    (BACKSTOP_NS * 38)

static const enum simpler_lane_end complete[LANES];
static struct simpler_producer producers[LANES * RIG_KINDS];

static struct simpler_producer *producer_of(uint32_t lane, uint32_t kind)
{
    return &producers[lane * RIG_KINDS + kind];
}

static void pause_us(long us)
{
    (void)nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static void open_gated(struct rig *rig, uint64_t backstop_ns)
{
    rig_defaults(rig, LANES, LANES, 1);
    rig->config.backstop_ns = backstop_ns;
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++) {
        rig->client.buffers_per_lane[kind] = 2;
        rig->config.kind[kind].records_per_buffer = 8;
    }
    assert_int_equal(rig_open(rig), 0);
}

/* Appends until a record is lost; the time of the longest append. */
static uint64_t append_until_loss(struct rig *rig, struct simpler_producer *producer)
{
    uint64_t longest = 0;
    bool accepted = true;

    for (int i = 0; accepted && i < 1000; i++) {
        uint64_t start = simpler_clock_ns();
        accepted = rig_append(rig, producer);
        uint64_t took = simpler_clock_ns() - start;
        longest = took > longest ? took : longest;
    }
    assert_false(accepted);
    return longest;
}

static void a_stopped_host_costs_one_stall(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_gated(&rig, BACKSTOP_NS);
    rig_begin(&rig, producers, 1);
    atomic_store(&rig.closed, true);
    uint64_t stall = append_until_loss(&rig, producer_of(0, 0));
    assert_true(stall >= BACKSTOP_NS);
    assert_int_equal(atomic_load(&producer_of(0, 0)->state->dropped_no_free), 1);

    uint64_t start = simpler_clock_ns();
    for (int i = 0; i < 10000; i++)
        assert_false(rig_append(&rig, producer_of(0, 0)));
    /* Some stalls of a thread that has no CPU, not ten thousand. */
    assert_true(simpler_clock_ns() - start < BACKSTOP_NS * UINT64_C(3000));

    /* The other lane, on the other shard, is not involved: its host is stopped as
     * well here, and it has a stall of its own. */
    assert_true(append_until_loss(&rig, producer_of(1, 0)) >= BACKSTOP_NS);

    atomic_store(&rig.closed, false);
    uint32_t beat = atomic_load(&producer_of(0, 0)->lane->drop_beat);
    while (atomic_load(&producer_of(0, 0)->lane->heartbeat) == beat)
        pause_us(100);
    uint32_t accepted = 0;
    for (int i = 0; i < 200; i++)
        accepted += rig_append(&rig, producer_of(0, 0));
    assert_int_equal(accepted, 200);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
    rig_compare(&rig, &accounting);
    assert_true(accounting.dropped_no_free >= 10002);
    rig_close(&rig);
}

/* Appends through collections that are each longer than the clock. */
static void outlast_the_clock(struct rig *rig)
{
    struct simpler_prof_accounting accounting;

    rig_begin(rig, producers, 1);
    for (int i = 0; i < 8 * 2 + 1; i++)
        assert_true(rig_append(rig, producer_of(0, 0)));
    assert_int_equal(simpler_prof_session_quiesce(rig->session, complete, &accounting), 0);
    rig_compare(rig, &accounting);
    assert_int_equal(accounting.total, 17);
    assert_int_equal(accounting.received, 17);
    rig_close(rig);
}

/* While a write is in the kernel the host is alive: the clock starts again. */
static void a_long_write_is_a_sign_of_life(void **state)
{
    struct rig rig;

    (void)state;
    open_gated(&rig, PATIENT_NS);
    rig.busy_us = LONG_NS / 1000;
    outlast_the_clock(&rig);
}

#define WRITE_LIMIT_NS 400000000u

/* A single write that takes longer than its limit is no sign of life any more. */
static void a_write_beyond_its_limit_has_stopped(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    rig_defaults(&rig, 1, 1, 1);
    rig.config.backstop_ns = 150000000;
    rig.config.write_limit_ns = WRITE_LIMIT_NS;
    rig.busy_until_open = true;
    atomic_store(&rig.closed, true);
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++) {
        rig.client.buffers_per_lane[kind] = 2;
        rig.config.kind[kind].records_per_buffer = 8;
    }
    assert_int_equal(rig_open(&rig), 0);
    uint64_t start = simpler_clock_ns();
    rig_begin(&rig, producers, 1);
    /* The write does not return before that. */
    (void)append_until_loss(&rig, producer_of(0, 0));
    /* Signs of life end the backstop before the limit, and the last one may be a slice older. */
    assert_true(simpler_clock_ns() - start >= WRITE_LIMIT_NS - WRITE_LIMIT_NS / 4);
    atomic_store(&rig.closed, false);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
    rig_compare(&rig, &accounting);
    assert_true(accounting.dropped_no_free > 0);
    rig_close(&rig);
}

/* As is what a client says itself, for the lane that waits. */
static void a_beat_is_a_sign_of_life(void **state)
{
    struct rig rig;

    (void)state;
    open_gated(&rig, PATIENT_NS);
    rig.beats = 38;
    rig.beat_us = LONG_NS / 38 / 1000;
    outlast_the_clock(&rig);
}

struct slow_host {
    struct rig *rig;
    _Atomic bool done;
};

/* Opens the host's gate for a moment, again and again, each pause below the clock. */
static void *blink(void *arg)
{
    struct slow_host *host = arg;

    while (!atomic_load(&host->done)) {
        atomic_store(&host->rig->closed, true);
        pause_us(BACKSTOP_NS / 1000 / 3);
        atomic_store(&host->rig->closed, false);
        pause_us(200);
    }
    return NULL;
}

/* Each heartbeat starts the clock again: many stalls, all longer together than the
 * clock, lose nothing. */
static void heartbeats_start_the_clock_again(void **state)
{
    struct rig rig;
    struct slow_host host = {.rig = &rig};
    struct simpler_prof_accounting accounting;
    pthread_t thread;

    (void)state;
    open_gated(&rig, PATIENT_NS);
    rig_begin(&rig, producers, 1);
    assert_int_equal(pthread_create(&thread, NULL, blink, &host), 0);
    uint64_t start = simpler_clock_ns();
    while (simpler_clock_ns() - start < LONG_NS)
        assert_true(rig_append(&rig, producer_of(0, 2)));
    atomic_store(&host.done, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
    rig_compare(&rig, &accounting);
    rig_close(&rig);
}

/* Any number of records through two buffers of 4 KiB. */
static void two_buffers_lose_nothing(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    rig_defaults(&rig, 1, 1, 1);
    rig.config.first_index = UINT32_MAX - 16;
    rig.slow_one_in = 64;
    rig.slow_us = 500;
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++) {
        rig.client.buffers_per_lane[kind] = 2;
        rig.config.kind[kind].records_per_buffer = 4032 / rig.config.kind[kind].record_bytes;
    }
    assert_int_equal(rig_open(&rig), 0);
    rig_begin(&rig, producers, 1);
    for (int i = 0; i < 60000; i++)
        assert_true(rig_append(&rig, producer_of(0, 2)));
    simpler_producer_finish(producer_of(0, 2));
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
    rig_compare(&rig, &accounting);
    assert_int_equal(accounting.received, 60000);
    rig_close(&rig);
}

/* A full ready queue: the gate of publishing.  What was committed stays, is recovered. */
static void a_full_ready_queue_keeps_what_was_committed(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    rig_defaults(&rig, LANES, 1, 1);
    rig.config.backstop_ns = BACKSTOP_NS;
    rig.config.ready_depth = 2;
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++) {
        rig.client.buffers_per_lane[kind] = 8;
        rig.config.kind[kind].records_per_buffer = 4;
    }
    assert_int_equal(rig_open(&rig), 0);
    rig_begin(&rig, producers, 1);
    /* A drain that does not come: two buffers are published, the third stays. */
    pthread_mutex_t *drain = &rig.session->shards[0].drain_lock;
    assert_int_equal(pthread_mutex_lock(drain), 0);
    uint64_t stall = append_until_loss(&rig, producer_of(0, 0));
    assert_true(stall >= BACKSTOP_NS);
    assert_int_equal(rig.streams[0].sent.count, 12);
    assert_int_equal(atomic_load(&producer_of(0, 0)->state->dropped_ready_full), 1);

    /* The lane drops at once, at whatever gate its kinds come to: a thousand do not wait. */
    uint64_t start = simpler_clock_ns();
    for (int i = 0; i < 1000; i++)
        assert_false(simpler_producer_flush(producer_of(0, 0)));
    assert_int_equal(atomic_load(&producer_of(0, 0)->buffer->count), 4);
    (void)append_until_loss(&rig, producer_of(0, 1));
    assert_int_equal(rig.streams[1].sent.count, 0);
    assert_true(simpler_clock_ns() - start < BACKSTOP_NS * UINT64_C(500));
    assert_int_equal(pthread_mutex_unlock(drain), 0);

    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
    rig_compare(&rig, &accounting);
    assert_int_equal(accounting.dropped_ready_full + accounting.dropped_no_free, 2);
    assert_int_equal(accounting.received, 12);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_host_costs_one_stall),
        cmocka_unit_test(a_long_write_is_a_sign_of_life),
        cmocka_unit_test(a_write_beyond_its_limit_has_stopped),
        cmocka_unit_test(a_beat_is_a_sign_of_life),
        cmocka_unit_test(heartbeats_start_the_clock_again),
        cmocka_unit_test(two_buffers_lose_nothing),
        cmocka_unit_test(a_full_ready_queue_keeps_what_was_committed),
    };
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
