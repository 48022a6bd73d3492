/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_EXPORT_H
#define SIMPLER_COLLECT_ARGS_DUMP_EXPORT_H

/* args_dump.json from the records of a run, one entry a line, streamed. */
#include <stdbool.h>
#include <stdint.h>

#include "collect/args_dump/args_dump_store.h"

#define ARGS_DUMP_MANIFEST "args_dump.json"

struct args_dump_export {
    int directory;
    uint32_t level;
    bool has_bin;
    bool is_new;        /* a manifest that is there stays: SIMPLER_EEXIST */
    uint64_t bin_bytes; /* of args.bin that count: what lies beyond is cut from its entry */
    uint64_t dropped_records;
    bool recovered;                      /* says so: the process died, the rest was read later */
    bool level_unknown, dropped_unknown; /* null in place of the number */
    /* What it came to. */
    uint64_t entries, truncated;
    int error; /* errno of what failed */
};

/*
 * Writes it beside and renames it.  SIMPLER_EIO (errno in @e), SIMPLER_EEXIST,
 * SIMPLER_ENOMEM; then there is no manifest of this run.
 */
int simpler_args_dump_export(struct args_dump_export *e, struct args_dump_store *store);

#endif
