/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SY-04, SS-22: a session's life with a collector of four kinds.  What is
 * published comes, what is held is recovered, epochs, clamps and sums are
 * checked, an unproved end reads nothing, and what makes no sense is refused.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cm.h"
#include "failing_alloc.h"
#include "faults.h"
#include "prof/session_state.h"
#include "prof_rig.h"
#include "simpler/log.h"
#include "simpler/status.h"

#define LANES 2u

static const enum simpler_lane_end complete[LANES];
static const enum simpler_lane_end unproved[LANES] = {SIMPLER_LANE_UNPROVED, SIMPLER_LANE_UNPROVED};
static struct simpler_producer producers[LANES * RIG_KINDS];
static char last_line[256];

static void keep_line(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)strncpy(last_line, line, sizeof(last_line) - 1);
}

static struct simpler_producer *producer_of(uint32_t lane, uint32_t kind)
{
    return &producers[lane * RIG_KINDS + kind];
}

static void append(struct rig *rig, uint32_t lane, uint32_t kind, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        (void)rig_append(rig, producer_of(lane, kind));
}

static void open_small(struct rig *rig)
{
    rig_defaults(rig, LANES, 1, 1);
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++)
        rig->config.kind[kind].records_per_buffer = 8;
    assert_int_equal(rig_open(rig), 0);
}

static void runs_follow_each_other(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    rig_defaults(&rig, 3, 2, 1);
    assert_int_equal(rig_open(&rig), 0);
    for (uint32_t epoch = 1; epoch <= 20; epoch++) {
        rig.records = epoch * 37;
        rig_run(&rig, epoch, &accounting);
        assert_int_equal(accounting.total, epoch * 37 * 3);
        assert_int_equal(accounting.received, accounting.total);
    }
    rig_close(&rig);
}

/* Buffers that a producer did not hand over, one full and one not, come by recovery. */
static void held_buffers_are_recovered_once(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_small(&rig);
    for (uint32_t epoch = 1; epoch <= 3; epoch++) {
        rig_begin(&rig, producers, epoch);
        append(&rig, 0, 0, 8);
        append(&rig, 0, 2, 3);
        append(&rig, 1, 3, 19);
        assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
        rig_compare(&rig, &accounting);
        assert_int_equal(accounting.received, 30);
    }
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting),
                     SIMPLER_EINVAL);
    rig_close(&rig);
}

/* The next run's attach resets the counters and stamps the held buffer; pointer,
 * rotation counter and free queue stay. */
static void attach_takes_over_the_held_buffer(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_small(&rig);
    rig_begin(&rig, producers, 1);
    append(&rig, 0, 1, 8 * 2 + 5);
    simpler_producer_refuse(producer_of(0, 1));
    rig.streams[1].refused = 1;
    struct simpler_prof_state *at = producer_of(0, 1)->state;
    struct simpler_prof_buffer *held = producer_of(0, 1)->buffer;
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
    rig_compare(&rig, &accounting);
    uint32_t head = atomic_load(&at->free.head);

    rig_begin(&rig, producers, 2);
    assert_ptr_equal(producer_of(0, 1)->buffer, held);
    assert_int_equal(atomic_load(&at->current_buffer), (uintptr_t)held);
    assert_int_equal(atomic_load(&at->free.head), head);
    assert_int_equal(atomic_load(&at->current_seq), 2);
    assert_int_equal(atomic_load(&held->count), 0);
    assert_int_equal(held->run_epoch, 2);
    assert_int_equal(held->local_seq, 2);
    assert_int_equal(atomic_load(&at->total), 0);
    assert_int_equal(atomic_load(&at->dropped_other), 0);
    append(&rig, 0, 1, 5);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
    rig_compare(&rig, &accounting);
    assert_int_equal(accounting.total, 5);
    rig_close(&rig);
}

/* A counter at its limit stays there, and the numbers are then unknown. */
static void saturated_counters_are_unknown(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_small(&rig);
    for (uint32_t counter = 0; counter < 2; counter++) {
        rig_begin(&rig, producers, counter + 1);
        struct simpler_prof_state *at = producer_of(1, 0)->state;
        _Atomic uint32_t *clamped = counter == 0 ? &at->total : &at->dropped_other;
        atomic_store(clamped, UINT32_MAX - 2);
        append(&rig, 1, 0, 5);
        for (int i = 0; i < 5; i++)
            simpler_producer_refuse(producer_of(1, 0));
        assert_int_equal(atomic_load(clamped), UINT32_MAX);
        assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
        assert_false(accounting.known);
        assert_true(accounting.epoch_ok);
        assert_int_equal(accounting.received, 5);
    }
    rig_close(&rig);
}

