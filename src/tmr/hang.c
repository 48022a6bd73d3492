/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking a run away from its threads, and waiting for them.
 *
 * A thread that comes back from a kernel of which it was revoked parks: it
 * touches no slot, queue, arena or counter.  Only when all have parked or left,
 * and the caller has asked for it, they are released; then each goes on through
 * a run that is stopped, where every call answers at once, and leaves by itself.
 */
#include "tmr/hang.h"

#include <limits.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/testpoint.h"
#include "tmr/core_pool.h"
#include "tmr/kernel_word.h"

/* How often a freeze looks again at threads that are neither out nor in a kernel. */
#define LOOK_NS 1000000u
/* Kernels that wait for each other look at the run's stop word in this time: they come back. */
#define REVOKE_NS 50000000u
/* A thread that was released needs a moment to leave, also for a caller who only looks. */
#define LEAVE_NS 100000000u

uint32_t simpler_hang_threads(const struct simpler_device *device)
{
    return device->thread_count +
           (device->cores == NULL ? 0 : simpler_core_pool_count(device->cores));
}

struct simpler_thread *simpler_hang_thread(const struct simpler_device *device, uint32_t lane)
{
    if (lane < device->thread_count)
        return device->threads[lane].started ? &device->threads[lane] : NULL;
    if (device->cores == NULL || lane >= simpler_hang_threads(device))
        return NULL;
    return simpler_core_pool_thread(device->cores, lane - device->thread_count);
}

static uint32_t state_of(const struct simpler_thread *thread)
{
    return atomic_load_explicit(&thread->counts.state, memory_order_acquire);
}

void simpler_hang_exit(struct simpler_thread *thread)
{
    struct simpler_device *device = thread->device;
    /* release: all that it did is before its exit. */
    atomic_store_explicit(&thread->counts.state, SIMPLER_THREAD_EXITED, memory_order_release);
    simpler_event_notify_rare(&device->left, 1);
}

void simpler_kernel_asked(struct simpler_thread *thread)
{
    struct simpler_device *device = thread->device;
    _Atomic uint32_t *revoke = &thread->counts.revoke;

    SIMPLER_TESTPOINT(KERNEL_ASKED);
    while (atomic_load_explicit(revoke, memory_order_acquire) == SIMPLER_REVOKE_ASKED)
        simpler_clock_relax();
    if (atomic_load_explicit(revoke, memory_order_acquire) == SIMPLER_REVOKE_NOT)
        return;
    atomic_store_explicit(&thread->counts.state, SIMPLER_THREAD_PARKED, memory_order_release);
    simpler_event_notify_rare(&device->left, 1);
    while (atomic_load_explicit(revoke, memory_order_acquire) != SIMPLER_REVOKE_RELEASED) {
        uint32_t seen = simpler_event_prepare_rare(&device->released);
        if (atomic_load_explicit(revoke, memory_order_acquire) == SIMPLER_REVOKE_RELEASED)
            simpler_event_cancel(&device->released);
        else
            simpler_event_wait(&device->released, seen, UINT64_MAX);
    }
}

void simpler_hang_ask_out(struct simpler_device *device)
{
    atomic_store_explicit(&device->closing, true, memory_order_release);
    simpler_event_wake(&device->work, INT_MAX);
    simpler_event_wake(&device->start, INT_MAX);
    simpler_event_wake(&device->progress, INT_MAX);
    if (device->cores != NULL)
        simpler_core_pool_ask_out(device->cores);
}

