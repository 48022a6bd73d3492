/* SPDX-License-Identifier: Apache-2.0 */
/* The orchestrator's wait: help, spin, park. */
#include "tmr/orch_wait.h"

#include "base/clock.h"
#include "tmr/deferred.h"
#include "tmr/launch.h"
#include "tmr/scheduler.h"
#include "tmr/stall.h"

/* How often a parked orchestrator looks whether anything runs at all. */
#define LOOK_PERIOD_NS 20000000u

static bool is_stopped(struct simpler_orch *orch)
{
    return atomic_load_explicit(&orch->device->stop, memory_order_acquire) != 0;
}

/* The monitor ends the run: no wait of it will be over. */
static bool is_asked_out(struct simpler_orch *orch)
{
    return atomic_load_explicit(&orch->device->closing, memory_order_acquire);
}

/* Spins for at most one park cost; returns a task or SIMPLER_NO_TASK. */
static uint32_t spin(struct simpler_orch *orch, simpler_wait_fn condition, void *context,
                     enum simpler_wait *verdict)
{
    uint64_t end = simpler_clock_ticks() + orch->device->spin_ticks;
    do {
        uint32_t number = simpler_scheduler_find(orch->thread);
        if (number != SIMPLER_NO_TASK)
            return number;
        *verdict = condition(orch, context);
        if (*verdict != SIMPLER_WAIT_MORE || simpler_spread_is_offered(orch->device))
            return SIMPLER_NO_TASK;
        simpler_clock_relax();
    } while (simpler_clock_ticks() < end);
    return SIMPLER_NO_TASK;
}

/*
 * The epoch on which to sleep.  It is read first: whoever sees the number of this sleep and
 * wakes once ends it.
 */
static uint32_t begin_sleep(struct simpler_device *device)
{
    uint32_t seen = simpler_event_epoch(&device->progress);
    uint32_t sleep = atomic_load_explicit(&device->progress_sleep, memory_order_relaxed);

    /* P12, release: the epoch was read. */
    atomic_store_explicit(&device->progress_sleep, sleep + 1, memory_order_release);
    (void)simpler_event_prepare(&device->progress);
    return seen;
}

static uint32_t park(struct simpler_orch *orch, simpler_wait_fn condition, void *context,
                     enum simpler_wait *verdict)
{
    struct simpler_event *event = &orch->device->progress;
    uint32_t seen = begin_sleep(orch->device);
    uint32_t number = simpler_scheduler_find(orch->thread);

    *verdict = condition(orch, context);
    if (number != SIMPLER_NO_TASK || *verdict != SIMPLER_WAIT_MORE ||
        simpler_spread_is_offered(orch->device)) {
        simpler_event_cancel(event);
        return number;
    }
    simpler_event_wait(event, seen, simpler_deferred_nap_ns(orch->thread, LOOK_PERIOD_NS));
    return SIMPLER_NO_TASK;
}

static void publish_progress(struct simpler_device *device)
{
    atomic_store_explicit(&device->published,
                          simpler_scheduler_completed(device) - device->progress_base,
                          memory_order_relaxed);
}

static enum simpler_wait wait_for(struct simpler_orch *orch, simpler_wait_fn condition,
                                  void *context, uint64_t idle_limit_ns, bool ignore_stop)
{
    struct simpler_device *device = orch->device;
    enum simpler_wait verdict = SIMPLER_WAIT_MORE;
    struct simpler_idle_clock idle = {0, 0};

    for (;;) {
        if (simpler_deferred_is_open(device))
            (void)simpler_deferred_poll(orch->thread);
        verdict = condition(orch, context);
        if (verdict != SIMPLER_WAIT_MORE)
            return verdict;
        publish_progress(device);
        simpler_stall_answer(orch);
        if ((!ignore_stop && is_stopped(orch)) || is_asked_out(orch))
            return SIMPLER_WAIT_STOP;
        uint32_t number = spin(orch, condition, context, &verdict);
        if (number == SIMPLER_NO_TASK && simpler_spread_help(orch->thread)) {
            idle.since_ns = 0;
            continue;
        }
        if (number == SIMPLER_NO_TASK && verdict == SIMPLER_WAIT_MORE)
            number = park(orch, condition, context, &verdict);
        if (number != SIMPLER_NO_TASK) {
            simpler_scheduler_run(orch->thread, number);
            idle.since_ns = 0;
            continue;
        }
        if (verdict != SIMPLER_WAIT_MORE)
            return verdict;
        uint64_t now = simpler_clock_ns();
        if (simpler_scheduler_is_busy(device))
            idle.since_ns = 0;
        else if (idle.since_ns == 0)
            simpler_idle_start(&idle, now);
        else if (simpler_idle_look(&idle, now, LOOK_PERIOD_NS) > idle_limit_ns)
            return SIMPLER_WAIT_IDLE;
    }
}

enum simpler_wait simpler_orch_wait(struct simpler_orch *orch, simpler_wait_fn condition,
                                    void *context, uint64_t idle_limit_ns, bool ignore_stop)
{
    enum simpler_wait verdict = wait_for(orch, condition, context, idle_limit_ns, ignore_stop);
    /* The orchestration goes on: others may take what this thread holds. */
    simpler_scheduler_expose(orch->thread);
    return verdict;
}