static void sums_that_do_not_fit_are_unknown(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_small(&rig);
    for (int change = -1; change <= 1; change++) {
        rig_begin(&rig, producers, (uint32_t)(change + 2));
        append(&rig, 0, 0, 5);
        atomic_fetch_add(&producer_of(0, 0)->state->total, (uint32_t)change);
        assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
        assert_int_equal(accounting.known, change == 0);
        assert_int_equal(accounting.received, 5);
    }
    rig_close(&rig);
}

/* A run whose producers were never initialised has no accounting: its predecessor's
 * held records and counters are not taken for its own. */
static void an_uninitialised_run_has_no_accounting(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_small(&rig);
    rig_begin(&rig, producers, 1);
    append(&rig, 0, 0, 5);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
    assert_int_equal(simpler_prof_session_admit(rig.session, 2), 0);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
    assert_false(accounting.epoch_ok);
    assert_false(accounting.known);
    assert_int_equal(accounting.received, 0);
    assert_int_equal(accounting.refused_epoch, 0);
    assert_int_equal(accounting.total, 0);
    assert_int_equal(rig.streams[0].got.count, 5);
    rig_close(&rig);
}

/* An unproved end: published or held, nothing more is read, threads are joined, and
 * what stays in the queue is refused by the next run with both epochs named. */
static void an_unproved_run_is_not_imported(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_small(&rig);
    rig_begin(&rig, producers, 7);
    append(&rig, 0, 0, 3);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, unproved, &accounting), 0);
    assert_false(accounting.known);
    assert_false(accounting.epoch_ok);
    assert_int_equal(accounting.received, 0);
    assert_int_equal(accounting.total, 0);
    /* The thread that was not proved goes on: a full buffer of run 7. */
    append(&rig, 0, 0, 6);

    simpler_log_set_callback(keep_line, NULL);
    simpler_log_set_level(SIMPLER_LOG_WARN);
    rig_begin(&rig, producers, 8);
    append(&rig, 0, 0, 4);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
    simpler_log_set_level(SIMPLER_LOG_NONE);
    simpler_log_set_callback(NULL, NULL);
    assert_non_null(strstr(last_line, "8 records of run 7"));
    assert_non_null(strstr(last_line, "run 8 is admitted"));
    assert_int_equal(accounting.refused_epoch, 8);
    assert_int_equal(accounting.received, 4);
    assert_true(accounting.known);
    assert_int_equal(rig.streams[0].got.count, 4);
    rig_close(&rig);
}

/* What the host does not have when an unproved run ends stays in the device's queue. */
static void an_unproved_run_is_not_chased(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_small(&rig);
    rig_begin(&rig, producers, 1);
    simpler_session_stop(rig.session);
    append(&rig, 0, 0, 8 * 2 + 1);
    const struct simpler_prof_ready_lane *lane = producer_of(0, 0)->lane;
    uint32_t head = atomic_load(&lane->head);
    assert_int_equal(atomic_load(&lane->tail) - head, 2);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, unproved, &accounting), 0);
    assert_int_equal(atomic_load(&lane->head), head);
    assert_int_equal(accounting.received, 0);
    assert_int_equal(rig.streams[0].got.count, 0);
    rig_close(&rig);
}

/* A proved lane is collected and recovered beside one that is not. */
static void a_proved_lane_beside_an_unproved_one(void **state)
{
    const enum simpler_lane_end ends[LANES] = {SIMPLER_LANE_UNPROVED, SIMPLER_LANE_STOPPED};
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_small(&rig);
    rig_begin(&rig, producers, 1);
    append(&rig, 0, 0, 5);
    append(&rig, 1, 0, 8 * 3 + 5);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, ends, &accounting), 0);
    assert_false(accounting.known);
    assert_int_equal(accounting.received, 29);
    assert_int_equal(rig.streams[0].got.count, 0);
    assert_int_equal(rig.streams[RIG_KINDS].got.count, 29);
    rig_close(&rig);
}

