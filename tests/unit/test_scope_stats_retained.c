/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs whose samples stay in memory until a writer makes their file: what the
 * eleven keys say of each end, the budget, the terminal of each run, and that nothing is
 * ever written over.  This thread is the orchestrator and the writer.
 *
 * SS-14 SS-20 SS-25 SS-26 SS-27 SS-28
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cm.h"
#include "faults.h"
#include "collect/scope_stats/scope_stats_aicpu.h"
#include "collect/scope_stats/scope_stats_collector.h"
#include "scope_file.h"
#include "simpler/log.h"

#define PREFIXES 4

static char base[128];
static char prefix[160]; /* of the run that is admitted */
static struct simpler_scope_stats_collector *collector;
static struct scope_stats_outcome outcome;
static struct scope_stats_file writer;
static uint32_t epoch;

#define CAPACITIES(window)                                                                 \
    {                                                                                      \
        true, {window, window, window, window}, {1024, 1024, 1024, 1024}, {4, 4, 4, 4}, 16 \
    }
static struct scope_stats_capacities capacities = CAPACITIES(8);

#define MAXIMA                                                                    \
    "\"task_window_max\": [8, 8, 8, 8], \"heap_max\": [1024, 1024, 1024, 1024], " \
    "\"dep_pool_max\": [4, 4, 4, 4], \"tensormap_max\": 16, "

/* ---- a run ---- */

static void open_with(const struct simpler_transport_ops *transport, uint64_t budget)
{
    struct scope_stats_collector_config config = {
        .transport = transport, .first_index = UINT32_MAX - 16, .budget_bytes = budget};

    assert_int_equal(simpler_scope_stats_collector_open(&config, &collector), 0);
}

static void start_device(void)
{
    set_scope_stats_enabled(true);
    scope_stats_set_run_epoch(epoch);
    set_platform_scope_stats_base(simpler_scope_stats_collector_device_base(collector));
    for (int r = 0; r < 4; r++)
        scope_stats_set_ring_capacity(r, (int32_t)capacities.task_window[r], 1024, 4);
    scope_stats_set_tensormap_capacity(16);
}

static void admit(void)
{
    (void)snprintf(prefix, sizeof(prefix), "%s/%u", base, ++epoch);
    assert_int_equal(
        simpler_scope_stats_collector_admit_retained(collector, epoch, prefix, &capacities), 0);
    start_device();
}

static void scopes(int count)
{
    for (int i = 0; i < count; i++) {
        scope_stats_begin(0, 1, 2, 3, 4, 5, 6, 7);
        scope_stats_end(0, 11, 12, 13, 14, 15, 16, 17);
    }
}

static int settle(enum simpler_lane_end end)
{
    return simpler_scope_stats_collector_settle(collector, end, &outcome);
}

static int write_run(struct scope_stats_retained *run)
{
    assert_non_null(run);
    int rc = simpler_scope_stats_retained_write(run, &writer);
    simpler_scope_stats_retained_close(run);
    return rc;
}

static int write_taken(void)
{
    return write_run(simpler_scope_stats_collector_take(collector));
}

static void metadata_is(const char *expected, uint32_t count)
{
    struct scope_file file = scope_file_read(prefix);

    assert_string_equal(file.metadata, expected);
    assert_int_equal(file.count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(file.samples[i].run_epoch, epoch);
    scope_file_free(&file);
}

/* ---- shared memory, as the device sees it ---- */

static struct simpler_prof_header *header(void)
{
    return (struct simpler_prof_header *)(uintptr_t)simpler_scope_stats_collector_device_base(
        collector);
}

static struct simpler_prof_state *producer(void)
{
    return (struct simpler_prof_state *)(void *)((uint8_t *)header() + header()->states_offset);
}

static struct scope_stats_block *block(void)
{
    return (struct scope_stats_block *)(void *)((uint8_t *)header() + header()->client_offset);
}

/* ---- verdicts ---- */

static void a_whole_run_is_published(void **state)
{
    (void)state;
    admit();
    scopes(600); /* a buffer published, one held until the flush */
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    assert_true(outcome.is_retained);
    assert_false(outcome.has_file);
    assert_int_equal(outcome.records, 1200);
    assert_false(scope_file_exists(prefix));
    assert_int_equal(write_taken(), 0);
    assert_null(simpler_scope_stats_collector_take(collector));
    metadata_is("{\"fatal\": false, \"dropped\": 0, \"total\": 1200, " MAXIMA
                "\"collection_verdict\": \"published\", \"counts_unknown\": false, "
                "\"host_received_records\": 1200, \"host_retained_records\": 1200}",
                1200);
}

static void a_fatal_is_partial(void **state)
{
    (void)state;
    admit();
    scopes(2);
    scope_stats_on_fatal();
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), SIMPLER_EPARTIAL);
    assert_int_equal(write_taken(), SIMPLER_EPARTIAL);
    metadata_is("{\"fatal\": true, \"dropped\": 0, \"total\": 4, " MAXIMA
                "\"collection_verdict\": \"partial_safe\", \"counts_unknown\": false, "
                "\"host_received_records\": 4, \"host_retained_records\": 4}",
                4);
}

