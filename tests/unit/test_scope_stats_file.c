/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope_stats.jsonl byte for byte: the document's own example lines, escapes,
 * numbers of every length, and what a disk that refuses leaves behind.
 *
 * SS-03 SS-04 SS-05 SS-20 SS-21
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cm.h"
#include "collect/scope_stats/scope_stats_file.h"
#include "collect/scope_stats/scope_stats_line.h"
#include "scope_file.h"
#include "simpler/log.h"

static char prefix[128];
static int errors;

static void count_errors(void *user, int level, const char *line)
{
    (void)user;
    (void)line;
    errors += level >= SIMPLER_LOG_ERROR;
}

static struct scope_stats_file open_file(void)
{
    struct scope_stats_file file;

    assert_int_equal(simpler_scope_stats_file_init(&file), 0);
    assert_int_equal(simpler_scope_stats_file_open(&file, prefix), 0);
    return file;
}

/* The whole file; the caller frees it. */
static char *slurp(void)
{
    char path[256];
    struct stat info;

    (void)snprintf(path, sizeof(path), "%s/scope_stats/scope_stats.jsonl", prefix);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_int_equal(fstat(fileno(in), &info), 0);
    char *text = calloc((size_t)info.st_size + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)info.st_size, in), (size_t)info.st_size);
    (void)fclose(in);
    return text;
}

static bool exists(const char *name)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/scope_stats/%s", prefix, name);
    return access(path, F_OK) == 0;
}

static struct scope_stats_metadata seven_keys(void)
{
    return (struct scope_stats_metadata){
        .fatal_known = true,
        .counts_known = true,
        .total = 2,
        .capacities = {true,
                       {8, 4, 16, 32},
                       {268435456, 268435456, 1024, UINT64_MAX},
                       {1024, 1024, 4, 268435456},
                       65536},
    };
}

/* Closes and returns the first line without the blanks before its newline. */
static char *close_with(struct scope_stats_file *file, const struct scope_stats_metadata *m,
                        char **rest)
{
    simpler_scope_stats_file_flush(file);
    assert_int_equal(simpler_scope_stats_file_close(file, m), 0);
    char *text = slurp();
    char *end = strchr(text, '\n');
    assert_non_null(end);
    *rest = end + 1;
    while (end > text && end[-1] == ' ')
        end--;
    *end = '\0';
    assert_false(exists("scope_stats.jsonl.partial"));
    return text;
}

/* ---- the document's example, section 3 ---- */

static const struct scope_stats_record example[2] = {
    {.site = "example_orchestration.cpp",
     .line = 77,
     .depth = 1,
     .ring = 1,
     .dep_pool_start = 1,
     .dep_pool_end = 1},
    {.site = "example_orchestration.cpp",
     .line = 77,
     .depth = 1,
     .ring = 1,
     .phase = 1,
     .task_end = 4,
     .heap_end = 8192,
     .dep_pool_start = 1,
     .dep_pool_end = 6,
     .tensormap = 5},
};

static const char example_lines[] =
    "{\"site\": \"example_orchestration.cpp:77\", \"phase\": \"begin\", \"depth\": 1, \"ring\": 1, "
    "\"task_window_start\": 0, \"task_window_end\": 0, \"heap_start\": 0, \"heap_end\": 0, "
    "\"dep_pool_start\": 1, \"dep_pool_end\": 1, \"tensormap\": 0, \"run_epoch\": 7, \"buf_seq\": "
    "0}\n"
    "{\"site\": \"example_orchestration.cpp:77\", \"phase\": \"end\", \"depth\": 1, \"ring\": 1, "
    "\"task_window_start\": 0, \"task_window_end\": 4, \"heap_start\": 0, \"heap_end\": 8192, "
    "\"dep_pool_start\": 1, \"dep_pool_end\": 6, \"tensormap\": 5, \"run_epoch\": 7, \"buf_seq\": "
    "0}\n";

static void the_documents_example_is_written(void **state)
{
    (void)state;
    struct scope_stats_file file = open_file();
    struct scope_stats_metadata metadata = seven_keys();
    char *rest;

    simpler_scope_stats_file_append(&file, example, 2, 7, 0);
    char *text = close_with(&file, &metadata, &rest);
    assert_string_equal(
        text, "{\"fatal\": false, \"dropped\": 0, \"total\": 2, \"task_window_max\": [8, 4, 16, "
              "32], \"heap_max\": [268435456, 268435456, 1024, 18446744073709551615], "
              "\"dep_pool_max\": [1024, 1024, 4, 268435456], \"tensormap_max\": 65536}");
    assert_string_equal(rest, example_lines);
    free(text);
    simpler_scope_stats_file_fini(&file);
}

