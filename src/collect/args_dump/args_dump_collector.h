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
 * Nothing is made on the disk before the first record arrives.  Payloads are written
 * while the run lasts; of a retained run the manifest is left to whoever takes it.
 *
 * Threads: one caller at a time.
 */
#include <stdbool.h>
#include <stdint.h>

#include "collect/args_dump/args_dump_ending.h"
#include "collect/args_dump/args_dump_wire.h"
#include "prof/session.h"

struct simpler_args_dump_collector;

struct args_dump_collector_config {
    const struct simpler_transport_ops *transport;
    struct simpler_region_backing *backing; /* NULL: anonymous; else a crash loses no record */
    uint32_t lanes;
    uint32_t records_per_buffer; /* 0: ARGS_DUMP_RECORDS */
    uint32_t buffers;            /* a lane; 0: ARGS_DUMP_BUFFERS */
    uint64_t avg_bytes;          /* 0: ARGS_DUMP_AVG_BYTES; the arena is the product of the three */
    uint64_t backstop_ns;        /* 0: the framework's */
    uint64_t write_limit_ns;     /* 0: the framework's */
    uint32_t ready_depth;        /* a power of two; 0: ARGS_DUMP_READY_DEPTH */
    uint32_t first_index;        /* of every queue; tests start near the wrap */
    uint64_t bin_first;          /* where args.bin's payload begins; tests start beyond 4 GiB */
    struct args_dump_budget *budget; /* of retained runs; required if there are any */
    uint32_t spool_records; /* records of a shard in memory, and of a sorted run; 0: defaults */
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

/* For a run that has no collector: what is there of an earlier run would be taken for its dump. */
void simpler_args_dump_collector_forget(const char *prefix);
/* Removes what an earlier run left under the prefix.  SIMPLER_ETHREAD. */
int simpler_args_dump_collector_admit(struct simpler_args_dump_collector *collector,
                                      uint32_t run_epoch, const char *prefix, uint32_t level);

/* The same for a retained run: nothing that is there is removed or replaced. */
int simpler_args_dump_collector_admit_retained(struct simpler_args_dump_collector *collector,
                                               uint32_t run_epoch, const char *prefix,
                                               uint32_t level);
/* After settle: the retained run, the caller's now; NULL when there is nothing to write. */
struct args_dump_retained *
simpler_args_dump_collector_take(struct simpler_args_dump_collector *collector);

/* @ends: one a lane; an unproved one that has made its last flush becomes stopped.  Always
 * fills @out; returns its status. */
int simpler_args_dump_collector_settle(struct simpler_args_dump_collector *collector,
                                       enum simpler_lane_end *ends, struct args_dump_outcome *out);

/* Late proof: every thread of the last run, whose end was not proved, has come back. */
void simpler_args_dump_collector_prove_late(struct simpler_args_dump_collector *collector);

/* A thread of the collector has stopped: settle has left everything to it, another collector is
 * needed; close frees nothing. */
bool simpler_args_dump_collector_is_lost(const struct simpler_args_dump_collector *collector);

#endif
