/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of JSON to valid UTF-8: escapes resolved, what is invalid as U+FFFD. */
#include "report/json_scan.h"

#include <string.h>

#include "base/utf8.h"

#define REPLACEMENT 0xfffdu

static uint32_t hex4(const char *p)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t c = (unsigned char)p[i];
        value = value * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

/* A \u escape and its partner; @p stands behind the u.  Returns what it took. */
static size_t decode_unicode(const char *p, const char *end, uint32_t *out)
{
    uint32_t high = hex4(p);

    if (high < 0xd800 || high > 0xdfff) {
        *out = high;
        return 4;
    }
    *out = REPLACEMENT;
    if (high >= 0xdc00 || end - p < 10 || p[4] != '\\' || p[5] != 'u')
        return 4;
    uint32_t low = hex4(p + 6);
    if (low < 0xdc00 || low > 0xdfff)
        return 4;
    *out = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    return 10;
}

static size_t encode(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* One character at @p, 1 to 4 bytes into @unit; returns the bytes of input. */
static size_t decode_one(const char *p, const char *end, char unit[4], size_t *unit_bytes)
{
    static const char letters[] = "bfnrt";
    static const char values[] = "\b\f\n\r\t";
    size_t length;
    uint32_t c;

    if (*p != '\\') {
        length = simpler_utf8_length(p, (size_t)(end - p));
        memcpy(unit, p, length);
        *unit_bytes = length != 0 ? length : encode(REPLACEMENT, unit);
        return length != 0 ? length : 1;
    }
    if (end - p >= 6 && p[1] == 'u') {
        length = 2 + decode_unicode(p + 2, end, &c);
        /* A NUL would end the C string. */
        *unit_bytes = encode(c == 0 ? REPLACEMENT : c, unit);
        return length;
    }
    if (end - p < 2) {
        *unit_bytes = encode(REPLACEMENT, unit);
        return 1;
    }
    const char *letter = memchr(letters, p[1], 5);
    unit[0] = letter != NULL ? values[letter - letters] : p[1];
    *unit_bytes = 1;
    return 2;
}

size_t simpler_json_text(struct simpler_json_span span, char *out, size_t capacity)
{
    const char *end = span.text + span.bytes;
    size_t needed = 0, written = 0;
    bool full = false;

    for (const char *p = span.text; p < end;) {
        char unit[4];
        size_t bytes;
        p += decode_one(p, end, unit, &bytes);
        full = full || needed + bytes + 1 > capacity;
        if (!full) {
            memcpy(out + written, unit, bytes);
            written += bytes;
        }
        needed += bytes;
    }
    if (capacity > 0)
        out[written] = 0;
    return needed;
}
