/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PROF_REGION_READER_H
#define SIMPLER_PROF_REGION_READER_H

/*
 * Reads the diagnostic memory that a dead process left in a file
 * (wire/region_wire.h): which buffers hold records of a run, and their bytes.
 *
 * The file may be cut, torn or made up: nothing in it is believed before it is
 * checked, and everything is read, not mapped, so that a file that shrinks meanwhile is
 * a failed read.
 *
 * Threads: one at a time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/prof_wire.h"
#include "wire/region_wire.h"

struct simpler_region_reader {
    int fd;
    uint64_t bytes; /* of the file */
    struct simpler_region_header *header;
};

/* One buffer with records of the run that was asked for. */
struct simpler_region_buffer {
    uint32_t lane;
    uint32_t seq;   /* number among the lane's buffers; buffers of a run go by it */
    uint32_t age;   /* how many buffers the lane had begun after it */
    uint32_t count; /* records */
    uint64_t at;    /* of the first, in the file */
};

/* One collector's region, and the buffers of one run. */
struct simpler_region_session {
    struct simpler_prof_header header; /* as far as it was checked */
    uint8_t *bytes;                    /* the whole part */
    size_t size;
    bool begun;                            /* the run's producers were initialised */
    struct simpler_region_buffer *buffers; /* by lane, oldest first; no number twice */
    size_t buffer_count;
};

/* What the producers of a session have counted. */
struct simpler_region_counts {
    uint64_t attempted, dropped;
    bool known; /* they are of the run, and none is saturated */
};

/*
 * Takes @fd over, also on failure.  SIMPLER_EFORMAT: it is no region file of this version;
 * SIMPLER_EIO, SIMPLER_ENOMEM.
 */
int simpler_region_reader_open(int fd, struct simpler_region_reader **out);
/* NULL is allowed. */
void simpler_region_reader_close(struct simpler_region_reader *reader);

/*
 * The session of the collector @magic whose one kind has records of @record_bytes, with
 * the buffers of run @run_epoch.  SIMPLER_ENOENT: there is none; SIMPLER_EFORMAT: it makes
 * no sense; SIMPLER_EIO, SIMPLER_ENOMEM.  *out is zeroed on failure.
 */
int simpler_region_reader_session(const struct simpler_region_reader *reader, uint32_t magic,
                                  uint32_t record_bytes, uint32_t run_epoch,
                                  struct simpler_region_session *out);
void simpler_region_session_fini(struct simpler_region_session *session);

/* The collector's own block, @bytes of it; NULL: it has not so many. */
const void *simpler_region_session_block(const struct simpler_region_session *session,
                                         size_t bytes);
struct simpler_region_counts
simpler_region_session_counts(const struct simpler_region_session *session);

/* Bytes of the file; SIMPLER_EIO. */
int simpler_region_reader_read(const struct simpler_region_reader *reader, uint64_t at, void *to,
                               size_t bytes);
/* The part of @role, @client and @index; NULL: there is none, or it is not in the file. */
const struct simpler_region_part *
simpler_region_reader_part(const struct simpler_region_reader *reader, uint32_t role,
                           uint32_t client, uint32_t index);

#endif
