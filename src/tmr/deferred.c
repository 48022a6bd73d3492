/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime does about its open conditions (task/deferral.h); a task is its slot. */
#include "tmr/deferred.h"

#include "base/clock.h"
#include "task/stall_text.h"
#include "tmr/arg_capture.h"
#include "tmr/fatal.h"
#include "tmr/launch.h"
#include "tmr/scheduler.h"

/* Tasks that one look completes; the rest is for the next. */
#define BATCH 16u

void simpler_deferred_reset(struct simpler_device *device)
{
    simpler_deferral_reset(&device->deferred);
}

/* ---- registration ---- */

int simpler_deferred_register(struct simpler_thread *thread,
                              const struct simpler_async_condition *condition)
{
    struct simpler_device *device = thread->device;
    const char *why;
    int code = simpler_deferral_add(&device->deferred, thread, SIMPLER_DEFERRAL_UNASSIGNED,
                                    condition, &why);

    if (code != 0)
        return simpler_fatal_latch_device(device, (enum simpler_device_code)code,
                                          "a kernel defers the completion of its task, but %s",
                                          why);
    thread->deferred++;
    return 0;
}

void simpler_deferred_assign(struct simpler_thread *thread, uint32_t number)
{
    simpler_deferral_assign(&thread->device->deferred, thread, number);
    thread->deferred = 0;
}

void simpler_deferred_hold(struct simpler_device *device, uint32_t number)
{
    simpler_deferral_hold(&device->deferred, number);
    /* Somebody who sleeps without a limit is to nap from now on. */
    simpler_sleepers_wake(&device->work, 1);
    simpler_event_notify(&device->progress, 1);
}

void simpler_deferred_drop(struct simpler_device *device, uint32_t number)
{
    simpler_deferral_drop(&device->deferred, number);
}

/* ---- looking ---- */

/* A run that the monitor ends keeps what it hangs on, for the report. */
static bool is_stopped(const struct simpler_device *device)
{
    return atomic_load_explicit(&device->stop, memory_order_acquire) != 0 &&
           (atomic_load_explicit(&device->phase, memory_order_relaxed) & 3) != SIMPLER_PHASE_HUNG;
}

/* @cut: by a stop, and not because its conditions hold: it has no outputs for a dump. */
static void complete(struct simpler_thread *thread, uint32_t number, bool cut)
{
    struct simpler_device *device = thread->device;
    struct simpler_task_slot *slot = &device->table.slot[number];

    if (slot->shape == SIMPLER_SHAPE_LAUNCH) {
        atomic_store_explicit(&device->table.launch[number].deferred,
                              cut ? SIMPLER_DEFERRED_CUT : SIMPLER_DEFERRED_NOT,
                              memory_order_relaxed);
        simpler_launch_finish(thread, number);
        return;
    }
    slot->failed = 0;
    if (simpler_arg_capture_is_on(device) && !cut) {
        simpler_scheduler_unpack(thread, number);
        simpler_arg_capture_after(thread, number);
    }
    simpler_scheduler_complete(thread, number);
}

bool simpler_deferred_poll(struct simpler_thread *thread)
{
    struct simpler_device *device = thread->device;
    struct simpler_deferral_met met[BATCH];

    if (!simpler_deferred_is_open(device))
        return false;
    uint32_t count = simpler_deferral_take(&device->deferred, is_stopped(device), met, BATCH);
    for (uint32_t i = 0; i < count; i++)
        complete(thread, (uint32_t)met[i].task, met[i].cut);
    if (count != 0) {
        thread->nap_ns = 0;
        simpler_event_notify(&device->progress, 1);
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
    struct simpler_deferral_view view;

    text[0] = '\0';
    if (!simpler_deferral_view(&device->deferred, &view))
        return;
    simpler_stall_text_conditions(&view, simpler_task_id_of(&device->table.slot[view.task]), text,
                                  bytes);
}

uint64_t simpler_deferred_nap_ns(struct simpler_thread *thread, uint64_t longest)
{
    return simpler_deferral_nap_ns(&thread->device->deferred, &thread->nap_ns, 1, longest);
}
