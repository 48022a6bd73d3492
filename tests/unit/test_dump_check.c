/* SPDX-License-Identifier: Apache-2.0 */
/* The whole-dump check and the sort beneath it. AD-10, AD-11, AD-15. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "failing_alloc.h"
#include "faults.h"
#include "report/dump_check.h"
#include "report/extent_sort.h"

struct seen {
    struct simpler_extent last;
    uint64_t count;
    uint64_t sum;
};

static void see(void *user, const struct simpler_extent *x)
{
    struct seen *seen = user;

    if (seen->count > 0)
        assert_true(seen->last.offset < x->offset ||
                    (seen->last.offset == x->offset && seen->last.index < x->index));
    seen->last = *x;
    seen->count++;
    seen->sum += x->index;
}

/* Runs of 64 ranges: none, one, exactly full ones, many with a short last one. */
static void any_number_is_sorted(void **state)
{
    (void)state;
    static const uint64_t counts[] = {0, 1, 63, 64, 65, 128, 1000, 3999};
    uint64_t x = 1;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct simpler_extent_sort sort;
        struct seen seen = {0};
        simpler_extent_sort_init(&sort, 64);
        for (uint64_t k = 0; k < counts[i]; k++) {
            x = x * 6364136223846793005U + 1442695040888963407U;
            struct simpler_extent extent = {x >> 58, 1, k}; /* many equal offsets */
            assert_int_equal(simpler_extent_sort_add(&sort, &extent), 0);
        }
        assert_int_equal(simpler_extent_sort_each(&sort, see, &seen), 0);
        assert_int_equal(seen.count, counts[i]);
        assert_int_equal(seen.sum, counts[i] == 0 ? 0 : counts[i] * (counts[i] - 1) / 2);
        simpler_extent_sort_fini(&sort);
    }
}

/* Collects faults as lines "index: text". */
static char faults[8192];

static void collect(void *user, uint64_t index, const char *text)
{
    size_t used = strlen(faults);
    (void)user;
    if (index == SIMPLER_DUMP_NO_INDEX)
        (void)snprintf(faults + used, sizeof(faults) - used, "header: %s\n", text);
    else
        (void)snprintf(faults + used, sizeof(faults) - used, "%d: %s\n", (int)index, text);
}

static struct simpler_dump_checked check(const char *text, uint64_t bin_bytes)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_payload payload = {0};
    struct simpler_dump_checked out;

    faults[0] = '\0';
    assert_int_equal(simpler_dump_manifest_open_bytes("m", text, strlen(text), &m), 0);
    (void)snprintf(payload.info.name, sizeof(payload.info.name), "args.bin");
    payload.info.is_there = true;
    payload.info.bytes = bin_bytes;
    assert_int_equal(simpler_dump_check_run(m, &payload, collect, NULL, &out), 0);
    simpler_dump_manifest_close(m);
    return out;
}

#define HEAD(total, input, truncated)                                                 \
    "{\"dump_args_level\": 2, \"total_args\": " total ", \"before_dispatch\": " total \
    ", \"after_completion\": 0, \"input_args\": " input ", \"output_args\": 0, "      \
    "\"inout_args\": 0, \"truncated_args\": " truncated                               \
    ", \"dropped_records\": 0, \"bin_file\": \"args.bin\", \"args\": ["
#define TENSOR(arg, shape, strides, rest)                                                      \
    "{\"task_id\": \"0x0000000000000001\", \"func_id\": [0], \"role\": \"input\", \"stage\": " \
    "\"before_dispatch\", \"arg_index\": " arg ", \"kind\": \"tensor\", \"dtype\": "           \
    "\"int8\", \"shape\": " shape ", \"strides\": " strides                                    \
    ", \"start_offset\": 0, \"is_contiguous\": true, " rest "}"
#define WHOLE "\"truncated\": false, "

static void a_right_dump_has_no_faults(void **state)
{
    (void)state;
    struct simpler_dump_checked c = check(
        HEAD("3", "3", "1") TENSOR(
            "0", "[2, 1, 3]", "[3, 99, 1]",
            WHOLE
            "\"bin_offset\": 4, \"bin_size\": 6") "," TENSOR("1", "[8]", "[1]",
                                                             "\"truncated\": true, "
                                                             "\"bin_offset\": 0, \"bin_size\": "
                                                             "4") "," TENSOR("2", "[0, 4]",
                                                                             "[4, 1]",
                                                                             WHOLE
                                                                             "\"bin_offset\": "
                                                                             "0, \"bin_size\": "
                                                                             "0") "]}",
        12);

    assert_string_equal(faults, "");
    assert_int_equal(c.entries, 3);
    assert_int_equal(c.named_bytes, 10);
    assert_int_equal(c.unnamed_bytes, 2);
}

