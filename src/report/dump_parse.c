/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One entry.  Keys are looked for from the place after the last one found, so
 * that the documented order is met at the first comparison.
 */
#include "report/dump_parse.h"

#include <string.h>

/* A key as this project writes it: behind a comma and before its value. */
struct written_key {
    const char *name; /* with its quotes and blanks */
    uint8_t bytes;
    uint8_t name_bytes; /* of the bare name, from the fourth byte on */
};

static const struct written_key written_keys[SIMPLER_DUMP_KEY_NUM] = {
#define X(NAME, text) \
    [SIMPLER_DUMP_KEY_##NAME] = {", \"" text "\": ", sizeof(text) + 5, sizeof(text) - 1},
    SIMPLER_DUMP_KEY_MAP(X)
#undef X
};

bool simpler_dump_parse_is(struct simpler_json_span span, const char *text)
{
    return strlen(text) == span.bytes && memcmp(span.text, text, span.bytes) == 0;
}

bool simpler_dump_parse_key(struct simpler_json_scan *s, bool first, struct simpler_json_span *out)
{
    if (!first && !simpler_json_scan_try(s, ','))
        return simpler_json_scan_fail(s, "expected ',' or a closing bracket");
    if (simpler_json_scan_peek(s) != '"')
        return simpler_json_scan_fail(s, "expected a key");
    return simpler_json_scan_string(s, out) &&
           (simpler_json_scan_try(s, ':') || simpler_json_scan_fail(s, "expected ':'"));
}

bool simpler_dump_parse_text(struct simpler_json_scan *s, char *out, size_t capacity)
{
    struct simpler_json_span span;

    out[0] = '\0';
    if (simpler_json_scan_try_null(s))
        return true;
    if (!simpler_json_scan_string(s, &span))
        return false;
    if (simpler_json_text(span, out, capacity) >= capacity)
        return simpler_json_scan_fail(s, "the text is too long");
    /* It will be printed: no escape sequences for a terminal, no NUL. */
    for (const char *p = out; *p != '\0'; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return simpler_json_scan_fail(s, "a control character");
    }
    return true;
}

static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a' + 10);
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : 16;
}

static bool parse_task(struct simpler_json_scan *s, uint64_t *out)
{
    struct simpler_json_span span;
    uint64_t value = 0;

    if (!simpler_json_scan_string(s, &span))
        return false;
    /* A digit less would be another task: the ring stands in the high half. */
    if (span.bytes != 18 || memcmp(span.text, "0x", 2) != 0)
        return simpler_json_scan_fail(s, "expected 0x and 16 hexadecimal digits");
    for (size_t i = 2; i < span.bytes; i++) {
        unsigned digit = hex_digit(span.text[i]);
        if (digit > 15)
            return simpler_json_scan_fail(s, "expected 0x and 16 hexadecimal digits");
        value = value << 4 | digit;
    }
    *out = value;
    return true;
}

static bool parse_funcs(struct simpler_json_scan *s, struct simpler_dump_entry *e)
{
    e->func_count = 0;
    if (!simpler_json_scan_try(s, '[')) {
        e->func_count = 1;
        return simpler_json_scan_i64(s, &e->func_ids[0]);
    }
    if (simpler_json_scan_try(s, ']'))
        return true;
    do {
        if (e->func_count == SIMPLER_DUMP_MAX_FUNCS)
            return simpler_json_scan_fail(s, "more than 16 ids");
        if (!simpler_json_scan_i64(s, &e->func_ids[e->func_count++]))
            return false;
    } while (simpler_json_scan_try(s, ','));
    return simpler_json_scan_close(s, ']');
}

static bool parse_dims(struct simpler_json_scan *s, uint64_t *dims, uint32_t *count)
{
    *count = 0;
    if (!simpler_json_scan_open(s, '['))
        return false;
    if (simpler_json_scan_try(s, ']'))
        return true;
    do {
        if (*count == SIMPLER_DUMP_MAX_DIMS)
            return simpler_json_scan_fail(s, "more than 8 dimensions");
        if (!simpler_json_scan_u64(s, &dims[(*count)++]))
            return false;
    } while (simpler_json_scan_try(s, ','));
    return simpler_json_scan_close(s, ']');
}

static bool parse_role(struct simpler_json_scan *s, enum simpler_dump_role *out)
{
    struct simpler_json_span span;

    if (!simpler_json_scan_string(s, &span))
        return false;
    for (int role = SIMPLER_DUMP_INPUT; role <= SIMPLER_DUMP_INOUT; role++) {
        *out = (enum simpler_dump_role)role;
        if (simpler_dump_parse_is(span, simpler_dump_role_name(*out)))
            return true;
    }
    return simpler_json_scan_fail(s, "neither input, output nor inout");
}

