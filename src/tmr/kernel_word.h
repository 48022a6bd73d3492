/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_KERNEL_WORD_H
#define SIMPLER_TMR_KERNEL_WORD_H

/* What the word around a kernel (task/kernel_guard.h) says in this runtime. */
#include <stddef.h>
#include <string.h>

#include "base/testpoint.h"
#include "tmr/engine.h"

/*
 * The word's values, so that each is made by one or two instructions:
 *   below 2^16     a task that the orchestrator runs while it submits it: its func_id; it
 *                  has no slot, its id is the next of the current ring
 *   NO_KERNEL      not inside a kernel
 *   from 2^56 on   not (id, func_id, shape, ring), the eight bytes of the slot
 */

/* What the word says of a task that has a slot. */
struct simpler_kernel_task {
    uint32_t id;
    uint16_t func_id;
    uint8_t shape;
    uint8_t ring;
};

_Static_assert(sizeof(struct simpler_kernel_task) == 8 &&
                   offsetof(struct simpler_task_slot, id) == 8 &&
                   offsetof(struct simpler_task_slot, func_id) == 12 &&
                   offsetof(struct simpler_task_slot, shape) == 14 &&
                   offsetof(struct simpler_task_slot, ring) == 15,
               "one load of the slot makes the word");

SIMPLER_INLINE uint64_t simpler_kernel_word_of(const struct simpler_task_slot *slot)
{
    uint64_t bits;
    memcpy(&bits, &slot->id, sizeof(bits));
    return ~bits;
}

/* One kernel of a task that has several. */
SIMPLER_INLINE uint64_t simpler_kernel_word_of_lane(const struct simpler_task_slot *slot,
                                                    uint32_t func_id)
{
    struct simpler_kernel_task task = {slot->id, (uint16_t)func_id, slot->shape, slot->ring};
    uint64_t bits;
    memcpy(&bits, &task, sizeof(bits));
    return ~bits;
}

SIMPLER_INLINE bool simpler_kernel_word_is_solo(uint64_t word)
{
    return word <= UINT16_MAX;
}

SIMPLER_INLINE struct simpler_kernel_task simpler_kernel_word_task(uint64_t word)
{
    struct simpler_kernel_task task;
    uint64_t bits = ~word;
    memcpy(&task, &bits, sizeof(task));
    return task;
}

SIMPLER_INLINE void simpler_kernel_enter(struct simpler_thread *thread, uint64_t word)
{
    simpler_kernel_guard_enter(&thread->counts.guard, word);
}

/* The thread was asked: waits for the answer, and for its release when it was revoked. */
void simpler_kernel_asked(struct simpler_thread *thread);

/* enum simpler_revoke: whether the thread was asked (simpler_kernel_asked). */
SIMPLER_INLINE uint32_t simpler_kernel_leave_asked(struct simpler_thread *thread)
{
    SIMPLER_TESTPOINT(KERNEL_BEFORE_LEAVE);
    /* Else addresses are kept over the call, which costs more than to make them again. */
    __asm__("" : "+r"(thread));
    return simpler_kernel_guard_leave(&thread->counts.guard);
}

/* The kernel's status; one test for the question and a failure. */
SIMPLER_INLINE int simpler_kernel_leave(struct simpler_thread *thread, int status)
{
    uint32_t asked = simpler_kernel_leave_asked(thread);
    if (SIMPLER_LIKELY((asked | (uint32_t)status) == 0))
        return 0;
    if (asked != SIMPLER_REVOKE_NOT)
        simpler_kernel_asked(thread);
    return status;
}

/* Whether the thread was revoked and is on its way out. */
SIMPLER_INLINE bool simpler_kernel_is_revoked(const struct simpler_thread *thread)
{
    return simpler_kernel_guard_is_revoked(&thread->counts.guard);
}

#endif
