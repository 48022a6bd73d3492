/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctest: TIMEOUT 900
 * A million scopes through two buffers of 4 KiB: every sample is in the file, once
 * and in its order, in the memory of a hundred scopes.  SIMPLER_TEST_SECONDS (as
 * `make soak` sets it) makes it ten million.
 *
 * SS-12
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cm.h"
#include "collect/scope_stats/scope_stats_aicpu.h"
#include "collect/scope_stats/scope_stats_collector.h"
#include "scope_file.h"

static char prefix[128];
static const struct scope_stats_capacities capacities = {
    true, {8, 8, 8, 8}, {1024, 1024, 1024, 1024}, {4, 4, 4, 4}, 16};

/* 4096 - 64 bytes of header / 80. */
#define RECORDS 50

static void produce(uint64_t scopes)
{
    uint64_t n = 0;

    for (int r = 0; r < 4; r++)
        scope_stats_set_ring_capacity(r, 8, 1024, 4);
    scope_stats_set_tensormap_capacity(16);
    for (uint64_t i = 0; i < scopes; i++) {
        scope_stats_set_pending_site(__FILE__, __LINE__);
        scope_stats_begin(1, 0, 1, n, n + 1, 1, 1, 0);
        n++;
        scope_stats_end(1, 0, 1, n, n + 1, 1, 1, 0);
        n++;
    }
    scope_stats_flush();
}

/* Kilobytes that this process has had at most. */
static long peak_memory(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* Sample i has heap_start i, and begins and ends alternate. */
static void check_order(uint64_t samples)
{
    char path[256], line[1024];
    uint64_t n = 0;

    (void)snprintf(path, sizeof(path), "%s/scope_stats/scope_stats.jsonl", prefix);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof(line), in));
    while (fgets(line, sizeof(line), in) != NULL) {
        const char *heap = strstr(line, "\"heap_start\": ");
        if (heap == NULL || strtoull(heap + 14, NULL, 10) != n ||
            (strstr(line, "\"phase\": \"begin\"") != NULL) != (n % 2 == 0))
            fail_msg("line %llu is %s", (unsigned long long)n, line);
        n++;
    }
    (void)fclose(in);
    assert_int_equal(n, samples);
}

static void run(struct simpler_scope_stats_collector *collector, uint32_t epoch, uint64_t scopes)
{
    struct scope_stats_outcome outcome;

    assert_int_equal(simpler_scope_stats_collector_admit(collector, epoch, prefix, &capacities), 0);
    set_scope_stats_enabled(true);
    scope_stats_set_run_epoch(epoch);
    set_platform_scope_stats_base(simpler_scope_stats_collector_device_base(collector));
    produce(scopes);
    assert_int_equal(
        simpler_scope_stats_collector_settle(collector, SIMPLER_LANE_COMPLETE, &outcome), 0);
    assert_int_equal(outcome.records, 2 * scopes);
    check_order(2 * scopes);
}

static void nothing_is_lost_and_memory_is_flat(void **state)
{
    (void)state;
    struct scope_stats_collector_config config = {.transport = &simpler_transport_mapped,
                                                  .records_per_buffer = RECORDS,
                                                  .buffers = 2,
                                                  .first_index = UINT32_MAX - 16};
    struct simpler_scope_stats_collector *collector;
    uint64_t scopes = getenv("SIMPLER_TEST_SECONDS") != NULL ? 10000000 : 1000000;

    assert_int_equal(simpler_scope_stats_collector_open(&config, &collector), 0);
    run(collector, 1, 10000);
    long before = peak_memory();
    run(collector, 2, scopes);
    long after = peak_memory();
    print_message("%ld kB after 10,000 scopes, %ld after %llu\n", before, after,
                  (unsigned long long)scopes);
    /* A page or two of the C library. */
    assert_true(after <= before + 256);
    simpler_scope_stats_collector_close(collector);
}

static int open_prefix(void **state)
{
    (void)state;
    scope_file_make_prefix(prefix);
    return 0;
}

static int close_prefix(void **state)
{
    (void)state;
    scope_file_remove_prefix(prefix);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_and_memory_is_flat),
    };
    return cmocka_run_group_tests(tests, open_prefix, close_prefix);
}
