/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_DUMP_SOURCE_H
#define SIMPLER_REPORT_DUMP_SOURCE_H

/*
 * A window that slides over a file or over bytes in memory.  The caller parses
 * at window[at] and asks for more when the window ends too early.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simpler_dump_source {
    bool has_file;
    int fd;            /* valid if has_file */
    const char *bytes; /* else */
    uint64_t total;    /* bytes of the whole */
    char *window;
    size_t capacity;
    size_t filled;   /* bytes of the window that are valid */
    size_t at;       /* next byte, at most filled */
    uint64_t offset; /* of window[0] in the whole */
};

/* SIMPLER_ENOENT, SIMPLER_EIO (also what is no regular file), SIMPLER_ENOMEM. */
int simpler_dump_source_open(struct simpler_dump_source *s, const char *path, size_t capacity);
int simpler_dump_source_open_bytes(struct simpler_dump_source *s, const void *bytes, size_t count,
                                   size_t capacity);
/* Fills the window from `at` on, as far as it goes. SIMPLER_EIO. */
int simpler_dump_source_fill(struct simpler_dump_source *s);
/* The next fill starts at @offset of the whole. */
void simpler_dump_source_seek(struct simpler_dump_source *s, uint64_t offset);
/* Whether the window reaches the end of the whole. */
bool simpler_dump_source_is_last(const struct simpler_dump_source *s);
/* 1-based line and column (in bytes) of an offset; reads the file up to there again. */
void simpler_dump_source_place(struct simpler_dump_source *s, uint64_t offset, uint64_t *line,
                               uint64_t *column);
/* Safe on a zeroed object. */
void simpler_dump_source_close(struct simpler_dump_source *s);

#endif
