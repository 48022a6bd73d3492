/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_JSON_WRITER_H
#define SIMPLER_TOOLS_JSON_WRITER_H

/*
 * One JSON document to a stream, indented.  A key of NULL is an entry of an
 * array.  Write errors are found by ferror at the end.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct simpler_json_writer {
    FILE *out;
    int depth;
    bool first; /* nothing stands in the innermost object or array yet */
};

void simpler_json_writer_init(struct simpler_json_writer *w, FILE *out);
/* '{' or '['. */
void simpler_json_writer_open(struct simpler_json_writer *w, const char *key, char bracket);
/* '}' or ']'; the outermost one ends the document with a newline. */
void simpler_json_writer_close(struct simpler_json_writer *w, char bracket);
/* Bytes that are no UTF-8 become U+FFFD; NULL becomes null. */
void simpler_json_writer_string(struct simpler_json_writer *w, const char *key, const char *text);
void simpler_json_writer_u64(struct simpler_json_writer *w, const char *key, uint64_t value);
void simpler_json_writer_i64(struct simpler_json_writer *w, const char *key, int64_t value);
void simpler_json_writer_bool(struct simpler_json_writer *w, const char *key, bool value);
/* An array of numbers on one line. */
void simpler_json_writer_list(struct simpler_json_writer *w, const char *key,
                              const uint64_t *values, uint32_t count);

#endif
