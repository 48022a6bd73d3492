/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of cohorts.  One thread at a time pumps; a call meanwhile makes it look
 * again.  A unit is what one block takes: an AIV core, an AIC core, or the cores of
 * one cluster that its lanes need.
 */
#include "tmr/cohort.h"

#include <limits.h>

#include "base/logger.h"
#include "base/testpoint.h"
#include "base/text.h"
#include "tmr/arg_capture.h"
#include "tmr/fatal.h"
#include "tmr/scheduler.h"

/* ---- units ---- */

static bool is_aiv_alone(const struct simpler_task_launch *launch)
{
    return launch->lanes == 1u << SIMPLER_LANE_AIV0;
}

static uint32_t unit_count(const struct simpler_core_pool *pool,
                           const struct simpler_task_launch *launch)
{
    return is_aiv_alone(launch) ? 2 * pool->aic_count : pool->aic_count;
}

static struct simpler_core *core_of(struct simpler_core_pool *pool,
                                    const struct simpler_task_launch *launch, uint32_t unit,
                                    uint32_t lane)
{
    if (lane == SIMPLER_LANE_AIC)
        return simpler_core_at(pool, SIMPLER_CORE_AIC, unit);
    if (is_aiv_alone(launch))
        return simpler_core_at(pool, SIMPLER_CORE_AIV, unit);
    return simpler_core_at(pool, SIMPLER_CORE_AIV, 2 * unit + (lane == SIMPLER_LANE_AIV1));
}

static bool try_claim(struct simpler_core *core)
{
    _Atomic uint64_t *word = &core->pool->free[core->type][core->bit / 64];
    uint64_t bit = (uint64_t)1 << (core->bit % 64);

    /* seq_cst: behind the store of waiting. */
    if ((atomic_load_explicit(word, memory_order_seq_cst) & bit) == 0)
        return false;
    /* acquire, pairs with C1. */
    return (atomic_fetch_and_explicit(word, ~bit, memory_order_acquire) & bit) != 0;
}

/* Somebody may have seen the core claimed and gone to sleep. */
static void give_back(struct simpler_core *core)
{
    struct simpler_core_pool *pool = core->pool;
    uint32_t type = core->type;

    simpler_core_release(core);
    simpler_event_notify(&pool->freed[type], 1);
}

static void release_unit(struct simpler_core_pool *pool, const struct simpler_task_launch *launch,
                         uint32_t unit, uint32_t lanes)
{
    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
        if ((lanes >> lane & 1) != 0)
            give_back(core_of(pool, launch, unit, lane));
    }
}

/* All cores of the unit or none. */
static bool claim_unit(struct simpler_core_pool *pool, const struct simpler_task_launch *launch,
                       uint32_t unit)
{
    uint32_t held = 0;

    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
        if ((launch->lanes >> lane & 1) == 0)
            continue;
        if (!try_claim(core_of(pool, launch, unit, lane))) {
            release_unit(pool, launch, unit, held);
            return false;
        }
        held |= 1u << lane;
    }
    return true;
}

static bool has_threads(struct simpler_core_pool *pool, const struct simpler_task_launch *launch,
                        uint32_t unit)
{
    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
        if ((launch->lanes >> lane & 1) != 0 &&
            !simpler_core_ensure_thread(core_of(pool, launch, unit, lane)))
            return false;
    }
    return true;
}

/* ---- blocks ---- */

static void set_member(struct simpler_core *core, struct simpler_task_launch *launch)
{
    struct simpler_member *member = &core->thread.member;
    const struct simpler_device *device = core->pool->device;
    bool resident = simpler_launch_is_resident(launch);
    uint32_t kernels = (uint32_t)launch->block_num * launch->lane_count;
    bool whole = resident && (launch->sync_start || launch->block_num == 1);

    member->task = whole ? &launch->group : NULL;
    member->block = resident ? &core->leader->group : NULL;
    /* Nobody spins for a kernel that has no CPU of its own. */
    member->spin_ticks = kernels <= device->cpus ? device->spin_ticks : 0;
}

/* Makes the unit the block's; the cores start when they are told. */
static struct simpler_core *seat(struct simpler_core_pool *pool, uint32_t number, uint32_t unit,
                                 int32_t block)
{
    struct simpler_task_launch *launch = &pool->device->table.launch[number];
    struct simpler_core *leader =
        core_of(pool, launch, unit, (uint32_t)__builtin_ctz(launch->lanes));

    leader->peers = 0;
    atomic_store_explicit(&leader->inside, launch->lane_count, memory_order_relaxed);
    simpler_block_group_init(&leader->group, launch->lanes);
    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
        if ((launch->lanes >> lane & 1) == 0)
            continue;
        struct simpler_core *core = core_of(pool, launch, unit, lane);
        leader->peer[leader->peers++] = core;
        core->leader = leader;
        core->lane = (uint8_t)lane;
        core->block = block;
        set_member(core, launch);
    }
    return leader;
}

