/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of a file to peaks and verdict, all expected values by hand. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cm.h"
#include "base/testpoint.h"
#include "report/scope_json.h"
#include "report/scope_model.h"
#include "report/scope_page.h"
#include "simpler/log.h"

#define META(total)                                                                          \
    "{\"fatal\": false, \"dropped\": 0, \"total\": " total ", \"task_window_max\": [8, 4], " \
    "\"heap_max\": [268435456, 1000], \"dep_pool_max\": [1024, 1024], \"tensormap_max\": 65536}\n"
#define SAMPLE(site, phase, depth, ring, tw, heap, dp, tm)                                     \
    "{\"site\": \"" site "\", \"phase\": \"" phase "\", \"depth\": " depth ", \"ring\": " ring \
    ", \"task_window_start\": " tw ", \"heap_start\": " heap ", \"dep_pool_start\": " dp       \
    ", \"tensormap\": " tm ", \"run_epoch\": 7, \"buf_seq\": 0}\n"
/* start and end of one resource */
#define TW(a, b) a ", \"task_window_end\": " b
#define HP(a, b) a ", \"heap_end\": " b
#define DP(a, b) a ", \"dep_pool_end\": " b

#define ONE_PAIR                                                                             \
    SAMPLE("a.cpp:77", "begin", "1", "1", TW("2", "3"), HP("100", "300"), DP("1", "1"), "3") \
    SAMPLE("a.cpp:77", "end", "1", "1", TW("3", "7"), HP("200", "1500"), DP("1", "6"), "5")

static struct simpler_scope_model *model_of(const char *text, size_t bytes)
{
    struct simpler_line_reader *reader;
    struct simpler_scope_model *m = NULL;
    assert_int_equal(simpler_line_reader_open_bytes(text, bytes, &reader), 0);
    (void)simpler_scope_model_read_lines(reader, "x.jsonl", &m);
    simpler_line_reader_close(reader);
    return m;
}

static void check_chip(const char *text, enum simpler_scope_chip chip, const char *part)
{
    struct simpler_scope_model *m = model_of(text, strlen(text));
    assert_non_null(m);
    if (m->chip != chip || strstr(m->sentence, part) == NULL)
        print_error("%s: %s\n", simpler_scope_model_chip_label(m->chip), m->sentence);
    assert_int_equal(m->chip, chip);
    assert_non_null(strstr(m->sentence, part));
    simpler_scope_model_close(m);
}

/* SS-32: the three formulas; SS-30: the dominant site; use above 100 % is shown. */
static void metrics_of_one_pair(void **state)
{
    static const char text[] = META("2") ONE_PAIR;
    struct simpler_scope_model *m = model_of(text, sizeof(text) - 1);
    struct simpler_scope_peak p;
    (void)state;
    assert_non_null(m);
    assert_int_equal(m->counts.pairs, 1);
    const struct simpler_scope_ring *ring = &m->rings[0];
    static const uint64_t expected[3][3] = {{5, 4, 4}, {1400, 1300, 1200}, {5, 5, 5}};
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++)
            assert_true(ring->curves[r][k].peak.value == expected[r][k]);
    }
    assert_true(m->tensormap.peak.value == 5 && m->tensormap.own == 2);
    assert_true(simpler_scope_model_dominant(m, &p));
    assert_int_equal(p.resource, SIMPLER_SCOPE_HEAP);
    assert_true(p.use_percent == 140.0 && p.own == 1200);
    assert_string_equal(m->sites.texts[p.point.site], "a.cpp:77");
    simpler_scope_model_close(m);
}

/* The highest use of a site, here 140 % of ring 1, is not that of its greatest value. */
static void a_site_has_the_use_of_its_worst_ring(void **state)
{
    static const char text[] = META("4") ONE_PAIR SAMPLE(
        "a.cpp:77", "begin", "0", "0", TW("0", "0"), HP("0", "0"), DP("0", "0"), "5")
        SAMPLE("a.cpp:77", "end", "0", "0", TW("0", "2"), HP("0", "26843545"), DP("0", "0"), "9");
    struct simpler_scope_model *m = model_of(text, sizeof(text) - 1);
    (void)state;
    assert_non_null(m);
    assert_int_equal(m->sites.count, 1);
    assert_true(m->site_stats[0].peaks[SIMPLER_SCOPE_HEAP].value == 26843545);
    assert_true(m->site_stats[0].pairs == 2 && m->site_stats[0].has_use);
    assert_true(m->site_stats[0].use_percent == 140.0);
    simpler_scope_model_close(m);
}

