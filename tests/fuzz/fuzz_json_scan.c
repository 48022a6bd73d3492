/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes through every question of the scanner.  What the JSON library takes
 * the scanner takes too (up to its depth), and a string decodes to the text
 * that the library has.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/utf8.h"
#include "report/json_scan.h"
#include "report/report_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(x)     \
    do {             \
        if (!(x))    \
            abort(); \
    } while (0)

static void ask_everything(const char *text, size_t bytes)
{
    struct simpler_json_scan s;
    struct simpler_json_span span;
    union {
        uint64_t u;
        int64_t i;
        double d;
        bool b;
    } value;

    for (int question = 0; question < 9; question++) {
        simpler_json_scan_init(&s, text, bytes);
        switch (question) {
        case 0:
            (void)simpler_json_scan_u64(&s, &value.u);
            break;
        case 1:
            (void)simpler_json_scan_i64(&s, &value.i);
            break;
        case 2:
            (void)simpler_json_scan_double(&s, &value.d);
            break;
        case 3:
            (void)simpler_json_scan_bool(&s, &value.b);
            break;
        case 4:
            (void)simpler_json_scan_string(&s, &span);
            break;
        case 5:
            (void)simpler_json_scan_key(&s, "site");
            break;
        case 6:
            (void)simpler_json_scan_any_key(&s, &span);
            break;
        case 7:
            (void)simpler_json_scan_try_null(&s);
            break;
        default:
            (void)simpler_json_scan_skip(&s, &span);
            break;
        }
        CHECK(s.at >= s.begin && s.at <= s.end);
        CHECK(simpler_json_scan_line(&s) >= 1 && simpler_json_scan_column(&s) >= 1);
    }
}

/* Written as JSON and read back, a text is the same. */
static void check_round_trip(const char *text, size_t bytes)
{
    char *json = NULL;
    size_t json_bytes = 0;
    FILE *out = open_memstream(&json, &json_bytes);
    CHECK(out != NULL);
    simpler_report_text_json(out, text);
    CHECK(fclose(out) == 0);
    struct simpler_json_scan s;
    struct simpler_json_span span;
    simpler_json_scan_init(&s, json, json_bytes);
    CHECK(simpler_json_scan_string(&s, &span) && simpler_json_scan_end(&s));
    char *back = malloc(bytes + 1);
    CHECK(back != NULL && simpler_json_text(span, back, bytes + 1) == bytes);
    CHECK(memcmp(back, text, bytes + 1) == 0);
    free(back);
    free(json);
}

static void check_text(struct simpler_json_span span, const json_t *theirs)
{
    size_t needed = simpler_json_text(span, NULL, 0);
    char *text = malloc(needed + 1);
    CHECK(text != NULL && simpler_json_text(span, text, needed + 1) == needed);
    CHECK(strlen(text) == needed);
    for (size_t i = 0; i < needed;) {
        size_t length = simpler_utf8_length(text + i, needed - i);
        CHECK(length > 0);
        i += length;
    }
    check_round_trip(text, needed);
    if (json_is_string(theirs))
        CHECK(strcmp(text, json_string_value(theirs)) == 0);
    free(text);
}

static int depth_of(const json_t *value)
{
    const char *key;
    json_t *item;
    size_t index;
    int deepest = 0;

    json_array_foreach(value, index, item)
    {
        int depth = depth_of(item);
        deepest = depth > deepest ? depth : deepest;
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        int depth = depth_of(item);
        deepest = depth > deepest ? depth : deepest;
    }
    return json_is_array(value) || json_is_object(value) ? deepest + 1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct simpler_json_scan s;
    struct simpler_json_span span;

    ask_everything(text, size);
    json_t *theirs = json_loadb(text, size, JSON_DECODE_ANY, NULL);
    simpler_json_scan_init(&s, text, size);
    bool ours = simpler_json_scan_skip(&s, &span) && simpler_json_scan_end(&s);
    /* The library takes a NUL for the end of the text. */
    if (theirs != NULL && memchr(text, 0, size) == NULL &&
        depth_of(theirs) <= SIMPLER_JSON_MAX_DEPTH)
        CHECK(ours);
    simpler_json_scan_init(&s, text, size);
    if (simpler_json_scan_string(&s, &span))
        check_text(span, theirs);
    json_decref(theirs);
    return 0;
}
