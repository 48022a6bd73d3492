/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look sums what the threads have completed and which kernels they are in:
 * when both are as before, nothing has made progress.  The clock stands still
 * while a thread is inside a diagnostic, where it may wait for the host.
 *
 * While runs come the monitor sleeps from look to look, and a start costs one
 * load; without runs it parks and a start wakes it.
 */
#include "tmr/monitor.h"

#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/logger.h"
#include "task/hang_budget.h"
#include "task/run_verdict.h"
#include "base/testpoint.h"
#include "tmr/arg_capture.h"
#include "tmr/fatal.h"
#include "tmr/hang.h"
#include "tmr/orchestrator.h"
#include "tmr/passing.h"
#include "tmr/scheduler.h"
#include "tmr/scope_sample.h"
#include "tmr/stall.h"

static uint64_t phase_of(struct simpler_device *device)
{
    /* acquire, pairs with the caller's release: the run's threads and budget. */
    return atomic_load_explicit(&device->phase, memory_order_acquire);
}

static bool is_running(uint64_t phase)
{
    return (phase & 3) == SIMPLER_PHASE_RUNNING;
}

/* A number that changes when anything was finished or begun; *waits: inside a diagnostic. */
static uint64_t progress_of(struct simpler_device *device, bool *waits)
{
    uint64_t sum = simpler_scheduler_completed(device);

    for (uint32_t l = 0; l < simpler_hang_threads(device); l++) {
        struct simpler_thread *thread = simpler_hang_thread(device, l);
        if (thread == NULL)
            continue;
        sum = simpler_hang_mix(sum) ^
              atomic_load_explicit(&thread->counts.guard.kernel, memory_order_relaxed);
        /* All blocks of a task have the same word. */
        sum = simpler_hang_mix(sum) ^
              atomic_load_explicit(&thread->counts.blocks, memory_order_relaxed);
        *waits |= atomic_load_explicit(&thread->counts.in_diagnostic, memory_order_relaxed) != 0;
    }
    return sum;
}

static uint64_t budget_of(struct simpler_device *device)
{
    return simpler_hang_budget(
        atomic_load_explicit(&device->monitor.budget_ns, memory_order_relaxed),
        atomic_load_explicit(&device->stop, memory_order_relaxed));
}

/* The orchestrator did not leave: what is known without it. */
static void conclude_unknown(struct simpler_device *device, const struct simpler_stall *stall,
                             bool first)
{
    struct simpler_run_result *result = &device->result;

    memset(&result->stats, 0, sizeof(result->stats));
    simpler_run_verdict_head(result, atomic_load_explicit(&device->stop, memory_order_acquire),
                             first ? stall->headline : "");
}

/* Result and message; @first: the hang is why the run ends. */
static void conclude(struct simpler_device *device, const struct simpler_stall *stall, bool first)
{
    struct simpler_run_result *result = &device->result;

    if (stall->known) {
        if (first)
            memcpy(device->fatal_text, stall->headline, sizeof(stall->headline));
        simpler_orchestrator_conclude(device);
    } else {
        conclude_unknown(device, stall, first);
    }
    if (!first)
        simpler_run_verdict_append(result->message, sizeof(result->message),
                                   "then the run hung: %s\n", stall->headline);
    simpler_run_verdict_append(result->message, sizeof(result->message), "%s", stall->details);
    if (stall->known)
        simpler_orchestrator_add_hazards(device);
    SIMPLER_ERROR("the run hangs: %s", stall->headline);
}

/*
 * Whether the run came to its end while its threads were asked out: all have left it, every task
 * is done, and (@first: the stop is ours) nobody was kept from anything by the stop.
 */
static bool has_ended(const struct simpler_device *device, bool first)
{
    const struct simpler_orch *orch = &device->orch;

    if (device->busy || orch->orchestration_ns == 0 || !simpler_orchestrator_is_drained(device))
        return false;
    return !first ||
           (orch->status == 0 && atomic_load_explicit(&device->cut, memory_order_relaxed) == 0);
}

