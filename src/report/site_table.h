/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_SITE_TABLE_H
#define SIMPLER_REPORT_SITE_TABLE_H

/* Distinct texts numbered in the order of their first appearance. */
#include <stddef.h>
#include <stdint.h>

struct simpler_site_table {
    char **texts; /* texts[id], NUL-terminated */
    uint32_t count;
    uint32_t *slots; /* open addressing: id + 1, 0 = free */
    uint32_t slot_count;
    uint32_t last; /* the id found last: neighbours often share a site */
};

/* A zeroed table is an empty one.  SIMPLER_ENOMEM. */
int simpler_site_table_intern(struct simpler_site_table *t, const char *text, size_t bytes,
                              uint32_t *out);
void simpler_site_table_fini(struct simpler_site_table *t);

#endif
