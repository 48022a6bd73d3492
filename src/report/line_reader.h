/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_LINE_READER_H
#define SIMPLER_REPORT_LINE_READER_H

/*
 * Reads a file line by line in one fixed buffer, whatever the file holds:
 * lines of any length (what exceeds the limit is skipped and said), NUL bytes
 * as a crash leaves them, a last line without its newline.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest line that is handed out whole. */
#define SIMPLER_LINE_MAX_BYTES ((size_t)64 * 1024)

struct simpler_line {
    const char *text; /* without the newline and a CR before it; valid until the next call */
    size_t bytes;
    uint64_t number;     /* 1-based */
    uint64_t offset;     /* of the line's first byte in the file */
    uint64_t hole_bytes; /* NULs in front of the text; they are not part of it */
    bool torn;           /* the file ends without a newline here */
    bool too_long;       /* text is only the beginning */
};

struct simpler_line_reader;
typedef void (*simpler_line_watch_fn)(void *user, uint64_t bytes);

/*
 * SIMPLER_ENOENT, SIMPLER_EIO (also what is no regular file) or SIMPLER_ENOMEM; the caller words
 * the error, see simpler_regular_file_fault.
 */
int simpler_line_reader_open(const char *path, struct simpler_line_reader **out);
/* Over bytes in memory that outlive the reader; for tests and fuzzing. */
int simpler_line_reader_open_bytes(const char *bytes, size_t count,
                                   struct simpler_line_reader **out);
/* @fn is called now and then with the bytes read so far, from inside next. */
void simpler_line_reader_watch(struct simpler_line_reader *r, simpler_line_watch_fn fn, void *user);
/* 1: a line; 0: the end of the file; SIMPLER_EIO: reading failed. */
int simpler_line_reader_next(struct simpler_line_reader *r, struct simpler_line *out);
/* Bytes read so far. */
uint64_t simpler_line_reader_offset(const struct simpler_line_reader *r);
void simpler_line_reader_close(struct simpler_line_reader *r);

#endif
