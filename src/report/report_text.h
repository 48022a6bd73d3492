/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_REPORT_TEXT_H
#define SIMPLER_REPORT_REPORT_TEXT_H

/* Text for pages, JSON and terminals: what comes from a file is made harmless here. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Buffers for the formatters below. */
#define SIMPLER_TEXT_BYTES 48

/* Escaped for HTML content and quoted attributes; invalid UTF-8 and controls as U+FFFD. */
void simpler_report_text_html(FILE *out, const char *text);
/* As above, cut at a code point after @limit bytes with an ellipsis. */
void simpler_report_text_html_cut(FILE *out, const char *text, size_t limit);
/* A JSON string with its quotes; safe inside a script element. */
void simpler_report_text_json(FILE *out, const char *text);
void simpler_report_text_json_cut(FILE *out, const char *text, size_t limit);
/* For a terminal: controls and invalid UTF-8 as U+FFFD. */
void simpler_report_text_plain(FILE *out, const char *text);

/* 1234567 as 1,234,567. */
const char *simpler_report_text_count(char buffer[SIMPLER_TEXT_BYTES], uint64_t value);
/* Bytes with a readable unit: 8.00 KiB. */
const char *simpler_report_text_bytes(char buffer[SIMPLER_TEXT_BYTES], uint64_t value);
/* A share with two decimals: 12.34%. */
const char *simpler_report_text_percent(char buffer[SIMPLER_TEXT_BYTES], double percent);

#endif
