/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_DUMP_PAYLOAD_H
#define SIMPLER_REPORT_DUMP_PAYLOAD_H

/* The payload file beside a manifest: read piece by piece, only where asked. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/dump_entry.h"
#include "report/tensor_stats.h"

/* A multiple of every element's size. */
#define SIMPLER_DUMP_PIECE_BYTES ((size_t)1 << 20)

struct simpler_dump_payload {
    bool is_open;
    int fd; /* valid if is_open */
    struct simpler_dump_bin_info info;
    unsigned char *piece; /* one piece, the caller's to use between calls */
};

/*
 * @name as the manifest's bin_file, "" for null.  A file that is not there is no
 * failure: info says so.  SIMPLER_EIO (not a regular file, no permission), SIMPLER_ENOMEM.
 */
int simpler_dump_payload_open(struct simpler_dump_payload *p, const char *directory,
                              const char *name);
/* Fills p->piece with n bytes of the file.  SIMPLER_EIO, also when the file is shorter. */
int simpler_dump_payload_read(struct simpler_dump_payload *p, uint64_t offset, size_t n);
/* Statistics of the payload of an entry that lies inside the file; holes are not read. */
int simpler_dump_payload_stats(struct simpler_dump_payload *p, const struct simpler_dump_entry *e,
                               struct simpler_tensor_stats *s);
/* Appends n bytes of the file at @offset to another file, in the kernel where that can be. */
int simpler_dump_payload_copy(struct simpler_dump_payload *p, uint64_t offset, uint64_t n, int to);
/* Safe on a zeroed object. */
void simpler_dump_payload_close(struct simpler_dump_payload *p);

#endif
