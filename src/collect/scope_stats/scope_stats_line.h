/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_SCOPE_STATS_LINE_H
#define SIMPLER_COLLECT_SCOPE_STATS_LINE_H

/* One sample as one line of scope_stats.jsonl. */
#include <stddef.h>
#include <stdint.h>

#include "collect/scope_stats/scope_stats_wire.h"

/* No line is longer: 31 escaped bytes of a site, 13 keys, 12 numbers. */
#define SCOPE_STATS_LINE_MAX 1024u

#define SCOPE_STATS_LINE_SITES 16u
#define SCOPE_STATS_LINE_HEAD  64u

/* The beginning of a line, up to its site's line number; bytes 0: empty. */
struct scope_stats_line_site {
    char site[SCOPE_STATS_SITE_BYTES];
    int32_t line;
    uint32_t bytes;
    char text[SCOPE_STATS_LINE_HEAD];
};

/*
 * What is formatted once and copied: sites met last, and the end of a buffer's
 * lines.  And the last head of each ring's pool: records carry 32 bits of it.
 */
struct scope_stats_line_format {
    uint64_t pool_head[SCOPE_STATS_MAX_RING_DEPTH];
    struct scope_stats_line_site sites[SCOPE_STATS_LINE_SITES];
    char tail[64];
    size_t tail_bytes;
};

/* Before the first line of a run; sites that are known stay.  A zeroed format has none. */
void simpler_scope_stats_line_run(struct scope_stats_line_format *format);
/* Before the lines of a buffer. */
void simpler_scope_stats_line_buffer(struct scope_stats_line_format *format, uint32_t run_epoch,
                                     uint32_t buffer_seq);

/*
 * Writes the line with its newline; returns its length.  May touch
 * SCOPE_STATS_LINE_MAX bytes at @to.
 */
size_t simpler_scope_stats_line(char *to, const struct scope_stats_record *record,
                                struct scope_stats_line_format *format);

#endif
