/* SPDX-License-Identifier: Apache-2.0 */
#include "tmr/wake.h"

#include <limits.h>

#include "base/testpoint.h"

void simpler_wake_open(struct simpler_device *device)
{
    /* A machine with more CPUs than a set holds has some to spare. */
    device->tight = device->thread_count == device->cpus && device->cpus > 1 &&
                    sched_getaffinity(0, sizeof(device->cpu_set), &device->cpu_set) == 0;
}

/* The thread may use all CPUs again. */
static void rejoin(struct simpler_thread *thread)
{
    /* seq_cst, pairs with K1: the change is made, so this one comes after it. */
    if (SIMPLER_LIKELY(atomic_load_explicit(&thread->counts.apart, memory_order_seq_cst) == 0))
        return;
    atomic_store_explicit(&thread->counts.apart, 0, memory_order_relaxed);
    (void)sched_setaffinity(0, sizeof(thread->device->cpu_set), &thread->device->cpu_set);
}

uint32_t simpler_wake_prepare(struct simpler_thread *thread)
{
    uint32_t seen = simpler_event_prepare(&thread->device->work);
    /* After the epoch was read: a wake that finds PARKED ends the sleep. */
    atomic_store_explicit(&thread->counts.park, SIMPLER_PARK_PARKED, memory_order_release);
    return seen;
}

void simpler_wake_cancel(struct simpler_thread *thread)
{
    /* Before it is no waiter any more: what is WOKEN is among the waiters.  seq_cst: see K1. */
    atomic_store_explicit(&thread->counts.park, SIMPLER_PARK_NOT, memory_order_seq_cst);
    simpler_event_cancel(&thread->device->work);
    rejoin(thread);
}

void simpler_wake_sleep(struct simpler_thread *thread, uint32_t seen, uint64_t timeout_ns)
{
    SIMPLER_TESTPOINT(PARK_BEFORE_WAIT);
    simpler_event_sleep(&thread->device->work, seen, timeout_ns);
    simpler_wake_cancel(thread);
}

/* One that woke meanwhile, and so does not look any more, gets its CPUs back at once. */
static void set_apart(struct simpler_thread *thread, const cpu_set_t *others)
{
    SIMPLER_TESTPOINT(APART_BEFORE_SET);
    const cpu_set_t *all = &thread->device->cpu_set;

    if (pthread_setaffinity_np(thread->handle, sizeof(*others), others) != 0)
        return;
    /* K1, seq_cst: before the look; rejoin looks after it has said that it is awake. */
    atomic_store_explicit(&thread->counts.apart, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&thread->counts.park, memory_order_seq_cst) != SIMPLER_PARK_WOKEN)
        (void)pthread_setaffinity_np(thread->handle, sizeof(*all), all);
}

/* False: this CPU is the only one. */
static bool other_cpus(const struct simpler_device *device, cpu_set_t *others)
{
    int cpu = sched_getcpu();

    *others = device->cpu_set;
    if (cpu >= 0 && cpu < CPU_SETSIZE)
        CPU_CLR((size_t)cpu, others);
    return CPU_COUNT(others) != 0;
}

/* Threads that are in state @park. */
static uint32_t count_of(const struct simpler_device *device, uint32_t park)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < device->thread_count; i++)
        n += atomic_load_explicit(&device->threads[i].counts.park, memory_order_relaxed) == park;
    return n;
}

/* False: the threads are about to be joined, and their handles mean nothing any more. */
static bool enter(struct simpler_device *device)
{
    /* K2, seq_cst: in the order of these a closer that has not seen us is before us, and then
     * we see that the device closes. */
    atomic_fetch_add_explicit(&device->wakers, 1, memory_order_seq_cst);
    if (!atomic_load_explicit(&device->closing, memory_order_acquire))
        return true;
    atomic_fetch_sub_explicit(&device->wakers, 1, memory_order_release);
    return false;
}

static void leave(struct simpler_device *device)
{
    atomic_fetch_sub_explicit(&device->wakers, 1, memory_order_release);
}

void simpler_wake_close(struct simpler_device *device)
{
    /* K2: see enter. */
    while (atomic_fetch_add_explicit(&device->wakers, 0, memory_order_seq_cst) != 0)
        (void)sched_yield();
}

static void wake_all(struct simpler_device *device)
{
    cpu_set_t others;
    bool tight = device->tight && other_cpus(device, &others) && enter(device);

    for (uint32_t i = 0; i < device->thread_count; i++) {
        struct simpler_thread *thread = &device->threads[i];
        uint32_t park = SIMPLER_PARK_PARKED;
        if (atomic_compare_exchange_strong_explicit(&thread->counts.park, &park, SIMPLER_PARK_WOKEN,
                                                    memory_order_acq_rel, memory_order_relaxed) &&
            tight)
            set_apart(thread, &others);
    }
    if (tight)
        leave(device);
    simpler_event_wake(&device->work, INT_MAX);
}

/*
 * When all waiters are woken each of them is marked, and needs no second call until it has
 * run: it looks at the queues before it sleeps again.  One that is not PARKED yet may
 * have looked before the work was there; only the epoch wakes it.  Of some of the waiters
 * the kernel chooses which, so none is marked.
 */
void simpler_wake_parked(struct simpler_device *device, uint32_t count)
{
    uint32_t waiters = atomic_load_explicit(&device->work.waiters, memory_order_relaxed);
    uint32_t parked = count_of(device, SIMPLER_PARK_PARKED);
    uint32_t woken = count_of(device, SIMPLER_PARK_WOKEN);

    if (parked == 0 && woken >= waiters)
        return;
    if (parked <= count && parked + woken >= waiters)
        wake_all(device);
    else
        simpler_event_wake(&device->work, count);
}
