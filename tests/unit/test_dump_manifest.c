/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest's reader: layouts, faults and where they are, windows. AD-10 to AD-12, AD-33. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "base/alloc.h"
#include "report/dump_manifest.h"

#define HEAD                                                                       \
    "{\n  \"run_dir\": \"args_dump\",\n  \"bin_format\": {\n    \"type\": "        \
    "\"logical_contiguous\",\n    \"byte_order\": \"little_endian\"\n  },\n"       \
    "  \"dump_args_level\": 2,\n  \"total_args\": 1,\n  \"before_dispatch\": 1,\n" \
    "  \"after_completion\": 0,\n  \"input_args\": 1,\n  \"output_args\": 0,\n"    \
    "  \"inout_args\": 0,\n  \"truncated_args\": 0,\n  \"dropped_records\": 7,\n"  \
    "  \"bin_file\": \"args.bin\",\n  \"args\": [\n"
#define ENTRY                                                                               \
    "{\"task_id\": \"0x0000000200000a00\", \"func_id\": [3, 4], \"role\": \"inout\", "      \
    "\"stage\": \"after_completion\", \"arg_index\": 5, \"kind\": \"tensor\", \"dtype\": "  \
    "\"float32\", \"shape\": [2, 3], \"strides\": [6, 2], \"start_offset\": 9, "            \
    "\"is_contiguous\": false, \"truncated\": true, \"bin_offset\": 18446744073709551615, " \
    "\"bin_size\": 9007199254740993}"
#define TAIL "\n  ]\n}\n"

static struct simpler_dump_manifest *open_text(const char *text, int expected)
{
    struct simpler_dump_manifest *m;
    assert_int_equal(simpler_dump_manifest_open_bytes("m.json", text, strlen(text), &m), expected);
    return m;
}

static void check_entry(const struct simpler_dump_entry *e)
{
    assert_true(e->task_id == 0x0000000200000a00);
    assert_int_equal(e->func_count, 2);
    assert_int_equal(e->func_ids[1], 4);
    assert_int_equal(e->role, SIMPLER_DUMP_INOUT);
    assert_int_equal(e->stage, SIMPLER_DUMP_AFTER);
    assert_int_equal(e->arg_index, 5);
    assert_int_equal(e->dtype, SIMPLER_DTYPE_FLOAT32);
    assert_int_equal(e->shape_count, 2);
    assert_int_equal(e->shape[1], 3);
    assert_int_equal(e->strides[0], 6);
    assert_int_equal(e->start_offset, 9);
    assert_false(e->is_contiguous);
    assert_true(e->truncated);
    /* Exact where a double is not. */
    assert_true(e->bin_offset == UINT64_MAX);
    assert_true(e->bin_size == 9007199254740993);
}

static void the_documented_layout(void **state)
{
    (void)state;
    struct simpler_dump_manifest *m = open_text(HEAD ENTRY TAIL, 0);
    const struct simpler_dump_header *h = simpler_dump_manifest_header(m);
    struct simpler_dump_entry e;

    assert_string_equal(h->bin_file, "args.bin");
    assert_int_equal(h->count[SIMPLER_DUMP_COUNT_LEVEL], 2);
    assert_int_equal(h->count[SIMPLER_DUMP_COUNT_DROPPED], 7);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(simpler_dump_manifest_next(m, &e), 1);
        check_entry(&e);
        assert_int_equal(e.index, 0);
        assert_int_equal(simpler_dump_manifest_next(m, &e), 0);
        assert_int_equal(simpler_dump_manifest_next(m, &e), 0);
        simpler_dump_manifest_rewind(m);
    }
    simpler_dump_manifest_close(m);
}