/* A loss that nobody could count is null; no other count is, and none is left out. */
static void an_unknown_loss_is_no_fault(void **state)
{
    (void)state;
#define WITH(dropped, total)                                                              \
    "{\"dump_args_level\": 2, \"total_args\": " total ", \"before_dispatch\": 0, "        \
    "\"after_completion\": 0, \"input_args\": 0, \"output_args\": 0, \"inout_args\": 0, " \
    "\"truncated_args\": 0, " dropped "\"bin_file\": null, \"args\": []}"

    (void)check(WITH("\"dropped_records\": null, ", "0"), 0);
    assert_string_equal(faults, "");
    (void)check(WITH("", "0"), 0);
    assert_string_equal(faults, "header: the header has no \"dropped_records\"\n");
    (void)check(WITH("\"dropped_records\": null, ", "null"), 0);
    assert_string_equal(faults, "header: the header has no \"total_args\"\n");
#undef WITH
}

/* The level may be null in what was recovered, nowhere else; no entry is held against it then. */
static void an_unknown_level_is_no_fault_of_a_recovered_dump(void **state)
{
    (void)state;
#define WITH(level, recovered)                                                                \
    "{" level "\"total_args\": 1, \"before_dispatch\": 1, \"after_completion\": 0, "          \
    "\"input_args\": 1, \"output_args\": 0, \"inout_args\": 0, \"truncated_args\": 0, "       \
    "\"dropped_records\": null, " recovered "\"bin_file\": \"args.bin\", \"args\": [" TENSOR( \
        "0", "[4]", "[1]", WHOLE "\"bin_offset\": 0, \"bin_size\": 0") "]}"
#define UNKNOWN   "\"dump_args_level\": null, "
#define RECOVERED "\"recovered\": true, "
#define NO_LEVEL  "header: the header has no \"dump_args_level\"\n"

    (void)check(WITH(UNKNOWN, RECOVERED), 12);
    assert_string_equal(faults, "");
    (void)check(WITH(UNKNOWN, "\"recovered\": false, "), 12);
    assert_string_equal(faults, NO_LEVEL);
    (void)check(WITH(UNKNOWN, ""), 12);
    assert_string_equal(faults, NO_LEVEL);
    (void)check(WITH("", RECOVERED), 12);
    assert_string_equal(faults, NO_LEVEL);
    (void)check(WITH("\"dump_args_level\": 2, ", RECOVERED), 12);
    assert_string_equal(faults, "0: no payload, though level 2 captures it\n");
#undef NO_LEVEL
#undef RECOVERED
#undef UNKNOWN
#undef WITH
}

