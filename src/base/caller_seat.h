/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_CALLER_SEAT_H
#define SIMPLER_BASE_CALLER_SEAT_H

/*
 * Where the caller of a run is.  It sleeps there until the end, wakes there, and goes on there with
 * what it does next: a thread that spins on that CPU for another run would keep it waiting.  Until
 * the caller has been told it is better not to let the CPU become idle.
 *
 *   field  written by, relaxed                     read by  publishes
 *   cpu    caller                                  threads  nothing: a hint, where it began the run
 *   told   caller: false; who ends the run: true   threads  nothing: it has been woken
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct simpler_caller_seat {
    _Atomic int32_t cpu;
    _Atomic bool told;
};

/* Before a run; the start of it is behind this. */
SIMPLER_INLINE void simpler_caller_seat_take(struct simpler_caller_seat *seat)
{
    int32_t cpu = sched_getcpu();

    /* Threads look at it: what stays as it is is not written. */
    if (atomic_load_explicit(&seat->cpu, memory_order_relaxed) != cpu)
        atomic_store_explicit(&seat->cpu, cpu, memory_order_relaxed);
    if (atomic_load_explicit(&seat->told, memory_order_relaxed))
        atomic_store_explicit(&seat->told, false, memory_order_relaxed);
}

/* The caller has been woken, or needs not to be. */
SIMPLER_INLINE void simpler_caller_seat_tell(struct simpler_caller_seat *seat)
{
    atomic_store_explicit(&seat->told, true, memory_order_relaxed);
}

/* The CPU of the calling thread is the caller's. */
SIMPLER_INLINE bool simpler_caller_seat_is_here(const struct simpler_caller_seat *seat)
{
    return atomic_load_explicit(&seat->cpu, memory_order_relaxed) == sched_getcpu();
}

#endif
