/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sleepers.h"

#include "base/alloc.h"
#include "base/testpoint.h"
#include "simpler/status.h"

/* Of one wake; each takes the waker a call of the kernel before anybody wakes. */
#define MOST_PLACED 4u
/* Bits of all sleepers. */
#define ANYBODY UINT32_MAX

void simpler_sleepers_init(struct simpler_sleepers *group)
{
    simpler_event_init(&group->event);
    group->sleeper = NULL;
    group->count = 0;
    group->places = false;
    atomic_store_explicit(&group->wakers, 0, memory_order_relaxed);
    atomic_store_explicit(&group->closing, false, memory_order_relaxed);
}

int simpler_sleepers_open(struct simpler_sleepers *group, uint32_t count, uint32_t threads,
                          uint32_t cpus)
{
    group->sleeper = simpler_alloc_aligned(count, sizeof(*group->sleeper));
    if (group->sleeper == NULL)
        return SIMPLER_ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        atomic_store_explicit(&group->sleeper[i].cpu, -1, memory_order_relaxed);
    group->count = count;
    /* A machine with more CPUs than a set holds has some to spare. */
    group->places =
        threads <= cpus && cpus > 1 && sched_getaffinity(0, sizeof(group->cpus), &group->cpus) == 0;
    return 0;
}

void simpler_sleepers_ask_out(struct simpler_sleepers *group)
{
    atomic_store_explicit(&group->closing, true, memory_order_release);
    simpler_event_wake(&group->event, INT32_MAX);
}

void simpler_sleepers_settle(struct simpler_sleepers *group)
{
    /* K2: see enter. */
    while (atomic_fetch_add_explicit(&group->wakers, 0, memory_order_seq_cst) != 0)
        (void)sched_yield();
}

void simpler_sleepers_close(struct simpler_sleepers *group)
{
    simpler_alloc_free(group->sleeper);
    group->sleeper = NULL;
    group->count = 0;
    atomic_store_explicit(&group->closing, false, memory_order_release);
}

/* ---- the sleeper ---- */

void simpler_sleepers_note(struct simpler_sleepers *group, uint32_t i)
{
    atomic_store_explicit(&group->sleeper[i].cpu, sched_getcpu(), memory_order_relaxed);
}

/* The epoch was read: a wake that finds PARKED ends the sleep. */
static void park(struct simpler_sleepers *group, uint32_t i)
{
    struct simpler_sleeper *sleeper = &group->sleeper[i];

    if (!sleeper->is_known) {
        sleeper->handle = pthread_self();
        sleeper->is_known = true;
    }
    simpler_sleepers_note(group, i);
    /* release: the handle. */
    atomic_store_explicit(&sleeper->park, SIMPLER_PARK_PARKED, memory_order_release);
}

uint32_t simpler_sleepers_prepare(struct simpler_sleepers *group, uint32_t i)
{
    uint32_t seen = simpler_event_prepare(&group->event);
    park(group, i);
    return seen;
}

uint32_t simpler_sleepers_prepare_rare(struct simpler_sleepers *group, uint32_t i)
{
    uint32_t seen = simpler_event_prepare_rare(&group->event);
    park(group, i);
    return seen;
}

/* The thread may use all CPUs again. */
static void rejoin(struct simpler_sleepers *group, struct simpler_sleeper *sleeper)
{
    /* seq_cst, pairs with K1: the change is made, so this one comes after it. */
    if (SIMPLER_LIKELY(atomic_load_explicit(&sleeper->moved, memory_order_seq_cst) == 0))
        return;
    atomic_store_explicit(&sleeper->moved, 0, memory_order_relaxed);
    (void)sched_setaffinity(0, sizeof(group->cpus), &group->cpus);
}

/* It runs; whether somebody has called it. */
static bool leave_park(struct simpler_sleepers *group, uint32_t i)
{
    struct simpler_sleeper *sleeper = &group->sleeper[i];

    simpler_sleepers_note(group, i);
    /* Before it is no waiter any more: what is WOKEN is among the waiters.  seq_cst: see K1. */
    bool called = atomic_exchange_explicit(&sleeper->park, SIMPLER_PARK_NOT,
                                           memory_order_seq_cst) == SIMPLER_PARK_WOKEN;
    simpler_event_cancel(&group->event);
    rejoin(group, sleeper);
    return called;
}

