/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_DUMP_CHECK_H
#define SIMPLER_REPORT_DUMP_CHECK_H

/*
 * Everything that a manifest and its payload file must satisfy: the header's
 * counts, each entry by itself, their order, and that no two payloads overlap.
 */
#include <stdbool.h>
#include <stdint.h>

#include "report/dump_manifest.h"
#include "report/dump_payload.h"

/* What a fault that belongs to no entry has for an index. */
#define SIMPLER_DUMP_NO_INDEX UINT64_MAX

typedef void (*simpler_dump_fault_fn)(void *user, uint64_t index, const char *text);

struct simpler_dump_checked {
    uint64_t entries;
    uint64_t faults;
    uint64_t named_bytes;   /* of the payload file, each byte once */
    uint64_t unnamed_bytes; /* of the payload file, that no entry names */
};

/*
 * Reads the manifest from its start to its end and calls @fn for each fault.
 * 0 also when there are faults; the manifest's own status when it cannot be
 * read; SIMPLER_EIO, SIMPLER_ENOMEM of the sort.
 */
int simpler_dump_check_run(struct simpler_dump_manifest *m,
                           const struct simpler_dump_payload *payload, simpler_dump_fault_fn fn,
                           void *user, struct simpler_dump_checked *out);

#endif