static void a_loss_on_the_device_is_partial(void **state)
{
    (void)state;
    admit();
    for (int i = 0; i < 65; i++)
        scope_stats_begin(0, 1, 2, 3, 4, 5, 6, 7);
    for (int i = 0; i < 65; i++)
        scope_stats_end(0, 1, 2, 3, 4, 5, 6, 7);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), SIMPLER_EPARTIAL);
    assert_int_equal(write_taken(), SIMPLER_EPARTIAL);
    metadata_is("{\"fatal\": false, \"dropped\": 2, \"total\": 130, " MAXIMA
                "\"collection_verdict\": \"partial_safe\", \"counts_unknown\": false, "
                "\"host_received_records\": 128, \"host_retained_records\": 128}",
                128);
}

/* Refused by the budget: received, not retained, not dropped; the budget is given back. */
static void a_budget_refuses_and_recovers(void **state)
{
    (void)state;
    struct simpler_scope_stats_collector *other = collector;

    open_with(&simpler_transport_mapped, 56000); /* a buffer of 512 records and one of 176 */
    for (int round = 0; round < 3; round++) {
        admit();
        scopes(600);
        scope_stats_flush();
        int rc = settle(SIMPLER_LANE_COMPLETE);
        assert_int_equal(rc, SIMPLER_EPARTIAL);
        assert_int_equal(outcome.write_failed, 512); /* the second full buffer */
        fault_saw("across-memory-full", "settle=%s not_counted=%d", simpler_status_name(rc),
                  1200 - (int)(outcome.records + outcome.write_failed));
        assert_int_equal(write_taken(), SIMPLER_EPARTIAL);
        metadata_is("{\"fatal\": false, \"dropped\": 0, \"total\": 1200, " MAXIMA
                    "\"collection_verdict\": \"partial_safe\", \"counts_unknown\": false, "
                    "\"host_received_records\": 1200, \"host_retained_records\": 688}",
                    688);
    }
    simpler_scope_stats_collector_close(collector);
    collector = other;
}

/* Two runs share the budget: what one holds the other does not get. */
static void runs_share_the_budget(void **state)
{
    (void)state;
    struct simpler_scope_stats_collector *other = collector;
    char first_prefix[160];

    open_with(&simpler_transport_mapped, 50000);
    admit();
    scopes(256);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    struct scope_stats_retained *first = simpler_scope_stats_collector_take(collector);
    memcpy(first_prefix, prefix, sizeof(prefix));
    admit();
    scopes(256);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), SIMPLER_EPARTIAL);
    assert_int_equal(outcome.records, 0);
    assert_int_equal(write_run(first), 0);
    assert_int_equal(write_taken(), SIMPLER_EPARTIAL);
    metadata_is("{\"fatal\": false, \"dropped\": 0, \"total\": 512, " MAXIMA
                "\"collection_verdict\": \"partial_safe\", \"counts_unknown\": false, "
                "\"host_received_records\": 512, \"host_retained_records\": 0}",
                0);
    assert_true(scope_file_exists(first_prefix));
    simpler_scope_stats_collector_close(collector);
    collector = other;
}

static void a_saturated_counter_is_unknown(void **state)
{
    (void)state;
    admit();
    atomic_store(&producer()->total, UINT32_MAX - 1);
    scopes(1);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), SIMPLER_EPARTIAL);
    assert_false(outcome.counts_known);
    assert_int_equal(write_taken(), SIMPLER_EPARTIAL);
    metadata_is("{\"fatal\": false, \"dropped\": null, \"total\": null, " MAXIMA
                "\"collection_verdict\": \"partial_cut_unknown\", \"counts_unknown\": true, "
                "\"host_received_records\": 2, \"host_retained_records\": 2}",
                2);
}

