/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_LAUNCH_H
#define SIMPLER_TMR_LAUNCH_H

/*
 * Tasks that are more than one call of one kernel: blocks, lanes of a mixed task,
 * sync_start, a predicate, a timing slot.  What they need lies in a side array that
 * plain tasks never touch; their slot has SIMPLER_SHAPE_LAUNCH, and they are always
 * shared.
 *
 *     submit    simpler_launch_check, simpler_launch_prepare
 *     ready     simpler_launch_run: predicate, dump of the inputs, then
 *                 blocks of a kernel that needs one core alone: on the device's
 *                 threads, which take ranges of them (spread.c)
 *                 lanes, sync_start, exec threads: on cores (cohort.c)
 *     a block   simpler_launch_block; the last of all completes the task
 */
#include "task/resident.h"
#include "tmr/engine.h"

enum simpler_launch_stage {
    SIMPLER_LAUNCH_READY = 0,
    SIMPLER_LAUNCH_FINISH = 1 /* all kernels have returned; dump and completion are left */
};

enum simpler_launch_outcome {
    SIMPLER_LAUNCH_WELL,
    SIMPLER_LAUNCH_FAILED,  /* a kernel has returned a status */
    SIMPLER_LAUNCH_LEFT_OUT /* none has, but one was not called: the run had ended */
};

enum simpler_deferred {
    SIMPLER_DEFERRED_NOT = 0,
    SIMPLER_DEFERRED,    /* a kernel has registered a condition */
    SIMPLER_DEFERRED_CUT /* the run was stopped before the conditions held; whoever completes it */
};

/*
 *   field          written by                        read by     publishes
 *   left           whoever ran a kernel (acq_rel)    the last    all kernels' effects (L1)
 *   failed, deferred  whoever ran a kernel, before L1   the last
 *   next           who queues it (cohort.c)          the pump
 *   next_block     the pump alone
 *   stage, start_ns   whoever holds the ready task
 *   group          see resident.h
 *   the rest       orchestrator, before it publishes the slot
 */
struct simpler_task_launch {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t left; /* kernels that have not returned */
    _Atomic uint8_t failed;                             /* enum simpler_launch_outcome */
    _Atomic uint8_t deferred;                           /* enum simpler_deferred */
    uint8_t stage;                                      /* enum simpler_launch_stage */
    uint8_t lanes;                                      /* mask of enum simpler_lane; 0: a dummy */
    int32_t block_num;
    uint16_t func_id[SIMPLER_LANES]; /* SIMPLER_NO_FUNC: no kernel */
    uint8_t lane_count;
    uint8_t timing_slot; /* or SIMPLER_NO_TIMING */
    bool sync_start;
    uint8_t op; /* enum simpler_predicate_op */
    uint8_t operand_bytes;
    uint8_t reserved;
    uint32_t next; /* in the queue of cohorts */
    int32_t next_block;
    uint64_t operand; /* address */
    int64_t target;
    uint64_t start_ns;
    struct simpler_group group; /* of all kernels, when they are resident at once */
};

/* A kernel is not called.  relaxed: the countdown of launch->left comes after. */
SIMPLER_INLINE void simpler_launch_leave_out(struct simpler_task_launch *launch)
{
    uint8_t well = SIMPLER_LAUNCH_WELL;

    (void)atomic_compare_exchange_strong_explicit(&launch->failed, &well, SIMPLER_LAUNCH_LEFT_OUT,
                                                  memory_order_relaxed, memory_order_relaxed);
}

/* Whether its kernels may wait for each other. */
SIMPLER_INLINE bool simpler_launch_is_resident(const struct simpler_task_launch *launch)
{
    return launch->sync_start || launch->lane_count > 1;
}

/* What a submit asks for; @kernels by lane. */
struct simpler_launch_request {
    uint16_t func_id[SIMPLER_LANES];
    const struct simpler_task_args *args;
    const char *file;
    int line;
};

/* 0, or the run's status after a code that it latched: sync_start, predicate. */
int simpler_launch_check(struct simpler_orch *orch, const struct simpler_launch_request *request);
/* Fills the side array's entry of a slot. */
void simpler_launch_prepare(struct simpler_orch *orch, uint32_t number,
                            const struct simpler_launch_request *request);

/* The timing slots of a run: emptied before it, read after it. */
void simpler_launch_start_run(struct simpler_device *device, uint64_t start_ns);
void simpler_launch_fill_timing(const struct simpler_device *device,
                                struct simpler_run_result *result);

/* Runs a ready task or hands its kernels out. */
void simpler_launch_run(struct simpler_thread *thread, uint32_t number);

/* Runs the kernel of one lane of one block; true when it was the task's last. */
/* The thread's member says who may wait for whom. */
bool simpler_launch_block(struct simpler_thread *thread, uint32_t number, int32_t block,
                          enum simpler_lane lane);
/* After the last one: dump, numbers, completion. */
void simpler_launch_finish(struct simpler_thread *thread, uint32_t number);

/* spread.c: offers the blocks to all threads and runs what they leave. */
void simpler_spread_run(struct simpler_thread *thread, uint32_t number);
/* Runs offered blocks while there are some; false when there were none. */
bool simpler_spread_help(struct simpler_thread *thread);
/* Whether a task offers blocks: a look before a thread parks. */
SIMPLER_INLINE bool simpler_spread_is_offered(const struct simpler_device *device)
{
    for (uint32_t i = 0; i < SIMPLER_SPREAD_PLACES; i++) {
        if (atomic_load_explicit(&device->spread[i].word, memory_order_relaxed) >> 48 != 0)
            return true;
    }
    return false;
}

/* What the kernels of this runtime's threads may ask for. */
extern const struct simpler_member_ops simpler_launch_member_ops;

#endif