void simpler_sleepers_cancel(struct simpler_sleepers *group, uint32_t i)
{
    /* It goes for what it has found itself: what it was called for is another's. */
    if (SIMPLER_UNLIKELY(leave_park(group, i)))
        simpler_sleepers_wake(group, 1);
}

/* Sleepers that have the same bit wake together. */
static uint32_t bit_of(uint32_t i)
{
    return UINT32_C(1) << i % 32;
}

void simpler_sleepers_sleep(struct simpler_sleepers *group, uint32_t i, uint32_t seen,
                            uint64_t timeout_ns)
{
    SIMPLER_TESTPOINT(PARK_BEFORE_WAIT);
    simpler_event_sleep_as(&group->event, seen, timeout_ns, bit_of(i));
    (void)leave_park(group, i);
}

/* ---- the waker ---- */

/* False: the threads are about to be joined, and their handles mean nothing any more. */
static bool enter(struct simpler_sleepers *group)
{
    /* K2, seq_cst: in the order of these a closer that has not seen us is before us, and then
     * we see that it closes. */
    atomic_fetch_add_explicit(&group->wakers, 1, memory_order_seq_cst);
    if (!atomic_load_explicit(&group->closing, memory_order_acquire))
        return true;
    atomic_fetch_sub_explicit(&group->wakers, 1, memory_order_release);
    return false;
}

static void leave(struct simpler_sleepers *group)
{
    atomic_fetch_sub_explicit(&group->wakers, 1, memory_order_release);
}

static uint32_t park_of(const struct simpler_sleeper *sleeper)
{
    return atomic_load_explicit(&sleeper->park, memory_order_relaxed);
}

static void remove_cpu(cpu_set_t *set, int cpu)
{
    if (cpu >= 0 && cpu < CPU_SETSIZE)
        CPU_CLR((size_t)cpu, set);
}

/* A sleeper that is awake was last seen on @cpu. */
static bool is_taken(const struct simpler_sleepers *group, int cpu)
{
    for (uint32_t i = 0; i < group->count; i++) {
        const struct simpler_sleeper *sleeper = &group->sleeper[i];
        if (park_of(sleeper) == SIMPLER_PARK_NOT &&
            atomic_load_explicit(&sleeper->cpu, memory_order_relaxed) == cpu)
            return true;
    }
    return false;
}

/* Where those who are woken on @cpu are to run; false: where they like. */
static bool choose_cpus(const struct simpler_sleepers *group, enum simpler_wake_place place,
                        int cpu, cpu_set_t *chosen)
{
    if (!group->places || place == SIMPLER_WAKE_ANYWHERE || cpu < 0 || cpu >= CPU_SETSIZE)
        return false;
    if (place == SIMPLER_WAKE_HERE) {
        CPU_ZERO(chosen);
        CPU_SET((size_t)cpu, chosen);
        return CPU_ISSET((size_t)cpu, &group->cpus);
    }
    *chosen = group->cpus;
    CPU_CLR((size_t)cpu, chosen);
    cpu_set_t others = *chosen;
    for (uint32_t i = 0; i < group->count; i++) {
        if (park_of(&group->sleeper[i]) == SIMPLER_PARK_NOT)
            remove_cpu(chosen, atomic_load_explicit(&group->sleeper[i].cpu, memory_order_relaxed));
    }
    /* Where they woke is not where they are: nobody is left out because of it. */
    if (CPU_COUNT(chosen) == 0)
        *chosen = others;
    return CPU_COUNT(chosen) != 0;
}

