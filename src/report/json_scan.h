/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_JSON_SCAN_H
#define SIMPLER_REPORT_JSON_SCAN_H

/*
 * A pull scanner over JSON in memory, for input whose shape is known: the
 * caller asks for what must come next and gets it, or the scanner latches a
 * fault and every later call fails, so that a caller may chain calls and look
 * once.  It allocates nothing, reads only [begin, end) and takes any bytes.
 *
 *     simpler_json_scan_init(&s, line, bytes);
 *     if (simpler_json_scan_open(&s, '{') && simpler_json_scan_key(&s, "site") &&
 *         simpler_json_scan_string(&s, &site) && ...
 *         simpler_json_scan_close(&s, '}') && simpler_json_scan_end(&s))
 *         ...
 *     else
 *         report(s.fault, simpler_json_scan_column(&s));
 *
 * What does not have the shape goes to the JSON library, for that one line or
 * object; simpler_json_scan_skip finds where an object ends.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Brackets inside one value; deeper input is a fault. */
#define SIMPLER_JSON_MAX_DEPTH 64

struct simpler_json_scan {
    const char *begin;
    const char *at; /* next byte; after a fault the byte that is wrong */
    const char *end;
    const char *fault; /* NULL while fine, else what is wrong at `at` */
};

/* A string between its quotes, still escaped; or the text of any value. */
struct simpler_json_span {
    const char *text;
    size_t bytes;
    bool plain; /* printable ASCII without an escape: the text is the value */
};

void simpler_json_scan_init(struct simpler_json_scan *s, const char *text, size_t bytes);

/* Consumes an opening bracket or any other punctuation. */
bool simpler_json_scan_open(struct simpler_json_scan *s, char bracket);
bool simpler_json_scan_close(struct simpler_json_scan *s, char bracket);
/* Consumes the byte if it is the next one after blanks; never a fault. */
bool simpler_json_scan_try(struct simpler_json_scan *s, char punctuation);
/* Consumes exactly these bytes, blanks included, if they come next; never a fault. */
bool simpler_json_scan_try_bytes(struct simpler_json_scan *s, const char *bytes, size_t count);
/* The next byte after blanks, 0 at the end or after a fault; consumes nothing but blanks. */
char simpler_json_scan_peek(struct simpler_json_scan *s);
/* Only blanks are left. */
bool simpler_json_scan_end(struct simpler_json_scan *s);

/* The key @name and its colon, after an optional comma. */
bool simpler_json_scan_key(struct simpler_json_scan *s, const char *name);
/* Any key and its colon, after an optional comma. */
bool simpler_json_scan_any_key(struct simpler_json_scan *s, struct simpler_json_span *out);

bool simpler_json_scan_string(struct simpler_json_scan *s, struct simpler_json_span *out);
/* Exact integers: a fraction, an exponent or a value out of range is a fault. */
bool simpler_json_scan_u64(struct simpler_json_scan *s, uint64_t *out);
bool simpler_json_scan_i64(struct simpler_json_scan *s, int64_t *out);
bool simpler_json_scan_double(struct simpler_json_scan *s, double *out);
bool simpler_json_scan_bool(struct simpler_json_scan *s, bool *out);
/* Consumes null if it comes next; else false, and no fault. */
bool simpler_json_scan_try_null(struct simpler_json_scan *s);
/* Any one value; @out (may be NULL) receives its text. */
bool simpler_json_scan_skip(struct simpler_json_scan *s, struct simpler_json_span *out);

/* Latches @fault unless there is one already; always false. */
bool simpler_json_scan_fail(struct simpler_json_scan *s, const char *fault);
/* Place of `at`: 1-based, columns in bytes. */
size_t simpler_json_scan_line(const struct simpler_json_scan *s);
size_t simpler_json_scan_column(const struct simpler_json_scan *s);

/*
 * Decodes a string: escapes resolved, every invalid UTF-8 sequence and every
 * lone surrogate as U+FFFD.  Writes at most @capacity bytes with the NUL, cut
 * at a code point.  Returns the bytes that the whole needs, without the NUL.
 */
size_t simpler_json_text(struct simpler_json_span span, char *out, size_t capacity);

#endif
