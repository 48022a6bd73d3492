/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In a signal handler, on the thread that crashed: its own word, and the slot of
 * the task that it is inside of, which nobody else touches.
 */
#include "tmr/crash_line.h"

#include "task/crash_task.h"
#include "tmr/fatal.h"
#include "tmr/kernel_word.h"
#include "tmr/passing.h"

static void add_thread(struct simpler_crash_text *text, const struct simpler_thread *thread)
{
    const struct simpler_device *device = thread->device;
    bool core = thread->lane >= device->thread_count;

    simpler_crash_add(text, core                            ? ", on core thread "
                            : thread == device->orch.thread ? ", on orchestrator thread "
                                                            : ", on scheduler ");
    simpler_crash_add_number(text, core ? thread->lane - device->thread_count : thread->lane);
}

static void describe(struct simpler_crash_text *text, void *user)
{
    const struct simpler_thread *thread = user;
    const struct simpler_device *device = thread->device;
    const struct simpler_orch *orch = &device->orch;
    uint64_t word = atomic_load_explicit(&thread->counts.guard.kernel, memory_order_relaxed);
    struct simpler_kernel_task task = simpler_kernel_word_task(word);

    if (word == SIMPLER_NO_KERNEL) {
        simpler_crash_add(text, thread == orch->thread ? " in the orchestration or the runtime"
                                                       : " in the runtime");
    } else if (simpler_kernel_word_is_solo(word)) {
        simpler_crash_task_add(text, simpler_fatal_kernel_name(device, (uint32_t)word),
                               (uint32_t)word, simpler_passing_next_id(orch), orch->solo_file,
                               orch->solo_line);
    } else {
        const struct simpler_task_desc *desc =
            &device->table.desc[simpler_ring_slot(&orch->ring[task.ring], task.id)];
        simpler_crash_task_add(text, simpler_fatal_kernel_name(device, task.func_id), task.func_id,
                               (uint64_t)task.ring << 32 | task.id, desc->file, desc->line);
    }
    add_thread(text, thread);
}

void *simpler_crash_line_enter(struct simpler_thread *thread)
{
    return simpler_crash_enter(describe, thread);
}

void simpler_crash_line_leave(void *stack)
{
    simpler_crash_leave(stack);
}