static void a_mismatch_is_unknown(void **state)
{
    (void)state;
    admit();
    atomic_store(&producer()->total, 40);
    scopes(1);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), SIMPLER_EPARTIAL);
    assert_int_equal(write_taken(), SIMPLER_EPARTIAL);
    metadata_is("{\"fatal\": false, \"dropped\": null, \"total\": null, " MAXIMA
                "\"collection_verdict\": \"partial_cut_unknown\", \"counts_unknown\": true, "
                "\"host_received_records\": 2, \"host_retained_records\": 2}",
                2);
}

/* Initialised by nobody, or with other sizes: no file, nothing to take. */
static void a_refused_snapshot_leaves_nothing(void **state)
{
    (void)state;
    (void)snprintf(prefix, sizeof(prefix), "%s/%u", base, ++epoch);
    assert_int_equal(
        simpler_scope_stats_collector_admit_retained(collector, epoch, prefix, &capacities), 0);
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), SIMPLER_EPARTIAL);
    assert_null(simpler_scope_stats_collector_take(collector));
    admit();
    scope_stats_set_ring_capacity(1, 99, 1024, 4);
    scopes(1);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), SIMPLER_EPARTIAL);
    assert_null(simpler_scope_stats_collector_take(collector));
    assert_false(scope_file_exists(prefix));
}

/* ---- terminals ---- */

/* What comes to the shared counters after the orchestrator has left is not this run's. */
static void the_terminal_counts_not_the_counters(void **state)
{
    (void)state;
    admit();
    scopes(3);
    scope_stats_flush();
    assert_int_equal(block()->terminal_count, SCOPE_STATS_TERMINALS);
    const struct scope_stats_terminal *t = &block()->terminal[epoch % SCOPE_STATS_TERMINALS];
    assert_int_equal(atomic_load(&t->run_epoch), epoch);
    assert_int_equal(t->total, 6);
    assert_int_equal(t->live_at_close, 0);
    atomic_store(&producer()->total, 0); /* as the next run's producer does */
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    assert_int_equal(write_taken(), 0);
}

/* Two runs have a terminal each, and a disabled one touches neither. */
static void terminals_alternate(void **state)
{
    (void)state;
    for (int run = 0; run < 2; run++) {
        admit();
        scopes(run + 1);
        scope_stats_flush();
        assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
        assert_int_equal(write_taken(), 0);
    }
    const struct scope_stats_terminal *t = block()->terminal;
    assert_int_equal(t[epoch % 2].total, 4);
    assert_int_equal(t[(epoch - 1) % 2].total, 2);
    struct simpler_prof_state before = *producer();
    struct scope_stats_terminal kept[2] = {t[0], t[1]};
    epoch++;
    set_scope_stats_enabled(false);
    scope_stats_set_run_epoch(epoch);
    scopes(5);
    scope_stats_flush();
    assert_memory_equal(producer(), &before, sizeof(before));
    assert_memory_equal(t, kept, sizeof(kept));
}

/* A producer that was stopped has left none: what it holds is recovered and counted. */
static void a_stopped_producer_is_counted_without(void **state)
{
    (void)state;
    admit();
    scopes(300);
    assert_int_equal(settle(SIMPLER_LANE_STOPPED), 0);
    assert_int_equal(write_taken(), 0);
    metadata_is("{\"fatal\": false, \"dropped\": 0, \"total\": 600, " MAXIMA
                "\"collection_verdict\": \"published\", \"counts_unknown\": false, "
                "\"host_received_records\": 600, \"host_retained_records\": 600}",
                600);
}

/* Where memory is not shared the boundary settles everything: there is no terminal. */
static void without_shared_memory_there_is_no_terminal(void **state)
{
    (void)state;
    struct simpler_scope_stats_collector *other = collector;

    open_with(&simpler_transport_shadow, 0);
    admit();
    scopes(300);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    assert_int_equal(write_taken(), 0);
    metadata_is("{\"fatal\": false, \"dropped\": 0, \"total\": 600, " MAXIMA
                "\"collection_verdict\": \"published\", \"counts_unknown\": false, "
                "\"host_received_records\": 600, \"host_retained_records\": 600}",
                600);
    simpler_scope_stats_collector_close(collector);
    collector = other;
}

/* ---- destinations ---- */

/* A file that comes after admission is found at the rename, and stays as it is. */
static void nothing_is_replaced(void **state)
{
    (void)state;
    char path[256], text[16] = "";

    admit();
    scopes(1);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    assert_int_equal(mkdir(prefix, 0777), 0);
    (void)snprintf(path, sizeof(path), "%s/scope_stats", prefix);
    assert_int_equal(mkdir(path, 0777), 0);
    (void)snprintf(path, sizeof(path), "%s/scope_stats/scope_stats.jsonl", prefix);
    FILE *other = fopen(path, "w");
    assert_non_null(other);
    (void)fputs("theirs\n", other);
    (void)fclose(other);
    assert_int_equal(write_taken(), SIMPLER_EEXIST);
    other = fopen(path, "r");
    assert_non_null(fgets(text, sizeof(text), other));
    (void)fclose(other);
    assert_string_equal(text, "theirs\n");
    (void)strncat(path, ".partial", sizeof(path) - strlen(path) - 1);
    struct stat info;
    assert_int_not_equal(stat(path, &info), 0);
}

