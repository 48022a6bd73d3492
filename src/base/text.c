/* SPDX-License-Identifier: Apache-2.0 */
/* Strict numbers: strtol and its kin accept too much. */
#include "base/text.h"

#include <stddef.h>

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* The number at @p and the place behind it; NULL when there is none or it overflows. */
static const char *scan_digits(const char *p, uint64_t *out)
{
    uint64_t value = 0;

    if (*p < '0' || *p > '9')
        return NULL;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return NULL;
    }
    *out = value;
    return p;
}

static const char *scan_u64(const char *p, uint64_t *out)
{
    p = scan_digits(skip_blanks(p), out);
    return p != NULL ? skip_blanks(p) : NULL;
}

bool simpler_text_parse_u64(const char *text, uint64_t *out)
{
    uint64_t value;
    const char *end = scan_u64(text, &value);

    if (end == NULL || *end != '\0')
        return false;
    *out = value;
    return true;
}

bool simpler_text_parse_i64(const char *text, int64_t *out)
{
    const char *p = skip_blanks(text);
    bool negative = *p == '-';
    uint64_t value;

    if (negative || *p == '+')
        p++;
    p = scan_digits(p, &value);
    if (p == NULL || *skip_blanks(p) != '\0' || value > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)-value : (int64_t)value;
    return true;
}

/* How many numbers with commas between @text holds, at most @max; 0 when it is malformed. */
static uint32_t scan_list(const char *text, uint64_t *out, uint32_t max)
{
    const char *p = text;

    for (uint32_t n = 0; n < max; n++) {
        p = scan_u64(p, &out[n]);
        if (p == NULL)
            return 0;
        if (*p == '\0')
            return n + 1;
        if (*p != ',')
            return 0;
        p++;
    }
    return 0;
}

bool simpler_text_parse_list(const char *text, uint64_t *out, uint32_t count)
{
    uint64_t values[16];
    uint32_t max = count < 16 ? count : 16;
    uint32_t found = scan_list(text, values, max);

    if (found != 1 && found != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        out[i] = values[found == 1 ? 0 : i];
    return true;
}

const char *simpler_text_by_count(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

const char *simpler_text_plural(uint64_t count)
{
    return simpler_text_by_count(count, "", "s");
}