static bool membarrier(void)
{
    return atomic_load_explicit(&simpler_event_has_membarrier, memory_order_relaxed) &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static uint64_t word_of(const struct simpler_thread *thread)
{
    /* acquire, pairs with M1. */
    return atomic_load_explicit(&thread->counts.kernel, memory_order_acquire);
}

/* Whether what the thread may still do with the run is known. */
static bool is_settled(const struct simpler_thread *thread)
{
    return state_of(thread) == SIMPLER_THREAD_EXITED || simpler_kernel_is_revoked(thread);
}

/* The question of kernel_word.h, to all at once: one barrier. */
static void revoke_all(struct simpler_device *device)
{
    uint32_t lanes = simpler_hang_threads(device), asked = 0;

    for (uint32_t l = 0; l < lanes; l++) {
        struct simpler_thread *thread = simpler_hang_thread(device, l);
        if (thread == NULL || is_settled(thread) || word_of(thread) == SIMPLER_NO_KERNEL)
            continue;
        atomic_store_explicit(&thread->counts.revoke, SIMPLER_REVOKE_ASKED, memory_order_seq_cst);
        asked++;
    }
    if (asked == 0)
        return;
    SIMPLER_TESTPOINT(REVOKE_AFTER_ASK);
    bool ordered = membarrier();
    for (uint32_t l = 0; l < lanes; l++) {
        struct simpler_thread *thread = simpler_hang_thread(device, l);
        if (thread == NULL || atomic_load_explicit(&thread->counts.revoke, memory_order_relaxed) !=
                                  SIMPLER_REVOKE_ASKED)
            continue;
        thread->revoked_of = word_of(thread);
        bool inside = ordered && thread->revoked_of != SIMPLER_NO_KERNEL;
        /* M2, release: the verdict. */
        atomic_store_explicit(&thread->counts.revoke,
                              inside ? SIMPLER_REVOKE_DONE : SIMPLER_REVOKE_NOT,
                              memory_order_release);
    }
}

static bool all_settled(const struct simpler_device *device)
{
    for (uint32_t l = 0; l < simpler_hang_threads(device); l++) {
        const struct simpler_thread *thread = simpler_hang_thread(device, l);
        if (thread != NULL && !is_settled(thread))
            return false;
    }
    return true;
}

static void note_end(struct simpler_thread *thread)
{
    if (state_of(thread) == SIMPLER_THREAD_EXITED)
        thread->end = SIMPLER_DEVICE_LANE_COMPLETE;
    else
        thread->end = simpler_kernel_is_revoked(thread) ? SIMPLER_DEVICE_LANE_STOPPED
                                                        : SIMPLER_DEVICE_LANE_UNPROVED;
}

void simpler_hang_freeze(struct simpler_device *device, uint64_t grace_ns)
{
    uint64_t start = simpler_clock_ns(), end = start + grace_ns;
    uint64_t revoke_from = start + (grace_ns / 16 < REVOKE_NS ? grace_ns / 16 : REVOKE_NS);

    simpler_hang_ask_out(device);
    for (;;) {
        uint32_t seen = simpler_event_prepare_rare(&device->left);
        if (simpler_clock_ns() >= revoke_from)
            revoke_all(device);
        if (all_settled(device) || simpler_clock_ns() >= end) {
            simpler_event_cancel(&device->left);
            break;
        }
        simpler_event_wait(&device->left, seen, LOOK_NS);
    }
    device->busy = false;
    for (uint32_t l = 0; l < simpler_hang_threads(device); l++) {
        struct simpler_thread *thread = simpler_hang_thread(device, l);
        if (thread == NULL)
            continue;
        note_end(thread);
        device->busy |= thread->end != SIMPLER_DEVICE_LANE_COMPLETE;
    }
}

/* Whether each thread has a state of at least @state; waits up to @end. */
static bool wait_all(struct simpler_device *device, uint32_t state, uint64_t end)
{
    for (;;) {
        uint32_t seen = simpler_event_prepare_rare(&device->left);
        bool all = true;
        for (uint32_t l = 0; l < simpler_hang_threads(device); l++) {
            const struct simpler_thread *thread = simpler_hang_thread(device, l);
            all &= thread == NULL || state_of(thread) >= state;
        }
        uint64_t now = simpler_clock_ns();
        if (all || now >= end) {
            simpler_event_cancel(&device->left);
            return all;
        }
        simpler_event_wait(&device->left, seen, end == UINT64_MAX ? UINT64_MAX : end - now);
    }
}

int simpler_hang_quiesce(struct simpler_device *device, uint64_t timeout_ns)
{
    uint64_t end;

    if (__builtin_add_overflow(simpler_clock_ns(), timeout_ns, &end))
        end = UINT64_MAX;
    if (!wait_all(device, SIMPLER_THREAD_PARKED, end))
        return SIMPLER_ETIMEDOUT;
    for (uint32_t l = 0; l < simpler_hang_threads(device); l++) {
        struct simpler_thread *thread = simpler_hang_thread(device, l);
        if (thread != NULL && simpler_kernel_is_revoked(thread))
            atomic_store_explicit(&thread->counts.revoke, SIMPLER_REVOKE_RELEASED,
                                  memory_order_release);
    }
    simpler_event_notify_rare(&device->released, INT_MAX);
    uint64_t leave = simpler_clock_ns() + LEAVE_NS;
    end = end < leave ? leave : end;
    return wait_all(device, SIMPLER_THREAD_EXITED, end) ? 0 : SIMPLER_ETIMEDOUT;
}
