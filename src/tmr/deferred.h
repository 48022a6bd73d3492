/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_DEFERRED_H
#define SIMPLER_TMR_DEFERRED_H

/*
 * Completions that wait for counters which somebody else raises (task/deferral.h).  A kernel
 * registers conditions; when all kernels of its task have returned the task is held, and
 * completed by the thread that finds all its conditions true.
 */
#include "simpler/kernel.h"
#include "tmr/engine.h"

/* A condition that nobody raises is no sign of life for longer than this. */
#define SIMPLER_DEFERRED_PATIENCE_NS 20000000000u

/* SIMPLER_OK, or the run's status after a code that it latched (101 to 103). */
int simpler_deferred_register(struct simpler_thread *thread,
                              const struct simpler_async_condition *condition);

/* The kernel that has registered conditions on @thread was task @number's. */
void simpler_deferred_assign(struct simpler_thread *thread, uint32_t number);
/* All kernels of the task have returned: it is completed when its conditions hold. */
void simpler_deferred_hold(struct simpler_device *device, uint32_t number);
/* The task has failed: its conditions do not matter any more. */
void simpler_deferred_drop(struct simpler_device *device, uint32_t number);

/* Completes the tasks whose conditions hold; true when there was one. */
bool simpler_deferred_poll(struct simpler_thread *thread);

SIMPLER_INLINE bool simpler_deferred_is_open(const struct simpler_device *device)
{
    return simpler_deferral_is_open(&device->deferred);
}

/* Whether tasks wait for counters that may still be raised. */
bool simpler_deferred_is_alive(struct simpler_device *device);

/* One line on what tasks wait for, or none: for the report of a run that hangs. */
void simpler_deferred_describe(struct simpler_device *device, char *text, size_t bytes);

/* How long a thread that found nothing may sleep: @longest, or less with open conditions. */
uint64_t simpler_deferred_nap_ns(struct simpler_thread *thread, uint64_t longest);

/* Before a run: nothing of the run before is left. */
void simpler_deferred_reset(struct simpler_device *device);

#endif
