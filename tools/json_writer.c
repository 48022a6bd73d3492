/* SPDX-License-Identifier: Apache-2.0 */
/* Commas, indents and escapes of a JSON document. */
#include "json_writer.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

static void print_string(FILE *out, const char *text)
{
    size_t left = strlen(text);

    (void)fputc('"', out);
    while (left != 0) {
        unsigned char byte = (unsigned char)*text;
        size_t length = simpler_utf8_length(text, left);
        if (byte == '"' || byte == '\\')
            (void)fprintf(out, "\\%c", byte);
        else if (byte == '\n')
            (void)fputs("\\n", out);
        else if (byte < 0x20)
            (void)fprintf(out, "\\u%04x", byte);
        else if (length == 0)
            (void)fputs("\\ufffd", out);
        else
            (void)fwrite(text, 1, length, out);
        length = length == 0 ? 1 : length;
        text += length;
        left -= length;
    }
    (void)fputc('"', out);
}

/* The comma, the indent and the key of the next entry. */
static void begin_entry(struct simpler_json_writer *w, const char *key)
{
    if (w->depth != 0)
        (void)fprintf(w->out, "%s\n%*s", w->first ? "" : ",", 2 * w->depth, "");
    w->first = false;
    if (key != NULL) {
        print_string(w->out, key);
        (void)fputs(": ", w->out);
    }
}

void simpler_json_writer_init(struct simpler_json_writer *w, FILE *out)
{
    w->out = out;
    w->depth = 0;
    w->first = true;
}

void simpler_json_writer_open(struct simpler_json_writer *w, const char *key, char bracket)
{
    begin_entry(w, key);
    (void)fputc(bracket, w->out);
    w->depth++;
    w->first = true;
}

void simpler_json_writer_close(struct simpler_json_writer *w, char bracket)
{
    w->depth--;
    if (!w->first)
        (void)fprintf(w->out, "\n%*s", 2 * w->depth, "");
    (void)fputc(bracket, w->out);
    w->first = false;
    if (w->depth == 0)
        (void)fputc('\n', w->out);
}

void simpler_json_writer_string(struct simpler_json_writer *w, const char *key, const char *text)
{
    begin_entry(w, key);
    if (text == NULL)
        (void)fputs("null", w->out);
    else
        print_string(w->out, text);
}

void simpler_json_writer_u64(struct simpler_json_writer *w, const char *key, uint64_t value)
{
    begin_entry(w, key);
    (void)fprintf(w->out, "%" PRIu64, value);
}

void simpler_json_writer_i64(struct simpler_json_writer *w, const char *key, int64_t value)
{
    begin_entry(w, key);
    (void)fprintf(w->out, "%" PRId64, value);
}

void simpler_json_writer_bool(struct simpler_json_writer *w, const char *key, bool value)
{
    begin_entry(w, key);
    (void)fputs(value ? "true" : "false", w->out);
}

void simpler_json_writer_list(struct simpler_json_writer *w, const char *key,
                              const uint64_t *values, uint32_t count)
{
    begin_entry(w, key);
    (void)fputc('[', w->out);
    for (uint32_t i = 0; i < count; i++)
        (void)fprintf(w->out, "%s%" PRIu64, i == 0 ? "" : ", ", values[i]);
    (void)fputc(']', w->out);
}
