/* SPDX-License-Identifier: Apache-2.0 */
#include "hbg/hbg_deferred.h"

#include "base/clock.h"
#include "hbg/hbg_launch.h"
#include "hbg/host_limits.h"
#include "hbg/run_tasks.h"
#include "hbg/unit_sched.h"
#include "task/stall_text.h"

/* Tasks that one look completes; the rest is for the next. */
#define BATCH 16u

/* ---- registration ---- */

static int refuse(struct simpler_hbg_device *device, int code, const char *why)
{
    int status =
        simpler_hbg_latch_device(device->orch, (enum simpler_device_code)code,
                                 "a kernel defers the completion of its task, but %s", why);

    atomic_store_explicit(&device->attention, 1, memory_order_relaxed);
    return status;
}

/* Nothing waits behind a task that does not come after it: neither in its grain nor on its track.
 */
static bool is_split(const struct simpler_hbg_device *device)
{
    for (uint32_t p = 0; p < device->part_count; p++) {
        const struct simpler_hbg_plan *plan = device->parts[p].plan;
        if (plan->grain_count != device->parts[p].image->node_count || plan->track_count != 0)
            return false;
    }
    return true;
}

/* The plan was made without knowing that @func_id defers. */
static void note_new(struct simpler_hbg_device *device, uint32_t func_id)
{
    simpler_estimates_note_defers(device->estimates, func_id);
    if (is_split(device))
        return;
    /* The next task of a grain looks, this thread's at once. */
    atomic_store_explicit(&device->attention, 1, memory_order_relaxed);
    /* relaxed: who leaves the run orders, see leave(). */
    atomic_fetch_or_explicit(&device->gate, SIMPLER_HBG_GATE_RECUT, memory_order_relaxed);
}

int simpler_hbg_deferred_register(struct simpler_member *member,
                                  const struct simpler_async_condition *condition)
{
    struct simpler_hbg_thread *thread = member->owner;
    struct simpler_hbg_device *device = thread->device;
    uint64_t word = atomic_load_explicit(&thread->place.guard.kernel, memory_order_relaxed);
    uint32_t node = atomic_load_explicit(&thread->place.node, memory_order_relaxed);
    const char *why;

    if (word == SIMPLER_NO_KERNEL)
        return refuse(device, SIMPLER_CODE_ASYNC_REGISTRATION_FAILED,
                      "that kernel has returned already");
    const struct simpler_hbg_part *part = simpler_hbg_word_part(device, word);
    int code = simpler_deferral_add(&device->deferred, thread,
                                    simpler_hbg_deferred_key(device, part, node), condition, &why);
    if (code != 0)
        return refuse(device, code, why);
    thread->deferred = true;
    uint32_t func_id = (uint32_t)word;
    if (func_id == SIMPLER_NO_FUNC)
        func_id = simpler_hbg_nodes(part->image)[node].func_id;
    if (atomic_load_explicit(&device->estimates->defers[func_id], memory_order_relaxed) !=
        SIMPLER_DEFERS_KNOWN)
        note_new(device, func_id);
    return 0;
}

/* ---- looking ---- */

static void complete(struct simpler_hbg_thread *thread, const struct simpler_deferral_met *met)
{
    struct simpler_hbg_device *device = thread->device;
    struct simpler_hbg_part *part = &device->parts[met->task >> 32];
    uint32_t node = (uint32_t)met->task;

    /* What a stop has kept from being complete has no outputs. */
    if (device->dump_level != 0 && !met->cut) {
        simpler_hbg_fill_args(thread, part, node);
        simpler_hbg_capture(thread, part, node, DUMP_ARGS_STAGE_AFTER);
    }
    if (simpler_hbg_nodes(part->image)[node].func_id == SIMPLER_HBG_FUNC_LAUNCH)
        simpler_hbg_launch_note_end(device, simpler_hbg_launch_of(part->image, node), met->note);
    simpler_hbg_add_count(&thread->counts->completed, 1);
    simpler_hbg_complete(thread, part,
                         part->first_unit + simpler_hbg_plan_grain_of(part->plan, node));
}

void simpler_hbg_deferred_poll(struct simpler_hbg_thread *thread)
{
    struct simpler_hbg_device *device = thread->device;
    struct simpler_deferral_met met[BATCH];
    /* A run that hangs keeps what it hangs on, for the report: it closes before it stops. */
    bool all = atomic_load_explicit(&device->stop, memory_order_acquire) != 0 &&
               !simpler_hbg_is_closing(device);
    uint32_t count = simpler_deferral_take(&device->deferred, all, met, BATCH);

    for (uint32_t i = 0; i < count; i++)
        complete(thread, &met[i]);
    if (count != 0)
        thread->nap_ns = 0;
}

void simpler_hbg_deferred_describe(struct simpler_hbg_device *device, char *text, size_t bytes)
{
    struct simpler_deferral_view view;

    text[0] = '\0';
    if (!simpler_deferral_view(&device->deferred, &view))
        return;
    const struct simpler_hbg_part *part = &device->parts[view.task >> 32];
    simpler_stall_text_conditions(&view, simpler_hbg_task_id(device, part, (uint32_t)view.task),
                                  text, bytes);
}
