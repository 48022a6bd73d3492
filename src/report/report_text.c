/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over code points; each target has its own rule for a few of them. */
#include "report/report_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Writes one code point of @bytes bytes; the target's escaping. */
typedef void (*unit_fn)(FILE *out, const char *unit, size_t bytes);

static void write_units(FILE *out, const char *text, size_t limit, unit_fn write_unit)
{
    size_t left = strlen(text), written = 0;

    while (left > 0) {
        size_t bytes = simpler_utf8_length(text, left);
        size_t step = bytes != 0 ? bytes : 1;
        if (written + step > limit) {
            (void)fputs("\xe2\x80\xa6", out);
            return;
        }
        unsigned char c = (unsigned char)*text;
        if (bytes == 0 || c < 0x20 || c == 0x7f)
            write_unit(out, REPLACEMENT, 3);
        else
            write_unit(out, text, bytes);
        text += step;
        left -= step;
        written += step;
    }
}

static void html_unit(FILE *out, const char *unit, size_t bytes)
{
    const char *name = NULL;
    switch (*unit) {
    case '&':
        name = "&amp;";
        break;
    case '<':
        name = "&lt;";
        break;
    case '>':
        name = "&gt;";
        break;
    case '"':
        name = "&quot;";
        break;
    case '\'':
        name = "&#39;";
        break;
    default:
        break;
    }
    if (name != NULL)
        (void)fputs(name, out);
    else
        (void)fwrite(unit, 1, bytes, out);
}

/* Line separators and what could end a script element become escapes. */
static void json_unit(FILE *out, const char *unit, size_t bytes)
{
    if (*unit == '"' || *unit == '\\')
        (void)fprintf(out, "\\%c", *unit);
    else if (*unit == '<' || *unit == '>' || *unit == '&')
        (void)fprintf(out, "\\u%04x", (unsigned)*unit);
    else if (bytes == 3 &&
             (memcmp(unit, "\xe2\x80\xa8", 3) == 0 || memcmp(unit, "\xe2\x80\xa9", 3) == 0))
        (void)fputs(unit[2] == (char)0xa8 ? "\\u2028" : "\\u2029", out);
    else
        (void)fwrite(unit, 1, bytes, out);
}

static void plain_unit(FILE *out, const char *unit, size_t bytes)
{
    (void)fwrite(unit, 1, bytes, out);
}

void simpler_report_text_html(FILE *out, const char *text)
{
    write_units(out, text, SIZE_MAX, html_unit);
}

void simpler_report_text_html_cut(FILE *out, const char *text, size_t limit)
{
    write_units(out, text, limit, html_unit);
}

void simpler_report_text_json_cut(FILE *out, const char *text, size_t limit)
{
    (void)fputc('"', out);
    write_units(out, text, limit, json_unit);
    (void)fputc('"', out);
}

/* Controls keep their value here: JSON has escapes for them. */
void simpler_report_text_json(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (size_t left = strlen(text); left > 0;) {
        size_t bytes = simpler_utf8_length(text, left);
        size_t step = bytes != 0 ? bytes : 1;
        if (bytes == 0)
            json_unit(out, REPLACEMENT, 3);
        else if ((unsigned char)*text < 0x20)
            (void)fprintf(out, "\\u%04x", (unsigned)*text);
        else
            json_unit(out, text, bytes);
        text += step;
        left -= step;
    }
    (void)fputc('"', out);
}

void simpler_report_text_plain(FILE *out, const char *text)
{
    write_units(out, text, SIZE_MAX, plain_unit);
}

const char *simpler_report_text_count(char buffer[SIMPLER_TEXT_BYTES], uint64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, value);
    char *to = buffer;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return buffer;
}

const char *simpler_report_text_bytes(char buffer[SIMPLER_TEXT_BYTES], uint64_t value)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double scaled = (double)value;
    size_t unit = 0;

    while (scaled >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        scaled /= 1024;
        unit++;
    }
    (void)snprintf(buffer, SIMPLER_TEXT_BYTES, unit == 0 ? "%.0f %s" : "%.2f %s", scaled,
                   units[unit]);
    return buffer;
}

const char *simpler_report_text_percent(char buffer[SIMPLER_TEXT_BYTES], double percent)
{
    (void)snprintf(buffer, SIMPLER_TEXT_BYTES, "%.2f%%", percent);
    return buffer;
}
