/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The documented platform API against the host's collector, with this thread as
 * the orchestrator: which calls make a record, and which file each end of a run
 * makes.
 *
 * SS-04 SS-06 SS-08 SS-12 SS-14 SS-15 SS-16 SS-19 SS-20 SS-21 SS-22 SS-23 SS-27 SS-36
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cm.h"
#include "faults.h"
#include "collect/scope_stats/scope_stats_aicpu.h"
#include "collect/scope_stats/scope_stats_collector.h"
#include "scope_file.h"
#include "simpler/log.h"

static char prefix[128];
static struct simpler_scope_stats_collector *collector;
static struct scope_stats_outcome outcome;
static uint32_t epoch;
static char last_line[1024];
static int lines_logged;

static const struct scope_stats_capacities capacities = {
    true, {8, 8, 8, 8}, {1024, 1024, 1024, 1024}, {4, 4, 4, 4}, 16};

static void keep_line(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    lines_logged++;
    (void)snprintf(last_line, sizeof(last_line), "%s", line);
}

/* The transport of this test: what the device wrote cannot be read while deaf. */
static _Atomic bool deaf;

static int fetch(const struct simpler_region *region, size_t offset, size_t bytes)
{
    return atomic_load(&deaf) ? SIMPLER_EIO : simpler_transport_mapped.fetch(region, offset, bytes);
}

/* ---- the device's part ---- */

static void register_capacities(void)
{
    for (int r = 0; r < 4; r++)
        scope_stats_set_ring_capacity(r, 8, 1024, 4);
    scope_stats_set_tensormap_capacity(16);
}

static void start_device(void)
{
    set_scope_stats_enabled(true);
    scope_stats_set_run_epoch(epoch);
    set_platform_scope_stats_base(simpler_scope_stats_collector_device_base(collector));
    register_capacities();
}

static void admit(void)
{
    assert_int_equal(simpler_scope_stats_collector_admit(collector, ++epoch, prefix, &capacities),
                     0);
}

static int settle(enum simpler_lane_end end)
{
    return simpler_scope_stats_collector_settle(collector, end, &outcome);
}

static void begin(int ring)
{
    scope_stats_begin(ring, 1, 2, 3, 4, 5, 6, 7);
}

static void end(int ring)
{
    scope_stats_end(ring, 11, 12, 13, 14, 15, 16, 17);
}

/* ---- records ---- */

static void values_arrive_as_they_were_given(void **state)
{
    (void)state;
    admit();
    start_device();
    scope_stats_set_pending_site("/some/where/a.c", 9);
    scope_stats_begin(2, 1, 2, 3, UINT64_MAX, 5, 6, 7);
    scope_stats_end(1, 11, 12, 13, 14, 15, 16, 17);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    struct scope_file file = scope_file_read(prefix);
    assert_string_equal(file.metadata,
                        "{\"fatal\": false, \"dropped\": 0, \"total\": 2, \"task_window_max\": [8, "
                        "8, 8, 8], \"heap_max\": [1024, 1024, 1024, 1024], \"dep_pool_max\": [4, "
                        "4, 4, 4], \"tensormap_max\": 16}");
    assert_int_equal(file.count, 2);
    const struct scope_file_sample *s = file.samples;
    assert_string_equal(s[0].file, "a.c");
    assert_int_equal(s[0].line, 9);
    assert_int_equal(s[0].depth, 0);
    assert_int_equal(s[0].ring, 2);
    assert_int_equal(s[0].task_start, 1);
    assert_int_equal(s[0].task_end, 2);
    assert_int_equal(s[0].heap_start, 3);
    assert_true(s[0].heap_end == UINT64_MAX);
    assert_int_equal(s[0].pool_start, 5);
    assert_int_equal(s[0].pool_end, 6);
    assert_int_equal(s[0].tensormap, 7);
    assert_int_equal(s[0].run_epoch, epoch);
    assert_string_equal(s[1].file, "a.c");
    assert_string_equal(s[1].phase, "end");
    assert_int_equal(s[1].ring, 1);
    assert_int_equal(s[1].tensormap, 17);
    scope_file_free(&file);
}

/* A ring that does not exist: no record, no count, no line of log, and pairs stay. */
static void other_rings_are_ignored(void **state)
{
    (void)state;
    static const int rings[] = {-1, 4, 5, INT32_MAX, INT32_MIN};

    admit();
    start_device();
    lines_logged = 0;
    begin(0);
    for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
        begin(rings[i]);
        end(rings[i]);
    }
    begin(3);
    end(3);
    end(0);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    assert_int_equal(lines_logged, 0);
    struct scope_file file = scope_file_read(prefix);
    assert_non_null(strstr(file.metadata, "\"dropped\": 0, \"total\": 4,"));
    assert_int_equal(file.count, 4);
    assert_int_equal(file.samples[1].depth, 1);
    assert_int_equal(file.samples[2].depth, 1);
    assert_int_equal(file.samples[3].depth, 0);
    scope_file_free(&file);
}

