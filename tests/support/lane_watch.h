/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SUPPORT_LANE_WATCH_H
#define TEST_SUPPORT_LANE_WATCH_H

/*
 * What the producers of a run have left in the device's memory, read without any code of
 * the collection: which buffers were filled in which lane, and what the lanes have counted.
 * For runs that are over, or whose threads are stopped, in which no lane fills more
 * buffers than there are.
 */
#include <stdbool.h>
#include <stdint.h>

#include "simpler/worker.h"

#define LANE_WATCH_LANES   16u
#define LANE_WATCH_BUFFERS 64u

struct lane_watch_lane {
    uint32_t total;   /* records attempted */
    uint32_t dropped; /* of all causes */
    uint32_t records; /* in its buffers */
    uint32_t buffers; /* that hold any */
};

struct lane_watch_run {
    uint32_t epoch;
    uint32_t lane_count;
    struct lane_watch_lane lane[LANE_WATCH_LANES];
    const char *fault; /* NULL: each lane's buffers have one sequence, without a gap or a repeat */
    uint64_t digest;   /* of all that the producers alone write */
};

/* The worker's diagnostics, before its first run. */
void lane_watch_install(struct simpler_worker *worker);

/* Each buffer of the run that holds records. */
typedef void (*lane_watch_fn)(void *user, uint32_t lane, const void *records, uint32_t count);
/* False: there is no such collector.  @fn may be NULL. */
bool lane_watch_read(uint32_t magic, struct lane_watch_run *out, lane_watch_fn fn, void *user);

#endif
