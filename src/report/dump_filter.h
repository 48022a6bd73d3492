/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_DUMP_FILTER_H
#define SIMPLER_REPORT_DUMP_FILTER_H

/*
 * Which entries of a manifest are wanted.  Each field takes a list of values
 * and ranges ("0,2-4,9-"); fields combine with and.  A number that no entry has
 * is a mistake, and the filter can tell which numbers come nearest: give every
 * entry to simpler_dump_filter_learn before the first use.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/dump_entry.h"

enum simpler_dump_field {
    /* numbers */
    SIMPLER_DUMP_FIELD_TASK,
    SIMPLER_DUMP_FIELD_ARG,
    SIMPLER_DUMP_FIELD_INDEX,
    SIMPLER_DUMP_FIELD_FUNC,
    SIMPLER_DUMP_FIELD_RING,
    /* names */
    SIMPLER_DUMP_FIELD_STAGE,
    SIMPLER_DUMP_FIELD_ROLE,
    SIMPLER_DUMP_FIELD_DTYPE,
    SIMPLER_DUMP_FIELD_KIND,
    SIMPLER_DUMP_FIELD_NUM,
    SIMPLER_DUMP_FIELD_NUMBERS = SIMPLER_DUMP_FIELD_STAGE,
};

enum { SIMPLER_DUMP_MAX_RANGES = 1024, SIMPLER_DUMP_NEAREST = 5 };

struct simpler_dump_range {
    uint64_t first;
    uint64_t last;
    bool is_hit; /* some entry lies in it */
    unsigned nearest_count;
    uint64_t nearest[SIMPLER_DUMP_NEAREST]; /* nearest first */
};

struct simpler_dump_filter {
    size_t range_count[SIMPLER_DUMP_FIELD_NUMBERS];
    struct simpler_dump_range *ranges[SIMPLER_DUMP_FIELD_NUMBERS];
    uint32_t names[SIMPLER_DUMP_FIELD_NUM]; /* bit of each wanted name; 0: any */
};

/*
 * Adds a list to a field.  SIMPLER_EINVAL and a sentence in @error when it is
 * no list of the field's values; SIMPLER_ENOMEM.
 */
int simpler_dump_filter_add(struct simpler_dump_filter *f, enum simpler_dump_field field,
                            const char *list, char *error, size_t capacity);
/* Whether any field but INDEX is restricted. */
bool simpler_dump_filter_is_set(const struct simpler_dump_filter *f);
/* Whether the filter has numbers to learn; with INDEX set those of INDEX alone. */
bool simpler_dump_filter_must_learn(const struct simpler_dump_filter *f);
/* Looks at one entry; true when nothing is left to learn. */
bool simpler_dump_filter_learn(struct simpler_dump_filter *f, const struct simpler_dump_entry *e);
/* The first number that no learnt entry has: a sentence in @out, else false. */
bool simpler_dump_filter_explain(const struct simpler_dump_filter *f, char *out, size_t capacity);
/* With INDEX set it alone decides. */
bool simpler_dump_filter_matches(const struct simpler_dump_filter *f,
                                 const struct simpler_dump_entry *e);
/* Safe on a zeroed object. */
void simpler_dump_filter_fini(struct simpler_dump_filter *f);

#endif