/* A pending site is for the begin that follows; a base forgets scopes and site. */
static void sites_pend_for_one_begin(void **state)
{
    (void)state;
    admit();
    start_device();
    scope_stats_set_pending_site("a.c", 1);
    begin(0);
    begin(1);
    scope_stats_set_pending_site("b.c", 2);
    scope_stats_set_pending_site("c.c", 3);
    start_device();
    begin(0);
    end(0);
    end(0); /* nothing is open */
    begin(0);
    end(0);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(file.samples[i].file, "(unknown)");
        assert_int_equal(file.samples[i].line, 0);
        assert_int_equal(file.samples[i].depth, 0);
    }
    scope_file_free(&file);
}

static void site_is(const char *path, const char *name)
{
    admit();
    start_device();
    scope_stats_set_pending_site(path, 1);
    begin(0);
    end(0);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    struct scope_file file = scope_file_read(prefix);
    assert_string_equal(file.samples[0].file, name);
    assert_string_equal(file.samples[1].file, name);
    scope_file_free(&file);
}

#define X30 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static void long_names_are_cut_at_a_code_point(void **state)
{
    (void)state;
    lines_logged = 0;
    site_is("dir/" X30 "y", X30 "y");
    site_is("dir\\sub/" X30 "\\plain", "plain");
    assert_int_equal(lines_logged, 0);
    site_is("dir/" X30 "yz", X30 "y");
    assert_int_equal(lines_logged, 1);
    assert_non_null(strstr(last_line, "longer than 31 bytes"));
    /* A letter of two bytes at the edge, one of four that begins three before it. */
    site_is(X30 "\xc3\xbc.c", X30);
    site_is("xxxxxxxxxxxxxxxxxxxxxxxxxxxx\xf0\x9f\x8c\x8d.c", "xxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    site_is("xxxxxxxxxxxxxxxxxxxxxxxxxxx\xf0\x9f\x8c\x8d.c",
            "xxxxxxxxxxxxxxxxxxxxxxxxxxx\xf0\x9f\x8c\x8d");
    assert_int_equal(lines_logged, 4);
}

/* More files than the cache of names has places. */
static void every_file_keeps_its_name(void **state)
{
    (void)state;
    enum { FILES = 500 };
    static char paths[FILES][32];

    admit();
    start_device();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < FILES; i++) {
            (void)snprintf(paths[i], sizeof(paths[i]), "d/file_%d.c", i);
            scope_stats_set_pending_site(paths[i], i);
            begin(0);
            end(0);
        }
    }
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, 4 * FILES);
    for (uint32_t i = 0; i < file.count; i++) {
        char want[32];
        (void)snprintf(want, sizeof(want), "file_%u.c", i / 2 % FILES);
        assert_string_equal(file.samples[i].file, want);
    }
    scope_file_free(&file);
}

static void disabled_does_nothing(void **state)
{
    (void)state;
    admit();
    start_device();
    begin(0);
    set_scope_stats_enabled(false);
    assert_false(is_scope_stats_enabled());
    scope_stats_set_pending_site("a.c", 1);
    begin(1);
    end(1);
    scope_stats_on_fatal();
    scope_stats_flush();
    set_scope_stats_enabled(true);
    assert_true(is_scope_stats_enabled());
    end(0);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    struct scope_file file = scope_file_read(prefix);
    assert_non_null(strstr(file.metadata, "\"fatal\": false, \"dropped\": 0, \"total\": 2,"));
    scope_file_free(&file);
}

/* No memory of a collector behind the base: nothing is written anywhere. */
static void a_base_without_a_header_is_refused(void **state)
{
    (void)state;
    static _Alignas(64) uint8_t page[4096];
    static const uint8_t zeros[4096];

    set_scope_stats_enabled(true);
    set_platform_scope_stats_base(0);
    begin(0);
    end(0);
    set_platform_scope_stats_base((uint64_t)(uintptr_t)page);
    register_capacities();
    begin(0);
    end(0);
    scope_stats_on_fatal();
    scope_stats_flush();
    assert_memory_equal(page, zeros, sizeof(page));
}