static bool parse_stage(struct simpler_json_scan *s, enum simpler_dump_stage *out)
{
    struct simpler_json_span span;

    if (!simpler_json_scan_string(s, &span))
        return false;
    *out =
        simpler_dump_parse_is(span, "before_dispatch") ? SIMPLER_DUMP_BEFORE : SIMPLER_DUMP_AFTER;
    return simpler_dump_parse_is(span, simpler_dump_stage_name(*out)) ||
           simpler_json_scan_fail(s, "neither before_dispatch nor after_completion");
}

static bool parse_kind(struct simpler_json_scan *s, enum simpler_dump_kind *out)
{
    struct simpler_json_span span;

    *out = SIMPLER_DUMP_TENSOR;
    if (simpler_json_scan_try_bytes(s, "\"tensor\"", 8))
        return true;
    if (!simpler_json_scan_string(s, &span))
        return false;
    *out = simpler_dump_parse_is(span, "tensor") ? SIMPLER_DUMP_TENSOR : SIMPLER_DUMP_SCALAR;
    return simpler_dump_parse_is(span, simpler_dump_kind_name(*out)) ||
           simpler_json_scan_fail(s, "neither tensor nor scalar");
}

static bool parse_dtype(struct simpler_json_scan *s, struct simpler_dump_entry *e)
{
    if (simpler_json_scan_try_bytes(s, "\"float32\"", 9)) {
        e->dtype = SIMPLER_DTYPE_FLOAT32;
        memcpy(e->dtype_text, "float32", 8);
        return true;
    }
    if (simpler_json_scan_peek(s) != '"')
        return simpler_json_scan_fail(s, "expected a string");
    if (!simpler_dump_parse_text(s, e->dtype_text, sizeof(e->dtype_text)))
        return false;
    if (simpler_dtype_parse(e->dtype_text, &e->dtype) != 0)
        e->dtype = SIMPLER_DTYPE_NUM;
    else /* the earlier version's upper case must not reach the user */
        memcpy(e->dtype_text, simpler_dtype_name(e->dtype),
               strlen(simpler_dtype_name(e->dtype)) + 1);
    return true;
}

static bool parse_value(struct simpler_json_scan *s, struct simpler_dump_entry *e)
{
    char c = simpler_json_scan_peek(s);
    struct simpler_json_span span;

    if (c == '{' || c == '[')
        return simpler_json_scan_fail(s, "expected a number, a string, true, false or null");
    e->value_is_string = c == '"';
    if (c == '"')
        return simpler_dump_parse_text(s, e->value, sizeof(e->value));
    if (!simpler_json_scan_skip(s, &span))
        return false;
    if (span.bytes >= sizeof(e->value))
        return simpler_json_scan_fail(s, "the text is too long");
    memcpy(e->value, span.text, span.bytes);
    e->value[span.bytes] = '\0';
    return true;
}

static bool parse_field(struct simpler_json_scan *s, enum simpler_dump_key key,
                        struct simpler_dump_entry *e)
{
    switch (key) {
    case SIMPLER_DUMP_KEY_TASK_ID:
        return parse_task(s, &e->task_id);
    case SIMPLER_DUMP_KEY_FUNC_ID:
        return parse_funcs(s, e);
    case SIMPLER_DUMP_KEY_ROLE:
        return parse_role(s, &e->role);
    case SIMPLER_DUMP_KEY_STAGE:
        return parse_stage(s, &e->stage);
    case SIMPLER_DUMP_KEY_ARG_INDEX:
        return simpler_json_scan_u64(s, &e->arg_index);
    case SIMPLER_DUMP_KEY_AMBIGUOUS:
        return simpler_json_scan_bool(s, &e->ambiguous);
    case SIMPLER_DUMP_KEY_KIND:
        return parse_kind(s, &e->kind);
    case SIMPLER_DUMP_KEY_DTYPE:
        return parse_dtype(s, e);
    case SIMPLER_DUMP_KEY_VALUE:
        return parse_value(s, e);
    case SIMPLER_DUMP_KEY_SHAPE:
        return parse_dims(s, e->shape, &e->shape_count);
    case SIMPLER_DUMP_KEY_STRIDES:
        return parse_dims(s, e->strides, &e->stride_count);
    case SIMPLER_DUMP_KEY_START_OFFSET:
        return simpler_json_scan_u64(s, &e->start_offset);
    case SIMPLER_DUMP_KEY_IS_CONTIGUOUS:
        return simpler_json_scan_bool(s, &e->is_contiguous);
    case SIMPLER_DUMP_KEY_TRUNCATED:
        return simpler_json_scan_bool(s, &e->truncated);
    case SIMPLER_DUMP_KEY_BIN_OFFSET:
        return simpler_json_scan_u64(s, &e->bin_offset);
    case SIMPLER_DUMP_KEY_BIN_SIZE:
        return simpler_json_scan_u64(s, &e->bin_size);
    default:
        return simpler_json_scan_skip(s, NULL);
    }
}