static void start(struct simpler_core *leader, uint32_t number)
{
    /* Read before the first starts: the block may be over, and its cores another's. */
    struct simpler_core *peer[SIMPLER_LANES];
    uint32_t peers = leader->peers;

    for (uint32_t i = 0; i < peers; i++) {
        peer[i] = leader->peer[i];
        atomic_store_explicit(&peer[i]->thread.counts.running, 1, memory_order_relaxed);
    }
    for (uint32_t i = 0; i < peers; i++) {
        SIMPLER_TESTPOINT(COHORT_BEFORE_START);
        /* C2, release: pairs with the core's acquire. */
        atomic_store_explicit(&peer[i]->mailbox, number, memory_order_release);
        simpler_event_notify(&peer[i]->wake, 1);
    }
}

/* All kernels of the task have returned, or will not be called. */
static void finish(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_device *device = thread->device;
    bool is_core = thread->lane >= device->thread_count;

    if (is_core && !device->exec_threads && simpler_arg_capture_is_on(device)) {
        /* A core has no lane of a dump then: a scheduler finishes the task. */
        device->table.launch[number].stage = SIMPLER_LAUNCH_FINISH;
        simpler_scheduler_publish(thread, number);
        return;
    }
    simpler_launch_finish(thread, number);
}

void simpler_cohort_run_lane(struct simpler_core *core, uint32_t number)
{
    struct simpler_thread *thread = &core->thread;

    bool last = simpler_launch_block(thread, number, core->block, (enum simpler_lane)core->lane);
    thread->member.task = NULL;
    thread->member.block = NULL;
    if (last)
        finish(thread, number);
}

void simpler_cohort_leave(struct simpler_core *core)
{
    struct simpler_core *leader = core->leader;

    core->lane = SIMPLER_LANE_NONE;
    if (atomic_fetch_sub_explicit(&leader->inside, 1, memory_order_acq_rel) != 1)
        return;
    uint32_t peers = leader->peers;
    struct simpler_core *peer[SIMPLER_LANES];
    for (uint32_t i = 0; i < peers; i++)
        peer[i] = leader->peer[i];
    for (uint32_t i = 0; i < peers; i++)
        give_back(peer[i]);
}

/* ---- the pump ---- */

/* What had no thread to run on: the task ends without it. */
static void abandon(struct simpler_thread *thread, uint32_t number, int32_t from)
{
    struct simpler_device *device = thread->device;
    struct simpler_task_launch *launch = &device->table.launch[number];
    uint32_t kernels = (uint32_t)(launch->block_num - from) * launch->lane_count;

    SIMPLER_ERROR("a task of %d block%s and %u lane%s needs cores, and no thread could be started",
                  launch->block_num, simpler_text_plural((uint64_t)launch->block_num),
                  launch->lane_count, simpler_text_plural(launch->lane_count));
    simpler_fatal_stop_device(device, SIMPLER_ETHREAD);
    simpler_launch_leave_out(launch);
    launch->next_block = launch->block_num;
    if (atomic_fetch_sub_explicit(&launch->left, kernels, memory_order_acq_rel) == kernels)
        finish(thread, number);
}

/* All blocks together; false when they do not fit now. */
static bool start_together(struct simpler_thread *thread, struct simpler_core_pool *pool,
                           uint32_t number)
{
    struct simpler_task_launch *launch = &pool->device->table.launch[number];
    uint16_t unit[SIMPLER_MAX_CORES];
    struct simpler_core *leader[SIMPLER_MAX_CORES];
    uint32_t wanted = (uint32_t)launch->block_num, count = 0;
    bool threads = true;

    for (uint32_t u = 0; u < unit_count(pool, launch) && count < wanted; u++) {
        if (claim_unit(pool, launch, u))
            unit[count++] = (uint16_t)u;
    }
    for (uint32_t i = 0; i < count && count == wanted && threads; i++)
        threads = has_threads(pool, launch, unit[i]);
    if (count < wanted || !threads) {
        for (uint32_t i = 0; i < count; i++)
            release_unit(pool, launch, unit[i], launch->lanes);
        if (!threads)
            abandon(thread, number, 0);
        return !threads;
    }
    launch->next_block = launch->block_num;
    for (uint32_t i = 0; i < count; i++)
        leader[i] = seat(pool, number, unit[i], (int32_t)i);
    for (uint32_t i = 0; i < count; i++)
        start(leader[i], number);
    return true;
}