/* Blanks where JSON allows them, and none at all. */
static void white_space_is_not_part_of_the_format(void **state)
{
    (void)state;
    const char *source = HEAD ENTRY TAIL;
    char tight[4096];
    char wide[16384];
    size_t n_tight = 0;
    size_t n_wide = 0;
    bool in_string = false;

    for (const char *p = source; *p != '\0'; p++) {
        in_string ^= *p == '"';
        if (in_string || strchr(" \n", *p) == NULL)
            tight[n_tight++] = *p;
        bool punctuation = !in_string && strchr("{}[],:", *p) != NULL;
        n_wide += (size_t)sprintf(wide + n_wide, punctuation ? " \r\n\t%c \n" : "%c", *p);
    }
    tight[n_tight] = '\0';
    const char *layouts[] = {tight, wide};
    for (size_t i = 0; i < 2; i++) {
        struct simpler_dump_manifest *m = open_text(layouts[i], 0);
        struct simpler_dump_entry e;
        assert_int_equal(simpler_dump_manifest_next(m, &e), 1);
        check_entry(&e);
        assert_int_equal(simpler_dump_manifest_next(m, &e), 0);
        simpler_dump_manifest_close(m);
    }
}

/* Upper-case type, other order, keys of its own, "tensors"; the header behind the array. */
static void the_earlier_versions_layout(void **state)
{
    (void)state;
    struct simpler_dump_manifest *m = open_text(
        "{\"tensors\": [{\"arg_index\": 1, \"task_id\": \"0x0000000000000005\", \"func_id\": 3, "
        "\"role\": "
        "\"input\", \"stage\": \"before_dispatch\", \"kind\": \"scalar\", \"dtype\": \"INT16\", "
        "\"value\": 65535, \"shape\": [], \"numel\": 1, \"bin_offset\": 0, \"bin_size\": 0, "
        "\"overwritten\": false, \"x\": {\"deep\": [1, {\"y\": null}]}},\n"
        "{\"arg_index\": 1, \"task_id\": \"0x0000000000000006\", \"role\": \"input\", \"stage\": "
        "\"before_dispatch\", \"dtype\": \"BFLOAT16\", \"shape\": [0], \"bin_offset\": 0, "
        "\"bin_size\": 0}], \"dropped_overwrite\": 0, \"bin_file\": \"b.bin\"}",
        0);
    struct simpler_dump_entry e;
    uint64_t bits;

    assert_string_equal(simpler_dump_manifest_header(m)->bin_file, "b.bin");
    assert_int_equal(simpler_dump_manifest_next(m, &e), 1);
    assert_int_equal(e.task_id, 5);
    assert_string_equal(e.dtype_text, "int16");
    assert_string_equal(e.value, "65535");
    assert_int_equal(e.func_ids[0], 3);
    assert_true(simpler_dump_entry_scalar_bits(&e, &bits));
    assert_int_equal(bits, 0xffff);
    assert_int_equal(simpler_dump_manifest_next(m, &e), 1);
    assert_int_equal(e.task_id, 6);
    assert_int_equal(e.kind, SIMPLER_DUMP_TENSOR);
    assert_int_equal(e.func_count, 0);
    assert_string_equal(e.value, "");
    assert_string_equal(e.dtype_text, "bfloat16");
    assert_int_equal(simpler_dump_manifest_next(m, &e), 0);
    simpler_dump_manifest_close(m);
}

/* Reads to the end or the first fault; the status. */
static int read_all(const char *text, size_t bytes, char *error, size_t capacity)
{
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    int rc = simpler_dump_manifest_open_bytes("m.json", text, bytes, &m);

    if (rc == 0) {
        do
            rc = simpler_dump_manifest_next(m, &e);
        while (rc > 0);
    }
    (void)snprintf(error, capacity, "%s", simpler_dump_manifest_error(m));
    simpler_dump_manifest_close(m);
    return rc;
}

