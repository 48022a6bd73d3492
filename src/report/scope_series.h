/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_SCOPE_SERIES_H
#define SIMPLER_REPORT_SCOPE_SERIES_H

/*
 * One curve of any length in a fixed number of columns: each column keeps the
 * least and the greatest value of its scopes, with the scope that made it.
 * When the columns are used up, neighbours merge in pairs.
 */
#include <stdint.h>

#define SIMPLER_SERIES_MAX_COLUMNS 1024

struct simpler_series_point {
    uint64_t value;
    uint64_t index; /* of the scope in its panel, from 0 */
    uint32_t site;
    uint32_t ring;
};

struct simpler_series_column {
    struct simpler_series_point min, max; /* the first scope of several equal ones */
};

struct simpler_series {
    struct simpler_series_column *columns;
    uint32_t count, room;
    uint64_t stride;  /* scopes in a full column */
    uint64_t in_last; /* scopes in the last column */
};

/* A zeroed series is an empty one.  SIMPLER_ENOMEM. */
int simpler_series_add(struct simpler_series *s, struct simpler_series_point point);
/* Merges neighbours until at most @columns are left; for a series that is complete. */
void simpler_series_shrink(struct simpler_series *s, uint32_t columns);
void simpler_series_fini(struct simpler_series *s);

#endif
