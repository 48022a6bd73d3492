/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AD-22: where a collected buffer goes, who allocates, and that threads with
 * nothing to do sleep.  The routing tests work on a session whose threads are
 * stopped.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "cm.h"
#include "base/testpoint.h"
#include "prof/session_state.h"
#include "prof_rig.h"
#include "simpler/log.h"

#define LANES 3u

static const enum simpler_lane_end complete[LANES];
static struct simpler_producer producers[LANES * RIG_KINDS];

/* Three lanes, three shards; kind 1 has a watermark of 4, eleven buffers a lane. */
static void open_stopped(struct rig *rig, uint32_t watermark, uint32_t most)
{
    rig_defaults(rig, LANES, LANES, 1);
    rig->client.buffers_per_lane[1] = SIMPLER_PROF_FREE_SLOTS + 3;
    rig->client.watermark[1] = watermark;
    rig->client.max_buffers_per_lane[1] = most;
    assert_int_equal(rig_open(rig), 0);
    simpler_session_stop(rig->session);
}

static struct simpler_prof_shard *shard(struct rig *rig, uint32_t index)
{
    return &rig->session->shards[index];
}

static uint32_t in_stock(struct rig *rig, uint32_t index)
{
    return simpler_spsc_count(&shard(rig, index)->recycled[1]);
}

/* Takes buffers out of a stock as the drain does, and hands them to replenish as the
 * collector of @to does. */
static void move(struct rig *rig, uint32_t from, uint32_t to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        void *buffer = simpler_spsc_try_pop(&shard(rig, from)->recycled[1]);
        assert_non_null(buffer);
        assert_true(simpler_spsc_try_push(&shard(rig, to)->done, buffer));
    }
}

static void without_watermark_a_buffer_returns_to_its_origin(void **state)
{
    struct rig rig;

    (void)state;
    open_stopped(&rig, 0, 100);
    for (uint32_t s = 0; s < LANES; s++)
        assert_int_equal(in_stock(&rig, s), 3);
    /* Shard 2 lacks three, and still what shard 0 collected is shard 0's. */
    move(&rig, 2, 0, 3);
    assert_true(simpler_replenish_pass(rig.session));
    assert_int_equal(in_stock(&rig, 0), 6);
    assert_int_equal(in_stock(&rig, 2), 0);
    assert_int_equal(rig.session->pool.total[1], LANES * (SIMPLER_PROF_FREE_SLOTS + 3));
    assert_false(simpler_replenish_pass(rig.session));
    rig_close(&rig);
}

static void a_buffer_goes_where_most_is_missing(void **state)
{
    struct rig rig;

    (void)state;
    open_stopped(&rig, 3, 0);
    /* Missing: 0, 2 and 3; five to give. */
    move(&rig, 1, 0, 2);
    move(&rig, 2, 0, 3);
    assert_true(simpler_replenish_pass(rig.session));
    assert_int_equal(in_stock(&rig, 0), 3);
    assert_int_equal(in_stock(&rig, 1), 3);
    assert_int_equal(in_stock(&rig, 2), 3);

    /* What a shard owes its lanes is missing as well. */
    atomic_fetch_add(&shard(&rig, 1)->owed[1], 2);
    move(&rig, 0, 0, 1);
    assert_true(simpler_replenish_pass(rig.session));
    assert_int_equal(in_stock(&rig, 1), 4);
    atomic_fetch_sub(&shard(&rig, 1)->owed[1], 2);

    /* Nothing is missing anywhere: back to the origin. */
    move(&rig, 1, 2, 1);
    assert_true(simpler_replenish_pass(rig.session));
    assert_int_equal(in_stock(&rig, 0), 3);
    assert_int_equal(in_stock(&rig, 1), 3);
    assert_int_equal(in_stock(&rig, 2), 3);
    rig_close(&rig);
}

static void what_is_missing_is_allocated_in_batches(void **state)
{
    struct rig rig;
    uint32_t first = LANES * (SIMPLER_PROF_FREE_SLOTS + 3);

    (void)state;
    /* Opened with 3 of 5 in each stock: at least a batch of eight each, within 21 more. */
    open_stopped(&rig, 5, SIMPLER_PROF_FREE_SLOTS + 3 + 7);
    assert_int_equal(in_stock(&rig, 0), 11);
    assert_int_equal(in_stock(&rig, 1), 11);
    assert_int_equal(in_stock(&rig, 2), 8);
    assert_int_equal(rig.session->pool.total[1], first + 21);
    atomic_fetch_add(&shard(&rig, 0)->owed[1], 100);
    assert_false(simpler_replenish_pass(rig.session));
    atomic_fetch_sub(&shard(&rig, 0)->owed[1], 100);
    rig_close(&rig);
}

#if defined(SIMPLER_DEBUG)
static struct rig *watched;
static _Atomic uint64_t by_replenish, by_others;

static bool watch_allocations(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point != SIMPLER_TESTPOINT_ALLOC && point != SIMPLER_TESTPOINT_MAP_MEMORY)
        return false;
    if (pthread_equal(pthread_self(), watched->session->replenish))
        atomic_fetch_add(&by_replenish, 1);
    else
        atomic_fetch_add(&by_others, 1);
    return false;
}

