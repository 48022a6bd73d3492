/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_HANDOVER_H
#define SIMPLER_TMR_HANDOVER_H

/*
 * When is a task worth handing to another core?  Below 0.7 of the measured
 * round trip between two cores it is cheaper to run it where it is
 * (engine-findings: a fixed threshold is a trap, the placement of the CPUs
 * decides).  Kernel times are estimated by func_id: one run in about 32 is
 * timed, of those that the orchestrator keeps one in about 250, and one in about 1,000 when all
 * have been short for long; an unknown kernel counts as long.
 */
#include "base/clock.h"
#include "tmr/engine.h"

/* The longest hand-over that is believed, and what one counts as when threads share a CPU. */
#define SIMPLER_HANDOVER_MAX_NS 2000u

/* Of a kernel; any thread. */
SIMPLER_INLINE uint32_t simpler_handover_kernel_ns(const struct simpler_device *device,
                                                   uint32_t func_id)
{
    uint32_t ns = atomic_load_explicit(&device->estimates->ns[func_id], memory_order_relaxed);
    return ns == 0 ? SIMPLER_LONG_NS : ns;
}

SIMPLER_INLINE uint32_t simpler_handover_estimate(const struct simpler_device *device,
                                                  const struct simpler_task_slot *slot)
{
    if (SIMPLER_UNLIKELY(slot->shape >= SIMPLER_SHAPE_DUMMY))
        return slot->shape == SIMPLER_SHAPE_DUMMY ? 1 : SIMPLER_LONG_NS;
    return simpler_handover_kernel_ns(device, slot->func_id);
}

/* Kernels from this time on are worth a hand-over. */
SIMPLER_INLINE uint32_t simpler_handover_threshold(const struct simpler_device *device)
{
    return atomic_load_explicit(&device->handover_ns, memory_order_relaxed) * 7u / 10u;
}

/* Folds one timed run into the estimate. */
void simpler_handover_note(struct simpler_thread *thread, uint32_t func_id, uint64_t ticks);

/* Which tasks of a run that begins are not handed over. */
void simpler_handover_start(struct simpler_orch *orch);

/*
 * How many tasks a stretch may have: more once so many looks in a row have found them short.  Its
 * time is checked every SIMPLER_STRETCH_FIRST tasks.
 */
#define SIMPLER_STRETCH_FIRST 64u
#define SIMPLER_STRETCH_CALM  256u
#define SIMPLER_CALM_LOOKS    16u
_Static_assert((SIMPLER_STRETCH_CALM & (SIMPLER_STRETCH_CALM - 1)) == 0 &&
                   SIMPLER_STRETCH_CALM % SIMPLER_STRETCH_FIRST == 0,
               "a stretch ends where the number of submits wraps");
SIMPLER_INLINE bool simpler_handover_is_calm(const struct simpler_orch *orch)
{
    return orch->calm >= SIMPLER_CALM_LOOKS;
}

SIMPLER_INLINE uint32_t simpler_handover_stretch(const struct simpler_orch *orch)
{
    return simpler_handover_is_calm(orch) ? SIMPLER_STRETCH_CALM : SIMPLER_STRETCH_FIRST;
}

/* Whether the tasks from the last look around to submit @seq took as long as a hand-over each. */
SIMPLER_INLINE bool simpler_handover_took_long(const struct simpler_orch *orch, uint64_t now_ticks,
                                               uint32_t seq)
{
    uint32_t tasks = seq - orch->looked_seq;

    /* On one thread none is long. */
    return tasks != 0 && orch->solo_below_ns <= UINT32_MAX &&
           simpler_clock_ticks_to_ns(now_ticks - orch->looked_ticks) >= orch->solo_below_ns * tasks;
}

/* A round trip was measured. */
void simpler_handover_set(struct simpler_orch *orch, uint64_t ns);

/*
 * At times, while tasks pass through: if they took long, the next kernels are timed; the round
 * trip is measured with an idle scheduler, at most every 100 ms.
 */
void simpler_handover_look(struct simpler_orch *orch);
/* An idle scheduler answers a probe. */
SIMPLER_INLINE void simpler_handover_answer(struct simpler_device *device)
{
    simpler_round_trip_answer(&device->round_trip);
}

#endif
