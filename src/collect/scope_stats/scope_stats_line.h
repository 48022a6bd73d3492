/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_SCOPE_STATS_LINE_H
#define SIMPLER_COLLECT_SCOPE_STATS_LINE_H

/* One sample as one line of scope_stats.jsonl. */
#include <stddef.h>
#include <stdint.h>

#include "collect/scope_stats/scope_stats_wire.h"

/* No line is longer: 31 escaped bytes of a site, 13 keys, 12 numbers. */
#define SCOPE_STATS_LINE_MAX 1024u

/* What the lines of one buffer end with. */
struct scope_stats_line_tail {
    char text[64];
    size_t bytes;
};

void simpler_scope_stats_line_tail(struct scope_stats_line_tail *tail, uint32_t run_epoch,
                                   uint32_t buffer_seq);

/* Writes the line with its newline, at most SCOPE_STATS_LINE_MAX bytes; returns its length. */
size_t simpler_scope_stats_line(char *to, const struct scope_stats_record *record,
                                const struct scope_stats_line_tail *tail);

#endif
