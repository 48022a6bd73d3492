/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HOST_CRASH_SAFETY_H
#define SIMPLER_HOST_CRASH_SAFETY_H

/*
 * The file behind a worker's diagnostic memory, and the run that it is used for.
 *
 * Threads: the one whose turn it is.
 */
#include <stdbool.h>
#include <stdint.h>

#include "platform/region_backing.h"

struct simpler_crash_safety {
    struct simpler_region_backing *backing; /* NULL: none yet, or it cannot be had */
    bool wanted;                            /* from the worker's config */
    bool unlinked;                          /* the file is gone, its memory is still in use */
    char prefix[4096];                      /* absolute, of the run under way; empty: none */
};

/* A backing if one is wanted and can be had; what earlier processes left and nobody can use
 * is removed first.  NULL: anonymous memory; logged once why. */
struct simpler_region_backing *simpler_crash_safety_ensure(struct simpler_crash_safety *safety);
/* The memory that was asked for is not to be had there: logged, never tried again. */
void simpler_crash_safety_refuse(struct simpler_crash_safety *safety, const char *what);

struct simpler_live;
/* A run without a .live of its own begins: one that a dead process left is not of its files. */
void simpler_crash_safety_forget_dead(const char *prefix);
/* Before the device begins: .live.  False: a crash will lose what is not drained; logged. */
bool simpler_crash_safety_begin(struct simpler_crash_safety *safety, const char *prefix,
                                struct simpler_live *live);
/* The run's files are complete. */
void simpler_crash_safety_end(struct simpler_crash_safety *safety);
/* A thread may use the memory for good: the file goes, the memory stays. */
void simpler_crash_safety_abandon(struct simpler_crash_safety *safety);

/* After those who use the memory; zeroed is allowed. */
void simpler_crash_safety_fini(struct simpler_crash_safety *safety);

#endif