/* It is told as what it came to. */
static void conclude_ended(struct simpler_device *device, bool first, uint64_t idle_ns)
{
    SIMPLER_TESTPOINT(HANG_TAKEN_BACK);
    SIMPLER_INFO("a run without progress for %llu ms ended as it was about to be taken away",
                 (unsigned long long)(idle_ns / 1000000));
    if (first)
        atomic_store_explicit(&device->stop, 0, memory_order_release);
    simpler_orchestrator_conclude(device);
    simpler_orchestrator_add_hazards(device);
}

/* Of threads that are out or revoked: the report, the result. */
static void report_hung(struct simpler_device *device, bool first, uint64_t idle_ns)
{
    struct simpler_stall stall;

    if (first)
        simpler_scope_sample_fatal(device);
    simpler_arg_capture_partial(device);
    simpler_stall_examine(device, idle_ns, &stall);
    conclude(device, &stall, first);
}

/* The run is ours: everybody out, the result, the caller. */
static void end_hung(struct simpler_device *device, uint64_t phase, uint64_t idle_ns)
{
    int32_t none = 0;
    bool first = atomic_compare_exchange_strong_explicit(
        &device->stop, &none, -SIMPLER_CODE_SCHEDULER_TIMEOUT, memory_order_release,
        memory_order_relaxed);

    SIMPLER_TESTPOINT(HANG_CLAIMED);
    simpler_hang_freeze(device, simpler_hang_grace_ns(budget_of(device)));
    if (device->orch.thread->verdict.end != SIMPLER_DEVICE_LANE_UNPROVED)
        simpler_passing_end(&device->orch);
    if (has_ended(device, first))
        conclude_ended(device, first, idle_ns);
    else
        report_hung(device, first, idle_ns);
    /* Its threads have left, or will. */
    device->hung = true;
    /* P11, release: the result. */
    atomic_store_explicit(&device->finish_seq, (uint32_t)(phase >> 2), memory_order_release);
    simpler_event_notify_rare(&device->finish, 1);
}

static void claim_hung(struct simpler_device *device, uint64_t phase, uint64_t idle_ns)
{
    uint64_t expected = phase;

    SIMPLER_TESTPOINT(MONITOR_BEFORE_CLAIM);
    if (atomic_compare_exchange_strong_explicit(&device->phase, &expected,
                                                (phase & ~(uint64_t)3) | SIMPLER_PHASE_HUNG,
                                                memory_order_acq_rel, memory_order_relaxed))
        end_hung(device, phase, idle_ns);
}

static void look(struct simpler_device *device, uint64_t phase)
{
    struct simpler_monitor *m = &device->monitor;
    uint64_t now = simpler_clock_ns();
    bool waits = false;

    /* The orchestrator waits to be asked out. */
    if (atomic_load_explicit(&m->stuck, memory_order_acquire) == (uint32_t)(phase >> 2)) {
        m->seen_stop = 0; /* the time is the orchestrator's, not since a stop */
        claim_hung(device, phase, SIMPLER_DRAIN_STUCK_NS);
        return;
    }

    simpler_monitor_lock(device);
    /* The threads stay while we hold the lock; whose run it is was said before. */
    uint64_t progress = device->threads == NULL ? 0 : progress_of(device, &waits);
    simpler_monitor_unlock(device);
    int32_t stop = atomic_load_explicit(&device->stop, memory_order_relaxed);
    if (phase != m->seen_phase || progress != m->seen_progress || stop != m->seen_stop || waits) {
        m->seen_phase = phase;
        m->seen_stop = stop;
        m->seen_progress = progress;
        simpler_idle_start(&m->idle, now);
        return;
    }
    uint64_t budget = budget_of(device);
    uint64_t idle = simpler_idle_look(&m->idle, now, simpler_hang_look_ns(budget));
    if (idle >= budget)
        claim_hung(device, phase, idle);
}