/* As many blocks as fit; true when all have been started. */
static bool start_some(struct simpler_thread *thread, struct simpler_core_pool *pool,
                       uint32_t number)
{
    struct simpler_task_launch *launch = &pool->device->table.launch[number];
    /* Once the last block runs the entry may be another task's. */
    int32_t blocks = launch->block_num;
    int32_t block = launch->next_block;

    for (uint32_t u = 0; block < blocks && u < unit_count(pool, launch); u++) {
        if (!claim_unit(pool, launch, u))
            continue;
        if (!has_threads(pool, launch, u)) {
            release_unit(pool, launch, u, launch->lanes);
            abandon(thread, number, block);
            return true;
        }
        launch->next_block = ++block;
        start(seat(pool, number, u, block - 1), number);
    }
    return block == blocks;
}

/* The newest first, as they were pushed: turn them round behind the others. */
static void take_arrived(struct simpler_core_pool *pool)
{
    /* acquire, pairs with C4. */
    uint32_t number =
        atomic_exchange_explicit(&pool->arrived, SIMPLER_NO_TASK, memory_order_acquire);
    uint32_t newest = number, older = SIMPLER_NO_TASK;

    if (number == SIMPLER_NO_TASK)
        return;
    /* Not before: without a task left the run may be over and the table another one. */
    struct simpler_task_launch *table = pool->device->table.launch;
    while (number != SIMPLER_NO_TASK) {
        uint32_t next = table[number].next;
        table[number].next = older;
        older = number;
        number = next;
    }
    if (pool->first == SIMPLER_NO_TASK)
        pool->first = older;
    else
        table[pool->last].next = older;
    pool->last = newest;
}

/* Those that were kept from taking a core look again. */
static void set_gathering(struct simpler_core_pool *pool, bool gathering)
{
    bool before = atomic_load_explicit(&pool->gathering, memory_order_relaxed);

    atomic_store_explicit(&pool->gathering, gathering, memory_order_relaxed);
    if (!before || gathering)
        return;
    simpler_event_notify(&pool->freed[SIMPLER_CORE_AIC], INT_MAX);
    simpler_event_notify(&pool->freed[SIMPLER_CORE_AIV], INT_MAX);
}

static void start_oldest(struct simpler_thread *thread, struct simpler_core_pool *pool)
{
    atomic_store_explicit(&pool->waiting, true, memory_order_seq_cst);
    take_arrived(pool);
    while (pool->first != SIMPLER_NO_TASK) {
        uint32_t number = pool->first;
        const struct simpler_task_launch *launch = &pool->device->table.launch[number];
        uint32_t next = launch->next;
        bool together = launch->sync_start;
        bool resident = simpler_launch_is_resident(launch);
        bool started =
            together ? start_together(thread, pool, number) : start_some(thread, pool, number);
        if (!started) {
            set_gathering(pool, resident);
            return;
        }
        pool->first = next;
        if (next == SIMPLER_NO_TASK)
            take_arrived(pool);
    }
    /* What arrives from here on is pumped by who brings it. */
    atomic_store_explicit(&pool->waiting, false, memory_order_relaxed);
    set_gathering(pool, false);
}

void simpler_cohort_pump(struct simpler_thread *thread, struct simpler_core_pool *pool)
{
    /* acq_rel: what the pump before left in the pool. */
    if (atomic_fetch_add_explicit(&pool->pumps, 1, memory_order_acq_rel) != 0)
        return;
    uint32_t seen = 1;
    do {
        start_oldest(thread, pool);
        seen = atomic_fetch_sub_explicit(&pool->pumps, seen, memory_order_acq_rel) - seen;
    } while (seen != 0);
}

void simpler_cohort_enqueue(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_device *device = thread->device;
    struct simpler_core_pool *pool = device->cores;
    uint32_t newest = atomic_load_explicit(&pool->arrived, memory_order_relaxed);

    do
        device->table.launch[number].next = newest;
    /* C4, release: the task. */
    while (!atomic_compare_exchange_weak_explicit(&pool->arrived, &newest, number,
                                                  memory_order_release, memory_order_relaxed));
    simpler_cohort_pump(thread, pool);
}
