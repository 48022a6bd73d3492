/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered output: millions of short pieces, few writes. */
#include "report/out_stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/number_text.h"

void simpler_out_stream_init(struct simpler_out_stream *o, int fd)
{
    o->fd = fd;
    o->error = 0;
    o->used = 0;
}

static void write_all(struct simpler_out_stream *o, const char *bytes, size_t n)
{
    while (n > 0 && o->error == 0) {
        ssize_t done = write(o->fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            o->error = done < 0 ? errno : EIO;
            return;
        }
        bytes += done;
        n -= (size_t)done;
    }
}

int simpler_out_stream_flush(struct simpler_out_stream *o)
{
    write_all(o, o->buffer, o->used);
    o->used = 0;
    return o->error;
}

void simpler_out_stream_bytes(struct simpler_out_stream *o, const void *bytes, size_t n)
{
    if (n > sizeof(o->buffer) - o->used) {
        (void)simpler_out_stream_flush(o);
        if (n >= sizeof(o->buffer)) {
            write_all(o, bytes, n);
            return;
        }
    }
    memcpy(o->buffer + o->used, bytes, n);
    o->used += n;
}

void simpler_out_stream_text(struct simpler_out_stream *o, const char *text)
{
    simpler_out_stream_bytes(o, text, strlen(text));
}

void simpler_out_stream_char(struct simpler_out_stream *o, char c)
{
    if (o->used == sizeof(o->buffer))
        (void)simpler_out_stream_flush(o);
    o->buffer[o->used++] = c;
}

void simpler_out_stream_u64(struct simpler_out_stream *o, uint64_t value)
{
    char digits[24];
    simpler_out_stream_bytes(o, digits, simpler_number_text_decimal(value, digits));
}

void simpler_out_stream_format(struct simpler_out_stream *o, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n > 0)
        simpler_out_stream_bytes(o, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static void blanks(struct simpler_out_stream *o, size_t n)
{
    while (n-- > 0)
        simpler_out_stream_char(o, ' ');
}

void simpler_out_stream_left(struct simpler_out_stream *o, const char *text, size_t width)
{
    size_t bytes = strlen(text);

    simpler_out_stream_bytes(o, text, bytes);
    blanks(o, bytes < width ? width - bytes : 0);
}

void simpler_out_stream_right(struct simpler_out_stream *o, const char *text, size_t width)
{
    size_t bytes = strlen(text);

    blanks(o, bytes < width ? width - bytes : 0);
    simpler_out_stream_bytes(o, text, bytes);
}

void simpler_out_stream_json(struct simpler_out_stream *o, const char *text)
{
    simpler_out_stream_char(o, '"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            simpler_out_stream_char(o, '\\');
            simpler_out_stream_char(o, *text);
        } else if (c < 0x20 || c == 0x7f) {
            simpler_out_stream_format(o, "\\u%04x", c);
        } else {
            simpler_out_stream_char(o, *text);
        }
    }
    simpler_out_stream_char(o, '"');
}