static void a_place_that_cannot_be_is_a_failure(void **state)
{
    (void)state;
    (void)snprintf(prefix, sizeof(prefix), "/dev/null/no");
    epoch++;
    assert_int_equal(
        simpler_scope_stats_collector_admit_retained(collector, epoch, prefix, &capacities), 0);
    start_device();
    scopes(300);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    int rc = write_taken();
    assert_int_equal(rc, SIMPLER_EIO);
    fault_saw("across-no-place", "write=%s", simpler_status_name(rc));
}

/* Files are made later and in any order; each keeps its run's sizes and number. */
static void runs_keep_their_own(void **state)
{
    (void)state;
    struct scope_stats_retained *runs[PREFIXES];
    char prefixes[PREFIXES][160];
    char expected[256];
    uint32_t first = epoch + 1;

    for (uint32_t i = 0; i < PREFIXES; i++) {
        capacities = (struct scope_stats_capacities)CAPACITIES(8u << i);
        admit();
        memcpy(prefixes[i], prefix, sizeof(prefix));
        scopes((int)i + 1);
        scope_stats_flush();
        assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
        runs[i] = simpler_scope_stats_collector_take(collector);
    }
    capacities = (struct scope_stats_capacities)CAPACITIES(8);
    for (uint32_t i = PREFIXES; i-- > 0;) {
        assert_int_equal(write_run(runs[i]), 0);
        struct scope_file file = scope_file_read(prefixes[i]);
        (void)snprintf(expected, sizeof(expected),
                       "\"total\": %u, \"task_window_max\": [%u, %u, %u, %u],", 2 * (i + 1),
                       8u << i, 8u << i, 8u << i, 8u << i);
        assert_non_null(strstr(file.metadata, expected));
        assert_int_equal(file.count, 2 * (i + 1));
        assert_int_equal(file.samples[0].run_epoch, first + i);
        scope_file_free(&file);
    }
}

/* ---- without a proof; last, a session may keep what a device may still touch ---- */

static void unproved_discards_the_copies(void **state)
{
    (void)state;
    admit();
    scopes(600);
    assert_int_equal(settle(SIMPLER_LANE_UNPROVED), SIMPLER_EPARTIAL);
    assert_false(outcome.is_retained);
    assert_null(simpler_scope_stats_collector_take(collector));
    assert_false(scope_file_exists(prefix));
    /* The device that was unproved is here no other thread: the next run is whole. */
    admit();
    scopes(1);
    scope_stats_flush();
    (void)settle(SIMPLER_LANE_COMPLETE);
    (void)write_taken();
}

static int open_all(void **state)
{
    (void)state;
    scope_file_make_prefix(base);
    simpler_log_set_level(SIMPLER_LOG_NONE);
    open_with(&simpler_transport_mapped, 0);
    return simpler_scope_stats_file_init(&writer);
}

static int close_all(void **state)
{
    (void)state;
    set_scope_stats_enabled(false);
    simpler_scope_stats_collector_close(collector);
    simpler_scope_stats_file_fini(&writer);
    scope_file_remove_prefix(base);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_run_is_published),
        cmocka_unit_test(a_fatal_is_partial),
        cmocka_unit_test(a_loss_on_the_device_is_partial),
        cmocka_unit_test(a_budget_refuses_and_recovers),
        cmocka_unit_test(runs_share_the_budget),
        cmocka_unit_test(a_saturated_counter_is_unknown),
        cmocka_unit_test(a_mismatch_is_unknown),
        cmocka_unit_test(a_refused_snapshot_leaves_nothing),
        cmocka_unit_test(the_terminal_counts_not_the_counters),
        cmocka_unit_test(terminals_alternate),
        cmocka_unit_test(a_stopped_producer_is_counted_without),
        cmocka_unit_test(without_shared_memory_there_is_no_terminal),
        cmocka_unit_test(nothing_is_replaced),
        cmocka_unit_test(a_place_that_cannot_be_is_a_failure),
        cmocka_unit_test(runs_keep_their_own),
        cmocka_unit_test(unproved_discards_the_copies),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