/* Device memory outlives a session whose producers may still write. */
static void unproved_memory_is_not_freed(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_small(&rig);
    rig_begin(&rig, producers, 1);
    append(&rig, 0, 0, 3);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, unproved, &accounting), 0);
    struct rig_stream *streams = rig.streams;
    rig.streams = NULL;
    rig_close(&rig);
    rig.streams = streams;
    append(&rig, 0, 0, 20);
    rig_close(&rig);
}

static void the_last_flush_is_a_proof(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_small(&rig);
    rig_begin(&rig, producers, 3);
    for (uint32_t kind = 0; kind < RIG_KINDS; kind++) {
        assert_false(simpler_prof_session_flushed(rig.session, 0));
        append(&rig, 0, kind, 2);
        simpler_producer_finish(producer_of(0, kind));
    }
    assert_true(simpler_prof_session_flushed(rig.session, 0));
    assert_false(simpler_prof_session_flushed(rig.session, 1));
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
    rig_compare(&rig, &accounting);
    rig_begin(&rig, producers, 4);
    assert_false(simpler_prof_session_flushed(rig.session, 0));
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), 0);
    rig_close(&rig);
}

static void publish_forged(uint32_t lane, struct simpler_prof_ready_entry entry)
{
    struct simpler_prof_ready_lane *at = producer_of(lane, 0)->lane;
    uint32_t tail = atomic_load(&at->tail);

    producer_of(lane, 0)->entries[tail % 8] = entry;
    atomic_store(&at->tail, tail + 1);
}

/* A buffer of kind 3 that the host has in stock, with records as if of run 1. */
static uint64_t stocked(struct rig *rig)
{
    struct simpler_pool_block *block = atomic_load(&rig->session->pool.blocks);

    while (block->kind != 3)
        block = block->next;
    assert_false(block->buffers[block->count - 1].on_device);
    struct simpler_prof_buffer *place =
        simpler_buffer_pool_place(&block->buffers[block->count - 1]);
    place->run_epoch = 1;
    atomic_store(&place->count, 3);
    return block->buffers[block->count - 1].device;
}

/* Entries that name what is not theirs are dropped; the rest of the run is whole. */
static void forged_entries_are_dropped(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    rig_defaults(&rig, LANES, 1, 1);
    rig.client.buffers_per_lane[3] = SIMPLER_PROF_FREE_SLOTS + 4;
    assert_int_equal(rig_open(&rig), 0);
    rig_begin(&rig, producers, 1);
    append(&rig, 0, 0, 3);
    uint64_t held = atomic_load(&producer_of(0, 0)->state->current_buffer);
    publish_forged(0, (struct simpler_prof_ready_entry){0, 0, 4711, 0, 1, 0});
    publish_forged(0, (struct simpler_prof_ready_entry){0, 0, held + 64, 0, 1, 0});
    publish_forged(0, (struct simpler_prof_ready_entry){0, 1, held, 0, 1, 0});
    publish_forged(0, (struct simpler_prof_ready_entry){0, RIG_KINDS, held, 0, 1, 0});
    publish_forged(0, (struct simpler_prof_ready_entry){1, 0, held, 0, 1, 0});
    publish_forged(0, (struct simpler_prof_ready_entry){0, 3, stocked(&rig), 0, 1, 0});
    simpler_producer_finish(producer_of(0, 0));
    append(&rig, 1, 2, 20);
    int rc = simpler_prof_session_quiesce(rig.session, complete, &accounting);
    assert_int_equal(rc, 0);
    rig_compare(&rig, &accounting);
    assert_int_equal(accounting.received, 23);
    fault_saw_times("forged-entry", 6, "settle=%s lost=%d", simpler_status_name(rc),
                    23 - (int)accounting.received);
    rig_close(&rig);
}

static void impossible_indices_are_an_error(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_small(&rig);
    rig_begin(&rig, producers, 1);
    append(&rig, 0, 0, 3);
    atomic_fetch_add(&producer_of(0, 0)->lane->tail, 9);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), SIMPLER_EIO);
    assert_false(accounting.known);
    rig_close(&rig);
}

static void a_count_beyond_the_buffer_is_an_error(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;

    (void)state;
    open_small(&rig);
    rig_begin(&rig, producers, 1);
    append(&rig, 0, 0, 3);
    atomic_store(&producer_of(0, 0)->buffer->count, 9);
    assert_int_equal(simpler_prof_session_quiesce(rig.session, complete, &accounting), SIMPLER_EIO);
    assert_int_equal(rig.streams[0].got.count, 0);
    rig_close(&rig);
}

