/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_DEFERRAL_H
#define SIMPLER_TASK_DEFERRAL_H

/*
 * The open conditions of a run: what its deferred completions wait for.  The counters
 * have no bell, so threads that find nothing to do look at them, with longer and longer
 * naps.  The list is short and searched whole under a spin lock, off every hot path.
 *
 *   field       written by                    read by     publishes
 *   lock        whoever (acquire, release D1) whoever     the conditions
 *   open        under the lock (relaxed)      all         "look at them"
 *   changed_ns  under the lock (relaxed)      all         when one was last added or met
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "simpler/kernel.h"
#include "simpler/status.h"

/* A task is a number of the runtime's; this one: not known yet. */
#define SIMPLER_DEFERRAL_UNASSIGNED UINT64_MAX

/* Under the list's lock. */
struct simpler_deferral {
    struct simpler_async_condition condition;
    const void *owner; /* the thread that runs the kernel; until the task is assigned */
    uint64_t task;
    uint64_t note; /* the runtime's */
    bool held;     /* all kernels of the task have returned */
    bool cut;      /* another condition of it was given up, see take */
};

struct simpler_deferral_list {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t open;
    _Atomic uint32_t lock;
    _Atomic uint64_t changed_ns;
    struct simpler_deferral entry[SIMPLER_MAX_ASYNC_CONDITIONS];
};

/* A task of which no condition is left; cut: not because all of them held. */
struct simpler_deferral_met {
    uint64_t task, note;
    bool cut;
};

/* Before a run: nothing of the run before is left. */
void simpler_deferral_reset(struct simpler_deferral_list *list);

SIMPLER_INLINE bool simpler_deferral_is_open(const struct simpler_deferral_list *list)
{
    return SIMPLER_UNLIKELY(atomic_load_explicit(&list->open, memory_order_relaxed) != 0);
}

/*
 * A kernel on thread @owner registers; 0, or the code (101 to 103) that it is, and *why.
 * @task may be UNASSIGNED until the kernel has returned.
 */
int simpler_deferral_add(struct simpler_deferral_list *list, const void *owner, uint64_t task,
                         const struct simpler_async_condition *condition, const char **why);
/* What a kernel on @owner has registered without a task is @task's. */
void simpler_deferral_assign(struct simpler_deferral_list *list, const void *owner, uint64_t task);
/* Whether the task has conditions, each of which gets the note. */
bool simpler_deferral_note(struct simpler_deferral_list *list, uint64_t task, uint64_t note);
/* All kernels of the task have returned: it is done when its conditions hold. */
void simpler_deferral_hold(struct simpler_deferral_list *list, uint64_t task);
/* The same of every task of the list; their number, and each once or more often. */
uint32_t simpler_deferral_hold_all(struct simpler_deferral_list *list,
                                   uint64_t task[SIMPLER_MAX_ASYNC_CONDITIONS]);
/* The tasks of which that was said and that have open conditions; counted and given likewise. */
uint32_t simpler_deferral_held(struct simpler_deferral_list *list,
                               uint64_t task[SIMPLER_MAX_ASYNC_CONDITIONS]);
/* The task has failed: its conditions do not matter any more. */
void simpler_deferral_drop(struct simpler_deferral_list *list, uint64_t task);

/*
 * Takes conditions that hold (@all: every one, the run is stopped) off the list; returns up to
 * @most held tasks that have none left, in @met.  0 also when somebody else has the list.
 */
uint32_t simpler_deferral_take(struct simpler_deferral_list *list, bool all,
                               struct simpler_deferral_met *met, uint32_t most);

/* The first that is open of a held task, for a report; false: none is. */
struct simpler_deferral_view {
    uint64_t task;
    uint32_t open, value, expected;
};
bool simpler_deferral_view(struct simpler_deferral_list *list, struct simpler_deferral_view *out);

/*
 * How long a thread that found nothing may sleep: @longest, or less with open conditions;
 * *nap_ns is its own, 0 after something was met.  @threads: of the device.
 */
uint64_t simpler_deferral_nap_ns(const struct simpler_deferral_list *list, uint64_t *nap_ns,
                                 uint32_t threads, uint64_t longest);

#endif