static void rows_of_top_peaks_are_in_order(void **state)
{
    static const char text[] = META("6") ONE_PAIR SAMPLE("b.cpp:1", "begin", "0", "0", TW("0", "0"),
                                                         HP("0", "0"), DP("0", "0"), "5")
        SAMPLE("b.cpp:1", "begin", "0", "0", TW("0", "1"), HP("0", "0"), DP("0", "0"), "5")
            SAMPLE("b.cpp:1", "end", "0", "0", TW("0", "2"), HP("0", "0"), DP("0", "0"), "9")
                SAMPLE("b.cpp:1", "end", "0", "0", TW("0", "2"), HP("0", "0"), DP("0", "0"), "9");
    struct simpler_scope_model *m = model_of(text, sizeof(text) - 1);
    struct simpler_scope_peak p;
    uint32_t row = 0;
    (void)state;
    assert_non_null(m);
    static const struct {
        enum simpler_scope_resource resource;
        uint64_t ring, value, index;
    } expected[] = {
        {SIMPLER_SCOPE_TASK_WINDOW, 0, 2, 0}, {SIMPLER_SCOPE_HEAP, 0, 0, 0},
        {SIMPLER_SCOPE_DEP_POOL, 0, 0, 0},    {SIMPLER_SCOPE_TASK_WINDOW, 1, 5, 0},
        {SIMPLER_SCOPE_HEAP, 1, 1400, 0},     {SIMPLER_SCOPE_DEP_POOL, 1, 5, 0},
        {SIMPLER_SCOPE_TENSORMAP, 0, 9, 1},
    };
    for (; simpler_scope_model_peak(m, row, &p); row++) {
        assert_int_equal(p.resource, expected[row].resource);
        assert_true(p.ring == expected[row].ring && p.point.value == expected[row].value);
        assert_true(p.point.index == expected[row].index);
    }
    assert_int_equal(row, 7);
    /* Innermost first: the second begin, with one slot, belongs to the first end. */
    assert_true(m->rings[0].curves[0][SIMPLER_SCOPE_ALLOC].series.columns[0].max.value == 1);
    assert_true(m->rings[0].curves[0][SIMPLER_SCOPE_ALLOC].peak.value == 2);
    simpler_scope_model_close(m);
}

