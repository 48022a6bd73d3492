/* SPDX-License-Identifier: Apache-2.0 */
/* The list of conditions: short, searched whole under a spin lock, off every hot path. */
#include "tmr/deferred.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "tmr/arg_capture.h"
#include "tmr/fatal.h"
#include "tmr/launch.h"
#include "tmr/scheduler.h"
#include "tmr/wake.h"

#define FIRST_NAP_NS 20000u
#define LAST_NAP_NS  1000000u
/* Tasks that one look completes; the rest is for the next. */
#define BATCH 16u

static bool try_lock(struct simpler_deferred *list)
{
    /* acquire, pairs with D1. */
    return atomic_exchange_explicit(&list->lock, 1, memory_order_acquire) == 0;
}

static void lock(struct simpler_deferred *list)
{
    while (!try_lock(list))
        simpler_clock_relax();
}

static void unlock(struct simpler_deferred *list)
{
    /* D1, release. */
    atomic_store_explicit(&list->lock, 0, memory_order_release);
}

static void touch(struct simpler_deferred *list)
{
    atomic_store_explicit(&list->changed_ns, simpler_clock_ns(), memory_order_relaxed);
}

void simpler_deferred_reset(struct simpler_device *device)
{
    atomic_store_explicit(&device->deferred.open, 0, memory_order_relaxed);
}

/* ---- registration ---- */

static int refuse(struct simpler_device *device, enum simpler_device_code code, const char *what)
{
    return simpler_fatal_latch_device(device, code,
                                      "a kernel defers the completion of its task, but %s", what);
}

int simpler_deferred_register(struct simpler_thread *thread,
                              const struct simpler_async_condition *condition)
{
    struct simpler_device *device = thread->device;
    struct simpler_deferred *list = &device->deferred;

    if (condition == NULL)
        return refuse(device, SIMPLER_CODE_ASYNC_REGISTRATION_FAILED, "the condition is NULL");
    if (condition->reserved != 0)
        return refuse(device, SIMPLER_CODE_ASYNC_REGISTRATION_FAILED,
                      "a reserved member of the condition is not 0: zero it before you fill it");
    if (condition->type != SIMPLER_ASYNC_COUNTER && condition->type != SIMPLER_ASYNC_EVENT)
        return refuse(device, SIMPLER_CODE_ASYNC_COMPLETION_INVALID,
                      "the condition's type is none of COUNTER (1) and EVENT (2)");
    if (condition->counter == NULL)
        return refuse(device, SIMPLER_CODE_ASYNC_COMPLETION_INVALID,
                      "the condition's counter is NULL");
    lock(list);
    uint32_t at = atomic_load_explicit(&list->open, memory_order_relaxed);
    bool fits = at < SIMPLER_MAX_ASYNC_CONDITIONS;
    if (fits) {
        list->entry[at] =
            (struct simpler_deferred_entry){*condition, thread, SIMPLER_NO_TASK, false};
        atomic_store_explicit(&list->open, at + 1, memory_order_relaxed);
        touch(list);
    }
    unlock(list);
    if (!fits)
        return refuse(device, SIMPLER_CODE_ASYNC_WAIT_OVERFLOW,
                      "256 conditions are open, the most that a run can have: let fewer tasks "
                      "defer at once");
    thread->deferred++;
    return 0;
}

void simpler_deferred_assign(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_deferred *list = &thread->device->deferred;

    lock(list);
    for (uint32_t i = 0; i < atomic_load_explicit(&list->open, memory_order_relaxed); i++) {
        if (list->entry[i].owner == thread && list->entry[i].number == SIMPLER_NO_TASK)
            list->entry[i].number = number;
    }
    unlock(list);
    thread->deferred = 0;
}

void simpler_deferred_hold(struct simpler_device *device, uint32_t number)
{
    struct simpler_deferred *list = &device->deferred;

    lock(list);
    for (uint32_t i = 0; i < atomic_load_explicit(&list->open, memory_order_relaxed); i++) {
        if (list->entry[i].number == number)
            list->entry[i].held = true;
    }
    unlock(list);
    /* Somebody who sleeps without a limit is to nap from now on. */
    simpler_wake_schedulers(device, 1);
    simpler_event_notify(&device->progress, 1);
}

/* Under the lock. */
static void remove_entry(struct simpler_deferred *list, uint32_t i)
{
    uint32_t last = atomic_load_explicit(&list->open, memory_order_relaxed) - 1;
    list->entry[i] = list->entry[last];
    atomic_store_explicit(&list->open, last, memory_order_relaxed);
}

void simpler_deferred_drop(struct simpler_device *device, uint32_t number)
{
    struct simpler_deferred *list = &device->deferred;

    lock(list);
    for (uint32_t i = atomic_load_explicit(&list->open, memory_order_relaxed); i-- > 0;) {
        if (list->entry[i].number == number)
            remove_entry(list, i);
    }
    unlock(list);
}

