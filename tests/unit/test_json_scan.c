/* SPDX-License-Identifier: Apache-2.0 */
/* The pull scanner: exact numbers, strings of any bytes, faults with their place. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cm.h"
#include "report/json_scan.h"

static struct simpler_json_scan scan_of(const char *text)
{
    struct simpler_json_scan s;
    simpler_json_scan_init(&s, text, strlen(text));
    return s;
}

static void integers_are_exact(void **state)
{
    (void)state;
    uint64_t u = 7;
    int64_t i = 7;
    struct simpler_json_scan s = scan_of("18446744073709551615");
    assert_true(simpler_json_scan_u64(&s, &u) && simpler_json_scan_end(&s));
    assert_true(u == UINT64_MAX);
    s = scan_of(" 9007199254740993 ");
    assert_true(simpler_json_scan_u64(&s, &u) && simpler_json_scan_end(&s));
    assert_true(u == 9007199254740993u);
    s = scan_of("-9223372036854775808");
    assert_true(simpler_json_scan_i64(&s, &i));
    assert_true(i == INT64_MIN);
    s = scan_of("9223372036854775807");
    assert_true(simpler_json_scan_i64(&s, &i));
    assert_true(i == INT64_MAX);
    s = scan_of("-0");
    assert_true(simpler_json_scan_i64(&s, &i));
    assert_true(i == 0);
}

static void what_is_no_integer_is_refused(void **state)
{
    static const char *const bad[] = {
        "18446744073709551616", "-1", "1.0", "1e3", "01", "", "x", "+1", "-", "null", "\"1\""};
    (void)state;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        uint64_t u = 42;
        struct simpler_json_scan s = scan_of(bad[k]);
        assert_false(simpler_json_scan_u64(&s, &u));
        assert_non_null(s.fault);
        assert_true(u == 42);
    }
    int64_t i = 42;
    struct simpler_json_scan s = scan_of("9223372036854775808");
    assert_false(simpler_json_scan_i64(&s, &i));
    s = scan_of("-9223372036854775809");
    assert_false(simpler_json_scan_i64(&s, &i));
    assert_true(i == 42);
}

static void floats_and_words(void **state)
{
    (void)state;
    double d = 0;
    bool b = false;
    struct simpler_json_scan s = scan_of("[-1.5e-3, true, null, false, 12]");
    assert_true(simpler_json_scan_open(&s, '['));
    assert_true(simpler_json_scan_double(&s, &d));
    assert_true(d == -1.5e-3);
    assert_true(simpler_json_scan_try(&s, ',') && simpler_json_scan_bool(&s, &b));
    assert_true(b);
    assert_true(simpler_json_scan_try(&s, ',') && simpler_json_scan_try_null(&s));
    assert_true(simpler_json_scan_try(&s, ',') && simpler_json_scan_bool(&s, &b));
    assert_false(b);
    assert_true(simpler_json_scan_try(&s, ',') && simpler_json_scan_double(&s, &d));
    assert_true(d == 12);
    assert_true(simpler_json_scan_close(&s, ']') && simpler_json_scan_end(&s));
}

static void check_text(const char *json, const char *expected)
{
    char out[64];
    struct simpler_json_span span;
    struct simpler_json_scan s = scan_of(json);
    assert_true(simpler_json_scan_string(&s, &span));
    assert_int_equal(simpler_json_text(span, out, sizeof(out)), strlen(expected));
    assert_string_equal(out, expected);
}

/* SS-35: non-UTF-8 input becomes U+FFFD. */
static void strings_become_valid_utf8(void **state)
{
    (void)state;
    check_text("\"a.cpp:77\"", "a.cpp:77");
    check_text("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
    check_text("\"\\u00e9\\u20AC\\ud83d\\ude00\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    check_text("\"\\ud83d\\ud83d\\udc00x\"", "\xef\xbf\xbd\xf0\x9f\x90\x80x");
    check_text("\"\\udc00\\ud800\"", "\xef\xbf\xbd\xef\xbf\xbd");
    check_text("\"a\xff"
               "b\xc0\x80\"",
               "a\xef\xbf\xbd"
               "b\xef\xbf\xbd\xef\xbf\xbd");
    check_text("\"\xed\xa0\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    check_text("\"\xe2\x82\"", "\xef\xbf\xbd\xef\xbf\xbd");
    check_text("\"x\\u0000y\"", "x\xef\xbf\xbdy");
}

static void text_is_cut_at_a_code_point(void **state)
{
    char out[4] = "zzz";
    struct simpler_json_span span;
    struct simpler_json_scan s = scan_of("\"ab\xe2\x82\xac\"");
    (void)state;
    assert_true(simpler_json_scan_string(&s, &span));
    assert_false(span.plain);
    assert_int_equal(simpler_json_text(span, out, sizeof(out)), 5);
    assert_string_equal(out, "ab");
    assert_int_equal(simpler_json_text(span, NULL, 0), 5);
}

static void faults_stick_and_have_a_place(void **state)
{
    (void)state;
    struct simpler_json_span span;
    struct simpler_json_scan s = scan_of("{\"a\": 1,\n  \"b\": x}");
    uint64_t u;
    assert_true(simpler_json_scan_open(&s, '{') && simpler_json_scan_key(&s, "a"));
    assert_true(simpler_json_scan_u64(&s, &u) && simpler_json_scan_key(&s, "b"));
    assert_false(simpler_json_scan_u64(&s, &u));
    assert_int_equal(simpler_json_scan_line(&s), 2);
    assert_int_equal(simpler_json_scan_column(&s), 8);
    const char *fault = s.fault;
    assert_false(simpler_json_scan_skip(&s, &span));
    assert_false(simpler_json_scan_end(&s));
    assert_ptr_equal(s.fault, fault);
}

static void skip_takes_any_value_up_to_its_depth(void **state)
{
    char deep[2 * SIMPLER_JSON_MAX_DEPTH + 3];
    (void)state;
    for (int depth = SIMPLER_JSON_MAX_DEPTH; depth <= SIMPLER_JSON_MAX_DEPTH + 1; depth++) {
        memset(deep, '[', (size_t)depth);
        memset(deep + depth, ']', (size_t)depth);
        deep[2 * depth] = 0;
        struct simpler_json_scan s = scan_of(deep);
        assert_int_equal(simpler_json_scan_skip(&s, NULL), depth == SIMPLER_JSON_MAX_DEPTH);
    }
}

/* The library as the reference: the same texts are JSON for both. */
static void skip_agrees_with_the_library(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "{\"a\":[1,2,{\"b\":null}]}",
        "[1,]",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "[1 2]",
        "{\"a\":1,}",
        "{1:2}",
        "[[[]",
        "[]]",
        "\"a",
        "\"\\x\"",
        "\"\\u12g4\"",
        "tru",
        "nul",
        "1.",
        "1.5",
        ".5",
        "1e",
        "1e5",
        "-",
        "-0",
        "00",
        "01",
        "[\"\\n\"]",
        "[\"\n\"]",
        "",
        " ",
        "{\"a\":1 \"b\":2}",
        "[1,,2]",
        "{\"a\":1,,\"b\":2}",
        "[,1]",
        " [ 1 , 2 ] ",
        "[true,false,null]",
        "}",
        "{]",
        "[}",
    };
    (void)state;
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
        struct simpler_json_scan s = scan_of(texts[k]);
        bool ours = simpler_json_scan_skip(&s, NULL) && simpler_json_scan_end(&s);
        json_t *theirs = json_loads(texts[k], JSON_DECODE_ANY, NULL);
        if (ours != (theirs != NULL))
            print_error("differs on %s\n", texts[k]);
        assert_int_equal(ours, theirs != NULL);
        json_decref(theirs);
    }
}

/* Reads nothing behind its end: each prefix in a block of its own size, for ASan. */
static void every_prefix_is_safe(void **state)
{
    static const char whole[] =
        "{\"a\\u00e9\": [true, -1.5e+3, null, {\"b\": \"\\ud83d\\ude00\"}]}";
    (void)state;
    for (size_t n = 0; n < sizeof(whole) - 1; n++) {
        char *copy = malloc(n == 0 ? 1 : n);
        assert_non_null(copy);
        memcpy(copy, whole, n);
        struct simpler_json_scan s;
        simpler_json_scan_init(&s, copy, n);
        assert_false(simpler_json_scan_skip(&s, NULL));
        assert_true(s.at <= s.end);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(what_is_no_integer_is_refused),
        cmocka_unit_test(floats_and_words),
        cmocka_unit_test(strings_become_valid_utf8),
        cmocka_unit_test(text_is_cut_at_a_code_point),
        cmocka_unit_test(faults_stick_and_have_a_place),
        cmocka_unit_test(skip_takes_any_value_up_to_its_depth),
        cmocka_unit_test(skip_agrees_with_the_library),
        cmocka_unit_test(every_prefix_is_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