static void faults_name_file_entry_and_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *error;
    } cases[] = {
        {"", "m.json: the file ends too early (line 1, column 1)"},
        {"[1, 2]", "expected '{' (line 1, column 1)"},
        {"{\"traceEvents\": [1]}", "no \"args\" array: this is not the manifest of an args dump"},
        {"{\"bin_file\": null, \"args\": [5]}", "entry 0: expected '{' (line 1, column 29)"},
        {"{\"bin_file\": null,\n\"args\": [\n {\"arg_index\": 0x1}]}",
         "entry 0: expected ',' or a closing bracket (line 3, column 17)"},
        {"{\"bin_file\": \"../x\", \"args\": []}", "not the name of a file beside the manifest"},
        {"{\"bin_file\": \"a\\u001b\", \"args\": []}", "a control character"},
        {"{\"bin_format\": {\"byte_order\": \"big_endian\"}, \"args\": []}", "not little_endian"},
        {"{\"total_args\": -1, \"args\": []}", "\"total_args\":"},
        {"{\"total_args\": 18446744073709551616, \"args\": []}", "out of range"},
        {"{\"bin_file\": null, \"args\": []} x", "bytes after the value"},
        {"{\"bin_file\": null, \"args\": [], \"args\": []}", "a second array"},
        {"{\"bin_file\": null, \"args\": [" ENTRY " " ENTRY "]}", "entry 1: expected ',' or ']'"},
        {"{\"bin_file\": null, \"args\": [" ENTRY ",]}", "entry 1: expected '{'"},
        {"{\"bin_file\": null, \"args\": [{}]}", "entry 0: \"task_id\": the key is missing"},
        {"{\"bin_file\": null, \"args\": [{\"role\": \"x\"}]}",
         "\"role\": neither input, output nor inout"},
        {"{\"bin_file\": null, \"args\": [{\"stage\": \"after\"}]}", "\"stage\": neither"},
        {"{\"bin_file\": null, \"args\": [{\"kind\": \"x\"}]}", "\"kind\": neither"},
        {"{\"bin_file\": null, \"args\": [{\"shape\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}]}",
         "\"shape\": more than 8 dimensions"},
        {"{\"bin_file\": null, \"args\": [{\"shape\": [-1]}]}", "\"shape\":"},
        {"{\"bin_file\": null, \"args\": [{\"bin_size\": 1.5}]}", "\"bin_size\":"},
        {"{\"bin_file\": null, \"args\": [{\"bin_size\": 1e3}]}", "\"bin_size\":"},
        {"{\"bin_file\": null, \"args\": [{\"bin_size\": 1, \"bin_size\": 1}]}",
         "the key stands twice"},
        {"{\"bin_file\": null, \"args\": [{\"task_id\": \"0x12345678901234567\"}]}",
         "16 hexadecimal digits"},
        {"{\"bin_file\": null, \"args\": [{\"task_id\": \"0x123456789012345\"}]}",
         "16 hexadecimal digits"},
        {"{\"bin_file\": null, \"args\": [{\"task_id\": 7}]}", "\"task_id\": expected"},
        {"{\"bin_file\": null, \"args\": [{\"a\": 1 \"b\": 2}]}", "expected ','"},
    };
    char error[700];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(read_all(cases[i].text, strlen(cases[i].text), error, sizeof(error)),
                         SIMPLER_EFORMAT);
        if (strstr(error, cases[i].error) == NULL || strncmp(error, "m.json: ", 8) != 0)
            fail_msg("case %zu: %s", i, error);
    }
}

static void the_place_is_line_and_column(void **state)
{
    (void)state;
    char error[700];
    const char *text = "{\n \"bin_file\": null,\n \"args\": [\n  {\"role\": 7}\n]}";

    assert_int_equal(read_all(text, strlen(text), error, sizeof(error)), SIMPLER_EFORMAT);
    assert_non_null(strstr(error, "(line 4, column 12)"));
}

