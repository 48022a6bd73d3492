/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_STALL_VIEW_H
#define SIMPLER_TMR_STALL_VIEW_H

/*
 * Every unfinished task of a run whose threads have left it or were revoked, and
 * what it does.  The orchestrator is one of those.
 */
#include "task/stall_text.h"
#include "tmr/kernel_word.h"

/* By slot number. */
struct simpler_stall_view {
    struct simpler_device *device;
    uint8_t *state;     /* enum simpler_stall_state */
    uint32_t *lane;     /* of a READY or RUNNING task: who has it */
    uint32_t *producer; /* an unfinished one of a task that waits, or SIMPLER_NO_TASK */
    uint32_t *count;    /* its unfinished producers */
};

/* False when there is no memory for it. */
bool simpler_stall_view_init(struct simpler_stall_view *v, struct simpler_device *device);
void simpler_stall_view_fini(struct simpler_stall_view *v);

/* Slot number of the oldest unfinished task, or SIMPLER_NO_TASK; the orchestrator may ask, too. */
uint32_t simpler_stall_view_oldest(const struct simpler_device *device);

/* "scheduler 1" */
void simpler_stall_view_lane(const struct simpler_device *device, uint32_t lane, char *text,
                             size_t bytes);
/* "task 0x..., kernel NAME (func_id N), submitted at FILE:LINE" */
void simpler_stall_view_task(const struct simpler_device *device, uint32_t number, char *text,
                             size_t bytes);
/* "runs on scheduler 1" */
void simpler_stall_view_state(const struct simpler_stall_view *v, uint32_t number, char *text,
                              size_t bytes);
/* "the open scope at FILE:LINE (depth N)" */
void simpler_stall_view_scope(const struct simpler_device *device, uint32_t number, char *text,
                              size_t bytes);

/* While the run goes on, by its orchestrator: whether a thread is inside a kernel of the task. */
bool simpler_stall_view_is_inside(struct simpler_device *device, uint32_t number);
/* "kernel NAME (func_id N) of task 0x..." of the word of a revoked thread. */
void simpler_stall_view_kernel(const struct simpler_device *device, uint64_t word, char *text,
                               size_t bytes);

#endif