static void *latch(void *unused)
{
    (void)unused;
    scope_stats_on_fatal(); /* of no run: nothing happens */
    scope_stats_join_run(simpler_scope_stats_collector_device_base(collector));
    begin(0); /* it produces nothing */
    scope_stats_on_fatal();
    return NULL;
}

static void any_thread_of_the_run_may_latch(void **state)
{
    (void)state;
    pthread_t thread;

    admit();
    start_device();
    begin(0);
    assert_int_equal(pthread_create(&thread, NULL, latch, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    assert_true(outcome.fatal);
    struct scope_file file = scope_file_read(prefix);
    assert_non_null(strstr(file.metadata, "{\"fatal\": true, \"dropped\": 0, \"total\": 1,"));
    scope_file_free(&file);
}

/* ---- ends ---- */

static void wait_for_the_host(void)
{
    const struct simpler_prof_header *header =
        (struct simpler_prof_header *)(uintptr_t)simpler_scope_stats_collector_device_base(
            collector);
    struct simpler_prof_ready_lane *lane =
        (struct simpler_prof_ready_lane *)(void *)((uint8_t *)(uintptr_t)header +
                                                   header->lanes_offset);

    for (int i = 0; i < 5000 && atomic_load(&lane->head) != atomic_load(&lane->tail); i++)
        (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(atomic_load(&lane->head), atomic_load(&lane->tail));
}

static void no_file(int status)
{
    assert_int_equal(outcome.status, status);
    assert_false(outcome.has_file);
    assert_false(scope_file_exists(prefix));
}

/* A file of a healthy predecessor at the same place. */
static void leave_a_predecessor(void)
{
    admit();
    start_device();
    begin(0);
    end(0);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    assert_true(scope_file_exists(prefix));
}

static void unknown_capacities_are_refused(void **state)
{
    (void)state;
    static const struct scope_stats_capacities unknown = {.known = false};

    assert_int_equal(simpler_scope_stats_collector_admit(collector, epoch + 1, prefix, &unknown),
                     SIMPLER_EINVAL);
}

static void a_run_that_never_reached_the_device_has_no_file(void **state)
{
    (void)state;
    leave_a_predecessor();
    admit();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), SIMPLER_EPARTIAL);
    no_file(SIMPLER_EPARTIAL);
    assert_non_null(strstr(last_line, "was not initialised"));
}

static void other_capacities_on_the_device_are_refused(void **state)
{
    (void)state;
    leave_a_predecessor();
    admit();
    start_device();
    scope_stats_set_ring_capacity(2, 16, 1024, 4);
    begin(0);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), SIMPLER_EPARTIAL);
    no_file(SIMPLER_EPARTIAL);
}

/* Stopped is a proof as well: what the producer still holds is recovered. */
static void a_held_buffer_is_recovered(void **state)
{
    (void)state;
    admit();
    start_device();
    for (int i = 0; i < 600; i++) { /* one buffer published, one held */
        begin(0);
        end(0);
    }
    assert_int_equal(settle(SIMPLER_LANE_STOPPED), 0);
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, 1200);
    assert_non_null(strstr(file.metadata, "\"dropped\": 0, \"total\": 1200,"));
    scope_file_free(&file);
}

/* The held buffer goes to the next run, empty and with its stamp. */
static void a_recovered_buffer_is_stamped_anew(void **state)
{
    (void)state;
    admit();
    start_device();
    begin(0);
    assert_int_equal(settle(SIMPLER_LANE_STOPPED), 0);
    admit();
    start_device();
    begin(0);
    end(0);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), 0);
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, 2);
    assert_int_equal(file.samples[0].run_epoch, epoch);
    scope_file_free(&file);
}

/* A counter at its limit: whatever it says is not known, the rest is. */
static void a_saturated_counter_is_unknown(void **state)
{
    (void)state;
    struct simpler_prof_header *header =
        (struct simpler_prof_header *)(uintptr_t)simpler_scope_stats_collector_device_base(
            collector);
    struct simpler_prof_state *producer =
        (struct simpler_prof_state *)(void *)((uint8_t *)header + header->states_offset);

    admit();
    start_device();
    atomic_store(&producer->total, UINT32_MAX - 1);
    begin(0);
    end(0);
    scope_stats_flush();
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), SIMPLER_EPARTIAL);
    assert_false(outcome.counts_known);
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, 2);
    assert_string_equal(file.metadata,
                        "{\"fatal\": false, \"dropped\": null, \"total\": null, "
                        "\"task_window_max\": [8, 8, 8, 8], \"heap_max\": [1024, 1024, 1024, "
                        "1024], \"dep_pool_max\": [4, 4, 4, 4], \"tensormap_max\": 16}");
    fault_saw("counter-saturated", "settle=%s samples=%d counts=%s",
              simpler_status_name(outcome.status), (int)file.count,
              outcome.counts_known ? "known" : "unknown");
    scope_file_free(&file);
}

