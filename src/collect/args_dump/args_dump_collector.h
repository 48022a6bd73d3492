/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_ARGS_DUMP_COLLECTOR_H
#define SIMPLER_COLLECT_ARGS_DUMP_COLLECTOR_H

/*
 * The host side of the args dump: a client of the collection framework with one
 * lane for each thread that runs kernels.
 *
 *     open     once, for a device: arenas and buffers
 *     admit    a run is about to start: its number, level and place
 *     settle   it has ended: what can be had is collected and exported
 *
 * Nothing is made on the disk before the first record arrives.
 *
 * Threads: one caller at a time.
 */
#include <stdbool.h>
#include <stdint.h>

#include "collect/args_dump/args_dump_wire.h"
#include "prof/session.h"

/* An output prefix has at most 1023 bytes. */
#define ARGS_DUMP_PATH_BYTES 1088u

struct simpler_args_dump_collector;

struct args_dump_collector_config {
    const struct simpler_transport_ops *transport;
    uint32_t lanes;
    uint32_t records_per_buffer; /* 0: ARGS_DUMP_RECORDS */
    uint32_t buffers;            /* a lane; 0: ARGS_DUMP_BUFFERS */
    uint64_t avg_bytes;          /* 0: ARGS_DUMP_AVG_BYTES; the arena is the product of the three */
    uint64_t backstop_ns;        /* 0: the framework's */
    uint32_t ready_depth;        /* a power of two; 0: ARGS_DUMP_READY_DEPTH */
    uint32_t first_index;        /* of every queue; tests start near the wrap */
    uint64_t bin_first;          /* where args.bin's payload begins; tests start beyond 4 GiB */
    uint32_t spool_records; /* records of a shard in memory, and of a sorted run; 0: defaults */
};

/* What a run's collection came to. */
struct args_dump_outcome {
    int status; /* 0: whole; SIMPLER_EPARTIAL; SIMPLER_EIO and others: no manifest */
    bool has_manifest;
    bool counts_known;      /* the counts of losses below */
    uint64_t records;       /* entries of the manifest */
    uint64_t payload_bytes; /* in args.bin */
    uint64_t capture_ns;    /* time that capture took, summed over the threads */
    uint64_t truncated;
    uint64_t dropped_no_free, dropped_ready_full, dropped_arena;
    uint64_t write_failed;           /* records that the disk did not take */
    uint64_t refused_epoch;          /* of other runs, never imported */
    char path[ARGS_DUMP_PATH_BYTES]; /* the directory args_dump */
};

/* SIMPLER_ENOMEM, SIMPLER_ETHREAD, SIMPLER_EINVAL. */
int simpler_args_dump_collector_open(const struct args_dump_collector_config *config,
                                     struct simpler_args_dump_collector **out);
/* NULL is allowed. */
void simpler_args_dump_collector_close(struct simpler_args_dump_collector *collector);

uint32_t simpler_args_dump_collector_lanes(const struct simpler_args_dump_collector *collector);
/* What set_platform_dump_base gets. */
uint64_t
simpler_args_dump_collector_device_base(const struct simpler_args_dump_collector *collector);

/* Removes what an earlier run left under the prefix.  SIMPLER_ETHREAD. */
int simpler_args_dump_collector_admit(struct simpler_args_dump_collector *collector,
                                      uint32_t run_epoch, const char *prefix, uint32_t level);

/* @ends: one a lane.  Always fills @out; returns its status. */
int simpler_args_dump_collector_settle(struct simpler_args_dump_collector *collector,
                                       const enum simpler_lane_end *ends,
                                       struct args_dump_outcome *out);

#endif
