/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_SCOPE_STATS_RECOVER_H
#define SIMPLER_COLLECT_SCOPE_STATS_RECOVER_H

/*
 * The scope stats of a process that died: what .partial holds, and behind it the samples
 * that are in its region alone.  Can be killed at any moment and done again.
 */
#include "collect/scope_stats/scope_stats_file.h"
#include "prof/region_reader.h"

struct scope_stats_recovered {
    bool has_partial;     /* there was one */
    bool is_done;         /* there is nothing to do: the file has its name */
    bool was_whole;       /* only its name was missing */
    bool has_file;        /* at path */
    uint64_t records;     /* samples in the file */
    uint64_t from_region; /* of those */
    uint64_t torn_bytes;  /* of a line that was not whole */
    char path[SCOPE_STATS_PATH_BYTES];
    char why[160]; /* of a failure, or why .partial without a sample was removed */
};

/*
 * @reader, @session: the region and its scope stats of @run_epoch, or NULL.  Always fills @out.
 * SIMPLER_EBUSY: somebody writes there; SIMPLER_EFORMAT: .partial holds something else;
 * SIMPLER_EIO, SIMPLER_ENOMEM.  Nothing is lost then.
 */
int simpler_scope_stats_recover(const char *prefix, const struct simpler_region_reader *reader,
                                const struct simpler_region_session *session, uint32_t run_epoch,
                                struct scope_stats_recovered *out);

#endif