static void each_fault_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *faults;
    } cases[] = {
        {HEAD("2", "1", "0")
             TENSOR("0", "[4]", "[1]", WHOLE "\"bin_offset\": 0, \"bin_size\": 4") "]}",
         "header: total_args is 2, the entries make 1\n"
         "header: before_dispatch is 2, the entries make 1\n"},
        {HEAD("2", "2", "0")
             TENSOR("0", "[4]", "[1]", WHOLE "\"bin_offset\": 0, \"bin_size\": 4") "," TENSOR(
                 "1", "[4]", "[1]", WHOLE "\"bin_offset\": 3, \"bin_size\": 4") "]}",
         "1: bytes 3+4 overlap those of entry 0, which reach to 4\n"},
        {HEAD("1", "1", "0")
             TENSOR("0", "[4]", "[1]", WHOLE "\"bin_offset\": 9, \"bin_size\": 4") "]}",
         "0: bytes 9+4 lie beyond args.bin of 12 bytes\n"},
        {HEAD("1", "1", "0")
             TENSOR("0", "[4]", "[1]", WHOLE "\"bin_offset\": 0, \"bin_size\": 5") "]}",
         "0: bin_size is 5, shape and dtype make 4\n"},
        {HEAD("1", "1", "0")
             TENSOR("0", "[4]", "[1]", WHOLE "\"bin_offset\": 0, \"bin_size\": 0") "]}",
         "0: no payload, though level 2 captures it\n"},
        {HEAD("1", "1", "1") TENSOR("0", "[4]", "[1]",
                                    "\"truncated\": true, \"bin_offset\": 0, \"bin_size\": 4") "]}",
         "0: marked as truncated, but all 4 bytes are there\n"},
        {HEAD("1", "1", "0")
             TENSOR("0", "[0]", "[1]", WHOLE "\"bin_offset\": 7, \"bin_size\": 0") "]}",
         "0: bin_offset is 7 without a payload\n"},
        {HEAD("1", "1", "0")
             TENSOR("0", "[2, 2]", "[1, 2]", WHOLE "\"bin_offset\": 0, \"bin_size\": 4") "]}",
         "0: is_contiguous, but the strides are not row-major\n"},
        {HEAD("1", "1", "0")
             TENSOR("0", "[4]", "[]", WHOLE "\"bin_offset\": 0, \"bin_size\": 4") "]}",
         "0: 1 dimension but 0 strides\n"},
        {HEAD("1", "1", "0") TENSOR("0", "[4]", "[1]", "\"bin_offset\": 0, \"bin_size\": 4") "]}",
         "0: the key \"truncated\" is missing\n"},
        {HEAD("2", "2", "0")
             TENSOR("1", "[0]", "[1]", WHOLE "\"bin_offset\": 0, \"bin_size\": 0") "," TENSOR(
                 "0", "[0]", "[1]", WHOLE "\"bin_offset\": 0, \"bin_size\": 0") "]}",
         "1: out of order: task, stage, argument and role sort before those of the entry in "
         "front\n"},
        {HEAD("2", "2", "0")
             TENSOR("1", "[0]", "[1]", WHOLE "\"bin_offset\": 0, \"bin_size\": 0") "," TENSOR(
                 "1", "[0]", "[1]", WHOLE "\"bin_offset\": 0, \"bin_size\": 0") "]}",
         "1: the same task, stage, argument and role as the entry in front\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)check(cases[i].text, 12);
        if (strcmp(faults, cases[i].faults) != 0)
            fail_msg("case %zu: %s", i, faults);
    }
}

static void scalars_are_checked(void **state)
{
    (void)state;
    (void)check(HEAD("1", "0",
                     "0") "{\"task_id\": \"0x0000000000000001\", \"func_id\": [0], \"role\": "
                          "\"output\", \"stage\": "
                          "\"before_dispatch\", \"arg_index\": 0, \"kind\": \"scalar\", \"dtype\": "
                          "\"int8\", \"value\": 300, \"shape\": [2], \"strides\": [1], "
                          "\"start_offset\": 0, \"is_contiguous\": true, \"truncated\": false, "
                          "\"bin_offset\": 0, \"bin_size\": 0}]}",
                0);
    assert_string_equal(faults, "0: a scalar that is not an input before dispatch\n"
                                "0: a scalar with a shape or a payload\n"
                                "0: the value '300' is no int8\n"
                                "header: output_args is 0, the entries make 1\n");
}

/* A manifest opened and checked; every allocation fails in its turn. */
static void each_allocation_may_fail(void **state)
{
    (void)state;
    static const char text[] = HEAD("1", "1", "0")
        TENSOR("0", "[4]", "[1]", WHOLE "\"bin_offset\": 0, \"bin_size\": 4") "]}";
    struct simpler_dump_payload payload = {.info = {"args.bin", true, 4}};
    int rc = SIMPLER_ENOMEM;
    uint64_t nth = 0;

    if (!failing_alloc_available())
        skip();
    for (; rc != 0; nth++) {
        struct simpler_dump_manifest *m = NULL;
        struct simpler_dump_checked out;
        failing_alloc_arm(nth);
        rc = simpler_dump_manifest_open_bytes("m", text, sizeof(text) - 1, &m);
        if (rc == 0)
            rc = simpler_dump_check_run(m, &payload, collect, NULL, &out);
        failing_alloc_disarm();
        simpler_dump_manifest_close(m);
        assert_true(rc == 0 || rc == SIMPLER_ENOMEM);
        assert_int_equal(rc == 0, !failing_alloc_fired());
        fault_saw_times("reader-step", failing_alloc_fired(), "status=%s", simpler_status_name(rc));
    }
    assert_true(nth > 4); /* reader, its path, its window, the sort */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_is_sorted),
        cmocka_unit_test(a_right_dump_has_no_faults),
        cmocka_unit_test(an_unknown_level_is_no_fault_of_a_recovered_dump),
        cmocka_unit_test(an_unknown_loss_is_no_fault),
        cmocka_unit_test(each_fault_is_found),
        cmocka_unit_test(scalars_are_checked),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
