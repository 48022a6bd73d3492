/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pull scanner: every read is checked against the end of the span, and the
 * first fault sticks.  Numbers are converted here and not by the C library, so
 * that 64-bit integers stay exact and no locale matters.
 */
#include "report/json_scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

void simpler_json_scan_init(struct simpler_json_scan *s, const char *text, size_t bytes)
{
    s->begin = text;
    s->at = text;
    s->end = text + bytes;
    s->fault = NULL;
}

bool simpler_json_scan_fail(struct simpler_json_scan *s, const char *fault)
{
    if (s->fault == NULL)
        s->fault = fault;
    return false;
}

static size_t left(const struct simpler_json_scan *s)
{
    return (size_t)(s->end - s->at);
}

static void skip_blanks(struct simpler_json_scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == '\n'))
        s->at++;
}

char simpler_json_scan_peek(struct simpler_json_scan *s)
{
    if (s->fault != NULL)
        return 0;
    skip_blanks(s);
    return s->at < s->end ? *s->at : 0;
}

bool simpler_json_scan_try(struct simpler_json_scan *s, char punctuation)
{
    if (simpler_json_scan_peek(s) != punctuation || s->at == s->end || s->fault != NULL)
        return false;
    s->at++;
    return true;
}

bool simpler_json_scan_try_bytes(struct simpler_json_scan *s, const char *bytes, size_t count)
{
    if (s->fault != NULL || left(s) < count || memcmp(s->at, bytes, count) != 0)
        return false;
    s->at += count;
    return true;
}

bool simpler_json_scan_open(struct simpler_json_scan *s, char bracket)
{
    if (simpler_json_scan_try(s, bracket))
        return true;
    return simpler_json_scan_fail(s, bracket == '{' ? "expected '{'" : "expected '['");
}

bool simpler_json_scan_close(struct simpler_json_scan *s, char bracket)
{
    if (simpler_json_scan_try(s, bracket))
        return true;
    return simpler_json_scan_fail(s, bracket == '}' ? "expected '}'" : "expected ']'");
}

bool simpler_json_scan_end(struct simpler_json_scan *s)
{
    if (s->fault != NULL)
        return false;
    skip_blanks(s);
    return s->at == s->end || simpler_json_scan_fail(s, "bytes after the value");
}

bool simpler_json_scan_key(struct simpler_json_scan *s, const char *name)
{
    size_t bytes = strlen(name);

    (void)simpler_json_scan_try(s, ',');
    if (simpler_json_scan_peek(s) != '"' || left(s) < bytes + 2 ||
        memcmp(s->at + 1, name, bytes) != 0 || s->at[bytes + 1] != '"')
        return simpler_json_scan_fail(s, "another key was expected");
    s->at += bytes + 2;
    return simpler_json_scan_try(s, ':') || simpler_json_scan_fail(s, "expected ':'");
}

bool simpler_json_scan_any_key(struct simpler_json_scan *s, struct simpler_json_span *out)
{
    (void)simpler_json_scan_try(s, ',');
    if (!simpler_json_scan_string(s, out))
        return false;
    return simpler_json_scan_try(s, ':') || simpler_json_scan_fail(s, "expected ':'");
}

/* One escape after its backslash; `at` stands on the letter. */
static bool skip_escape(struct simpler_json_scan *s)
{
    if (s->at == s->end)
        return simpler_json_scan_fail(s, "the string does not end");
    char letter = *s->at++;
    if (letter != 'u')
        return memchr("\"\\/bfnrt", letter, 8) != NULL ||
               simpler_json_scan_fail(s, "unknown escape");
    for (int i = 0; i < 4; i++, s->at++) {
        if (s->at == s->end || strchr("0123456789abcdefABCDEF", *s->at) == NULL || *s->at == 0)
            return simpler_json_scan_fail(s, "an escape needs four hexadecimal digits");
    }
    return true;
}

bool simpler_json_scan_string(struct simpler_json_scan *s, struct simpler_json_span *out)
{
    if (!simpler_json_scan_try(s, '"'))
        return simpler_json_scan_fail(s, "expected a string");
    const char *text = s->at;
    bool plain = true;
    while (s->at < s->end && *s->at != '"') {
        unsigned char c = (unsigned char)*s->at;
        if (SIMPLER_UNLIKELY(c < 0x20))
            return simpler_json_scan_fail(s, "a control character in a string");
        s->at++;
        if (SIMPLER_UNLIKELY(c == '\\' || c >= 0x7f)) {
            plain = false;
            if (c == '\\' && !skip_escape(s))
                return false;
        }
    }
    if (s->at == s->end)
        return simpler_json_scan_fail(s, "the string does not end");
    *out = (struct simpler_json_span){text, (size_t)(s->at - text), plain};
    s->at++;
    return true;
}

