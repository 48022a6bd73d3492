/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_TEXT_H
#define SIMPLER_BASE_TEXT_H

/* Numbers as users write them: decimal, blanks around allowed, no sign, nothing after. */
#include <stdbool.h>
#include <stdint.h>

bool simpler_text_parse_u64(const char *text, uint64_t *out);
/* As above with an optional '-' (or '+') in front. */
bool simpler_text_parse_i64(const char *text, int64_t *out);
/* One number, which fills all of out[0 .. count-1], or exactly @count with commas between. */
bool simpler_text_parse_list(const char *text, uint64_t *out, uint32_t count);

/* What follows a noun that is counted: "" after 1, else "s". */
const char *simpler_text_plural(uint64_t count);
/* @one after a count of 1, else @many. */
const char *simpler_text_by_count(uint64_t count, const char *one, const char *many);

#endif
