/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_LINE_H
#define SIMPLER_COLLECT_ARGS_DUMP_LINE_H

/* One record as one entry of args_dump.json. */
#include <stddef.h>

#include "collect/args_dump/args_dump_wire.h"

/* No entry is longer. */
#define ARGS_DUMP_LINE_MAX 1024u

/* Writes the entry without newline, at most ARGS_DUMP_LINE_MAX bytes; returns its length. */
size_t simpler_args_dump_line(char *to, const struct args_dump_record *record);

#endif
