/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look sums what the threads have completed and what they are at: when both are
 * as before, nothing has made progress.  The clock stands still while a thread is
 * inside a diagnostic, where it may wait for the host.
 */
#include "hbg/hbg_hang.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "hbg/hbg_device.h"
#include "hbg/hbg_launch.h"
#include "hbg/hbg_stall.h"
#include "hbg/run_tasks.h"
#include "task/hang_budget.h"

/* Time in which no thread is in the run and nothing is ready, after which it is stuck. */
#define STUCK_NS 500000000u
/* To see that in time. */
#define STUCK_LOOK_NS 100000000u

/* ---- the threads ---- */

uint32_t simpler_hbg_hang_threads(const struct simpler_hbg_device *device)
{
    return device->thread_count + simpler_hbg_crew_count(device);
}

struct simpler_hbg_thread *simpler_hbg_hang_thread(const struct simpler_hbg_device *device,
                                                   uint32_t i)
{
    return i < device->thread_count ? &device->threads[i]
                                    : simpler_hbg_crew_thread(device, i - device->thread_count);
}

static uint32_t count(const void *device)
{
    return simpler_hbg_hang_threads(device);
}

static bool at(void *device, uint32_t i, struct simpler_guarded *out)
{
    struct simpler_hbg_thread *thread = simpler_hbg_hang_thread(device, i);

    *out = (struct simpler_guarded){&thread->place.guard, &thread->verdict};
    return true;
}

void simpler_hbg_hang_init(struct simpler_hbg_device *device)
{
    device->guarded = (struct simpler_guard_set){.device = device, .count = count, .at = at};
    simpler_kernel_guard_init_set(&device->guarded);
}

void simpler_hbg_ask_out(struct simpler_hbg_device *device)
{
    atomic_store_explicit(&device->closing, true, memory_order_release);
    simpler_sleepers_ask_out(&device->work);
    simpler_hbg_crew_ask_out(device);
}

/* ---- the clock ---- */

static uint64_t progress_of(const struct simpler_hbg_device *device, bool *waits)
{
    uint64_t sum = simpler_hbg_progress(device);

    for (uint32_t i = 0; i < simpler_hbg_hang_threads(device); i++) {
        const struct simpler_hbg_thread *thread = simpler_hbg_hang_thread(device, i);
        const struct simpler_hbg_place *place = &thread->place;
        /* All blocks of a task have the same word and node. */
        sum = simpler_hang_mix(sum) ^
              atomic_load_explicit(&thread->counts->blocks, memory_order_relaxed);
        sum = simpler_hang_mix(sum) ^
              atomic_load_explicit(&place->guard.kernel, memory_order_relaxed);
        sum = simpler_hang_mix(sum) ^ atomic_load_explicit(&place->node, memory_order_relaxed);
        *waits |= atomic_load_explicit(&place->in_diagnostic, memory_order_relaxed) != 0;
    }
    /* A condition that was added or met. */
    return simpler_hang_mix(sum) ^
           atomic_load_explicit(&device->deferred.changed_ns, memory_order_relaxed);
}

/* Nobody is in the run, and there is nothing for anybody; who waits for a counter is not stuck. */
static bool is_still(struct simpler_hbg_device *device)
{
    if (atomic_load_explicit(&device->gate, memory_order_acquire) != 0 ||
        atomic_load_explicit(&device->booted, memory_order_relaxed) != SIMPLER_HBG_BOOT_DONE ||
        simpler_deferral_is_open(&device->deferred))
        return false;
    for (uint32_t i = 0; i < device->thread_count; i++) {
        if (simpler_ready_queue_count(&device->threads[i].queue) != 0)
            return false;
    }
    return true;
}

static uint64_t budget_of(const struct simpler_hbg_device *device)
{
    return simpler_hang_budget(device->run->scheduler_timeout_ns,
                               atomic_load_explicit(&device->stop, memory_order_relaxed));
}

uint64_t simpler_hbg_look_ns(const struct simpler_hbg_device *device)
{
    uint64_t ns = simpler_hang_look_ns(budget_of(device));
    return ns < STUCK_LOOK_NS ? ns : STUCK_LOOK_NS;
}