/* One that woke meanwhile, and so does not look any more, gets its CPUs back at once. */
static void put(const struct simpler_sleepers *group, struct simpler_sleeper *sleeper,
                const cpu_set_t *chosen)
{
    cpu_set_t now;

    SIMPLER_TESTPOINT(APART_BEFORE_SET);
    /* Somebody has bound it to other CPUs since the group was opened: it stays there. */
    if (pthread_getaffinity_np(sleeper->handle, sizeof(now), &now) != 0 ||
        !CPU_EQUAL(&now, &group->cpus))
        return;
    /* Of a thread that has exited the handle means the caller; the end of this mends it. */
    if (pthread_setaffinity_np(sleeper->handle, sizeof(*chosen), chosen) != 0)
        return;
    /* K1, seq_cst: before the look; rejoin looks after it has said that it is awake. */
    atomic_store_explicit(&sleeper->moved, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&sleeper->park, memory_order_seq_cst) != SIMPLER_PARK_WOKEN)
        (void)pthread_setaffinity_np(sleeper->handle, sizeof(group->cpus), &group->cpus);
}

/* It is woken by us. */
static bool claim(struct simpler_sleeper *sleeper)
{
    uint32_t park = SIMPLER_PARK_PARKED;

    /* acquire: its handle. */
    return atomic_compare_exchange_strong_explicit(&sleeper->park, &park, SIMPLER_PARK_WOKEN,
                                                   memory_order_acq_rel, memory_order_relaxed);
}

/* Claims up to @count: how many.  @cpu: only those that sleep there, -1: all. */
static uint32_t claim_some(struct simpler_sleepers *group, uint32_t count, int cpu,
                           const cpu_set_t *chosen, uint32_t *bits)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < group->count && n < count; i++) {
        struct simpler_sleeper *sleeper = &group->sleeper[i];
        if (cpu >= 0 && atomic_load_explicit(&sleeper->cpu, memory_order_relaxed) != cpu)
            continue;
        if (!claim(sleeper))
            continue;
        if (chosen != NULL && n < MOST_PLACED)
            put(group, sleeper, chosen);
        *bits |= bit_of(i);
        n++;
    }
    return n;
}

/* Sleepers in state @park. */
static uint32_t count_of(const struct simpler_sleepers *group, uint32_t park)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < group->count; i++)
        n += park_of(&group->sleeper[i]) == park;
    return n;
}

/*
 * Who is claimed needs no second call until it has run: it looks before it sleeps again.  A
 * waiter that is not PARKED yet may have looked before the work was there; only the epoch wakes
 * it, and when those that are PARKED are too few everybody is woken.
 */
void simpler_sleepers_wake_some(struct simpler_sleepers *group, uint32_t count,
                                enum simpler_wake_place place)
{
    cpu_set_t cpus;
    /* acquire: who has left the waiters is not seen as WOKEN any more. */
    uint32_t waiters = atomic_load_explicit(&group->event.waiters, memory_order_acquire);
    uint32_t woken = count_of(group, SIMPLER_PARK_WOKEN), bits = 0, n = 0;

    if (woken >= waiters && count_of(group, SIMPLER_PARK_PARKED) == 0)
        return;
    int cpu = group->places ? sched_getcpu() : -1;
    /* Who has woken the waker may be behind it still, and runs here when it sleeps. */
    if (place == SIMPLER_WAKE_HERE && is_taken(group, cpu))
        place = SIMPLER_WAKE_APART;
    bool placed = choose_cpus(group, place, cpu, &cpus) && enter(group);
    /* Who fell asleep here wakes here. */
    if (placed && place == SIMPLER_WAKE_HERE)
        n = claim_some(group, count, cpu, NULL, &bits);
    n += claim_some(group, count - n, -1, placed ? &cpus : NULL, &bits);
    if (placed)
        leave(group);
    if (n < count && n + woken < waiters)
        bits = ANYBODY;
    if (bits != 0)
        simpler_event_wake_bits(&group->event, bits);
}

void simpler_sleepers_wake_one(struct simpler_sleepers *group, enum simpler_wake_place place)
{
    /* seq_cst, pairs with the announcement of prepare. */
    if (atomic_fetch_add_explicit(&group->event.waiters, 0, memory_order_seq_cst) != 0)
        simpler_sleepers_wake_some(group, 1, place);
}
