/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_COLLECT_SCOPE_STATS_COLLECTOR_H
#define SIMPLER_COLLECT_SCOPE_STATS_COLLECTOR_H

/*
 * The host side of scope stats: a client of the collection framework with one
 * lane and one shard, whose records go to scope_stats.jsonl as they come.
 *
 *     open     once, for a device
 *     admit    a run is about to start: its number, place and capacities
 *     settle   it has ended: what can be had is collected, the file is finished
 *
 * A run that is admitted as retained has no file at its end: settle freezes what the
 * file is to say, and take hands the samples over to whoever writes it.
 *
 * Threads: one caller at a time.
 */
#include "collect/scope_stats/scope_stats_file.h"
#include "collect/scope_stats/scope_stats_retained.h"
#include "prof/session.h"

struct simpler_scope_stats_collector;

struct scope_stats_collector_config {
    const struct simpler_transport_ops *transport;
    struct simpler_region_backing *backing; /* NULL: anonymous; else a crash loses no sample */
    uint32_t records_per_buffer;            /* 0: SCOPE_STATS_RECORDS */
    uint32_t buffers;                       /* 0: SCOPE_STATS_BUFFERS */
    uint64_t backstop_ns;                   /* 0: the framework's */
    uint32_t first_index;                   /* of every queue; tests start near the wrap */
    uint64_t budget_bytes;                  /* of retained samples; 0: SCOPE_STATS_BUDGET_BYTES */
};

/* What a run's collection came to. */
struct scope_stats_outcome {
    int status;        /* 0: whole; SIMPLER_EPARTIAL; SIMPLER_EIO and others: no file */
    bool has_file;     /* at path */
    bool is_retained;  /* take gives it; it would be at path */
    bool counts_known; /* the counts of losses below */
    bool fatal;        /* a device code was latched */
    uint64_t records;  /* samples in the file */
    uint64_t dropped_no_free, dropped_ready_full, dropped_too_deep;
    uint64_t write_failed;  /* samples that the file refused */
    uint64_t refused_epoch; /* samples of other runs, never imported */
    char path[SCOPE_STATS_PATH_BYTES];
};

/* SIMPLER_ENOMEM, SIMPLER_ETHREAD. */
int simpler_scope_stats_collector_open(const struct scope_stats_collector_config *config,
                                       struct simpler_scope_stats_collector **out);
/* NULL is allowed. */
void simpler_scope_stats_collector_close(struct simpler_scope_stats_collector *collector);

/* What set_platform_scope_stats_base gets. */
uint64_t
simpler_scope_stats_collector_device_base(const struct simpler_scope_stats_collector *collector);

/*
 * Takes the capacities by value.  SIMPLER_EINVAL when they are unknown: the run
 * is to be refused.  SIMPLER_ETHREAD.  A file that cannot be made is no failure
 * here: the run goes on, settle tells.
 */
int simpler_scope_stats_collector_admit(struct simpler_scope_stats_collector *collector,
                                        uint32_t run_epoch, const char *prefix,
                                        const struct scope_stats_capacities *capacities);

/*
 * The same for a retained run: its samples stay in memory, nothing on the disk is
 * touched.  SIMPLER_ENOMEM as well.
 */
int simpler_scope_stats_collector_admit_retained(struct simpler_scope_stats_collector *collector,
                                                 uint32_t run_epoch, const char *prefix,
                                                 const struct scope_stats_capacities *capacities);
/* For a run that has no collector: what is there of an earlier run would be taken for its file. */
void simpler_scope_stats_collector_forget(const char *prefix);
/*
 * The whole file of a run whose runtime has no producer: metadata alone, no capacity
 * known; @fatal: a device code was latched.  Always fills @out; returns its status.
 */
int simpler_scope_stats_collector_write_empty(const char *prefix, bool fatal,
                                              struct scope_stats_outcome *out);

/* After settle: the retained run, the caller's now; NULL when there is none to be written. */
struct scope_stats_retained *
simpler_scope_stats_collector_take(struct simpler_scope_stats_collector *collector);

/* @end: how the orchestrator's lane ended.  Always fills @out; returns its status. */
int simpler_scope_stats_collector_settle(struct simpler_scope_stats_collector *collector,
                                         enum simpler_lane_end end,
                                         struct scope_stats_outcome *out);

/* Late proof: every thread of the last run, whose end was not proved, has come back. */
void simpler_scope_stats_collector_prove_late(struct simpler_scope_stats_collector *collector);

/* A thread of the collector has stopped: settle has left everything to it, another collector is
 * needed; close frees nothing. */
bool simpler_scope_stats_collector_is_lost(const struct simpler_scope_stats_collector *collector);

#endif
