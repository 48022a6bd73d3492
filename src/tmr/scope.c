/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes.  A scope's hold is one number a ring: the first task of the
 * shallowest open scope of that ring that created an OUTPUT.  A scope that finds
 * its ring held leaves the hold to the scope around it.
 */
#include "base/alloc.h"
#include "base/testpoint.h"
#include "tmr/fatal.h"
#include "tmr/orch_functions.h"
#include "tmr/orchestrator.h"
#include "tmr/scope_sample.h"

#define FIRST_FRAMES 64u

static int grow_frames(struct simpler_orch *orch)
{
    uint32_t capacity = orch->frame_capacity == 0 ? FIRST_FRAMES : orch->frame_capacity * 2;
    struct simpler_scope_frame *frames =
        simpler_alloc_resize(orch->frames, capacity, sizeof(*frames));
    if (frames == NULL)
        return simpler_fatal_stop(orch, SIMPLER_ENOMEM);
    orch->frames = frames;
    orch->frame_capacity = capacity;
    return 0;
}

SIMPLER_NOINLINE static int grow_and_enter(struct simpler_orch *orch, enum simpler_scope_mode mode,
                                           const char *file, int line)
{
    int rc = grow_frames(orch);
    return rc != 0 ? rc : simpler_orchestrator_enter(orch, mode, file, line);
}

/* Growing and sampling are tail calls: else every scope would pay a stack frame for them. */
int simpler_orchestrator_enter(struct simpler_orch *orch, enum simpler_scope_mode mode,
                               const char *file, int line)
{
    if (SIMPLER_UNLIKELY(orch->open == orch->frame_capacity))
        return grow_and_enter(orch, mode, file, line);
    struct simpler_scope_frame *frame = &orch->frames[orch->open];
    frame->file = file;
    frame->line = line;
    frame->manual = orch->manual;
    frame->ring = (uint8_t)orch->current;
    orch->depth = orch->open++;
    orch->current = orch->depth < CHIP_MAX_RING_DEPTH - 1 ? orch->depth : CHIP_MAX_RING_DEPTH - 1;
    orch->manual = mode == SIMPLER_SCOPE_MANUAL;
    struct simpler_ring *ring = &orch->ring[orch->current];
    frame->had_hold = ring->hold_from != SIMPLER_NO_HOLD;
    ring->scope_from = ring->next;
    if (SIMPLER_UNLIKELY(simpler_scope_sample_is_on(orch)))
        return simpler_scope_sample_begin(orch, file, line);
    return 0;
}

SIMPLER_INLINE void pop(struct simpler_orch *orch)
{
    struct simpler_scope_frame *frame = &orch->frames[--orch->open];
    if (!frame->had_hold)
        orch->ring[orch->current].hold_from = SIMPLER_NO_HOLD;
    orch->manual = frame->manual;
    orch->current = frame->ring;
    orch->depth = orch->open - 1; /* of no use behind the root */
}

SIMPLER_NOINLINE static void sample_and_pop(struct simpler_orch *orch)
{
    simpler_scope_sample_end(orch);
    pop(orch);
}

void simpler_orchestrator_leave(struct simpler_orch *orch)
{
    if (SIMPLER_UNLIKELY(simpler_scope_sample_is_on(orch)))
        sample_and_pop(orch);
    else
        pop(orch);
}

int simpler_tmr_scope_begin(struct simpler_orch *orch, enum simpler_scope_mode mode,
                            const char *file, int line)
{
    int status = simpler_fatal_status(orch);
    if (SIMPLER_UNLIKELY(status != 0)) {
        /* A dry run goes on counting by scope. */
        return orch->counting ? simpler_orchestrator_enter(orch, mode, file, line) : status;
    }
    if (SIMPLER_UNLIKELY((uint32_t)mode > SIMPLER_SCOPE_MANUAL))
        return simpler_fatal_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                   "scope at %s:%d: %d is no scope mode",
                                   file == NULL ? "(unknown)" : file, line, (int)mode);
    if (mode != SIMPLER_SCOPE_MANUAL && orch->manual)
        return simpler_fatal_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                   "scope at %s:%d: an AUTO scope cannot open inside a MANUAL one",
                                   file == NULL ? "(unknown)" : file, line);
    if (SIMPLER_FAILPOINT(SCOPE_TASKS))
        return simpler_fatal_latch(orch, SIMPLER_CODE_SCOPE_TASKS_OVERFLOW,
                                   "scope at %s:%d: no record for its tasks",
                                   file == NULL ? "(unknown)" : file, line);
    return simpler_orchestrator_enter(orch, mode, file, line);
}

int simpler_tmr_scope_end(struct simpler_orch *orch)
{
    int status = simpler_fatal_status(orch);
    if (orch->open > 1)
        simpler_orchestrator_leave(orch);
    else if (status == 0)
        return simpler_fatal_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                   "scope_end without an open scope");
    return status;
}
