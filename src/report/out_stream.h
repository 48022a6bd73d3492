/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_OUT_STREAM_H
#define SIMPLER_REPORT_OUT_STREAM_H

/* A buffered writer to a descriptor whose first failure sticks. */
#include <stddef.h>
#include <stdint.h>

#define SIMPLER_OUT_BYTES ((size_t)64 * 1024)

struct simpler_out_stream {
    int fd;
    int error; /* errno of the first failure, 0 while fine */
    size_t used;
    char buffer[SIMPLER_OUT_BYTES];
};

/* The descriptor stays the caller's. */
void simpler_out_stream_init(struct simpler_out_stream *o, int fd);
void simpler_out_stream_bytes(struct simpler_out_stream *o, const void *bytes, size_t n);
void simpler_out_stream_text(struct simpler_out_stream *o, const char *text);
void simpler_out_stream_char(struct simpler_out_stream *o, char c);
void simpler_out_stream_u64(struct simpler_out_stream *o, uint64_t value);
void simpler_out_stream_format(struct simpler_out_stream *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Text in a column: blanks in front (left) or behind (right). */
void simpler_out_stream_left(struct simpler_out_stream *o, const char *text, size_t width);
void simpler_out_stream_right(struct simpler_out_stream *o, const char *text, size_t width);
/* A JSON string with its quotes. */
void simpler_out_stream_json(struct simpler_out_stream *o, const char *text);
/* 0, or the errno of the first failure since init. */
int simpler_out_stream_flush(struct simpler_out_stream *o);

#endif
