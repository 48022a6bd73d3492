/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_SLEEPERS_H
#define SIMPLER_BASE_SLEEPERS_H

/*
 * Threads that sleep on one event; who wakes some chooses which, and on which CPUs.
 *
 * A thread that is woken needs a CPU that its waker does not use.  The kernel may put it behind
 * the waker all the same (in a guest an idle CPU counts as taken), and leaves the two there for
 * milliseconds, in which the one that was woken cannot help itself.  So the waker takes away what
 * it uses from the CPUs of the sleeper, which gives itself all of them back when it runs.  A waker
 * that is about to sleep itself does the opposite: an idle CPU needs an interrupt and some 15 us
 * to wake in a guest, the one of the waker nothing.
 *
 *   field    written by                      read by  publishes
 *   park     its thread, wakers              wakers   see enum simpler_park; handle (PARKED)
 *   cpu      its thread, relaxed             wakers   nothing: a hint, where it woke or fell asleep
 *   moved    wakers, its thread (K1)         thread   "your CPUs were changed"
 *   wakers   wakers (RMW, K2)                closer   "handles are in use"
 *   closing  closer (release)                wakers   "handles mean nothing any more"
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/event.h"

enum simpler_park {
    SIMPLER_PARK_NOT = 0,    /* it runs, or is on its way to sleep */
    SIMPLER_PARK_PARKED = 1, /* it has read the epoch: a later wake ends its sleep */
    SIMPLER_PARK_WOKEN = 2   /* it has been woken and has not run yet */
};

struct simpler_sleeper {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t park;
    _Atomic uint32_t moved;
    _Atomic int32_t cpu; /* -1: not known */
    bool is_known;       /* its thread's own: handle is set, which happens once */
    pthread_t handle;
};

struct simpler_sleepers {
    struct simpler_event event;
    struct simpler_sleeper *sleeper; /* NULL: none */
    uint32_t count;
    bool places;    /* each thread can have a CPU of its own: they are put there */
    cpu_set_t cpus; /* that they may use, if places */
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t wakers;
    _Atomic bool closing;
};

enum simpler_wake_place {
    SIMPLER_WAKE_ANYWHERE, /* where the kernel likes */
    SIMPLER_WAKE_APART,    /* not where the waker is, nor another one that is awake */
    SIMPLER_WAKE_HERE      /* where the waker is, who will sleep at once */
};

/* Nobody sleeps yet; once, before anybody wakes. */
void simpler_sleepers_init(struct simpler_sleepers *group);
/*
 * @count threads are about to be started of a program that may use @cpus CPUs and has @threads
 * such threads in all.  SIMPLER_ENOMEM.
 */
int simpler_sleepers_open(struct simpler_sleepers *group, uint32_t count, uint32_t threads,
                          uint32_t cpus);
/* All sleepers wake, and are not moved any more. */
void simpler_sleepers_ask_out(struct simpler_sleepers *group);
/* Behind that; when this returns nobody uses a thread's handle any more.  Blocks for moments. */
void simpler_sleepers_settle(struct simpler_sleepers *group);
/* The threads are joined.  Also of a group that is not open. */
void simpler_sleepers_close(struct simpler_sleepers *group);

/*
 * Sleeper @i, on its own thread: prepare, one more look, then sleep until it is woken or
 * @timeout_ns are over (UINT64_MAX: never), or cancel.
 */
uint32_t simpler_sleepers_prepare(struct simpler_sleepers *group, uint32_t i);
/* The same without a membarrier: only simpler_sleepers_wake_one does not miss it. */
uint32_t simpler_sleepers_prepare_rare(struct simpler_sleepers *group, uint32_t i);
void simpler_sleepers_sleep(struct simpler_sleepers *group, uint32_t i, uint32_t seen,
                            uint64_t timeout_ns);
void simpler_sleepers_cancel(struct simpler_sleepers *group, uint32_t i);

/* It is awake and has perhaps been moved since it woke: for wakers, where it is. */
void simpler_sleepers_note(struct simpler_sleepers *group, uint32_t i);

/* The slow part of simpler_sleepers_wake. */
void simpler_sleepers_wake_some(struct simpler_sleepers *group, uint32_t count,
                                enum simpler_wake_place place);

SIMPLER_INLINE bool simpler_sleepers_has_some(struct simpler_sleepers *group)
{
    return simpler_event_has_waiters(&group->event);
}

/* There is work for up to @count threads, each on a CPU of its own. */
SIMPLER_INLINE void simpler_sleepers_wake(struct simpler_sleepers *group, uint32_t count)
{
    if (SIMPLER_UNLIKELY(simpler_sleepers_has_some(group)))
        simpler_sleepers_wake_some(group, count, SIMPLER_WAKE_APART);
}

/* One, however it has prepared: with a read-modify-write. */
void simpler_sleepers_wake_one(struct simpler_sleepers *group, enum simpler_wake_place place);

#endif