static void park(struct simpler_device *device)
{
    struct simpler_event *wake = &device->monitor.wake;
    uint32_t seen = simpler_event_prepare(wake);

    if (is_running(phase_of(device)) ||
        atomic_load_explicit(&device->monitor.closing, memory_order_acquire))
        simpler_event_cancel(wake);
    else
        simpler_event_wait(wake, seen, UINT64_MAX);
}

static void *monitor_main(void *argument)
{
    struct simpler_device *device = argument;
    struct simpler_monitor *m = &device->monitor;
    uint64_t last = 0;

    for (;;) {
        uint32_t epoch = simpler_event_epoch(&m->wake);
        if (atomic_load_explicit(&m->closing, memory_order_acquire))
            return NULL;
        uint64_t phase = phase_of(device);
        if (atomic_exchange_explicit(&m->asked, 0, memory_order_acquire) != 0)
            simpler_stall_show(device);
        if (is_running(phase))
            look(device, phase);
        else if (phase == last) {
            park(device);
            continue;
        }
        last = phase;
        simpler_event_sleep(&m->wake, epoch, simpler_hang_look_ns(budget_of(device)));
    }
}

int simpler_monitor_init(struct simpler_device *device)
{
    struct simpler_monitor *m = &device->monitor;

    simpler_event_init(&m->wake);
    m->lock_ready = pthread_mutex_init(&m->lock, NULL) == 0;
    return m->lock_ready ? 0 : SIMPLER_ENOMEM;
}

int simpler_monitor_start(struct simpler_device *device)
{
    struct simpler_monitor *m = &device->monitor;

    if (m->started)
        return 0;
    if (SIMPLER_FAILPOINT(THREAD_START) ||
        pthread_create(&m->handle, NULL, monitor_main, device) != 0) {
        SIMPLER_ERROR("cannot start the monitor thread of a device");
        return SIMPLER_ETHREAD;
    }
    m->started = true;
    return 0;
}

void simpler_monitor_fini(struct simpler_device *device)
{
    struct simpler_monitor *m = &device->monitor;

    if (m->started) {
        atomic_store_explicit(&m->closing, true, memory_order_release);
        simpler_event_wake(&m->wake, INT_MAX);
        (void)pthread_join(m->handle, NULL);
    }
    if (m->lock_ready)
        (void)pthread_mutex_destroy(&m->lock);
    m->started = m->lock_ready = false;
}

void simpler_monitor_lock(struct simpler_device *device)
{
    (void)pthread_mutex_lock(&device->monitor.lock);
}

void simpler_monitor_unlock(struct simpler_device *device)
{
    (void)pthread_mutex_unlock(&device->monitor.lock);
}

void simpler_monitor_admit(struct simpler_device *device, uint32_t run_number,
                           uint64_t scheduler_timeout_ns)
{
    atomic_store_explicit(&device->monitor.budget_ns, scheduler_timeout_ns, memory_order_relaxed);
    /* release: pairs with phase_of. */
    atomic_store_explicit(&device->phase, (uint64_t)run_number << 2 | SIMPLER_PHASE_RUNNING,
                          memory_order_release);
}

bool simpler_monitor_claim_end(struct simpler_device *device)
{
    uint64_t phase = atomic_load_explicit(&device->phase, memory_order_relaxed);

    return is_running(phase) && atomic_compare_exchange_strong_explicit(
                                    &device->phase, &phase, phase & ~(uint64_t)3, /* ENDED */
                                    memory_order_acq_rel, memory_order_relaxed);
}

void simpler_monitor_look(struct simpler_device *device)
{
    simpler_event_wake(&device->monitor.wake, 1);
}

void simpler_monitor_report_stuck(struct simpler_device *device)
{
    uint64_t phase = atomic_load_explicit(&device->phase, memory_order_relaxed);

    atomic_store_explicit(&device->monitor.stuck, (uint32_t)(phase >> 2), memory_order_release);
    simpler_monitor_look(device);
}
