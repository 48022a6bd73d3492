/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a run away from its threads, and waiting for them. */
#include "task/kernel_guard.h"

#include <limits.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/testpoint.h"
#include "simpler/status.h"

/* How often a freeze looks again at threads that are neither out nor in a kernel. */
#define LOOK_NS 1000000u
/* Kernels that wait for each other look at the run's stop word in this time: they come back. */
#define REVOKE_NS 50000000u
/* A thread that was released needs a moment to leave, also for a caller who only looks. */
#define LEAVE_NS 100000000u

void simpler_kernel_guard_init_set(struct simpler_guard_set *set)
{
    simpler_event_init(&set->left);
    simpler_event_init(&set->released);
}

static uint32_t state_of(const struct simpler_kernel_guard *guard)
{
    /* acquire, pairs with M3. */
    return atomic_load_explicit(&guard->state, memory_order_acquire);
}

void simpler_kernel_guard_exit(struct simpler_kernel_guard *guard, struct simpler_guard_set *set)
{
    /* M3, release: all that it did is before its exit. */
    atomic_store_explicit(&guard->state, SIMPLER_THREAD_EXITED, memory_order_release);
    simpler_event_notify_rare(&set->left, 1);
}

void simpler_kernel_guard_asked(struct simpler_kernel_guard *guard, struct simpler_guard_set *set)
{
    _Atomic uint32_t *revoke = &guard->revoke;

    SIMPLER_TESTPOINT(KERNEL_ASKED);
    while (atomic_load_explicit(revoke, memory_order_acquire) == SIMPLER_REVOKE_ASKED)
        simpler_clock_relax();
    if (atomic_load_explicit(revoke, memory_order_acquire) == SIMPLER_REVOKE_NOT)
        return;
    /* M3, release. */
    atomic_store_explicit(&guard->state, SIMPLER_THREAD_PARKED, memory_order_release);
    simpler_event_notify_rare(&set->left, 1);
    while (atomic_load_explicit(revoke, memory_order_acquire) != SIMPLER_REVOKE_RELEASED) {
        uint32_t seen = simpler_event_prepare_rare(&set->released);
        if (atomic_load_explicit(revoke, memory_order_acquire) == SIMPLER_REVOKE_RELEASED)
            simpler_event_cancel(&set->released);
        else
            simpler_event_wait(&set->released, seen, UINT64_MAX);
    }
}

