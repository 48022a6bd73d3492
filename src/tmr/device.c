/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device: its threads and its memory, kept from run to run; the hand-over of
 * a run from the caller to the orchestrator thread and back.
 */
#include "tmr/device.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "tmr/arena.h"
#include "tmr/core_pool.h"
#include "tmr/crash_line.h"
#include "tmr/deferred.h"
#include "tmr/engine.h"
#include "tmr/hang.h"
#include "tmr/monitor.h"
#include "tmr/orchestrator.h"
#include "tmr/scheduler.h"

#define FIRST_HANDOVER_NS 200u

static uint32_t start_number(struct simpler_device *device)
{
    /* acquire, pairs with P10. */
    return atomic_load_explicit(&device->start_seq, memory_order_acquire);
}

static bool is_closing(struct simpler_device *device)
{
    return atomic_load_explicit(&device->closing, memory_order_acquire);
}

/* The orchestrator waits for a run after run @done. */
static void wait_start(struct simpler_device *device, uint32_t done, struct simpler_spin_wait *wait)
{
    if (!simpler_caller_seat_is_here(&device->caller) &&
        simpler_spin_wait_spin(wait, &device->start_seq, done))
        return;
    uint32_t seen = simpler_sleepers_prepare_rare(&device->start, 0);
    if (start_number(device) != done || is_closing(device))
        simpler_sleepers_cancel(&device->start, 0);
    else
        simpler_sleepers_sleep(&device->start, 0, seen, UINT64_MAX);
}

static void *orchestrator_main(void *argument)
{
    struct simpler_thread *thread = argument;
    struct simpler_device *device = thread->device;
    uint32_t done = atomic_load_explicit(&device->finish_seq, memory_order_relaxed);
    struct simpler_spin_wait wait = {device->spin_allowed ? device->spin_ticks : 0, 0};
    void *stack = simpler_crash_line_enter(thread);

    for (;;) {
        while (start_number(device) == done && !is_closing(device))
            wait_start(device, done, &wait);
        if (is_closing(device) || !simpler_orchestrator_execute(device))
            break;
        done++;
        /* P11, release: the result. */
        atomic_store_explicit(&device->finish_seq, done, memory_order_release);
        simpler_event_notify_rare(&device->finish, 1);
    }
    simpler_crash_line_leave(stack);
    simpler_hang_exit(thread);
    return NULL;
}

/* Every thread is idle or on its way out. */
static void stop_threads(struct simpler_device *device)
{
    if (device->threads == NULL)
        return;
    simpler_monitor_lock(device);
    simpler_hang_ask_out(device);
    simpler_sleepers_settle(&device->work);
    simpler_sleepers_settle(&device->start);
    for (uint32_t i = 0; i < device->thread_count; i++) {
        if (device->threads[i].started)
            pthread_join(device->threads[i].handle, NULL);
    }
    simpler_orchestrator_forget(device);
    simpler_core_pool_close(device->cores);
    device->cores = NULL;
    atomic_store_explicit(&device->cores_active, false, memory_order_relaxed);
    for (uint32_t i = 0; i < SIMPLER_SPREAD_PLACES; i++)
        atomic_store_explicit(&device->spread[i].word, 0, memory_order_relaxed);
    simpler_sleepers_close(&device->work);
    simpler_sleepers_close(&device->start);
    simpler_alloc_free(device->threads);
    device->threads = NULL;
    device->thread_count = 0;
    atomic_store_explicit(&device->closing, false, memory_order_release);
    simpler_monitor_unlock(device);
}

static int start_thread(struct simpler_device *device, uint32_t i)
{
    struct simpler_thread *thread = &device->threads[i];
    void *(*body)(void *) =
        i == device->thread_count - 1 ? orchestrator_main : simpler_scheduler_main;

    if (SIMPLER_FAILPOINT(THREAD_START) ||
        pthread_create(&thread->handle, NULL, body, thread) != 0) {
        SIMPLER_ERROR("cannot start device thread %u of %u", i, device->thread_count);
        return SIMPLER_ETHREAD;
    }
    thread->started = true;
    return 0;
}

static int open_sleepers(struct simpler_device *device)
{
    uint32_t count = device->thread_count;
    int rc = simpler_sleepers_open(&device->work, count, count, device->cpus);

    return rc != 0 ? rc : simpler_sleepers_open(&device->start, 1, count, device->cpus);
}