/* SS-30, SS-34: each chip with its reason. */
static void every_chip_has_its_reason(void **state)
{
    (void)state;
    static const char clean[] = META("2")
        SAMPLE("a.cpp:77", "begin", "1", "1", TW("2", "3"), HP("100", "300"), DP("1", "1"), "3")
            SAMPLE("a.cpp:77", "end", "1", "1", TW("3", "7"), HP("200", "1100"), DP("1", "6"), "5");
    check_chip(clean, SIMPLER_SCOPE_CHIP_HEALTHY, "all 2 records are here");
    check_chip("{\"fatal\": false, \"dropped\": 0, \"total\": 0, \"task_window_max\": null, "
               "\"heap_max\": null, \"dep_pool_max\": null, \"tensormap_max\": null}\n",
               SIMPLER_SCOPE_CHIP_HEALTHY, "no samples");
    check_chip(META("4") ONE_PAIR, SIMPLER_SCOPE_CHIP_INCOMPLETE, "2 of the 4 samples");
    check_chip(META("3") ONE_PAIR, SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "2 of the 3 samples collected: 1 is");
    check_chip(META("1") ONE_PAIR, SIMPLER_SCOPE_CHIP_INCOMPLETE, "1 more than");
    check_chip(
        "{\"fatal\": true, \"dropped\": 3, \"total\": 5, \"task_window_max\": [8, 4], "
        "\"heap_max\": [1, 5000], \"dep_pool_max\": [1, 9], \"tensormap_max\": 6}\n" ONE_PAIR,
        SIMPLER_SCOPE_CHIP_FATAL, "3 of 5 records (60.00%)");
    check_chip(
        "{\"fatal\": false, \"dropped\": 3, \"total\": 5, \"task_window_max\": [8, 4], "
        "\"heap_max\": [1, 5000], \"dep_pool_max\": [1, 9], \"tensormap_max\": 6}\n" ONE_PAIR,
        SIMPLER_SCOPE_CHIP_DROPPED, "3 of 5");
    /* One is enough, also of so many that a counter is next to its limit. */
    check_chip(
        "{\"fatal\": false, \"dropped\": 1, \"total\": 3, \"task_window_max\": [8, 4], "
        "\"heap_max\": [1, 5000], \"dep_pool_max\": [1, 9], \"tensormap_max\": 6}\n" ONE_PAIR,
        SIMPLER_SCOPE_CHIP_DROPPED, "1 of 3 records (33.33%) was dropped");
    check_chip(
        "{\"fatal\": false, \"dropped\": 1, \"total\": 4294967294, \"task_window_max\": [8, "
        "4], \"heap_max\": [1, 5000], \"dep_pool_max\": [1, 9], \"tensormap_max\": 6}\n" ONE_PAIR,
        SIMPLER_SCOPE_CHIP_DROPPED, "4294967291 are missing");
    check_chip(
        "{\"fatal\": false, \"dropped\": 0, \"total\": 4294967295, \"task_window_max\": [8, "
        "4], \"heap_max\": [1, 5000], \"dep_pool_max\": [1, 9], \"tensormap_max\": 6}\n" ONE_PAIR,
        SIMPLER_SCOPE_CHIP_UNKNOWN_COUNTS, "4294967295");
    check_chip("{\"fatal\": null, \"dropped\": null, \"total\": null, \"task_window_max\": null, "
               "\"heap_max\": null, \"dep_pool_max\": null, \"tensormap_max\": null, "
               "\"collection_verdict\": \"partial_cut_unknown\", \"counts_unknown\": true, "
               "\"host_received_records\": 2, \"host_retained_records\": 2}\n" ONE_PAIR,
               SIMPLER_SCOPE_CHIP_UNKNOWN_COUNTS, "partial_cut_unknown");
    check_chip("{\"fatal\": false, \"dropped\": 0, \"total\": 9, \"task_window_max\": [8, 4], "
               "\"heap_max\": [1, 5000], \"dep_pool_max\": [1, 9], \"tensormap_max\": 6, "
               "\"collection_verdict\": \"partial_safe\", \"counts_unknown\": false, "
               "\"host_received_records\": 9, \"host_retained_records\": 2}\n" ONE_PAIR,
               SIMPLER_SCOPE_CHIP_INCOMPLETE, "received 9 records and kept 2");
    check_chip("{\"fatal\": false, \"dropped\": 0, \"total\": 3, \"task_window_max\": [8, 4], "
               "\"heap_max\": [1, 5000], \"dep_pool_max\": [1, 9], \"tensormap_max\": 6, "
               "\"collection_verdict\": \"published\", \"counts_unknown\": false, "
               "\"host_received_records\": 3, \"host_retained_records\": 2}\n" ONE_PAIR,
               SIMPLER_SCOPE_CHIP_INCOMPLETE, "received 3 records and kept 2");
    check_chip(META("1") SAMPLE("a.cpp:77", "begin", "1", "1", TW("2", "3"), HP("1", "3"),
                                DP("1", "1"), "3"),
               SIMPLER_SCOPE_CHIP_UNPAIRED, "1 scope began and did not end");
    check_chip(META("1") SAMPLE("a.cpp:77", "end", "1", "1", TW("2", "3"), HP("1", "3"),
                                DP("1", "1"), "3"),
               SIMPLER_SCOPE_CHIP_UNPAIRED, "1 end sample without a begin");
    check_chip(ONE_PAIR, SIMPLER_SCOPE_CHIP_UNKNOWN_COUNTS, "no usable metadata");
}

static void contradictions_are_named(void **state)
{
    (void)state;
    check_chip(
        META("2") SAMPLE("a:1", "begin", "1", "1", TW("2", "3"), HP("1", "3"), DP("1", "1"), "3")
            SAMPLE("a:1", "end", "1", "1", TW("2", "2"), HP("1", "3"), DP("1", "1"), "3"),
        SIMPLER_SCOPE_CHIP_INCOMPLETE, "counters that go backwards");
    check_chip(
        META("2") SAMPLE("a:1", "begin", "1", "1", TW("2", "3"), HP("1", "3"), DP("1", "1"), "3")
            SAMPLE("a:1", "end", "2", "1", TW("2", "3"), HP("1", "3"), DP("1", "1"), "3"),
        SIMPLER_SCOPE_CHIP_INCOMPLETE, "different depths");
    check_chip(META("2") ONE_PAIR, SIMPLER_SCOPE_CHIP_INCOMPLETE, "1 sample with more in use");
}

