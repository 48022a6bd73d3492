/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_IDLE_CLOCK_H
#define SIMPLER_BASE_IDLE_CLOCK_H

/*
 * How long something has not moved, for one thread that looks again and again.  Time counts that
 * was looked at: when a look comes much later than it was to, nobody had a CPU, or the process was
 * stopped (SIGSTOP, a machine that is suspended), and what is watched could not move either.
 */
#include <stdint.h>

/* So often the time between two looks counts at most. */
#define SIMPLER_IDLE_LATE 2u

struct simpler_idle_clock {
    uint64_t since_ns; /* later than it was by what does not count; 0: it does not run */
    uint64_t looked_ns;
};

static inline void simpler_idle_start(struct simpler_idle_clock *clock, uint64_t now_ns)
{
    clock->since_ns = clock->looked_ns = now_ns;
}

/* A look at @now_ns, one every @look_ns: for so long it has not moved. */
static inline uint64_t simpler_idle_look(struct simpler_idle_clock *clock, uint64_t now_ns,
                                         uint64_t look_ns)
{
    uint64_t gap = now_ns - clock->looked_ns, most = SIMPLER_IDLE_LATE * look_ns;

    clock->looked_ns = now_ns;
    if (gap > most)
        clock->since_ns += gap - most;
    return now_ns - clock->since_ns;
}

#endif
