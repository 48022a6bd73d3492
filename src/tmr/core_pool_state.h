/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_CORE_POOL_STATE_H
#define SIMPLER_TMR_CORE_POOL_STATE_H

/*
 * Cores: a bitmap of free ones for each type, a mailbox each.  Cluster i has AIC
 * core i and AIV cores 2i and 2i + 1.
 *
 *   field      written by                    read by      publishes
 *   free[]     dispatchers (claim, acquire)  dispatchers  the mailbox may be written
 *              core (release, C1)
 *   mailbox    dispatcher (release, C2)      core         the task, and the fields of a block
 *              core (empty, before C1)
 *   overflow   cores (push, release, C3)     takers (all) ready tasks, by link[0]
 *   arrived    anyone (push, release, C4)    the pump     cohorts, by launch.next
 *   pumps      anyone (acq_rel)              anyone       "look again"; the one that finds 0 pumps
 *   waiting    the pump (seq_cst)            cores        a freed core is looked at; before the
 * pump looks at free[], after a core is freed gathering  the pump                      dispatchers
 * single tasks take no core meanwhile
 */
#include "tmr/engine.h"

#define SIMPLER_CORE_FREE_WORDS 2u
#define SIMPLER_LANE_NONE       UINT8_MAX

struct simpler_core {
    struct simpler_thread thread;
    _Atomic uint32_t mailbox;
    struct simpler_event wake;
    struct simpler_core_pool *pool;
    uint32_t type; /* enum simpler_core_type */
    uint32_t bit;
    /* Written by the dispatcher that owns the core, under its claim. */
    _Atomic bool started; /* read by the monitor (acquire) */
    bool broken;          /* its thread could not be started in this run */
    /* One block's lane, by the pump before C2. */
    uint8_t lane; /* enum simpler_lane, or SIMPLER_LANE_NONE: a whole task */
    int32_t block;
    struct simpler_core *leader; /* of the block: the core of its first lane */
    /* The leader's: the block as a whole; its cores are released together. */
    struct simpler_core *peer[SIMPLER_LANES];
    uint32_t peers;
    _Atomic uint32_t inside; /* lanes that have not left (acq_rel) */
    struct simpler_block_group group;
};

struct simpler_core_pool {
    struct simpler_device *device;
    struct simpler_core *cores;
    uint32_t count;
    uint32_t aic_count;
    _Atomic uint64_t free[2][SIMPLER_CORE_FREE_WORDS];
    _Atomic uint32_t overflow;     /* first task, or SIMPLER_NO_TASK */
    struct simpler_event freed[2]; /* one a type: one freed core is for one waiter */
    _Atomic bool closing;
    _Atomic bool gathering;
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t arrived; /* newest cohort, or SIMPLER_NO_TASK */
    _Atomic uint32_t pumps;
    _Atomic bool waiting;
    /* The pump alone: cohorts that wait for cores, oldest first. */
    uint32_t first, last;
};

SIMPLER_INLINE struct simpler_core *simpler_core_at(struct simpler_core_pool *pool, uint32_t type,
                                                    uint32_t bit)
{
    return &pool->cores[type == SIMPLER_CORE_AIC ? bit : pool->aic_count + bit];
}

/* The core may be claimed again; does not wake anybody. */
void simpler_core_release(struct simpler_core *core);
/* Makes sure that the core has a thread. */
bool simpler_core_ensure_thread(struct simpler_core *core);

#endif
