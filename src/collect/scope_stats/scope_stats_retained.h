/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_SCOPE_STATS_RETAINED_H
#define SIMPLER_COLLECT_SCOPE_STATS_RETAINED_H

/*
 * The samples of one run in host memory, from the run's boundary until the
 * background writer has made its file of them.  What the run's file is to say is
 * frozen at the boundary, so a later run shows nowhere in it.
 *
 * Threads: appended to by the collector; after the boundary the writer's alone.
 */
#include <stdatomic.h>

#include "collect/scope_stats/scope_stats_file.h"

#define SCOPE_STATS_BUDGET_BYTES (256u << 20)

/* Shared by the runs of a collector; outlives them. */
struct scope_stats_budget {
    uint64_t bytes;        /* at most */
    _Atomic uint64_t used; /* collector adds, writer takes away */
};

/* The samples of one buffer. */
struct scope_stats_chunk {
    struct scope_stats_chunk *next;
    uint32_t count, run_epoch, buffer_seq, reserved;
    struct scope_stats_record records[];
};

struct scope_stats_retained {
    uint32_t run_epoch;
    struct scope_stats_budget *budget;
    struct scope_stats_chunk *first, *last;
    uint64_t received, retained;
    struct scope_stats_metadata metadata; /* verdict NULL until the boundary */
    char *prefix;
};

/* SIMPLER_ENOMEM. */
int simpler_scope_stats_retained_open(struct scope_stats_budget *budget, uint32_t run_epoch,
                                      const char *prefix, struct scope_stats_retained **out);
/* Drops what has not been written; NULL is allowed. */
void simpler_scope_stats_retained_close(struct scope_stats_retained *run);

/* Copies the samples of a buffer, or refuses all of them when the budget is used up. */
void simpler_scope_stats_retained_append(struct scope_stats_retained *run,
                                         const struct scope_stats_record *records, uint32_t count,
                                         uint32_t run_epoch, uint32_t buffer_seq);

/*
 * Makes the file through @file (initialised, none open), gives the memory back as it
 * goes.  0: the file is whole; SIMPLER_EPARTIAL: it is there, but something is lost or a
 * code was latched; SIMPLER_EEXIST, SIMPLER_EIO, SIMPLER_EOVERFLOW: there is none.  Logged.
 */
int simpler_scope_stats_retained_write(struct scope_stats_retained *run,
                                       struct scope_stats_file *file);

#endif