/* SS-35: holes, torn ends, wrong types, missing keys, further keys. */
static void damage_is_labelled(void **state)
{
    static const char hole[] = META("2") "\0\0\0\0" ONE_PAIR;
    struct simpler_scope_model *m = model_of(hole, sizeof(hole) - 1);
    (void)state;
    assert_non_null(m);
    assert_true(m->counts.hole_bytes == 4 && m->counts.pairs == 1);
    assert_int_equal(m->chip, SIMPLER_SCOPE_CHIP_INCOMPLETE);
    simpler_scope_model_close(m);
    check_chip(META("0") "{\"site\": \"a\", \"phase\": \"begin\"}\n", SIMPLER_SCOPE_CHIP_INCOMPLETE,
               "1 line could not be read");
    check_chip(META("0") "{\"site\": 7}\n[1]\n", SIMPLER_SCOPE_CHIP_INCOMPLETE, "2 lines");
    check_chip("{\"fatal\": 1, \"dropped\": 0, \"total\": 0}\n", SIMPLER_SCOPE_CHIP_UNKNOWN_COUNTS,
               "The metadata lack the key heap_max");
    check_chip("{\"fatal\": false, \"dropped\": -1, \"total\": 0, \"task_window_max\": [\"8\"], "
               "\"heap_max\": [], \"dep_pool_max\": [1], \"tensormap_max\": 6.5}\n",
               SIMPLER_SCOPE_CHIP_UNKNOWN_COUNTS, "The metadata are damaged (dropped: ");
}

static void keys_come_in_any_order_and_others_stay(void **state)
{
    static const char text[] =
        "{\"version\": 2, \"total\": 2, \"dropped\": 0, \"tensormap_max\": 65536, \"fatal\": false,"
        "\"x\": {\"y\": [1, 2]}, \"dep_pool_max\": [9, 9], \"heap_max\": [1, 9000],"
        "\"task_window_max\": [8, 8]}   \r\n"
        "{\"buf_seq\":0,\"run_epoch\":7,\"tensormap\":3,\"dep_pool_end\":1,\"dep_pool_start\":1,"
        "\"heap_end\":3,\"heap_start\":1,\"task_window_end\":3,\"task_window_start\":2,"
        "\"new\":[{}],\"ring\":1,\"depth\":1,\"ph\\u0061se\":\"begin\",\"site\":\"a.cpp:77\"}\n"
        " {\"buf_seq\":0,\"run_epoch\":7,\"tensormap\":3,\"dep_pool_end\":1,\"dep_pool_start\":1,"
        "\"heap_end\":18446744073709551615,\"heap_start\":18446744073709551614,"
        "\"task_window_end\":3,\"task_window_start\":2,\"ring\":1,\"depth\":1,\"phase\":\"end\","
        "\"site\":\"\\u0061.cpp:77\"}\n";
    struct simpler_scope_model *m = model_of(text, sizeof(text) - 1);
    (void)state;
    assert_non_null(m);
    assert_string_equal(m->meta.other, "\"version\": 2, \"x\": {\"y\": [1, 2]}");
    assert_int_equal(m->counts.pairs, 1);
    assert_true(m->rings[0].curves[1][SIMPLER_SCOPE_HIGH_WATER].peak.value ==
                18446744073709551614u);
    assert_int_equal(m->chip, SIMPLER_SCOPE_CHIP_HEALTHY);
    simpler_scope_model_close(m);
}

/* SS-35: cut at every byte, a file is never healthy, and where it says nothing there is an error.
 */
static void no_cut_is_healthy(void **state)
{
    static const char text[] = META("2")
        SAMPLE("a.cpp:77", "begin", "1", "1", TW("2", "3"), HP("100", "300"), DP("1", "1"), "3")
            SAMPLE("a.cpp:77", "end", "1", "1", TW("3", "7"), HP("200", "1100"), DP("1", "6"), "5");
    (void)state;
    for (size_t bytes = 0; bytes < sizeof(text) - 1; bytes++) {
        char *copy = malloc(bytes + 1);
        assert_non_null(copy);
        memcpy(copy, text, bytes);
        struct simpler_scope_model *m = model_of(copy, bytes);
        if (m != NULL)
            assert_int_not_equal(m->chip, SIMPLER_SCOPE_CHIP_HEALTHY);
        else
            assert_true(bytes < sizeof(META("2")) - 2);
        simpler_scope_model_close(m);
        free(copy);
    }
}