/* SIMPLER_DUMP_KEY_NUM for a key that is none of ours. */
static enum simpler_dump_key find_key(struct simpler_json_span span, unsigned guess)
{
    for (unsigned i = 0; i < SIMPLER_DUMP_KEY_NUM; i++) {
        enum simpler_dump_key key = (enum simpler_dump_key)((guess + i) % SIMPLER_DUMP_KEY_NUM);
        if (span.bytes == written_keys[key].name_bytes &&
            memcmp(span.text, written_keys[key].name + 3, span.bytes) == 0)
            return key;
    }
    return SIMPLER_DUMP_KEY_NUM;
}

/*
 * The next key.  The way of this project's own files first: the key that comes
 * next in the documented order, or the one behind an optional one.
 */
static bool next_key(struct simpler_json_scan *s, bool first, unsigned guess,
                     enum simpler_dump_key *out)
{
    struct simpler_json_span span;

    for (unsigned i = guess; !first && i < guess + 2 && i < SIMPLER_DUMP_KEY_NUM; i++) {
        if (simpler_json_scan_try_bytes(s, written_keys[i].name, written_keys[i].bytes)) {
            *out = (enum simpler_dump_key)i;
            return true;
        }
    }
    if (!simpler_dump_parse_key(s, first, &span))
        return false;
    *out = find_key(span, guess);
    return true;
}

/* What the reader cannot do without; the rest has a neutral value. */
static bool require_keys(struct simpler_json_scan *s, uint32_t keys, const char **key)
{
    static const enum simpler_dump_key required[] = {
        SIMPLER_DUMP_KEY_TASK_ID,    SIMPLER_DUMP_KEY_ROLE,     SIMPLER_DUMP_KEY_STAGE,
        SIMPLER_DUMP_KEY_ARG_INDEX,  SIMPLER_DUMP_KEY_DTYPE,    SIMPLER_DUMP_KEY_SHAPE,
        SIMPLER_DUMP_KEY_BIN_OFFSET, SIMPLER_DUMP_KEY_BIN_SIZE,
    };
    for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
        if ((keys >> required[i] & 1) == 0) {
            *key = simpler_dump_key_name(required[i]);
            return simpler_json_scan_fail(s, "the key is missing");
        }
    }
    *key = NULL;
    return true;
}

static void clear_entry(struct simpler_dump_entry *e)
{
    e->keys = 0;
    e->kind = SIMPLER_DUMP_TENSOR;
    e->ambiguous = false;
    e->is_contiguous = true;
    e->truncated = false;
    e->func_count = 0;
    e->stride_count = 0;
    e->start_offset = 0;
    e->value_is_string = false;
    e->value[0] = '\0';
}

bool simpler_dump_parse_entry(struct simpler_json_scan *s, struct simpler_dump_entry *out,
                              const char **key)
{
    enum simpler_dump_key found;
    unsigned guess = 0;

    *key = NULL;
    clear_entry(out);
    if (!simpler_json_scan_open(s, '{'))
        return false;
    for (bool first = true; !simpler_json_scan_try(s, '}'); first = false) {
        *key = NULL;
        if (!next_key(s, first, guess, &found))
            return false;
        if (found < SIMPLER_DUMP_KEY_NUM) {
            *key = simpler_dump_key_name(found);
            if ((out->keys >> found & 1) != 0)
                return simpler_json_scan_fail(s, "the key stands twice");
            out->keys |= (uint32_t)1 << found;
            guess = found + 1;
        }
        if (!parse_field(s, found, out))
            return false;
    }
    return require_keys(s, out->keys, key);
}

bool simpler_dump_parse_bin_format(struct simpler_json_scan *s)
{
    struct simpler_json_span span;
    struct simpler_json_span value;

    if (!simpler_json_scan_open(s, '{'))
        return false;
    for (bool first = true; !simpler_json_scan_try(s, '}'); first = false) {
        if (!simpler_dump_parse_key(s, first, &span) || !simpler_json_scan_skip(s, &value))
            return false;
        if (simpler_dump_parse_is(span, "type") &&
            !simpler_dump_parse_is(value, "\"logical_contiguous\""))
            return simpler_json_scan_fail(s, "a payload that is not logical_contiguous");
        if (simpler_dump_parse_is(span, "byte_order") &&
            !simpler_dump_parse_is(value, "\"little_endian\""))
            return simpler_json_scan_fail(s, "a payload that is not little_endian");
    }
    return true;
}