/* Proof, but the shared memory cannot be read: logged, no file, no predecessor's. */
static void accounting_that_cannot_be_read_is_refused(void **state)
{
    (void)state;
    leave_a_predecessor();
    admit();
    start_device();
    begin(0);
    end(0);
    scope_stats_flush();
    atomic_store(&deaf, true);
    lines_logged = 0;
    assert_int_equal(settle(SIMPLER_LANE_COMPLETE), SIMPLER_EPARTIAL);
    atomic_store(&deaf, false);
    no_file(SIMPLER_EPARTIAL);
    assert_true(lines_logged > 0);
}

/* ---- without a proof; these come last, a session may keep what a device may still touch ---- */

static void unproven_keeps_what_the_host_has(void **state)
{
    (void)state;
    leave_a_predecessor();
    admit();
    start_device();
    for (int i = 0; i < (int)SCOPE_STATS_RECORDS / 2; i++) {
        begin(i % 4);
        end(i % 4);
    }
    begin(0); /* publishes the full buffer and stays in the next */
    wait_for_the_host();
    assert_int_equal(settle(SIMPLER_LANE_UNPROVED), SIMPLER_EPARTIAL);
    struct scope_file file = scope_file_read(prefix);
    assert_int_equal(file.count, SCOPE_STATS_RECORDS);
    assert_string_equal(
        file.metadata,
        "{\"fatal\": null, \"dropped\": null, \"total\": null, \"task_window_max\": [8, 8, 8, 8], "
        "\"heap_max\": [1024, 1024, 1024, 1024], \"dep_pool_max\": [4, 4, 4, 4], "
        "\"tensormap_max\": 16, \"collection_verdict\": \"partial_cut_unknown\", "
        "\"counts_unknown\": true, \"host_received_records\": 512, \"host_retained_records\": "
        "512}");
    scope_file_free(&file);
}

static void unproven_and_empty_leaves_no_file(void **state)
{
    (void)state;
    char path[256];

    admit();
    (void)snprintf(path, sizeof(path), "%s/scope_stats/scope_stats.jsonl", prefix);
    FILE *old = fopen(path, "w"); /* as if a predecessor's had come back */
    assert_non_null(old);
    (void)fclose(old);
    assert_int_equal(settle(SIMPLER_LANE_UNPROVED), SIMPLER_EPARTIAL);
    no_file(SIMPLER_EPARTIAL);
    /* What cannot be removed is returned. */
    admit();
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(settle(SIMPLER_LANE_UNPROVED), SIMPLER_EIO);
    assert_false(outcome.has_file);
}

static int open_collector(void **state)
{
    (void)state;
    static struct simpler_transport_ops transport;
    transport = simpler_transport_mapped;
    transport.fetch = fetch;
    struct scope_stats_collector_config config = {.transport = &transport,
                                                  .first_index = UINT32_MAX - 16};

    scope_file_make_prefix(prefix);
    simpler_log_set_callback(keep_line, NULL);
    return simpler_scope_stats_collector_open(&config, &collector);
}

static int close_collector(void **state)
{
    (void)state;
    set_scope_stats_enabled(false);
    simpler_scope_stats_collector_close(collector);
    simpler_log_set_callback(NULL, NULL);
    scope_file_remove_prefix(prefix);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_arrive_as_they_were_given),
        cmocka_unit_test(other_rings_are_ignored),
        cmocka_unit_test(sites_pend_for_one_begin),
        cmocka_unit_test(long_names_are_cut_at_a_code_point),
        cmocka_unit_test(every_file_keeps_its_name),
        cmocka_unit_test(disabled_does_nothing),
        cmocka_unit_test(a_base_without_a_header_is_refused),
        cmocka_unit_test(any_thread_of_the_run_may_latch),
        cmocka_unit_test(unknown_capacities_are_refused),
        cmocka_unit_test(a_run_that_never_reached_the_device_has_no_file),
        cmocka_unit_test(other_capacities_on_the_device_are_refused),
        cmocka_unit_test(a_held_buffer_is_recovered),
        cmocka_unit_test(a_recovered_buffer_is_stamped_anew),
        cmocka_unit_test(a_saturated_counter_is_unknown),
        cmocka_unit_test(accounting_that_cannot_be_read_is_refused),
        cmocka_unit_test(unproven_keeps_what_the_host_has),
        cmocka_unit_test(unproven_and_empty_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, open_collector, close_collector);
}