static bool membarrier(void)
{
    return atomic_load_explicit(&simpler_event_has_membarrier, memory_order_relaxed) &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static uint64_t word_of(const struct simpler_kernel_guard *guard)
{
    /* acquire, pairs with M1. */
    return atomic_load_explicit(&guard->kernel, memory_order_acquire);
}

/* Whether what the thread may still do with the run is known. */
static bool is_settled(const struct simpler_kernel_guard *guard)
{
    return state_of(guard) == SIMPLER_THREAD_EXITED || simpler_kernel_guard_is_revoked(guard);
}

/* The question, to all at once: one barrier. */
static void revoke_all(struct simpler_guard_set *set)
{
    uint32_t count = set->count(set->device), asked = 0;
    struct simpler_guarded t;

    for (uint32_t i = 0; i < count; i++) {
        if (!set->at(set->device, i, &t) || is_settled(t.guard) ||
            word_of(t.guard) == SIMPLER_NO_KERNEL)
            continue;
        atomic_store_explicit(&t.guard->revoke, SIMPLER_REVOKE_ASKED, memory_order_seq_cst);
        asked++;
    }
    if (asked == 0)
        return;
    SIMPLER_TESTPOINT(REVOKE_AFTER_ASK);
    bool ordered = membarrier();
    for (uint32_t i = 0; i < count; i++) {
        if (!set->at(set->device, i, &t) ||
            atomic_load_explicit(&t.guard->revoke, memory_order_relaxed) != SIMPLER_REVOKE_ASKED)
            continue;
        t.verdict->revoked_of = word_of(t.guard);
        bool inside = ordered && t.verdict->revoked_of != SIMPLER_NO_KERNEL;
        /* M2, release: the verdict. */
        atomic_store_explicit(&t.guard->revoke, inside ? SIMPLER_REVOKE_DONE : SIMPLER_REVOKE_NOT,
                              memory_order_release);
    }
}

static bool all_settled(const struct simpler_guard_set *set)
{
    struct simpler_guarded t;

    for (uint32_t i = 0; i < set->count(set->device); i++) {
        if (set->at(set->device, i, &t) && !is_settled(t.guard))
            return false;
    }
    return true;
}

static void note_end(const struct simpler_guarded *t)
{
    if (state_of(t->guard) == SIMPLER_THREAD_EXITED)
        t->verdict->end = SIMPLER_DEVICE_LANE_COMPLETE;
    else
        t->verdict->end = simpler_kernel_guard_is_revoked(t->guard) ? SIMPLER_DEVICE_LANE_STOPPED
                                                                    : SIMPLER_DEVICE_LANE_UNPROVED;
}

bool simpler_kernel_guard_freeze(struct simpler_guard_set *set, uint64_t grace_ns)
{
    uint64_t start = simpler_clock_ns(), end = start + grace_ns;
    uint64_t revoke_from = start + (grace_ns / 16 < REVOKE_NS ? grace_ns / 16 : REVOKE_NS);
    bool busy = false;

    if (SIMPLER_FAILPOINT(REVOKE_AT_ONCE))
        revoke_from = start;
    for (;;) {
        uint32_t seen = simpler_event_prepare_rare(&set->left);
        if (simpler_clock_ns() >= revoke_from)
            revoke_all(set);
        if (all_settled(set) || simpler_clock_ns() >= end) {
            simpler_event_cancel(&set->left);
            break;
        }
        simpler_event_wait(&set->left, seen, LOOK_NS);
    }
    for (uint32_t i = 0; i < set->count(set->device); i++) {
        struct simpler_guarded t;
        if (!set->at(set->device, i, &t))
            continue;
        note_end(&t);
        busy |= t.verdict->end != SIMPLER_DEVICE_LANE_COMPLETE;
    }
    return busy;
}

/* Whether each thread has a state of at least @state; waits up to @end. */
static bool wait_all(struct simpler_guard_set *set, uint32_t state, uint64_t end)
{
    for (;;) {
        uint32_t seen = simpler_event_prepare_rare(&set->left);
        bool all = true;
        for (uint32_t i = 0; i < set->count(set->device); i++) {
            struct simpler_guarded t;
            all &= !set->at(set->device, i, &t) || state_of(t.guard) >= state;
        }
        uint64_t now = simpler_clock_ns();
        if (all || now >= end) {
            simpler_event_cancel(&set->left);
            return all;
        }
        simpler_event_wait(&set->left, seen, end == UINT64_MAX ? UINT64_MAX : end - now);
    }
}

int simpler_kernel_guard_quiesce(struct simpler_guard_set *set, uint64_t timeout_ns)
{
    uint64_t end;

    if (__builtin_add_overflow(simpler_clock_ns(), timeout_ns, &end))
        end = UINT64_MAX;
    if (!wait_all(set, SIMPLER_THREAD_PARKED, end))
        return SIMPLER_ETIMEDOUT;
    for (uint32_t i = 0; i < set->count(set->device); i++) {
        struct simpler_guarded t;
        if (set->at(set->device, i, &t) && simpler_kernel_guard_is_revoked(t.guard))
            atomic_store_explicit(&t.guard->revoke, SIMPLER_REVOKE_RELEASED, memory_order_release);
    }
    simpler_event_notify_rare(&set->released, INT_MAX);
    uint64_t leave = simpler_clock_ns() + LEAVE_NS;
    end = end < leave ? leave : end;
    return wait_all(set, SIMPLER_THREAD_EXITED, end) ? 0 : SIMPLER_ETIMEDOUT;
}