static void pause_us(long us)
{
    (void)nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static uint32_t buffers_of_kind_0(struct simpler_prof_session *session)
{
    (void)pthread_mutex_lock(&session->replenish_lock);
    uint32_t total = session->pool.total[0];
    (void)pthread_mutex_unlock(&session->replenish_lock);
    return total;
}

/* Nothing is collected before the pool has grown. */
static void *open_when_grown(void *arg)
{
    uint32_t before = *(uint32_t *)arg;

    while (buffers_of_kind_0(watched->session) == before)
        pause_us(100);
    atomic_store(&watched->closed, false);
    return NULL;
}

/* A pool that has to grow while it works: replenish alone allocates. */
static void the_drain_never_allocates(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    rig_defaults(&rig, LANES, 2, 1);
    rig.records = 4000;
    rig.slow_one_in = 10;
    rig.slow_us = 500;
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++) {
        rig.client.buffers_per_lane[kind] = 1;
        rig.client.watermark[kind] = 2;
        rig.client.max_buffers_per_lane[kind] = 40;
        rig.config.kind[kind].records_per_buffer = 8;
    }
    assert_int_equal(rig_open(&rig), 0);
    uint32_t before = buffers_of_kind_0(rig.session);
    pthread_t opener;
    watched = &rig;
    atomic_store(&rig.closed, true);
    assert_int_equal(pthread_create(&opener, NULL, open_when_grown, &before), 0);
    simpler_testpoint_set(watch_allocations, NULL);
    rig_run(&rig, 1, &accounting);
    assert_int_equal(pthread_join(opener, NULL), 0);
    simpler_session_stop(rig.session);
    simpler_testpoint_set(NULL, NULL);
    assert_true(atomic_load(&by_replenish) > 0);
    assert_int_equal(atomic_load(&by_others), 0);
    assert_int_equal(rig.session->retired, 0);
    rig_close(&rig);
}

/* Waits until nothing has parked for a while. */
static uint64_t settled(void)
{
    uint64_t parks, last = UINT64_MAX;

    while ((parks = simpler_testpoint_hits(SIMPLER_TESTPOINT_PARK_BEFORE_WAIT)) != last) {
        last = parks;
        pause_us(20000);
    }
    return parks;
}

/* With nothing to do nobody wakes, and a run of few records wakes nobody either: the
 * caller that ends it takes them. */
static void idle_threads_sleep(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    rig_defaults(&rig, LANES, LANES, 1);
    rig.client.tick = NULL;
    assert_int_equal(rig_open(&rig), 0);
    rig_run(&rig, 1, &accounting);
    uint64_t parks = settled();
    uint64_t wakes = simpler_testpoint_hits(SIMPLER_TESTPOINT_WAKE_BEFORE_CHECK);
    pause_us(300000);
    assert_int_equal(simpler_testpoint_hits(SIMPLER_TESTPOINT_PARK_BEFORE_WAIT), parks);
    for (uint32_t epoch = 2; epoch < 100; epoch++) {
        rig_begin(&rig, producers, epoch);
        for (uint32_t i = 0; i < LANES * RIG_KINDS; i++) {
            (void)rig_append(&rig, &producers[i]);
            simpler_producer_finish(&producers[i]);
        }
        assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
        rig_compare(&rig, &accounting);
    }
    assert_int_equal(simpler_testpoint_hits(SIMPLER_TESTPOINT_PARK_BEFORE_WAIT), parks);
    assert_int_equal(simpler_testpoint_hits(SIMPLER_TESTPOINT_WAKE_BEFORE_CHECK), wakes);
    rig_close(&rig);
}
#endif

/* A client that has finished something asks for its tick. */
static void a_client_gets_its_tick(void **state)
{
    struct rig rig;

    (void)state;
    rig_defaults(&rig, 1, 1, 1);
    assert_int_equal(rig_open(&rig), 0);
    for (int i = 0; i < 20; i++) {
        uint64_t ticks = atomic_load(&rig.ticks);
        simpler_prof_session_wake(rig.session);
        while (atomic_load(&rig.ticks) == ticks)
            (void)nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    /* Asked for while the thread is past its look: it ticks again. */
    atomic_store(&rig.tick_again, 20);
    simpler_prof_session_wake(rig.session);
    while (atomic_load(&rig.tick_again) != 0)
        (void)nanosleep(&(struct timespec){0, 100000}, NULL);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_watermark_a_buffer_returns_to_its_origin),
        cmocka_unit_test(a_buffer_goes_where_most_is_missing),
        cmocka_unit_test(what_is_missing_is_allocated_in_batches),
#if defined(SIMPLER_DEBUG)
        cmocka_unit_test(the_drain_never_allocates),
        cmocka_unit_test(idle_threads_sleep),
#endif
        cmocka_unit_test(a_client_gets_its_tick),
    };
    (void)complete;
    (void)producers;
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
