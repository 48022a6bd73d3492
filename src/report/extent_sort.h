/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_EXTENT_SORT_H
#define SIMPLER_REPORT_EXTENT_SORT_H

/*
 * Byte ranges of a file in the order of their offsets, any number of them in
 * bounded memory: sorted runs go to an unnamed temporary file and are merged.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Ranges in one run; a test may want fewer. */
#define SIMPLER_EXTENT_RUN ((size_t)500000)

struct simpler_extent {
    uint64_t offset;
    uint64_t size;
    uint64_t index; /* what the range belongs to; breaks ties */
};

struct simpler_extent_sort {
    size_t run_capacity;
    size_t allocated; /* of run[], which grows up to run_capacity */
    size_t used;
    struct simpler_extent *run;
    FILE *spill; /* NULL while one run is enough */
    size_t run_count;
    uint64_t *run_lengths;
};

typedef void (*simpler_extent_fn)(void *user, const struct simpler_extent *extent);

void simpler_extent_sort_init(struct simpler_extent_sort *s, size_t run_capacity);
/* SIMPLER_EIO: the temporary file; SIMPLER_ENOMEM. */
int simpler_extent_sort_add(struct simpler_extent_sort *s, const struct simpler_extent *extent);
/* Calls @fn for each range in order; once, after the last add. */
int simpler_extent_sort_each(struct simpler_extent_sort *s, simpler_extent_fn fn, void *user);
/* Safe on a zeroed object. */
void simpler_extent_sort_fini(struct simpler_extent_sort *s);

#endif
