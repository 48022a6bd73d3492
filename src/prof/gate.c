/* SPDX-License-Identifier: Apache-2.0 */
#include "prof/gate.h"

#include "base/clock.h"
#include "base/idle_clock.h"
#include "base/testpoint.h"

#define SPIN_TURNS    64u
#define POLL_NS       50000u /* where nobody can wake us */
#define CLOCK_SLICES  8u     /* of the crash clock; after each the heartbeat is read */
#define MAX_BACKSTOPS (UINT64_MAX / 2)

static uint32_t host_beat(const struct simpler_prof_ready_lane *lane)
{
    /* relaxed: a clock's reset orders nothing. */
    return atomic_load_explicit(&lane->heartbeat, memory_order_relaxed);
}

bool simpler_gate_is_dropping(const struct simpler_prof_ready_lane *lane)
{
    return atomic_load_explicit(&lane->dropping, memory_order_relaxed) != 0 &&
           atomic_load_explicit(&lane->drop_beat, memory_order_relaxed) == host_beat(lane);
}

static void set_dropping(struct simpler_prof_ready_lane *lane, bool dropping, uint32_t beat)
{
    atomic_store_explicit(&lane->drop_beat, beat, memory_order_relaxed);
    atomic_store_explicit(&lane->dropping, dropping, memory_order_relaxed);
}

static void set_waiting(struct simpler_prof_ready_lane *lane, bool waiting)
{
    atomic_store_explicit(&lane->waiting, waiting, memory_order_relaxed);
}

void simpler_gate_reset(struct simpler_prof_ready_lane *lane)
{
    set_waiting(lane, false);
    set_dropping(lane, false, 0);
}

static uint64_t shorter(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Announces the thread as one to wake; nothing where nobody can. */
static uint32_t prepare(const struct simpler_gate *gate)
{
    return gate->header->has_events ? simpler_event_prepare_rare(gate->event) : 0;
}

static void leave(const struct simpler_gate *gate)
{
    if (gate->header->has_events)
        simpler_event_cancel(gate->event);
}

static void rest(const struct simpler_gate *gate, uint32_t seen, uint64_t ns)
{
    if (gate->header->has_events)
        simpler_event_wait(gate->event, seen, ns);
    else
        simpler_clock_sleep(shorter(ns, POLL_NS));
}

/* Sleeps until the gate opens (true) or the clock runs out. */
static bool sleep_at(const struct simpler_gate *gate)
{
    struct simpler_prof_ready_lane *lane = gate->lane;
    uint64_t backstop = shorter(gate->header->backstop_ns, MAX_BACKSTOPS);
    uint64_t slice = backstop / CLOCK_SLICES;
    struct simpler_idle_clock clock;
    uint32_t beat = host_beat(lane);
    bool open;

    simpler_idle_start(&clock, simpler_clock_ns());
    /* What stands before us in the queue may have been published without a ring. */
    simpler_event_notify_rare(gate->doorbell, 1);
    for (;;) {
        uint32_t seen = prepare(gate);
        SIMPLER_TESTPOINT(GATE_BEFORE_LOOK);
        open = gate->is_open(gate->subject);
        uint64_t now = simpler_clock_ns();
        if (host_beat(lane) != beat) {
            beat = host_beat(lane);
            simpler_idle_start(&clock, now);
        }
        uint64_t waited = simpler_idle_look(&clock, now, slice);
        if (open || waited >= backstop)
            break;
        if (waited >= slice) {
            /* Asks for a sign of life; the drain sleeps with a limit while it is set. */
            set_waiting(lane, true);
            simpler_event_notify_rare(gate->doorbell, 1);
        }
        rest(gate, seen, shorter(slice, backstop - waited) + 1);
    }
    leave(gate);
    set_waiting(lane, false);
    set_dropping(lane, !open, beat);
    return open;
}

bool simpler_gate_pass(const struct simpler_gate *gate)
{
    if (gate->is_open(gate->subject))
        return true;
    if (simpler_gate_is_dropping(gate->lane))
        return false;
    for (uint32_t i = 0; i < SPIN_TURNS; i++) {
        simpler_clock_relax();
        if (gate->is_open(gate->subject))
            return true;
    }
    return sleep_at(gate);
}