bool simpler_hbg_look(struct simpler_hbg_device *device, struct simpler_hbg_look *look,
                      uint64_t *idle_ns)
{
    uint64_t now = simpler_clock_ns();
    bool waits = false;
    uint64_t progress = progress_of(device, &waits);
    int32_t stop = atomic_load_explicit(&device->stop, memory_order_relaxed);

    if (atomic_load_explicit(&device->asked, memory_order_relaxed) != 0 &&
        simpler_hbg_visit(device)) {
        SIMPLER_TESTPOINT(VISIT_INSIDE);
        (void)atomic_exchange_explicit(&device->asked, 0, memory_order_acquire);
        simpler_hbg_stall_show(device);
        simpler_hbg_visit_end(device);
    }
    if (look->idle.since_ns == 0 || progress != look->progress || stop != look->stop || waits) {
        *look = (struct simpler_hbg_look){.progress = progress, .stop = stop};
        simpler_idle_start(&look->idle, now);
        return false;
    }
    *idle_ns = simpler_idle_look(&look->idle, now, simpler_hbg_look_ns(device));
    if (*idle_ns >= budget_of(device))
        return true;
    if (!is_still(device))
        look->still.since_ns = 0;
    else if (look->still.since_ns == 0)
        simpler_idle_start(&look->still, now);
    return look->still.since_ns != 0 &&
           simpler_idle_look(&look->still, now, simpler_hbg_look_ns(device)) >= STUCK_NS;
}

/* ---- the end ---- */

#if SIMPLER_DFX
/* Whether thread @l is the first of those inside of its task. */
static bool is_first_of(const struct simpler_hbg_device *device, uint32_t l)
{
    const struct simpler_hbg_thread *thread = simpler_hbg_hang_thread(device, l);

    for (uint32_t i = 0; i < l; i++) {
        const struct simpler_hbg_thread *other = simpler_hbg_hang_thread(device, i);
        if (other->verdict.end == SIMPLER_DEVICE_LANE_STOPPED &&
            other->verdict.revoked_of >> 32 == thread->verdict.revoked_of >> 32 &&
            atomic_load_explicit(&other->place.node, memory_order_relaxed) ==
                atomic_load_explicit(&thread->place.node, memory_order_relaxed))
            return false;
    }
    return true;
}

/* What the outputs of tasks inside a kernel hold now, into the last lane; it may be torn. */
static void capture_partial(struct simpler_hbg_device *device)
{
    struct dump_args_run run = {device->run->dump_data_base, device->run->run_epoch};
    struct simpler_hbg_thread *observer;

    if (device->dump_level == 0)
        return;
    SIMPLER_TESTPOINT(PARTIAL_BEFORE_CAPTURE);
    observer = simpler_alloc_aligned(1, sizeof(*observer));
    if (observer == NULL)
        return;
    simpler_hbg_init_thread(observer, device, simpler_device_lanes(device->run) - 1);
    for (uint32_t l = 0; l < simpler_hbg_hang_threads(device); l++) {
        const struct simpler_hbg_thread *thread = simpler_hbg_hang_thread(device, l);
        if (thread->verdict.end != SIMPLER_DEVICE_LANE_STOPPED || !is_first_of(device, l))
            continue;
        const struct simpler_hbg_part *part =
            simpler_hbg_word_part(device, thread->verdict.revoked_of);
        uint32_t node = atomic_load_explicit(&thread->place.node, memory_order_relaxed);
        simpler_hbg_fill_args(observer, part, node);
        simpler_hbg_capture(observer, part, node, DUMP_ARGS_STAGE_AFTER);
    }
    dump_args_flush(&run, observer->lane);
    simpler_alloc_free(observer);
}
#else
static void capture_partial(struct simpler_hbg_device *device)
{
    (void)device;
}
#endif

void simpler_hbg_hang_claim(struct simpler_hbg_device *device)
{
    /* acq_rel: with the claim of a cut.  Who leaves because it is told to has seen this before. */
    (void)atomic_fetch_or_explicit(&device->gate, SIMPLER_HBG_GATE_HUNG, memory_order_acq_rel);
}

bool simpler_hbg_hang_is_cut(const struct simpler_hbg_device *device)
{
    /* acquire, pairs with W4: a cut that is done. */
    return (atomic_load_explicit(&device->gate, memory_order_acquire) & SIMPLER_HBG_GATE_CUTS) != 0;
}

void simpler_hbg_hang_freeze(struct simpler_hbg_device *device)
{
    device->busy =
        simpler_kernel_guard_freeze(&device->guarded, simpler_hang_grace_ns(budget_of(device)));
}

void simpler_hbg_end_hung(struct simpler_hbg_device *device, uint64_t idle_ns, int32_t stop,
                          struct simpler_stall *stall)
{
    device->hung = true;
    capture_partial(device);
    simpler_hbg_stall_examine(device, idle_ns, stop, stall);
    SIMPLER_ERROR("the run hangs: %s", stall->headline);
}
