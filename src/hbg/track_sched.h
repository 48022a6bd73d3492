/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_TRACK_SCHED_H
#define SIMPLER_HBG_TRACK_SCHED_H

/*
 * A part along its plan's tracks, see grain_tracks.h.  One part at a time; another that starts
 * meanwhile goes through wake lists and queues.
 *
 * Thread t goes along track t.  Who has none, has come to its end or waits for long takes the first
 * grain of another track, if that is ready: a thread that has no CPU holds up nobody.
 */
#include "hbg/hbg_engine.h"

/* False: the part has no tracks, or another one is on its way. */
bool simpler_hbg_tracks_start(struct simpler_hbg_device *device, struct simpler_hbg_part *part);
/* Every unit of the part is done. */
void simpler_hbg_tracks_end(struct simpler_hbg_device *device);
/* The next grain of the thread's own track; of one without: see below.  NO_UNIT: not yet. */
uint32_t simpler_hbg_track_next(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part);
/* Whether the thread has no track, or has come to its end. */
bool simpler_hbg_track_is_over(const struct simpler_hbg_thread *thread,
                               const struct simpler_hbg_part *part);
/* The first grain of any track that is ready, or NO_UNIT. */
uint32_t simpler_hbg_track_steal(struct simpler_hbg_thread *thread);
/* A unit of a part that goes along tracks is done. */
void simpler_hbg_track_close(struct simpler_hbg_thread *thread, uint32_t unit);

#endif
