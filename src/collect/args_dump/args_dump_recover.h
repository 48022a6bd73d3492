/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_RECOVER_H
#define SIMPLER_COLLECT_ARGS_DUMP_RECOVER_H

/*
 * The args dump of a process that died: the records of its spool and of its region,
 * payloads from args.bin or else from the arenas, as a manifest.  Can be killed at any
 * moment and done again.
 */
#include <stdbool.h>
#include <stdint.h>

#include "collect/args_dump/args_dump_ending.h"
#include "prof/region_reader.h"

struct args_dump_recovered {
    bool is_done;      /* there is nothing to do: the manifest is there, or nothing was made */
    bool has_manifest; /* in path */
    uint64_t records;  /* entries */
    uint64_t from_region;
    uint64_t payloads_from_arena;
    uint64_t truncated; /* entries that are */
    uint64_t lost;      /* entries whose payload is neither in args.bin nor in an arena, whole */
    uint64_t lost_unreadable; /* of those: of a page that args.bin has lost */
    uint64_t refused;         /* records that make no sense, left out */
    uint64_t torn_bytes;
    char path[ARGS_DUMP_PATH_BYTES]; /* the directory args_dump */
    char why[160];                   /* of a failure */
};

/*
 * @reader, @session: the region and its dump of the run, or NULL; @level 0: it is not known.
 * Always fills @out.  SIMPLER_EBUSY: somebody writes there; SIMPLER_EIO, SIMPLER_EOVERFLOW,
 * SIMPLER_ENOMEM.  Nothing is lost then.
 */
int simpler_args_dump_recover(const char *prefix, const struct simpler_region_reader *reader,
                              const struct simpler_region_session *session, uint32_t level,
                              struct args_dump_recovered *out);

#endif
