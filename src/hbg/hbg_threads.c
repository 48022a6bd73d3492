/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a device.  A thread is inside a run or parked outside of it;
 * only inside does it touch anything that a run is made of.
 */
#include <limits.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/spin_wait.h"
#include "base/testpoint.h"
#include "hbg/hbg_deferred.h"
#include "hbg/hbg_device.h"
#include "hbg/hbg_hang.h"
#include "hbg/hbg_launch.h"
#include "hbg/recut.h"
#include "hbg/unit_sched.h"

/* Who waits longer on its track does grains of another one. */
#define TRACK_WAIT_NS     2000u
#define FIRST_HANDOVER_NS 200u

/* False: there is no run, or it is over, or about to be cut anew. */
static bool try_enter(struct simpler_hbg_device *device)
{
    uint32_t gate = atomic_load_explicit(&device->gate, memory_order_relaxed);

    do {
        if ((gate & SIMPLER_HBG_GATE_SHUT) != 0)
            return false;
        /* acquire, pairs with W4: the run. */
    } while (!atomic_compare_exchange_weak_explicit(&device->gate, &gate, gate + 1,
                                                    memory_order_acquire, memory_order_relaxed));
    return true;
}

/* A run that hangs stays as it is: who ends it was here first, or waits for us. */
static void cut_anew(struct simpler_hbg_device *device)
{
    uint32_t none = SIMPLER_HBG_GATE_RECUT;

    SIMPLER_TESTPOINT(RECUT_BEFORE_CLAIM);
    if (!atomic_compare_exchange_strong_explicit(&device->gate, &none,
                                                 SIMPLER_HBG_GATE_RECUT | SIMPLER_HBG_GATE_CUTS,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return;
    SIMPLER_TESTPOINT(RECUT_CLAIMED);
    simpler_hbg_recut(device);
}

/* acq_rel: the last one out has seen what all did, and tells the caller, or cuts anew. */
static void leave(struct simpler_hbg_device *device)
{
    uint32_t gate = atomic_fetch_sub_explicit(&device->gate, 1, memory_order_acq_rel);

    if ((gate & SIMPLER_HBG_GATE_COUNT) != 1 || (gate & SIMPLER_HBG_GATE_SHUT) == 0)
        return;
    if ((gate & SIMPLER_HBG_GATE_OVER) == 0) {
        cut_anew(device);
        return;
    }
    atomic_fetch_add_explicit(&device->finish_seq, 1, memory_order_release);
    simpler_event_notify_rare(&device->finish, 1);
    /* It may have begun the next run: then who spins does so for too short. */
    simpler_caller_seat_tell(&device->caller);
}

bool simpler_hbg_visit(struct simpler_hbg_device *device)
{
    uint32_t gate = atomic_load_explicit(&device->gate, memory_order_relaxed);

    do {
        if ((gate & SIMPLER_HBG_GATE_OVER) != 0 ||
            ((gate & SIMPLER_HBG_GATE_RECUT) != 0 && (gate & SIMPLER_HBG_GATE_COUNT) == 0)) {
            SIMPLER_TESTPOINT(VISIT_REFUSED);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&device->gate, &gate, gate + 1,
                                                    memory_order_acquire, memory_order_relaxed));
    return true;
}

void simpler_hbg_visit_end(struct simpler_hbg_device *device)
{
    leave(device);
}

/* The run is over, to be cut anew, or taken away. */
static bool is_out(const struct simpler_hbg_device *device)
{
    return simpler_hbg_is_shut(device) || simpler_hbg_is_closing(device);
}

/* Looks for a unit for a while; NO_UNIT: there is none now, or the run is over. */
static uint32_t spin(struct simpler_hbg_thread *thread)
{
    struct simpler_hbg_device *device = thread->device;
    uint64_t now = simpler_clock_ticks(), end = now + device->spin_ticks;
    uint64_t patience = now + simpler_clock_ns_to_ticks(TRACK_WAIT_NS);

    do {
        if (simpler_deferral_is_open(&device->deferred))
            simpler_hbg_deferred_poll(thread);
        /* Who helps with blocks owes no counts meanwhile: they may take long. */
        bool offered =
            (uint32_t)atomic_load_explicit(&device->spread.word, memory_order_relaxed) != 0;
        uint32_t unit =
            now < patience && !offered ? simpler_hbg_find(thread) : simpler_hbg_find_all(thread);
        if (unit != SIMPLER_HBG_NO_UNIT || is_out(device))
            return unit;
        if (offered && simpler_hbg_spread_help(thread))
            end = simpler_clock_ticks() + device->spin_ticks;
        simpler_round_trip_answer(&device->round_trip);
        simpler_clock_relax();
        now = simpler_clock_ticks();
    } while (now < end);
    return SIMPLER_HBG_NO_UNIT;
}

/*
 * Inside the run until it is over or there is nothing to do for a while; then
 * true, the event was prepared and *seen is to be waited for.
 */
static bool work(struct simpler_hbg_thread *thread, uint32_t *seen)
{
    struct simpler_hbg_device *device = thread->device;
    uint32_t boot = atomic_load_explicit(&device->booted, memory_order_relaxed);

    if (boot != SIMPLER_HBG_BOOT_DONE &&
        atomic_compare_exchange_strong_explicit(&device->booted, &boot, SIMPLER_HBG_BOOT_DONE,
                                                memory_order_relaxed, memory_order_relaxed)) {
        if (boot == SIMPLER_HBG_BOOT_NEW)
            simpler_hbg_boot(thread);
        else
            simpler_hbg_boot_rest(thread);
    }
    while (!simpler_hbg_is_closing(device)) {
        if (simpler_deferral_is_open(&device->deferred))
            simpler_hbg_deferred_poll(thread);
        uint32_t unit = simpler_hbg_find(thread);
        if (unit == SIMPLER_HBG_NO_UNIT)
            unit = spin(thread);
        if (unit == SIMPLER_HBG_NO_UNIT && !is_out(device)) {
            *seen = simpler_sleepers_prepare(&device->work, thread->index);
            unit = simpler_hbg_find_all(thread);
            if (unit == SIMPLER_HBG_NO_UNIT && !is_out(device) &&
                (uint32_t)atomic_load_explicit(&device->spread.word, memory_order_relaxed) == 0)
                return true;
            simpler_sleepers_cancel(&device->work, thread->index);
        }
        /* What it has completed may make more ready: that is dropped too when the run is cut anew.
         */
        if (unit == SIMPLER_HBG_NO_UNIT && simpler_hbg_is_shut(device)) {
            unit = simpler_hbg_find_all(thread);
            if (unit == SIMPLER_HBG_NO_UNIT)
                break;
        }
        if (unit == SIMPLER_HBG_NO_UNIT)
            continue;
        /* Of those who sleep a track wakes one: who was woken and has found something, the next. */
        if (thread->woken) {
            thread->woken = false;
            if (atomic_load_explicit(&device->tracked, memory_order_relaxed) != NULL)
                simpler_sleepers_wake(&device->work, 1);
        }
        simpler_hbg_run_unit(thread, unit);
    }
    if (!thread->left)
        simpler_hbg_settle(thread);
    return false;
}

/* Sleeps until there is work, or a run, or it is time for a look at the open conditions. */
static void park(struct simpler_hbg_thread *thread, uint32_t seen)
{
    struct simpler_hbg_device *device = thread->device;

    simpler_sleepers_sleep(&device->work, thread->index, seen,
                           simpler_deferral_nap_ns(&device->deferred, &thread->nap_ns,
                                                   device->thread_count, UINT64_MAX));
}

/* For a moment, until there is a run (true), or @until is set, if any. */
static bool spin_for_run(struct simpler_hbg_device *device, const _Atomic bool *until)
{
    uint64_t end = simpler_clock_ticks() + device->spin_ticks;

    while (simpler_clock_ticks() < end) {
        if (!simpler_hbg_is_shut(device))
            return true;
        if (until != NULL && atomic_load_explicit(until, memory_order_relaxed))
            return false;
        simpler_clock_relax();
    }
    return false;
}

/*
 * Between runs, true: there is one.  One thread spins for it.  Where the caller is nobody does;
 * but who is there stays until the caller has been told, which then finds its CPU awake.
 */
static bool spin_between(struct simpler_hbg_device *device)
{
    if (!device->spin_allowed)
        return false;
    if (simpler_caller_seat_is_here(&device->caller))
        return spin_for_run(device, &device->caller.told);
    if (atomic_exchange_explicit(&device->spinning, true, memory_order_relaxed))
        return false;
    bool found = spin_for_run(device, NULL);
    atomic_store_explicit(&device->spinning, false, memory_order_relaxed);
    return found;
}

static void wait_for_run(struct simpler_hbg_thread *thread)
{
    struct simpler_hbg_device *device = thread->device;

    if (spin_between(device))
        return;
    /* Whoever opens the gate does not miss it; a thread inside may, and then does the work. */
    uint32_t seen = simpler_sleepers_prepare_rare(&device->work, thread->index);
    if (!simpler_hbg_is_shut(device) || simpler_hbg_is_closing(device))
        simpler_sleepers_cancel(&device->work, thread->index);
    else
        park(thread, seen);
}

static void *thread_main(void *argument)
{
    struct simpler_hbg_thread *thread = argument;
    struct simpler_hbg_device *device = thread->device;
    uint32_t seen = 0;

    void *stack = simpler_hbg_crash_enter(thread);

    while (!simpler_hbg_is_closing(device)) {
        if (!try_enter(device)) {
            wait_for_run(thread);
            continue;
        }
        bool parks = work(thread, &seen);
        simpler_sleepers_note(&device->work, thread->index);
        leave(device);
        if (parks) {
            park(thread, seen);
            thread->woken = true;
        }
    }
    simpler_hbg_crash_leave(stack);
    simpler_kernel_guard_exit(&thread->place.guard, &device->guarded);
    return NULL;
}

void simpler_hbg_init_thread(struct simpler_hbg_thread *thread, struct simpler_hbg_device *device,
                             uint32_t i)
{
    simpler_ready_queue_init(&thread->queue, 0);
    thread->device = device;
    thread->counts = &device->counts[i];
    atomic_store_explicit(&thread->place.guard.kernel, SIMPLER_NO_KERNEL, memory_order_relaxed);
    thread->index = i;
    thread->lane = i;
    thread->handed = SIMPLER_HBG_NO_UNIT;
    thread->victim = device->thread_count - 1;
    thread->local.block_num = 1;
    thread->local.member = &thread->member;
    thread->member.ops = &simpler_hbg_member_ops;
    thread->member.owner = thread;
    thread->member.stop = &device->stop;
    thread->member.cut = &device->cut;
    thread->member.spin_ticks = device->spin_ticks;
}

/* With exec threads each core is one thread more; the lanes of diagnostics have the monitor too. */
static uint32_t threads_of(const struct simpler_device_run *run)
{
    return simpler_device_lanes(run) - 1;
}

static int start_threads(struct simpler_hbg_device *device, const struct simpler_device_run *run)
{
    uint32_t count = threads_of(run), cpus = simpler_platform_usable_cpus();

    device->threads = simpler_alloc_aligned(count, sizeof(*device->threads));
    if (device->threads == NULL)
        return SIMPLER_ENOMEM;
    device->thread_count = count;
    uint32_t most = count + 3 * run->cluster_count;
    if (most > atomic_load_explicit(&device->most_threads, memory_order_relaxed))
        atomic_store_explicit(&device->most_threads, most, memory_order_relaxed);
    int rc = simpler_sleepers_open(&device->work, count, count, cpus);
    if (rc != 0)
        return rc;
    device->parallel = count < cpus ? count : cpus;
    device->spin_allowed = count <= cpus;
    /* Until it is measured; what other threads needed says nothing. */
    atomic_store_explicit(&device->handover_ns, FIRST_HANDOVER_NS, memory_order_relaxed);
    device->probed_ns = 0;
    device->spin_ticks = simpler_clock_ns_to_ticks(
        device->spin_allowed ? SIMPLER_PARK_COST_NS : SIMPLER_OVERSUBSCRIBED_NS);
    device->caller_wait.ticks = device->spin_allowed ? device->spin_ticks : 0;
    for (uint32_t i = 0; i < device->thread_count; i++)
        simpler_hbg_init_thread(&device->threads[i], device, i);
    for (uint32_t i = 0; i < device->thread_count; i++) {
        struct simpler_hbg_thread *thread = &device->threads[i];
        if (SIMPLER_FAILPOINT(THREAD_START) ||
            pthread_create(&thread->handle, NULL, thread_main, thread) != 0) {
            SIMPLER_ERROR("cannot start device thread %u of %u", i, device->thread_count);
            return SIMPLER_ETHREAD;
        }
        thread->started = true;
    }
    return 0;
}

void simpler_hbg_stop_threads(struct simpler_hbg_device *device)
{
    if (device->threads == NULL)
        return;
    simpler_hbg_ask_out(device);
    simpler_sleepers_settle(&device->work);
    for (uint32_t i = 0; i < device->thread_count; i++) {
        if (device->threads[i].started)
            pthread_join(device->threads[i].handle, NULL);
    }
    simpler_hbg_crew_close(device);
    simpler_sleepers_close(&device->work);
    simpler_alloc_free(device->threads);
    device->threads = NULL;
    device->thread_count = 0;
    /* What a hung run has left. */
    atomic_store_explicit(&device->gate, SIMPLER_HBG_GATE_OVER, memory_order_relaxed);
    atomic_store_explicit(&device->spread.word, 0, memory_order_relaxed);
    atomic_store_explicit(&device->spread.owner, 0, memory_order_relaxed);
    atomic_store_explicit(&device->closing, false, memory_order_release);
}

int simpler_hbg_ensure_threads(struct simpler_hbg_device *device,
                               const struct simpler_device_run *run)
{
    if (device->threads != NULL && device->thread_count == threads_of(run) &&
        device->crew_clusters == run->cluster_count)
        return 0;
    simpler_hbg_stop_threads(device);
    device->crew_clusters = run->cluster_count;
    int rc = start_threads(device, run);
    if (rc != 0)
        simpler_hbg_stop_threads(device);
    return rc;
}
