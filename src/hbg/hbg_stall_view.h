/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_HBG_STALL_VIEW_H
#define SIMPLER_HBG_HBG_STALL_VIEW_H

/*
 * Every task of a run whose threads have left it or were revoked, and what it does.
 * Tasks are numbered part by part, node by node: one number each.
 */
#include "hbg/hbg_stall.h"

#define SIMPLER_HBG_NO_TASK UINT32_MAX

struct simpler_hbg_stall_view {
    const struct simpler_hbg_device *device;
    uint8_t *state;     /* enum simpler_stall_state */
    uint32_t *lane;     /* of a READY or RUNNING task: who has it */
    uint32_t *producer; /* an unfinished one of a task that waits, or NO_TASK */
    uint32_t *count;    /* its unfinished producers */
    uint32_t *open;     /* of each part the first task that is not done, or NO_TASK */
};

/* False when there is no memory for it. */
bool simpler_hbg_stall_view_init(struct simpler_hbg_stall_view *v,
                                 struct simpler_hbg_device *device);
/* The same while the run goes on: what is not in a unit that is done is HELD. */
bool simpler_hbg_stall_view_init_open(struct simpler_hbg_stall_view *v,
                                      const struct simpler_hbg_device *device);
void simpler_hbg_stall_view_fini(struct simpler_hbg_stall_view *v);

/* The number of a task, and back. */
uint32_t simpler_hbg_stall_number(const struct simpler_hbg_device *device,
                                  const struct simpler_hbg_part *part, uint32_t node);
const struct simpler_hbg_part *simpler_hbg_stall_place(const struct simpler_hbg_device *device,
                                                       uint32_t number, uint32_t *node);

/*
 * The task behind @number in the order of ids, calls of graphs being no tasks; NO_TASK: the
 * first; the last one's is NO_TASK.
 */
uint32_t simpler_hbg_stall_next(const struct simpler_hbg_device *device, uint32_t number);

#endif