/* ---- looking ---- */

static bool holds(const struct simpler_async_condition *c)
{
    uint32_t value = simpler_async_counter_get(c->counter);
    return c->type == SIMPLER_ASYNC_EVENT ? value != 0 : value >= c->expected;
}

static bool has_more(const struct simpler_deferred *list, uint32_t number)
{
    for (uint32_t i = 0; i < atomic_load_explicit(&list->open, memory_order_relaxed); i++) {
        if (list->entry[i].number == number)
            return true;
    }
    return false;
}

/* A run that the monitor ends keeps what it hangs on, for the report. */
static bool is_stopped(const struct simpler_device *device)
{
    return atomic_load_explicit(&device->stop, memory_order_acquire) != 0 &&
           (atomic_load_explicit(&device->phase, memory_order_relaxed) & 3) != SIMPLER_PHASE_HUNG;
}

/* Takes what holds off the list; the tasks that have no condition left. */
static uint32_t take_met(struct simpler_device *device, uint32_t met[BATCH])
{
    struct simpler_deferred *list = &device->deferred;
    bool stopped = is_stopped(device);
    uint32_t count = 0;

    for (uint32_t i = atomic_load_explicit(&list->open, memory_order_relaxed);
         i-- > 0 && count < BATCH;) {
        const struct simpler_deferred_entry *e = &list->entry[i];
        uint32_t number = e->number;
        if (!e->held || (!stopped && !holds(&e->condition)))
            continue;
        remove_entry(list, i);
        touch(list);
        if (!has_more(list, number))
            met[count++] = number;
    }
    return count;
}

static void complete(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_device *device = thread->device;
    struct simpler_task_slot *slot = &device->table.slot[number];

    if (slot->shape == SIMPLER_SHAPE_LAUNCH) {
        atomic_store_explicit(&device->table.launch[number].deferred, 0, memory_order_relaxed);
        simpler_launch_finish(thread, number);
        return;
    }
    slot->failed = 0;
    if (simpler_arg_capture_is_on(device)) {
        simpler_scheduler_unpack(thread, number);
        simpler_arg_capture_after(thread, number);
    }
    simpler_scheduler_complete(thread, number);
}

bool simpler_deferred_poll(struct simpler_thread *thread)
{
    struct simpler_deferred *list = &thread->device->deferred;
    uint32_t met[BATCH];

    if (!simpler_deferred_is_open(thread->device) || !try_lock(list))
        return false;
    uint32_t count = take_met(thread->device, met);
    unlock(list);
    for (uint32_t i = 0; i < count; i++)
        complete(thread, met[i]);
    if (count != 0) {
        thread->nap_ns = 0;
        simpler_event_notify(&thread->device->progress, 1);
    }
    return count != 0;
}

bool simpler_deferred_is_alive(struct simpler_device *device)
{
    return simpler_deferred_is_open(device) &&
           simpler_clock_ns() -
                   atomic_load_explicit(&device->deferred.changed_ns, memory_order_relaxed) <
               SIMPLER_DEFERRED_PATIENCE_NS;
}

void simpler_deferred_describe(struct simpler_device *device, char *text, size_t bytes)
{
    struct simpler_deferred *list = &device->deferred;
    uint32_t held = 0;

    text[0] = '\0';
    lock(list);
    uint32_t open = atomic_load_explicit(&list->open, memory_order_relaxed);
    for (uint32_t i = 0; i < open; i++) {
        const struct simpler_deferred_entry *e = &list->entry[i];
        if (!e->held || held++ != 0)
            continue;
        uint64_t task = simpler_task_id_of(&device->table.slot[e->number]);
        uint32_t expected = e->condition.type == SIMPLER_ASYNC_EVENT ? 1 : e->condition.expected;
        (void)snprintf(text, bytes,
                       "%u condition%s of deferred completions open: task 0x%016llx waits for a "
                       "counter that is %u to be at least %u\n",
                       open, simpler_text_plural(open), (unsigned long long)task,
                       simpler_async_counter_get(e->condition.counter), expected);
    }
    unlock(list);
}

uint64_t simpler_deferred_nap_ns(struct simpler_thread *thread, uint64_t longest)
{
    if (!simpler_deferred_is_open(thread->device)) {
        thread->nap_ns = 0;
        return longest;
    }
    uint64_t nap = thread->nap_ns == 0 ? FIRST_NAP_NS : 2 * thread->nap_ns;
    thread->nap_ns = nap > LAST_NAP_NS ? LAST_NAP_NS : nap;
    return thread->nap_ns < longest ? thread->nap_ns : longest;
}