static void wrong_configurations_are_refused(void **state)
{
    struct rig rig;

    (void)state;
    for (int fault = 0; fault < 10; fault++) {
        rig_defaults(&rig, LANES, 1, 1);
        rig.config.lane_count = fault == 0 ? 0 : fault == 1 ? 4097 : LANES;
        rig.config.ready_depth = fault == 2 ? 0 : fault == 3 ? 6 : 8;
        rig.client.kind_count = fault == 4   ? 0
                                : fault == 5 ? SIMPLER_PROF_MAX_KINDS + 1
                                             : RIG_KINDS;
        rig.client.max_shards = fault == 6 ? 0 : 1;
        rig.config.kind[1].record_bytes = fault == 7 ? 0 : 16;
        rig.config.kind[1].records_per_buffer = fault == 8 ? 1u << 31 : 16;
        rig.client.buffers_per_lane[2] = fault == 9 ? 0 : 4;
        assert_int_equal(rig_open(&rig), SIMPLER_EINVAL);
        assert_null(rig.session);
        rig_close(&rig);
    }
    open_small(&rig);
    assert_int_equal(simpler_prof_session_admit(rig.session, 0), SIMPLER_EINVAL);
    assert_int_equal(simpler_prof_session_admit(rig.session, 1), 0);
    assert_int_equal(simpler_prof_session_admit(rig.session, 2), SIMPLER_EINVAL);
    rig_close(&rig);
}

/* Each allocation, mapping and thread start of an open may fail; nothing stays. */
static void each_step_of_open_may_fail(void **state)
{
    struct rig rig;
    uint64_t failures = 0;

    (void)state;
    if (!failing_alloc_available())
        skip();
    for (;; failures++) {
        rig_defaults(&rig, 3, 2, 1);
        rig.client.watermark[1] = 2;
        rig.client.max_buffers_per_lane[1] = 12;
        failing_alloc_arm(failures);
        int rc = rig_open(&rig);
        failing_alloc_disarm();
        if (!failing_alloc_fired())
            break;
        assert_true(rc == SIMPLER_ENOMEM || rc == SIMPLER_ETHREAD);
        assert_null(rig.session);
        fault_saw("session-step", "open=%s", simpler_status_name(rc));
        rig_close(&rig);
    }
    rig_close(&rig);
    /* At the least: 5 tables, 12 rings, region, 5 blocks twice, 5 threads. */
    assert_true(failures >= 33);
}

/* A restart after an unproved end may fail too; the session stays usable. */
static void a_restart_may_fail(void **state)
{
    struct rig rig;
    struct simpler_prof_accounting accounting;
    uint64_t failures = 0;

    (void)state;
    if (!failing_alloc_available())
        skip();
    open_small(&rig);
    for (uint32_t epoch = 1;; epoch += 2) {
        rig_begin(&rig, producers, epoch);
        assert_int_equal(simpler_prof_session_quiesce(rig.session, unproved, &accounting), 0);
        failing_alloc_arm(failures);
        int rc = simpler_prof_session_admit(rig.session, epoch + 1);
        failing_alloc_disarm();
        if (rc == 0)
            break;
        assert_int_equal(rc, SIMPLER_ETHREAD);
        failures++;
    }
    assert_int_equal(failures, 3);
    simpler_prof_session_prove_late(rig.session);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_follow_each_other),
        cmocka_unit_test(held_buffers_are_recovered_once),
        cmocka_unit_test(attach_takes_over_the_held_buffer),
        cmocka_unit_test(saturated_counters_are_unknown),
        cmocka_unit_test(sums_that_do_not_fit_are_unknown),
        cmocka_unit_test(an_uninitialised_run_has_no_accounting),
        cmocka_unit_test(an_unproved_run_is_not_imported),
        cmocka_unit_test(an_unproved_run_is_not_chased),
        cmocka_unit_test(a_proved_lane_beside_an_unproved_one),
        cmocka_unit_test(unproved_memory_is_not_freed),
        cmocka_unit_test(the_last_flush_is_a_proof),
        cmocka_unit_test(forged_entries_are_dropped),
        cmocka_unit_test(impossible_indices_are_an_error),
        cmocka_unit_test(a_count_beyond_the_buffer_is_an_error),
        cmocka_unit_test(wrong_configurations_are_refused),
        cmocka_unit_test(each_step_of_open_may_fail),
        cmocka_unit_test(a_restart_may_fail),
    };
    simpler_log_set_level(SIMPLER_LOG_NONE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
