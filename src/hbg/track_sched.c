/* SPDX-License-Identifier: Apache-2.0 */
#include "hbg/track_sched.h"

#include <limits.h>

#include "base/clock.h"
#include "base/testpoint.h"

/* Looks at the first grain before a thread sees to something else: some 100 ns. */
#define LOOKS 64u
/* A sleeping thread is woken for a track at most once in this time. */
#define TELL_NS 50000u

bool simpler_hbg_tracks_start(struct simpler_hbg_device *device, struct simpler_hbg_part *part)
{
    uint32_t none = 0;

    /* W5, acquire: nobody takes anything for the part before it any more that counts. */
    if (part->plan->track_count == 0 ||
        !atomic_compare_exchange_strong_explicit(&device->tracks_taken, &none, 1,
                                                 memory_order_acquire, memory_order_relaxed))
        return false;
    atomic_store_explicit(&part->tracked, true, memory_order_relaxed);
    for (uint32_t t = 0; t < part->plan->track_count; t++)
        atomic_store_explicit(&device->tracks[t].at,
                              (uint64_t)part->serial << 32 | part->plan->track_from[t],
                              memory_order_relaxed);
    atomic_store_explicit(&device->tracked, part, memory_order_release);
    simpler_sleepers_wake(&device->work, INT_MAX);
    return true;
}

void simpler_hbg_tracks_end(struct simpler_hbg_device *device)
{
    atomic_store_explicit(&device->tracked, NULL, memory_order_relaxed);
    atomic_store_explicit(&device->tracks_taken, 0, memory_order_release);
}

/* Whether all producers of the grain at @place are done; goes on where it last stopped. */
static bool is_ready(struct simpler_hbg_thread *thread, const struct simpler_hbg_part *part,
                     uint64_t at)
{
    const struct simpler_hbg_plan *plan = part->plan;
    uint32_t grain = plan->track[(uint32_t)at], end = plan->edge_from[grain + 1];

    if (thread->head != at) {
        thread->head = at;
        thread->head_edge = plan->edge_from[grain];
    }
    for (; thread->head_edge < end; thread->head_edge++) {
        const struct simpler_hbg_unit *producer =
            &thread->device->units[part->first_unit + plan->edges[thread->head_edge]];
        /* acquire, pairs with W2: the producer's effects. */
        if (atomic_load_explicit(&producer->wake, memory_order_acquire) != SIMPLER_HBG_WAKE_CLOSED)
            return false;
    }
    return true;
}

static bool is_over(const struct simpler_hbg_part *part, uint32_t t, uint64_t at)
{
    return at >> 32 != part->serial || (uint32_t)at >= part->plan->track_from[t + 1];
}

bool simpler_hbg_track_is_over(const struct simpler_hbg_thread *thread,
                               const struct simpler_hbg_part *part)
{
    uint32_t t = thread->index;

    return t >= part->plan->track_count ||
           is_over(part, t,
                   atomic_load_explicit(&thread->device->tracks[t].at, memory_order_relaxed));
}

/* The first grain of track @t after at most @looks looks, or NO_UNIT; *ended: there is none. */
static uint32_t take(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part, uint32_t t,
                     uint32_t looks, bool *ended)
{
    struct simpler_hbg_track *track = &thread->device->tracks[t];
    SIMPLER_TESTPOINT(TRACK_BEFORE_LOOK);
    uint64_t at = atomic_load_explicit(&track->at, memory_order_relaxed);

    for (uint32_t i = 0; i < looks; i++) {
        *ended = is_over(part, t, at);
        if (*ended)
            return SIMPLER_HBG_NO_UNIT;
        if (!is_ready(thread, part, at)) {
            at = atomic_load_explicit(&track->at, memory_order_relaxed);
            continue;
        }
        SIMPLER_TESTPOINT(TRACK_BEFORE_TAKE);
        if (atomic_compare_exchange_strong_explicit(&track->at, &at, at + 1, memory_order_relaxed,
                                                    memory_order_relaxed))
            return part->first_unit + part->plan->track[(uint32_t)at];
    }
    return SIMPLER_HBG_NO_UNIT;
}

uint32_t simpler_hbg_track_steal(struct simpler_hbg_thread *thread)
{
    struct simpler_hbg_device *device = thread->device;
    /* acquire: the part and where its tracks begin. */
    struct simpler_hbg_part *part = atomic_load_explicit(&device->tracked, memory_order_acquire);
    bool ended;

    if (part == NULL)
        return SIMPLER_HBG_NO_UNIT;
    for (uint32_t i = 0; i < part->plan->track_count; i++) {
        uint32_t t = (thread->index + i) % part->plan->track_count;
        uint32_t unit = take(thread, part, t, 1, &ended);
        if (unit == SIMPLER_HBG_NO_UNIT)
            continue;
        thread->helped = t;
        thread->helped_at = thread->head + 1;
        return unit;
    }
    return SIMPLER_HBG_NO_UNIT;
}

/*
 * Nobody has taken anything of the track that this thread last helped: its own thread has no CPU.
 * The line is the other one's, so only who has nothing to do looks.
 */
static bool still_helps(struct simpler_hbg_thread *thread)
{
    if (thread->helped_at == 0)
        return false;
    uint64_t at =
        atomic_load_explicit(&thread->device->tracks[thread->helped].at, memory_order_relaxed);
    if (at != thread->helped_at)
        thread->helped_at = 0;
    return thread->helped_at != 0;
}

uint32_t simpler_hbg_track_next(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part)
{
    bool ended = true;
    uint32_t unit = SIMPLER_HBG_NO_UNIT;

    if (thread->index < part->plan->track_count)
        unit = take(thread, part, thread->index, 1, &ended);
    if (unit != SIMPLER_HBG_NO_UNIT)
        return unit;
    if (ended || still_helps(thread))
        return simpler_hbg_track_steal(thread);
    return take(thread, part, thread->index, LOOKS, &ended);
}

void simpler_hbg_track_close(struct simpler_hbg_thread *thread, uint32_t unit)
{
    struct simpler_hbg_device *device = thread->device;

    /* W2, release: what the tasks did. */
    atomic_store_explicit(&device->units[unit].wake, SIMPLER_HBG_WAKE_CLOSED, memory_order_release);
    /* Not needed for the run to end: who is awake takes what a sleeper does not. */
    if (SIMPLER_LIKELY(!simpler_sleepers_has_some(&device->work)))
        return;
    uint64_t now = simpler_clock_ticks();
    if (now - thread->told_ticks < simpler_clock_ns_to_ticks(TELL_NS))
        return;
    thread->told_ticks = now;
    simpler_sleepers_wake(&device->work, 1);
}