static void the_documents_unproven_close_is_written(void **state)
{
    (void)state;
    struct scope_stats_file file = open_file();
    struct scope_stats_metadata metadata = {.verdict = "partial_cut_unknown",
                                            .counts_unknown = true,
                                            .host_received = 2,
                                            .host_retained = 2};
    char *rest;

    simpler_scope_stats_file_append(&file, example, 2, 7, 0);
    char *text = close_with(&file, &metadata, &rest);
    assert_string_equal(
        text, "{\"fatal\": null, \"dropped\": null, \"total\": null, \"task_window_max\": null, "
              "\"heap_max\": null, \"dep_pool_max\": null, \"tensormap_max\": null, "
              "\"collection_verdict\": \"partial_cut_unknown\", \"counts_unknown\": true, "
              "\"host_received_records\": 2, \"host_retained_records\": 2}");
    assert_string_equal(rest, example_lines);
    free(text);
    simpler_scope_stats_file_fini(&file);
}

/* Unknown is null, and the longest metadata fits as well. */
static void metadata_at_its_limits(void **state)
{
    (void)state;
    struct scope_stats_file file = open_file();
    struct scope_stats_metadata metadata = seven_keys();
    char *rest;

    metadata.fatal = true;
    metadata.counts_known = false;
    char *text = close_with(&file, &metadata, &rest);
    static const char unknown[] = "{\"fatal\": true, \"dropped\": null, \"total\": null, ";
    assert_memory_equal(text, unknown, sizeof(unknown) - 1);
    assert_string_equal(rest, "");
    free(text);

    assert_int_equal(simpler_scope_stats_file_open(&file, prefix), 0);
    metadata = (struct scope_stats_metadata){
        .fatal_known = true,
        .counts_known = true,
        .dropped = UINT64_MAX,
        .total = UINT64_MAX,
        .verdict = "partial_cut_unknown",
        .host_received = UINT64_MAX,
        .host_retained = UINT64_MAX,
        .capacities = {true,
                       {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
                       {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
                       {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
                       UINT64_MAX}};
    simpler_scope_stats_file_append(&file, example, 2, 7, 0);
    text = close_with(&file, &metadata, &rest);
    assert_int_equal(text[strlen(text) - 1], '}');
    assert_string_equal(rest, example_lines);
    free(text);
    simpler_scope_stats_file_fini(&file);
}

/* ---- lines ---- */

static void site_becomes(const char *site, const char *expected)
{
    struct scope_stats_record record = {.line = 1};
    static struct scope_stats_line_format format;
    char line[SCOPE_STATS_LINE_MAX], want[256];

    memcpy(record.site, site, strnlen(site, sizeof(record.site)));
    simpler_scope_stats_line_buffer(&format, 1, 2);
    line[simpler_scope_stats_line(line, &record, &format)] = '\0';
    (void)snprintf(want, sizeof(want), "{\"site\": \"%s:1\", \"phase\"", expected);
    assert_memory_equal(line, want, strlen(want));
}

static void sites_are_valid_json(void **state)
{
    (void)state;
    site_becomes("", "");
    site_becomes("a\"b\\c", "a\\\"b\\\\c");
    site_becomes("\x01\t\x1f\x7f", "\\u0001\\u0009\\u001f\x7f");
    site_becomes("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
    site_becomes("\xf0\x9f\x8c\x8d.c", "\xf0\x9f\x8c\x8d.c");
    /* Every byte that begins no valid sequence is one replacement character. */
    site_becomes("\xff"
                 "a\xc3",
                 "\xef\xbf\xbd"
                 "a\xef\xbf\xbd");
    site_becomes("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

/* Against printf: every number of digits, both ends of each type. */
static void numbers_of_every_length(void **state)
{
    (void)state;
    static struct scope_stats_line_format format;
    char line[SCOPE_STATS_LINE_MAX], want[SCOPE_STATS_LINE_MAX];
    uint64_t value = 1;

    for (int digits = 0; digits < 64; digits++) {
        for (int step = -1; step <= 1; step++) {
            uint64_t v = value + (uint64_t)(int64_t)step;
            uint32_t low = (uint32_t)v;
            struct scope_stats_record r = {.site = "s.c",
                                           .line = (int32_t)(low & INT32_MAX),
                                           .heap_start = v,
                                           .heap_end = v * 10 + 9,
                                           .task_start = (int32_t)low,
                                           .task_end = (int32_t)(low + 1),
                                           .dep_pool_start = (int32_t)(low / 10),
                                           .dep_pool_end = (int32_t)(low / 7),
                                           .tensormap = (int32_t)(low & INT32_MAX),
                                           .depth = 63,
                                           .ring = 3,
                                           .phase = 1};
            simpler_scope_stats_line_run(&format);
            simpler_scope_stats_line_buffer(&format, low, low / 3);
            line[simpler_scope_stats_line(line, &r, &format)] = '\0';
            (void)snprintf(want, sizeof(want),
                           "{\"site\": \"s.c:%" PRIu32
                           "\", \"phase\": \"end\", \"depth\": 63, \"ring\": 3, "
                           "\"task_window_start\": %" PRIu32 ", \"task_window_end\": %" PRIu32
                           ", \"heap_start\": %" PRIu64 ", \"heap_end\": %" PRIu64
                           ", \"dep_pool_start\": %" PRIu32 ", \"dep_pool_end\": %" PRIu32
                           ", \"tensormap\": %" PRIu32 ", \"run_epoch\": %" PRIu32
                           ", \"buf_seq\": %" PRIu32 "}\n",
                           low & INT32_MAX, low, low + 1, v, v * 10 + 9, low / 10, low / 7,
                           low & INT32_MAX, low, low / 3);
            assert_string_equal(line, want);
        }
        value = digits % 2 == 0 ? value * 3 : value * 4 / 3 + 1;
    }
}

/*
 * A run may have more than 2^32 edges on a ring, of which a record carries 32
 * bits: the file goes on.  SS-09
 */
static void pool_counters_go_on(void **state)
{
    (void)state;
    static const uint64_t heads[] = {1,           4000000000,  4294967295,  4294967296,
                                     4294967300,  8000000000,  8589934591,  8589934600,
                                     11000000000, 12884901888, 12884901889, 12884901890};
    static struct scope_stats_line_format format;
    char line[SCOPE_STATS_LINE_MAX], want[128];

    simpler_scope_stats_line_run(&format);
    simpler_scope_stats_line_buffer(&format, 1, 1);
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        uint64_t tail = heads[i] < 20 ? 1 : heads[i] - 7;
        struct scope_stats_record r = {.ring = 2,
                                       .dep_pool_start = (int32_t)(uint32_t)tail,
                                       .dep_pool_end = (int32_t)(uint32_t)heads[i]};
        line[simpler_scope_stats_line(line, &r, &format)] = '\0';
        (void)snprintf(want, sizeof(want),
                       "\"dep_pool_start\": %" PRIu64 ", \"dep_pool_end\": %" PRIu64 ",", tail,
                       heads[i]);
        assert_non_null(strstr(line, want));
        /* Another ring has its own; values that are no counters stay as they are. */
        r = (struct scope_stats_record){.ring = 1, .dep_pool_start = 9, .dep_pool_end = 5};
        line[simpler_scope_stats_line(line, &r, &format)] = '\0';
        assert_non_null(strstr(line, "\"dep_pool_start\": 9, \"dep_pool_end\": 5,"));
    }
}

/* The longest line of all has room. */
static void the_longest_line_fits(void **state)
{
    (void)state;
    struct scope_stats_record r = {.line = INT32_MIN,
                                   .heap_start = UINT64_MAX,
                                   .heap_end = UINT64_MAX,
                                   .task_start = -1,
                                   .task_end = -1,
                                   .dep_pool_start = -1,
                                   .dep_pool_end = -1,
                                   .tensormap = INT32_MIN,
                                   .depth = INT16_MIN,
                                   .ring = INT16_MIN};
    static struct scope_stats_line_format format;
    char line[2 * SCOPE_STATS_LINE_MAX];

    memset(r.site, 1, sizeof(r.site));
    simpler_scope_stats_line_buffer(&format, UINT32_MAX, UINT32_MAX);
    size_t bytes = simpler_scope_stats_line(line, &r, &format);
    assert_true(bytes <= SCOPE_STATS_LINE_MAX);
    assert_int_equal(line[bytes - 1], '\n');
}

/* ---- a disk that refuses ---- */

#define MANY 4000u

static uint64_t append_many(struct scope_stats_file *file)
{
    for (uint32_t i = 0; i < MANY; i++)
        simpler_scope_stats_file_append(file, example, 2, 7, i);
    simpler_scope_stats_file_flush(file);
    return 2ull * MANY;
}

/* A file may have at most this many bytes: a write ends in the middle of a line. */
static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_torn_line_is_cut_and_the_rest_is_counted(void **state)
{
    (void)state;
    static const rlim_t limits[] = {2000, 262144, 300001, 1000000};

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        struct scope_stats_file file = open_file();
        struct scope_stats_metadata metadata = seven_keys();
        char *rest;
        errors = 0;
        limit_file_size(limits[i]);
        uint64_t samples = append_many(&file);
        assert_int_equal(file.status, SIMPLER_EIO);
        assert_int_equal(errors, 1);
        assert_true(file.lines > 0 && file.lines_refused > 0);
        assert_int_equal(file.lines + file.lines_refused, samples);
        char *text = close_with(&file, &metadata, &rest);
        limit_file_size(RLIM_INFINITY);
        uint64_t lines = 0;
        for (const char *p = rest; *p != '\0'; p = strchr(p, '\n') + 1) {
            assert_non_null(strchr(p, '\n'));
            assert_memory_equal(p, "{\"site\": \"example_orch", 22);
            lines++;
        }
        assert_int_equal(lines, file.lines);
        free(text);
        simpler_scope_stats_file_fini(&file);
    }
}

static void no_place_for_a_file(void **state)
{
    (void)state;
    struct scope_stats_file file;
    struct scope_stats_metadata metadata = seven_keys();

    errors = 0;
    assert_int_equal(simpler_scope_stats_file_init(&file), 0);
    assert_int_equal(simpler_scope_stats_file_open(&file, "/dev/null/no"), SIMPLER_EIO);
    uint64_t samples = append_many(&file);
    assert_int_equal(file.lines_refused, samples);
    assert_int_equal(simpler_scope_stats_file_close(&file, &metadata), SIMPLER_EIO);
    assert_int_equal(errors, 1);
    char long_prefix[2000];
    memset(long_prefix, 'a', sizeof(long_prefix) - 1);
    long_prefix[sizeof(long_prefix) - 1] = '\0';
    assert_int_equal(simpler_scope_stats_file_open(&file, long_prefix), SIMPLER_EOVERFLOW);
    assert_int_equal(simpler_scope_stats_file_discard(&file), 0);
    simpler_scope_stats_file_fini(&file);
}

/* One prefix, two runs at once: the second is refused, the first loses nothing. */
static void two_runs_never_share_a_file(void **state)
{
    (void)state;
    struct scope_stats_file first = open_file();
    struct scope_stats_file second;

    errors = 0;
    assert_int_equal(simpler_scope_stats_file_init(&second), 0);
    assert_int_not_equal(simpler_scope_stats_file_open(&second, prefix), 0);
    assert_int_equal(errors, 1);
    assert_true(exists("scope_stats.jsonl.partial"));
    simpler_scope_stats_file_fini(&first);
    assert_int_equal(simpler_scope_stats_file_open(&second, prefix), 0);
    simpler_scope_stats_file_fini(&second);
}

static void discard_removes_one_file_alone(void **state)
{
    (void)state;
    struct scope_stats_metadata metadata = seven_keys();
    struct scope_stats_file file = open_file();
    char path[256], *rest;

    free(close_with(&file, &metadata, &rest));
    (void)snprintf(path, sizeof(path), "%s/scope_stats/mine.txt", prefix);
    FILE *mine = fopen(path, "w");
    assert_non_null(mine);
    (void)fclose(mine);
    assert_int_equal(simpler_scope_stats_file_open(&file, prefix), 0);
    simpler_scope_stats_file_append(&file, example, 2, 7, 0);
    assert_int_equal(simpler_scope_stats_file_discard(&file), 0);
    assert_false(exists("scope_stats.jsonl"));
    assert_false(exists("scope_stats.jsonl.partial"));
    assert_true(exists("mine.txt"));
    /* What cannot be removed is an error, logged once. */
    (void)snprintf(path, sizeof(path), "%s/scope_stats/scope_stats.jsonl", prefix);
    assert_int_equal(mkdir(path, 0777), 0);
    errors = 0;
    assert_int_equal(simpler_scope_stats_file_open(&file, prefix), 0);
    assert_int_equal(simpler_scope_stats_file_discard(&file), SIMPLER_EIO);
    assert_int_equal(errors, 1);
    assert_int_equal(rmdir(path), 0);
    simpler_scope_stats_file_fini(&file);
    simpler_scope_stats_file_fini(&file);
}

static int open_prefix(void **state)
{
    (void)state;
    scope_file_make_prefix(prefix);
    simpler_log_set_callback(count_errors, NULL);
    return 0;
}

static int close_prefix(void **state)
{
    (void)state;
    simpler_log_set_callback(NULL, NULL);
    scope_file_remove_prefix(prefix);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documents_example_is_written),
        cmocka_unit_test(the_documents_unproven_close_is_written),
        cmocka_unit_test(metadata_at_its_limits),
        cmocka_unit_test(sites_are_valid_json),
        cmocka_unit_test(numbers_of_every_length),
        cmocka_unit_test(pool_counters_go_on),
        cmocka_unit_test(the_longest_line_fits),
        cmocka_unit_test(a_torn_line_is_cut_and_the_rest_is_counted),
        cmocka_unit_test(no_place_for_a_file),
        cmocka_unit_test(discard_removes_one_file_alone),
        cmocka_unit_test(two_runs_never_share_a_file),
    };
    return cmocka_run_group_tests(tests, open_prefix, close_prefix);
}
