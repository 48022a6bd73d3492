/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_WIRE_REGION_WIRE_H
#define SIMPLER_WIRE_REGION_WIRE_H

/*
 * A file that holds the diagnostic memory of one worker, so that what producers have
 * published is there after the process has been killed: this header, then parts, each
 * at a page.  In parts addresses are the device's; the table says which part has them.
 *
 *   field        written by             read by
 *   magic .. start_time  the worker, before anything else; magic last
 *   directory, prefix    the worker, between runs     who recovers, or looks for stale files
 *   parts[]              the worker, role last; a role of 0 is a free place
 *
 * Whoever reads does so when the worker's process has ended.
 */
#include <stdint.h>

#define SIMPLER_REGION_MAGIC   UINT64_C(0x314e474552504d53) /* "SMPREGN1" */
#define SIMPLER_REGION_VERSION 1u
#define SIMPLER_REGION_PARTS   1200u
#define SIMPLER_REGION_PREFIX  4096u
#define SIMPLER_REGION_SUFFIX  ".region"

enum simpler_region_role {
    SIMPLER_REGION_FREE = 0,
    SIMPLER_REGION_SESSION = 1, /* struct simpler_prof_header and what it places */
    SIMPLER_REGION_POOL = 2,    /* buffers of a kind, stride bytes each */
    SIMPLER_REGION_ARENA = 3    /* payloads of a lane */
};

struct simpler_region_part {
    uint32_t role;
    uint32_t client; /* the collector's magic */
    uint32_t index;  /* kind of a pool, lane of an arena */
    uint32_t reserved;
    uint64_t offset; /* in the file */
    uint64_t bytes;
    uint64_t device; /* its first byte's device address */
    uint64_t stride; /* of a pool's buffers */
};

struct simpler_region_header {
    uint64_t magic;
    uint32_t version;
    uint32_t reserved;
    int64_t pid;
    uint64_t start_time;                   /* of the process, in ticks since the system's start */
    uint64_t directory_dev, directory_ino; /* of prefix; 0: none */
    char prefix[SIMPLER_REGION_PREFIX];    /* absolute, of the run under way; empty: none */
    struct simpler_region_part parts[SIMPLER_REGION_PARTS];
};

_Static_assert(sizeof(struct simpler_region_part) == 48, "file layout");
_Static_assert(sizeof(struct simpler_region_header) == 48 + 4096 + 48 * 1200, "file layout");
_Static_assert(sizeof(struct simpler_region_header) < 65536, "parts begin there");
#define SIMPLER_REGION_HEADER_BYTES 65536u

#endif