/* SS-34: a ring behind the arrays has no percentage, and no capacity is made up. */
static void a_ring_behind_the_arrays_has_no_use(void **state)
{
    static const char text[] =
        META("2") SAMPLE("a:1", "begin", "5", "5", TW("2", "3"), HP("1", "3"), DP("1", "1"), "3")
            SAMPLE("a:1", "end", "5", "5", TW("2", "3"), HP("1", "3"), DP("1", "1"), "3");
    struct simpler_scope_model *m = model_of(text, sizeof(text) - 1);
    struct simpler_scope_peak p;
    (void)state;
    assert_non_null(m);
    assert_true(simpler_scope_model_peak(m, 0, &p));
    assert_false(p.has_use || p.capacity.known);
    assert_true(simpler_scope_model_dominant(m, &p));
    assert_int_equal(p.resource, SIMPLER_SCOPE_TENSORMAP);
    assert_int_equal(m->chip, SIMPLER_SCOPE_CHIP_INCOMPLETE);
    assert_non_null(strstr(m->sentence, "Heap on ring_depth 5"));
    simpler_scope_model_close(m);
}

static char *render(struct simpler_scope_model *m, bool json)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    if (json)
        simpler_scope_json(out, m, NULL);
    else
        assert_int_equal(simpler_scope_page(out, m), 0);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* SS-29, SS-35: hostile names are harmless, and the page names nothing outside itself. */
static void hostile_names_are_text(void **state)
{
    static const char text[] =
        META("2") SAMPLE("</script><b a='\\\"'>\xff\xe2\x80\xa8&\\u0001", "begin", "1", "1",
                         TW("2", "3"), HP("1", "3"), DP("1", "1"), "3")
            SAMPLE("</script><b a='\\\"'>\xff\xe2\x80\xa8&\\u0001", "end", "1", "1", TW("2", "3"),
                   HP("1", "3"), DP("1", "1"), "3");
    struct simpler_scope_model *m = model_of(text, sizeof(text) - 1);
    (void)state;
    assert_non_null(m);
    char *json = render(m, true);
    json_t *root = json_loads(json, 0, NULL);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "dominant_site")),
                        "</script><b a='\"'>\xef\xbf\xbd\xe2\x80\xa8&\x01");
    json_decref(root);
    free(json);
    char *page = render(m, false);
    assert_null(strstr(page, "<b a="));
    assert_non_null(strstr(page, "&lt;/script&gt;&lt;b a=&#39;&quot;&#39;&gt;\xef\xbf\xbd"));
    assert_null(strstr(page, "\xff"));
    assert_null(strstr(page, "src="));
    assert_null(strstr(page, "https:"));
    assert_null(strstr(page, "url("));
    free(page);
    simpler_scope_model_close(m);
}

static void silent(void *user, int level, const char *line)
{
    (void)user;
    (void)level;
    (void)line;
}

#if defined(SIMPLER_DEBUG)
static int allowance;

static bool fail_after_allowance(void *user, enum simpler_testpoint point)
{
    (void)user;
    return point == SIMPLER_TESTPOINT_ALLOC && allowance-- <= 0;
}

/* The nth allocation fails, for every n, until all succeed; ASan sees what leaks. */
static void every_allocation_may_fail(void **state)
{
    static const char text[] = META("2") ONE_PAIR;
    struct simpler_scope_model *m = NULL;
    int n = 0;
    (void)state;
    for (; m == NULL && n < 200; n++) {
        struct simpler_line_reader *reader;
        allowance = n;
        simpler_testpoint_set(fail_after_allowance, NULL);
        if (simpler_line_reader_open_bytes(text, sizeof(text) - 1, &reader) == 0) {
            (void)simpler_scope_model_read_lines(reader, "x", &m);
            simpler_line_reader_close(reader);
        }
        simpler_testpoint_set(NULL, NULL);
    }
    assert_non_null(m);
    assert_true(n > 10);
    simpler_scope_model_close(m);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_of_one_pair),
        cmocka_unit_test(a_site_has_the_use_of_its_worst_ring),
        cmocka_unit_test(rows_of_top_peaks_are_in_order),
        cmocka_unit_test(every_chip_has_its_reason),
        cmocka_unit_test(contradictions_are_named),
        cmocka_unit_test(damage_is_labelled),
        cmocka_unit_test(keys_come_in_any_order_and_others_stay),
        cmocka_unit_test(no_cut_is_healthy),
        cmocka_unit_test(a_ring_behind_the_arrays_has_no_use),
        cmocka_unit_test(hostile_names_are_text),
#if defined(SIMPLER_DEBUG)
        cmocka_unit_test(every_allocation_may_fail),
#endif
    };
    simpler_log_set_callback(silent, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