static bool is_digit(const struct simpler_json_scan *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

static bool number_goes_on(const struct simpler_json_scan *s)
{
    return s->at < s->end && (*s->at == '.' || *s->at == 'e' || *s->at == 'E');
}

static bool digits(struct simpler_json_scan *s, uint64_t limit, uint64_t *out)
{
    const char *first = s->at;
    uint64_t value = 0;

    if (!is_digit(s))
        return simpler_json_scan_fail(s, "expected an integer");
    /* 18 digits always fit; the checks, a division each, are for the rest. */
    const char *safe = left(s) < 18 ? s->end : s->at + 18;
    for (; s->at < safe && is_digit(s); s->at++)
        value = value * 10 + (uint64_t)(*s->at - '0');
    for (; is_digit(s); s->at++) {
        uint64_t digit = (uint64_t)(*s->at - '0');
        if (value > limit / 10 || value * 10 > limit - digit)
            return simpler_json_scan_fail(s, "the integer is out of range");
        value = value * 10 + digit;
    }
    if (*first == '0' && s->at - first > 1)
        return simpler_json_scan_fail(s, "an integer with a leading zero");
    if (number_goes_on(s))
        return simpler_json_scan_fail(s, "expected an integer");
    *out = value;
    return true;
}

bool simpler_json_scan_u64(struct simpler_json_scan *s, uint64_t *out)
{
    if (simpler_json_scan_peek(s) == '-')
        return simpler_json_scan_fail(s, "expected an integer that is not negative");
    return s->fault == NULL && digits(s, UINT64_MAX, out);
}

bool simpler_json_scan_i64(struct simpler_json_scan *s, int64_t *out)
{
    bool negative = simpler_json_scan_try(s, '-');
    uint64_t magnitude;

    if (!negative)
        skip_blanks(s);
    if (s->fault != NULL || !digits(s, (uint64_t)INT64_MAX + (negative ? 1 : 0), &magnitude))
        return false;
    /* Subtracting one first keeps the conversion defined at INT64_MIN. */
    *out = !negative ? (int64_t)magnitude : magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
    return true;
}

static bool skip_digits(struct simpler_json_scan *s)
{
    if (!is_digit(s))
        return simpler_json_scan_fail(s, "expected a digit");
    while (is_digit(s))
        s->at++;
    return true;
}

static bool skip_number(struct simpler_json_scan *s)
{
    if (*s->at == '-')
        s->at++;
    if (is_digit(s) && *s->at == '0' && s->end - s->at > 1 && s->at[1] >= '0' && s->at[1] <= '9')
        return simpler_json_scan_fail(s, "a number with a leading zero");
    if (!skip_digits(s))
        return false;
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        if (!skip_digits(s))
            return false;
    }
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
            s->at++;
        return skip_digits(s);
    }
    return true;
}

bool simpler_json_scan_double(struct simpler_json_scan *s, double *out)
{
    char c = simpler_json_scan_peek(s);
    if (c != '-' && (c < '0' || c > '9'))
        return simpler_json_scan_fail(s, "expected a number");
    const char *first = s->at;
    if (!skip_number(s))
        return false;
    char copy[64]; /* strtod needs a NUL; what a double can tell fits */
    size_t bytes = (size_t)(s->at - first);
    if (bytes >= sizeof(copy))
        return simpler_json_scan_fail(s, "the number is too long");
    memcpy(copy, first, bytes);
    copy[bytes] = 0;
    *out = strtod(copy, NULL);
    return true;
}

static bool try_word(struct simpler_json_scan *s, const char *word)
{
    size_t bytes = strlen(word);
    if (simpler_json_scan_peek(s) != word[0] || left(s) < bytes || memcmp(s->at, word, bytes) != 0)
        return false;
    s->at += bytes;
    return true;
}

bool simpler_json_scan_bool(struct simpler_json_scan *s, bool *out)
{
    bool yes = try_word(s, "true");
    if (!yes && !try_word(s, "false"))
        return simpler_json_scan_fail(s, "expected true or false");
    *out = yes;
    return true;
}

bool simpler_json_scan_try_null(struct simpler_json_scan *s)
{
    return try_word(s, "null");
}

static bool skip_scalar(struct simpler_json_scan *s)
{
    struct simpler_json_span ignored;
    char c = simpler_json_scan_peek(s);

    if (c == '"')
        return simpler_json_scan_string(s, &ignored);
    if (c == '-' || (c >= '0' && c <= '9'))
        return skip_number(s);
    return try_word(s, "true") || try_word(s, "false") || try_word(s, "null") ||
           simpler_json_scan_fail(s, "expected a value");
}

/*
 * One loop and a stack of closing brackets instead of recursion: the depth of
 * the input must not become the depth of the C stack.
 */
static bool skip_nested(struct simpler_json_scan *s)
{
    char closing[SIMPLER_JSON_MAX_DEPTH];
    struct simpler_json_span key;
    int depth = 0;
    bool first = true; /* nothing since the innermost opening bracket */

    do {
        if (depth > 0 && simpler_json_scan_try(s, closing[depth - 1])) {
            depth--;
            first = false;
            continue;
        }
        if (depth > 0 && !first && !simpler_json_scan_try(s, ','))
            return simpler_json_scan_fail(s, "expected ',' or a closing bracket");
        if (depth > 0 && closing[depth - 1] == '}' &&
            (simpler_json_scan_peek(s) != '"' || !simpler_json_scan_any_key(s, &key)))
            return simpler_json_scan_fail(s, "expected a key");
        char c = simpler_json_scan_peek(s);
        first = c == '{' || c == '[';
        if (!first) {
            if (!skip_scalar(s))
                return false;
        } else if (depth == SIMPLER_JSON_MAX_DEPTH) {
            return simpler_json_scan_fail(s, "nested too deeply");
        } else {
            s->at++;
            closing[depth++] = c == '{' ? '}' : ']';
        }
    } while (depth > 0);
    return true;
}

bool simpler_json_scan_skip(struct simpler_json_scan *s, struct simpler_json_span *out)
{
    (void)simpler_json_scan_peek(s);
    const char *first = s->at;
    if (s->fault != NULL || !skip_nested(s))
        return false;
    if (out != NULL)
        *out = (struct simpler_json_span){first, (size_t)(s->at - first), false};
    return true;
}

size_t simpler_json_scan_line(const struct simpler_json_scan *s)
{
    size_t line = 1;
    for (const char *p = s->begin; p < s->at; p++)
        line += *p == '\n';
    return line;
}

size_t simpler_json_scan_column(const struct simpler_json_scan *s)
{
    const char *start = s->at;
    while (start > s->begin && start[-1] != '\n')
        start--;
    return (size_t)(s->at - start) + 1;
}
