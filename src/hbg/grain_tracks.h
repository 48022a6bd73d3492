/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_GRAIN_TRACKS_H
#define SIMPLER_HBG_GRAIN_TRACKS_H

/*
 * Tracks: which thread does which grain, and in which order, decided beforehand.  A thread that
 * goes along its track asks nothing of the others but whether a producer is done, which is one
 * cache line a hand-over instead of wake lists and queues.
 *
 * The order is that of a list schedule (Graham 1969): again and again the grain that can start
 * first goes to the track where it can; a producer of another track counts as done a
 * hand-over later.  Two are made, and the one that takes less is kept: one with that freedom, and
 * one in which the grains of each level (their longest way from the start) are dealt out
 * beforehand in contiguous pieces, for neighbours in submit order often share data.  Each track is
 * a part of one sequence in which every grain comes after its producers, so the first grain of all
 * tracks that nobody has taken never waits for one that nobody has taken.
 */
#include <stdint.h>

struct simpler_hbg_plan;

/* More threads than that go without. */
#define SIMPLER_HBG_MAX_TRACKS 16u

/* The memory of one planning, and what is known of each grain. */
struct simpler_hbg_track_scratch {
    uint64_t *cost;    /* of a grain, nanoseconds; the caller's */
    uint32_t *fetches; /* edges of its tasks from other grains; the caller's */
    uint64_t *end;
    uint32_t *missing; /* producers that have no place yet */
    uint32_t *next;    /* in the list of grains that miss none; 0: the last */
    uint32_t *users_from, *users;
    uint32_t *level;
    uint64_t *level_cost, *level_dealt;
    uint8_t *track;
};

/* SIMPLER_ENOMEM: nothing is kept. */
int simpler_hbg_track_scratch_init(struct simpler_hbg_track_scratch *s, uint32_t nodes,
                                   uint32_t edges);
void simpler_hbg_track_scratch_fini(struct simpler_hbg_track_scratch *s);

/*
 * Makes @plan's tracks, @count of them, from its grains and edges; how long they take in
 * nanoseconds by the schedule.
 */
uint64_t simpler_hbg_tracks_make(struct simpler_hbg_plan *plan, uint32_t count,
                                 uint32_t handover_ns, struct simpler_hbg_track_scratch *s);

#endif