static int start_threads(struct simpler_device *device, const struct simpler_device_run *run)
{
    uint32_t cpus = simpler_platform_usable_cpus();

    device->threads = simpler_alloc_aligned(run->thread_count, sizeof(*device->threads));
    if (device->threads == NULL)
        return SIMPLER_ENOMEM;
    device->thread_count = run->thread_count;
    device->cpus = cpus;
    device->exec_threads = run->exec == SIMPLER_EXEC_THREADS;
    for (uint32_t i = 0; i < device->thread_count; i++)
        simpler_scheduler_init_thread(&device->threads[i], device, i);
    device->spin_allowed = run->thread_count <= cpus;
    device->spin_ticks = simpler_clock_ns_to_ticks(
        device->spin_allowed ? SIMPLER_PARK_COST_NS : SIMPLER_OVERSUBSCRIBED_NS);
    device->caller_wait.ticks = device->spin_allowed ? device->spin_ticks : 0;
    int opened = open_sleepers(device);
    if (opened == 0)
        opened = simpler_core_pool_open(device, run->cluster_count, &device->cores);
    if (opened != 0)
        return opened;
    for (uint32_t i = 0; i < device->thread_count; i++) {
        int rc = start_thread(device, i);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int ensure_threads(struct simpler_device *device, const struct simpler_device_run *run)
{
    bool threads = run->exec == SIMPLER_EXEC_THREADS;
    if (device->threads != NULL && device->thread_count == run->thread_count &&
        device->exec_threads == threads &&
        simpler_core_pool_clusters(device->cores) == run->cluster_count) {
        simpler_core_pool_retry(device->cores);
        return 0;
    }
    stop_threads(device);
    simpler_monitor_lock(device);
    int rc = start_threads(device, run);
    simpler_monitor_unlock(device);
    if (rc != 0)
        stop_threads(device);
    return rc;
}

static int ensure_arena(struct simpler_device *device, const struct simpler_device_run *run)
{
    if (device->arena != NULL && memcmp(&device->arena->env, &run->env, sizeof(run->env)) == 0)
        return 0;
    simpler_arena_close(device->arena);
    device->arena = NULL;
    int rc = simpler_arena_open(&run->env, device->alive, &device->arena);
    if (rc == 0)
        device->table = device->arena->table;
    return rc;
}

static int prepare(struct simpler_device *device, const struct simpler_device_run *run)
{
    /* Before threads are started: they would look at what a hung run has left. */
    simpler_deferred_reset(device);
    int rc = ensure_arena(device, run);
    if (rc == 0)
        rc = simpler_monitor_start(device);
    if (rc == 0)
        rc = ensure_threads(device, run);
    if (rc != 0)
        return rc;
    device->estimates = simpler_estimates_find(&device->all_estimates, run->callable);
    if (device->estimates == NULL)
        return SIMPLER_ENOMEM;
    device->current = *run;
    device->current_args = *run->args;
    device->current.args = &device->current_args;
    device->run = &device->current;
    device->kernels = run->callable->by_id;
    device->kernel_count = run->callable->func_id_count;
    device->fatal_text[0] = '\0';
    atomic_store_explicit(&device->failure.task, 0, memory_order_relaxed);
    atomic_store_explicit(&device->cut, 0, memory_order_relaxed);
    device->progress_base = simpler_scheduler_completed(device);
    atomic_store_explicit(&device->published, 0, memory_order_relaxed);
    simpler_orchestrator_reset(device);
    return 0;
}

/* @ns from now; UINT64_MAX: never. */
static uint64_t later(uint64_t ns)
{
    uint64_t then;

    return __builtin_add_overflow(simpler_clock_ns(), ns, &then) ? UINT64_MAX : then;
}

static void report_progress(const struct simpler_device *device)
{
    device->run->progress(device->run->progress_user, simpler_device_progress(device));
}

static void wait_finish(struct simpler_device *device, uint32_t before)
{
    const struct simpler_device_run *run = device->run;
    uint64_t end = run->deadline_ns != 0 ? later(run->deadline_ns) : UINT64_MAX;
    uint64_t tick = run->progress != NULL ? later(run->progress_interval_ns) : UINT64_MAX;

    while (atomic_load_explicit(&device->finish_seq, memory_order_acquire) == before) {
        uint64_t next = tick < end ? tick : end;
        uint64_t now = next == UINT64_MAX ? 0 : simpler_clock_ns();
        if (now >= end) {
            int32_t none = 0;
            (void)atomic_compare_exchange_strong_explicit(&device->stop, &none, SIMPLER_ETIMEDOUT,
                                                          memory_order_release,
                                                          memory_order_relaxed);
            simpler_monitor_look(device);
            end = UINT64_MAX;
        } else if (now >= tick) {
            report_progress(device);
            tick = later(run->progress_interval_ns);
        } else {
            simpler_spin_wait(&device->caller_wait, &device->finish_seq, before, &device->closing,
                              &device->finish, next == UINT64_MAX ? UINT64_MAX : next - now);
        }
    }
    atomic_store_explicit(&device->published,
                          simpler_scheduler_completed(device) - device->progress_base,
                          memory_order_relaxed);
    if (run->progress != NULL)
        report_progress(device);
}

/* Forgets the cancel of an earlier run, never that of this one. */
static void arm(struct simpler_device *device, const struct simpler_device_run *run)
{
    /* Read-modify-write (acquire): a cancel that is overwritten has set its flag before. */
    (void)atomic_exchange_explicit(&device->stop, 0, memory_order_acquire);
    if (run->canceled != NULL && atomic_load_explicit(run->canceled, memory_order_acquire))
        simpler_device_cancel(device);
}

/* The message is long: as much as there is. */
static void copy_result(const struct simpler_run_result *from, struct simpler_run_result *to)
{
    to->status = from->status;
    to->orch_error_code = from->orch_error_code;
    to->sched_error_code = from->sched_error_code;
    to->stats = from->stats;
    memcpy(to->timing, from->timing, sizeof(to->timing));
    if (from->message[0] == '\0')
        to->message[0] = '\0';
    else
        memcpy(to->message, from->message, sizeof(to->message));
}

int simpler_device_execute(struct simpler_device *device, const struct simpler_device_run *run,
                           struct simpler_run_result *result)
{
    memset(&result->stats, 0, sizeof(result->stats));
    result->message[0] = '\0';
    result->orch_error_code = result->sched_error_code = 0;
    /* Before the memory and the threads are made: a cancel meanwhile is for this run. */
    arm(device, run);
    device->hung = false;
    result->status = prepare(device, run);
    if (result->status != 0)
        return result->status;
    uint32_t before = atomic_load_explicit(&device->finish_seq, memory_order_relaxed);
    simpler_monitor_admit(device, before + 1, run->scheduler_timeout_ns);
    simpler_caller_seat_take(&device->caller);
    /* P10, release: the run's description. */
    atomic_store_explicit(&device->start_seq, before + 1, memory_order_release);
    /* Who will sleep at once leaves its CPU to the orchestrator. */
    simpler_sleepers_wake_one(&device->start, simpler_spin_wait_is_due(&device->caller_wait)
                                                  ? SIMPLER_WAKE_ANYWHERE
                                                  : SIMPLER_WAKE_HERE);
    simpler_monitor_notify(device);
    wait_finish(device, before);
    copy_result(&device->result, result);
    /* Threads that did not come back keep everything as it is. */
    if (device->hung && !device->busy)
        stop_threads(device);
    return result->status;
}

enum simpler_device_lane_end simpler_device_lane_end(const struct simpler_device *device,
                                                     uint32_t lane)
{
    const struct simpler_thread *thread =
        device->hung && device->busy && lane + 1 < simpler_device_lanes(&device->current)
            ? simpler_hang_thread(device, lane)
            : NULL;
    return thread == NULL ? SIMPLER_DEVICE_LANE_COMPLETE : thread->verdict.end;
}

int simpler_device_quiesce(struct simpler_device *device, uint64_t timeout_ns, const char **why)
{
    if (!device->busy)
        return 0;
    *why = device->busy_text;
    int rc = simpler_hang_quiesce(device, timeout_ns);
    if (rc != 0)
        return rc;
    stop_threads(device);
    device->busy = false;
    return 0;
}

void simpler_device_report(struct simpler_device *device)
{
    atomic_store_explicit(&device->monitor.asked, 1, memory_order_release);
    simpler_monitor_look(device);
}

int simpler_device_open(const struct simpler_platform *platform, struct simpler_device **out)
{
    struct simpler_device *device = simpler_alloc_aligned(1, sizeof(*device));
    if (device == NULL)
        return SIMPLER_ENOMEM;
    simpler_event_setup();
    simpler_clock_calibrate();
    device->platform = platform;
    simpler_sleepers_init(&device->work);
    simpler_event_init(&device->progress);
    simpler_sleepers_init(&device->start);
    simpler_event_init(&device->finish);
    simpler_hang_init(device);
    atomic_store_explicit(&device->handover_ns, FIRST_HANDOVER_NS, memory_order_relaxed);
    int rc = simpler_monitor_init(device);
    if (rc != 0)
        simpler_alloc_free(device);
    else
        *out = device;
    return rc;
}

void simpler_device_close(struct simpler_device *device)
{
    const char *why;

    if (device == NULL)
        return;
    if (simpler_device_quiesce(device, 0, &why) != 0) {
        simpler_monitor_fini(device);
        SIMPLER_WARN("a device is closed while %s: its memory stays until the process ends", why);
        return;
    }
    stop_threads(device);
    simpler_monitor_fini(device);
    simpler_arena_close(device->arena);
    simpler_estimates_fini(&device->all_estimates);
    simpler_alloc_free(device->orch.frames);
    simpler_alloc_free(device);
}

void simpler_device_cancel(struct simpler_device *device)
{
    int32_t none = 0;
    /* Before the first run and between runs this is undone by the next start. */
    (void)atomic_compare_exchange_strong_explicit(&device->stop, &none, SIMPLER_ECANCELED,
                                                  memory_order_release, memory_order_relaxed);
    simpler_monitor_look(device);
}

uint64_t simpler_device_progress(const struct simpler_device *device)
{
    return atomic_load_explicit(&device->published, memory_order_relaxed);
}
