/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_PROF_GATE_H
#define SIMPLER_PROF_GATE_H

/*
 * A producer's wait for the host.  A thread at a gate spins briefly, then sleeps
 * on an event of its lane, or where nobody can wake it for a short time.  Its
 * clock starts with the wait and starts again whenever the lane's heartbeat has
 * moved; when it runs out, the lane drops without waiting until the heartbeat
 * moves again.
 */
#include <stdbool.h>

#include "wire/prof_wire.h"

/* What is waited for; of the lane's thread alone. */
struct simpler_gate {
    const struct simpler_prof_header *header;
    struct simpler_prof_ready_lane *lane;
    struct simpler_event *doorbell;
    struct simpler_event *event; /* notified by the host when the gate may be open */
    bool (*is_open)(const void *subject);
    const void *subject;
};

/* One bounded stall at most; false: drop. */
bool simpler_gate_pass(const struct simpler_gate *gate);

/* Whether the lane drops without waiting: no sign of life since a gate expired. */
bool simpler_gate_is_dropping(const struct simpler_prof_ready_lane *lane);
/* At a run's start: the lane neither waits nor drops. */
void simpler_gate_reset(struct simpler_prof_ready_lane *lane);

#endif
