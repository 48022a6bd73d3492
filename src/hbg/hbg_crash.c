/* SPDX-License-Identifier: Apache-2.0 */
/* In a signal handler, on the thread that crashed: what it is inside of. */
#include "hbg/hbg_hang.h"
#include "hbg/hbg_stall.h"
#include "task/crash_task.h"

static void describe(struct simpler_crash_text *text, void *user)
{
    const struct simpler_hbg_thread *thread = user;
    const struct simpler_hbg_device *device = thread->device;
    uint64_t word = atomic_load_explicit(&thread->place.guard.kernel, memory_order_relaxed);
    bool core = thread->index >= device->thread_count;

    if (word == SIMPLER_NO_KERNEL) {
        simpler_crash_add(text, " in the runtime");
    } else {
        struct simpler_hbg_named task = simpler_hbg_stall_name(
            device, word, atomic_load_explicit(&thread->place.node, memory_order_relaxed));
        simpler_crash_task_add(text, task.kernel, task.func_id, task.id, task.site.file,
                               task.site.line);
    }
    simpler_crash_add(text, core ? ", on core thread " : ", on device thread ");
    simpler_crash_add_number(text, core ? thread->index - device->thread_count : thread->index);
}

void *simpler_hbg_crash_enter(struct simpler_hbg_thread *thread)
{
    return simpler_crash_enter(describe, thread);
}

void simpler_hbg_crash_leave(void *stack)
{
    simpler_crash_leave(stack);
}
