/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_RESIDENT_H
#define SIMPLER_TASK_RESIDENT_H

/*
 * Kernels that run at the same time and may wait for each other: a group has a
 * barrier, and the group of one block the flags of its lanes too.  What a kernel
 * may do is in its struct simpler_member; the runtime fills one for each thread
 * that runs kernels.
 *
 *   field    written by            read by     publishes
 *   arrived  members (add, acq_rel)  members   what each has written before it arrived (R1)
 *            the last one (0, before R2)
 *   phase    the last to arrive (release, R2)  members  all that R1 gave
 *   gone     members (add, release, R3)        members  "never arrives again"
 *   flag     members (add, release, R4; take, acquire)  the lane  what the setter has written
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/event.h"
#include "simpler/kernel.h"

struct simpler_group {
    uint32_t members;
    _Atomic uint32_t arrived;
    _Atomic uint32_t phase;
    _Atomic uint32_t gone;
    struct simpler_event event;
};

struct simpler_block_group {
    struct simpler_group group;
    uint8_t lanes; /* mask of enum simpler_lane */
    _Atomic uint32_t flag[SIMPLER_LANES][SIMPLER_LANE_FLAGS];
};

/* What the runtime answers when a kernel asks for more than a plain task has. */
struct simpler_member_ops {
    /* Latches code 7; returns the run's status.  @what names the call. */
    int (*refuse)(struct simpler_member *member, const char *what);
    int (*defer)(struct simpler_member *member, const struct simpler_async_condition *condition);
};

/* One kernel's place in its task; written by the runtime before the kernel starts. */
struct simpler_member {
    const struct simpler_member_ops *ops;
    void *owner;                       /* the runtime's */
    const _Atomic int32_t *stop;       /* not 0: waits end with it */
    _Atomic uint32_t *cut;             /* set to 1 by a wait that ended so */
    struct simpler_group *task;        /* NULL: the task is not resident as a whole */
    struct simpler_block_group *block; /* NULL: the block is not resident */
    uint32_t lane;                     /* enum simpler_lane */
    uint64_t spin_ticks;               /* before a wait parks */
};

/* Before the group's first use, and while nobody else can reach it. */
void simpler_group_init(struct simpler_group *group, uint32_t members);
void simpler_block_group_init(struct simpler_block_group *block, uint8_t lanes);

/* The member's kernel has returned; its last touch of the groups. */
void simpler_member_leave(struct simpler_member *member);

#endif
