/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_DUMP_PARSE_H
#define SIMPLER_REPORT_DUMP_PARSE_H

/* From JSON to an entry or a header value; faults are latched in the scanner. */
#include <stdbool.h>

#include "report/dump_entry.h"
#include "report/json_scan.h"

/*
 * One object of the manifest's array.  Keys in any order; unknown ones are
 * skipped.  *key tells which key a fault lies in (NULL: none).  out->index is
 * left alone.
 */
bool simpler_dump_parse_entry(struct simpler_json_scan *s, struct simpler_dump_entry *out,
                              const char **key);
/* A string of at most capacity - 1 decoded bytes, or null as "". */
bool simpler_dump_parse_text(struct simpler_json_scan *s, char *out, size_t capacity);
/* bin_format: faults unless it is what the documents fix. */
bool simpler_dump_parse_bin_format(struct simpler_json_scan *s);
/* A key and its colon, strictly: a comma first exactly when this is not the first. */
bool simpler_dump_parse_key(struct simpler_json_scan *s, bool first, struct simpler_json_span *out);
bool simpler_dump_parse_is(struct simpler_json_span span, const char *text);

#endif
