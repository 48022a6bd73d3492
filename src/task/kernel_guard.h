/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_KERNEL_GUARD_H
#define SIMPLER_TASK_KERNEL_GUARD_H

/*
 * The word around a kernel: what a thread is inside of, and whether it may come
 * back.  Before the kernel the thread stores the word, after it "none", and looks
 * whether it was asked: plain stores and a load.
 *
 *   field    written by       read by    publishes
 *   kernel   its thread       who ends a run    what the word names, and all that was done (M1)
 *   revoke   who ends a run   thread            the verdict (M2)
 *   state    its thread       who ends a run    all that it did before (M3)
 *
 * Who ends a hung run takes it away from a thread inside a kernel by asking
 * (ASKED), then sys_membarrier, then a look at the word.  The barrier orders for
 * both: if the word still names a kernel, the thread's look after that kernel will
 * find the question, so it is REVOKED for good.  If the word is "none", the
 * thread may or may not have seen the question; one that has waits for the
 * answer, a few microseconds, and gets "go on" (NOT).  So a thread that comes
 * back at that very moment either never touches the run again or was never asked.
 *
 * A thread that comes back from a kernel of which it was revoked parks.  Only when
 * all have parked or left, and the caller has asked for it, they are released; then
 * each goes on through a run that is stopped and leaves by itself.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/event.h"
#include "task/runtime.h"

/* One instruction makes it; a runtime's words for kernels are others. */
#define SIMPLER_NO_KERNEL ((uint64_t)0x40000000)

enum simpler_revoke {
    SIMPLER_REVOKE_NOT = 0,
    SIMPLER_REVOKE_ASKED = 1,
    SIMPLER_REVOKE_DONE = 2,    /* the thread touches nothing of the run and parks */
    SIMPLER_REVOKE_RELEASED = 3 /* every thread has come back: it may leave through the run */
};

enum simpler_thread_state {
    SIMPLER_THREAD_LIVE = 0,
    SIMPLER_THREAD_PARKED = 1, /* it came back from a kernel of which it was revoked */
    SIMPLER_THREAD_EXITED = 2  /* it has returned from its entry */
};

struct simpler_kernel_guard {
    _Atomic uint64_t kernel;
    _Atomic uint32_t revoke; /* enum simpler_revoke */
    _Atomic uint32_t state;  /* enum simpler_thread_state */
};

/* What a hung run made of a thread; written by who ends it, final after the freeze. */
struct simpler_guard_verdict {
    enum simpler_device_lane_end end;
    uint64_t revoked_of; /* the word */
};

struct simpler_guarded {
    struct simpler_kernel_guard *guard;
    struct simpler_guard_verdict *verdict;
};

/* The threads of a device. */
struct simpler_guard_set {
    void *device;
    uint32_t (*count)(const void *device);
    /* Thread @i below the count; false: it was never started. */
    bool (*at)(void *device, uint32_t i, struct simpler_guarded *out);
    struct simpler_event left;     /* threads have parked or exited; rare */
    struct simpler_event released; /* revoked threads may go on; rare */
};

/* A set whose members are given. */
void simpler_kernel_guard_init_set(struct simpler_guard_set *set);

SIMPLER_INLINE void simpler_kernel_guard_enter(struct simpler_kernel_guard *guard, uint64_t word)
{
    /* M1, release. */
    atomic_store_explicit(&guard->kernel, word, memory_order_release);
}

/* The thread is out of the kernel; enum simpler_revoke: whether it was asked. */
SIMPLER_INLINE uint32_t simpler_kernel_guard_leave(struct simpler_kernel_guard *guard)
{
    atomic_store_explicit(&guard->kernel, SIMPLER_NO_KERNEL, memory_order_relaxed);
    /* The membarrier of who asks makes this a fence towards it. */
    atomic_signal_fence(memory_order_seq_cst);
    /* acquire, pairs with M2. */
    return atomic_load_explicit(&guard->revoke, memory_order_acquire);
}

/* The thread was asked: waits for the answer, and for its release when it was revoked. */
void simpler_kernel_guard_asked(struct simpler_kernel_guard *guard, struct simpler_guard_set *set);

/* Last act of a thread of the device. */
void simpler_kernel_guard_exit(struct simpler_kernel_guard *guard, struct simpler_guard_set *set);

/*
 * Whether the thread was revoked and is on its way out.  One that is only ASKED and reads it
 * here is not inside a kernel any more, and will be told to go on.
 */
SIMPLER_INLINE bool simpler_kernel_guard_is_revoked(const struct simpler_kernel_guard *guard)
{
    return atomic_load_explicit(&guard->revoke, memory_order_relaxed) >= SIMPLER_REVOKE_DONE;
}

/*
 * Who ends a hung run, once every thread has been told to leave: revokes those inside
 * a kernel, and waits up to @grace_ns for the others.  Then the verdict of each is
 * final; true when one has not come back.
 */
bool simpler_kernel_guard_freeze(struct simpler_guard_set *set, uint64_t grace_ns);

/*
 * Waits until every thread has come back, then lets them leave and waits for that.
 * SIMPLER_ETIMEDOUT.  One caller at a time, between runs.
 */
int simpler_kernel_guard_quiesce(struct simpler_guard_set *set, uint64_t timeout_ns);

#endif
