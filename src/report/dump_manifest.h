/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_DUMP_MANIFEST_H
#define SIMPLER_REPORT_DUMP_MANIFEST_H

/*
 * Reads args_dump.json entry by entry in one buffer, however large the file and
 * however it is laid out: one entry a line, pretty-printed, one line, other key
 * order, keys that this version does not know.  Also manifests of the earlier
 * version ("tensors" for "args", upper-case types, func_id as a number).
 *
 *     simpler_dump_manifest_open(path, &m)
 *     while ((rc = simpler_dump_manifest_next(m, &entry)) > 0) ...
 *     simpler_dump_manifest_rewind(m) and again
 *
 * Every fault leaves a sentence in simpler_dump_manifest_error: the file, the
 * entry where there is one, what is wrong, line and column of broken JSON.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/dump_entry.h"

/* The longest text of one entry or header value. */
#define SIMPLER_DUMP_ENTRY_MAX_BYTES ((size_t)1 << 20)

/* Header keys that hold counts: X(NAME, text). */
#define SIMPLER_DUMP_COUNT_MAP(X)  \
    X(LEVEL, "dump_args_level")    \
    X(TOTAL, "total_args")         \
    X(BEFORE, "before_dispatch")   \
    X(AFTER, "after_completion")   \
    X(INPUT, "input_args")         \
    X(OUTPUT, "output_args")       \
    X(INOUT, "inout_args")         \
    X(TRUNCATED, "truncated_args") \
    X(DROPPED, "dropped_records")

enum simpler_dump_count {
#define X(NAME, text) SIMPLER_DUMP_COUNT_##NAME,
    SIMPLER_DUMP_COUNT_MAP(X)
#undef X
        SIMPLER_DUMP_COUNT_NUM
};

struct simpler_dump_header {
    bool has_count[SIMPLER_DUMP_COUNT_NUM];
    bool is_unknown[SIMPLER_DUMP_COUNT_NUM]; /* null */
    uint64_t count[SIMPLER_DUMP_COUNT_NUM];
    bool is_recovered; /* made of what a process that died has left */
    bool has_bin_file;
    char bin_file[256]; /* "" when null or absent */
};

const char *simpler_dump_count_name(enum simpler_dump_count count);

struct simpler_dump_manifest;

/*
 * SIMPLER_ENOENT, SIMPLER_EIO, SIMPLER_ENOMEM, SIMPLER_EFORMAT.  *out is set on
 * failure too (NULL for ENOMEM alone), so that the error can be read; close it.
 */
int simpler_dump_manifest_open(const char *path, struct simpler_dump_manifest **out);
/* Over bytes in memory that outlive the reader; @name stands for the file in errors. */
int simpler_dump_manifest_open_bytes(const char *name, const void *bytes, size_t count,
                                     struct simpler_dump_manifest **out);
/* 1: an entry; 0: the end, and the file is whole; else a status. */
int simpler_dump_manifest_next(struct simpler_dump_manifest *m, struct simpler_dump_entry *out);
/* The next entry is the first again. */
void simpler_dump_manifest_rewind(struct simpler_dump_manifest *m);
/* Keys behind the array are there after the end was reached once, bin_file always. */
const struct simpler_dump_header *
simpler_dump_manifest_header(const struct simpler_dump_manifest *m);
const char *simpler_dump_manifest_error(const struct simpler_dump_manifest *m);
void simpler_dump_manifest_close(struct simpler_dump_manifest *m);

#endif
