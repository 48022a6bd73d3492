/* SPDX-License-Identifier: Apache-2.0 */
/* The device's threads as a set that can be taken out of a run (task/kernel_guard.h). */
#include "tmr/hang.h"

#include <limits.h>

#include "tmr/core_pool.h"
#include "tmr/kernel_word.h"
#include "tmr/scope_sample.h"

uint32_t simpler_hang_threads(const struct simpler_device *device)
{
    return device->thread_count +
           (device->cores == NULL ? 0 : simpler_core_pool_count(device->cores));
}

struct simpler_thread *simpler_hang_thread(const struct simpler_device *device, uint32_t lane)
{
    if (lane < device->thread_count)
        return device->threads[lane].started ? &device->threads[lane] : NULL;
    if (device->cores == NULL || lane >= simpler_hang_threads(device))
        return NULL;
    return simpler_core_pool_thread(device->cores, lane - device->thread_count);
}

static uint32_t count(const void *device)
{
    return simpler_hang_threads(device);
}

static bool at(void *device, uint32_t i, struct simpler_guarded *out)
{
    struct simpler_thread *thread = simpler_hang_thread(device, i);

    if (thread != NULL)
        *out = (struct simpler_guarded){&thread->counts.guard, &thread->verdict};
    return thread != NULL;
}

void simpler_hang_init(struct simpler_device *device)
{
    device->guarded = (struct simpler_guard_set){.device = device, .count = count, .at = at};
    simpler_kernel_guard_init_set(&device->guarded);
}

void simpler_hang_exit(struct simpler_thread *thread)
{
    simpler_kernel_guard_exit(&thread->counts.guard, &thread->device->guarded);
}

void simpler_kernel_asked(struct simpler_thread *thread)
{
    struct simpler_device *device = thread->device;

    simpler_kernel_guard_asked(&thread->counts.guard, &device->guarded);
    /* What its lane held has been taken: on its way out it adds nothing and publishes nothing. */
    if (thread == device->orch.thread && simpler_kernel_is_revoked(thread))
        simpler_scope_sample_abandon(&device->orch);
}

void simpler_hang_ask_out(struct simpler_device *device)
{
    atomic_store_explicit(&device->closing, true, memory_order_release);
    simpler_sleepers_ask_out(&device->work);
    simpler_sleepers_ask_out(&device->start);
    simpler_event_wake(&device->progress, INT_MAX);
    if (device->cores != NULL)
        simpler_core_pool_ask_out(device->cores);
}

void simpler_hang_freeze(struct simpler_device *device, uint64_t grace_ns)
{
    simpler_hang_ask_out(device);
    device->busy = simpler_kernel_guard_freeze(&device->guarded, grace_ns);
}

int simpler_hang_quiesce(struct simpler_device *device, uint64_t timeout_ns)
{
    return simpler_kernel_guard_quiesce(&device->guarded, timeout_ns);
}