/* No cut manifest is taken for a whole one. */
static void every_cut_is_a_fault(void **state)
{
    (void)state;
    const char *text = HEAD ENTRY TAIL;
    size_t whole = strlen(text) - 1; /* the last newline may be missing */
    char error[700];

    for (size_t n = 0; n < whole; n++) {
        assert_int_equal(read_all(text, n, error, sizeof(error)), SIMPLER_EFORMAT);
        assert_non_null(strstr(error, "m.json: "));
    }
    assert_int_equal(read_all(text, whole, error, sizeof(error)), 0);
}

/* More than one window, entries of many lengths across its borders, blanks between. */
static void entries_cross_windows(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    size_t capacity = (size_t)COUNT * 512;
    char *text = simpler_alloc_zeroed(capacity, 1);
    struct simpler_dump_manifest *m;
    struct simpler_dump_entry e;
    size_t n = 0;

    assert_non_null(text);
    n += (size_t)sprintf(text, "{\"bin_file\": \"args.bin\", \"args\": [");
    for (int i = 0; i < COUNT; i++)
        n += (size_t)sprintf(text + n,
                             "%s%*s{\"task_id\": \"0x%016x\", \"role\": \"input\", \"stage\": "
                             "\"before_dispatch\", \"arg_index\": %d, \"dtype\": \"int8\", "
                             "\"shape\": [%d], \"junk\": \"%*s\", \"bin_offset\": %d, "
                             "\"bin_size\": %d}",
                             i == 0 ? "" : ",", i % 61, "", (unsigned)i * 7, i, i, i % 97, "",
                             i * 3, i);
    n += (size_t)sprintf(text + n, "]}");
    assert_true(n > 3 * SIMPLER_DUMP_ENTRY_MAX_BYTES);
    assert_int_equal(simpler_dump_manifest_open_bytes("m", text, n, &m), 0);
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < COUNT; i++) {
            assert_int_equal(simpler_dump_manifest_next(m, &e), 1);
            assert_true(e.index == i && e.task_id == i * 7 && e.arg_index == i);
            assert_true(e.shape[0] == i && e.bin_offset == i * 3 && e.bin_size == i);
        }
        assert_int_equal(simpler_dump_manifest_next(m, &e), 0);
        simpler_dump_manifest_rewind(m);
    }
    simpler_dump_manifest_close(m);
    simpler_alloc_free(text);
}

static void an_entry_larger_than_the_window_is_told(void **state)
{
    (void)state;
    size_t bytes = SIMPLER_DUMP_ENTRY_MAX_BYTES * 3;
    char *text = simpler_alloc_zeroed(bytes, 1);
    char error[700];

    assert_non_null(text);
    memset(text, 'x', bytes);
    memcpy(text, "{\"bin_file\": null, \"args\": [{\"junk\": \"", 38);
    assert_int_equal(read_all(text, bytes, error, sizeof(error)), SIMPLER_EFORMAT);
    assert_non_null(strstr(error, "entry 0: more than 1 MiB in one value"));
    simpler_alloc_free(text);
}

static void missing_files_are_named(void **state)
{
    (void)state;
    struct simpler_dump_manifest *m;

    assert_int_equal(simpler_dump_manifest_open("no/such.json", &m), SIMPLER_ENOENT);
    assert_string_equal(simpler_dump_manifest_error(m), "no/such.json: No such file or directory");
    simpler_dump_manifest_close(m);
    assert_int_equal(simpler_dump_manifest_open("/", &m), SIMPLER_EIO);
    assert_string_equal(simpler_dump_manifest_error(m), "/: Is a directory");
    simpler_dump_manifest_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documented_layout),
        cmocka_unit_test(white_space_is_not_part_of_the_format),
        cmocka_unit_test(the_earlier_versions_layout),
        cmocka_unit_test(faults_name_file_entry_and_place),
        cmocka_unit_test(the_place_is_line_and_column),
        cmocka_unit_test(every_cut_is_a_fault),
        cmocka_unit_test(entries_cross_windows),
        cmocka_unit_test(an_entry_larger_than_the_window_is_told),
        cmocka_unit_test(missing_files_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
