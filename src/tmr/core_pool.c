/* SPDX-License-Identifier: Apache-2.0 */
/* Cores: their threads, and tasks of one kernel that run on them (exec threads). */
#include "tmr/core_pool.h"

#include <limits.h>

#include "base/alloc.h"
#include "base/logger.h"
#include "base/testpoint.h"
#include "tmr/cohort.h"
#include "tmr/core_pool_state.h"
#include "tmr/crash_line.h"
#include "tmr/hang.h"
#include "tmr/scheduler.h"

void simpler_core_release(struct simpler_core *core)
{
    /* C1, release: pairs with the claim's acquire; seq_cst: before the look at waiting. */
    atomic_fetch_or_explicit(&core->pool->free[core->type][core->bit / 64],
                             (uint64_t)1 << (core->bit % 64), memory_order_seq_cst);
}

static void release_core(struct simpler_core *core)
{
    struct simpler_core_pool *pool = core->pool;
    uint32_t type = core->type;

    simpler_core_release(core);
    simpler_event_notify(&pool->freed[type], 1);
}

/* A core keeps nothing while it is parked: what its queue does not take goes here. */
static void give_away(struct simpler_core *core)
{
    struct simpler_thread *thread = &core->thread;
    _Atomic uint32_t *overflow = &core->pool->overflow;

    simpler_scheduler_expose(thread);
    if (thread->stack == SIMPLER_NO_TASK)
        return;
    /* Not before: without a task left the run may be over and the table another one. */
    struct simpler_task_slot *slots = thread->device->table.slot;
    uint32_t last = thread->stack;
    while (slots[last].link[0] != SIMPLER_NO_TASK)
        last = slots[last].link[0];
    uint32_t head = atomic_load_explicit(overflow, memory_order_relaxed);
    do
        slots[last].link[0] = head;
    /* C3, release: pairs with the exchange in take. */
    while (!atomic_compare_exchange_weak_explicit(overflow, &head, thread->stack,
                                                  memory_order_release, memory_order_relaxed));
    thread->stack = SIMPLER_NO_TASK;
    thread->stack_count = 0;
    thread->stack_ns = 0;
    simpler_sleepers_wake(&thread->device->work, INT_MAX);
}

/* A task, or one lane of a block; then the core is free again. */
static void run_mail(struct simpler_core *core, uint32_t number)
{
    bool is_lane = core->lane != SIMPLER_LANE_NONE;

    if (is_lane)
        simpler_cohort_run_lane(core, number);
    else
        simpler_scheduler_run_here(&core->thread, number);
    SIMPLER_TESTPOINT(CORE_BEFORE_LEAVE);
    give_away(core);
    atomic_store_explicit(&core->thread.counts.running, 0, memory_order_release);
    if (is_lane)
        simpler_cohort_leave(core);
    else
        release_core(core);
}

static void *core_main(void *argument)
{
    struct simpler_core *core = argument;
    struct simpler_core_pool *pool = core->pool;
    void *stack = simpler_crash_line_enter(&core->thread);

    while (!atomic_load_explicit(&pool->closing, memory_order_acquire)) {
        /* acquire, pairs with C2. */
        uint32_t number = atomic_load_explicit(&core->mailbox, memory_order_acquire);
        if (number == SIMPLER_NO_TASK) {
            uint32_t seen = simpler_event_prepare(&core->wake);
            if (atomic_load_explicit(&core->mailbox, memory_order_acquire) != SIMPLER_NO_TASK ||
                atomic_load_explicit(&pool->closing, memory_order_acquire))
                simpler_event_cancel(&core->wake);
            else
                simpler_event_wait(&core->wake, seen, UINT64_MAX);
            continue;
        }
        atomic_store_explicit(&core->mailbox, SIMPLER_NO_TASK, memory_order_relaxed);
        run_mail(core, number);
        simpler_event_notify(&pool->device->progress, 1);
        if (!atomic_load_explicit(&pool->waiting, memory_order_seq_cst))
            continue;
        simpler_cohort_pump(&core->thread, pool);
        /* What became ready when it gave up a task that had no threads. */
        give_away(core);
        simpler_event_notify(&pool->device->progress, 1);
    }
    simpler_crash_line_leave(stack);
    simpler_hang_exit(&core->thread);
    return NULL;
}

/* Claims a free core of a type; NULL when there is none, or a cohort gathers them. */
static struct simpler_core *try_claim(struct simpler_core_pool *pool, uint32_t type)
{
    if (atomic_load_explicit(&pool->gathering, memory_order_relaxed))
        return NULL;
    for (uint32_t w = 0; w < SIMPLER_CORE_FREE_WORDS; w++) {
        _Atomic uint64_t *word = &pool->free[type][w];
        uint64_t bits = atomic_load_explicit(word, memory_order_relaxed);
        while (bits != 0) {
            uint64_t bit = bits & (~bits + 1);
            /* acquire, pairs with C1. */
            if (atomic_compare_exchange_weak_explicit(word, &bits, bits & ~bit,
                                                      memory_order_acquire, memory_order_relaxed)) {
                uint32_t index = w * 64 + (uint32_t)__builtin_ctzll(bit);
                return simpler_core_at(pool, type, index);
            }
        }
    }
    return NULL;
}

static bool is_asked_out(const struct simpler_core_pool *pool)
{
    return atomic_load_explicit(&pool->closing, memory_order_acquire);
}

/* NULL when the threads are asked out: a hung core would be waited for for ever. */
static struct simpler_core *claim(struct simpler_core_pool *pool, struct simpler_thread *thread,
                                  uint32_t type)
{
    for (;;) {
        struct simpler_core *core = try_claim(pool, type);
        if (core != NULL)
            return core;
        simpler_scheduler_expose(thread);
        uint32_t seen = simpler_event_prepare(&pool->freed[type]);
        core = try_claim(pool, type);
        if (core != NULL || is_asked_out(pool)) {
            simpler_event_cancel(&pool->freed[type]);
            return core;
        }
        simpler_event_wait(&pool->freed[type], seen, UINT64_MAX);
    }
}

bool simpler_core_ensure_thread(struct simpler_core *core)
{
    if (atomic_load_explicit(&core->started, memory_order_relaxed))
        return true;
    if (core->broken)
        return false;
    /* release: before it gets a task, and before it counts anything. */
    atomic_store_explicit(&core->pool->device->cores_active, true, memory_order_release);
    if (SIMPLER_FAILPOINT(THREAD_START) ||
        pthread_create(&core->thread.handle, NULL, core_main, core) != 0) {
        core->broken = true;
        SIMPLER_WARN("no thread for core %u: its kernels run on schedulers", core->thread.index);
        return false;
    }
    atomic_store_explicit(&core->started, true, memory_order_release);
    return true;
}

void simpler_core_pool_retry(struct simpler_core_pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++)
        pool->cores[i].broken = false;
}

void simpler_core_pool_dispatch(struct simpler_core_pool *pool, struct simpler_thread *thread,
                                uint32_t number)
{
    uint32_t type = pool->device->table.slot[number].shape;
    struct simpler_core *core = claim(pool, thread, type);

    if (core == NULL || !simpler_core_ensure_thread(core)) {
        simpler_scheduler_run_here(thread, number);
        if (core != NULL)
            release_core(core);
        return;
    }
    atomic_store_explicit(&core->thread.counts.running, 1, memory_order_relaxed);
    /* C2, release: pairs with the core's acquire. */
    atomic_store_explicit(&core->mailbox, number, memory_order_release);
    simpler_event_notify(&core->wake, 1);
}

uint32_t simpler_core_pool_take(struct simpler_core_pool *pool, struct simpler_thread *thread)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        struct simpler_ready_queue *queue = &pool->cores[i].thread.queue;
        uint32_t number;
        if (simpler_ready_queue_count(queue) != 0 &&
            simpler_ready_queue_try_take(queue, &number, 1, false) != 0)
            return number;
    }
    if (atomic_load_explicit(&pool->overflow, memory_order_relaxed) == SIMPLER_NO_TASK)
        return SIMPLER_NO_TASK;
    /* acquire, pairs with C3.  The whole list, so that no head can come back meanwhile. */
    uint32_t first =
        atomic_exchange_explicit(&pool->overflow, SIMPLER_NO_TASK, memory_order_acquire);
    if (first != SIMPLER_NO_TASK)
        thread->stack = pool->device->table.slot[first].link[0];
    return first;
}

bool simpler_core_pool_is_busy(struct simpler_core_pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        struct simpler_thread *thread = &pool->cores[i].thread;
        if (atomic_load_explicit(&thread->counts.running, memory_order_acquire) != 0 ||
            simpler_ready_queue_count(&thread->queue) != 0)
            return true;
    }
    return atomic_load_explicit(&pool->overflow, memory_order_acquire) != SIMPLER_NO_TASK;
}

uint64_t simpler_core_pool_completed(const struct simpler_core_pool *pool)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < pool->count; i++)
        sum += atomic_load_explicit(&pool->cores[i].thread.counts.completed, memory_order_acquire);
    return sum;
}

void simpler_core_pool_add_stats(const struct simpler_core_pool *pool,
                                 struct simpler_run_stats *stats)
{
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct simpler_thread_counts *c = &pool->cores[i].thread.counts;
        stats->tasks_run += atomic_load_explicit(&c->run, memory_order_relaxed);
        stats->tasks_failed += atomic_load_explicit(&c->failed, memory_order_relaxed);
        stats->tasks_poisoned += atomic_load_explicit(&c->poisoned, memory_order_relaxed);
        stats->tasks_skipped += atomic_load_explicit(&c->skipped, memory_order_relaxed);
        stats->blocks_run += atomic_load_explicit(&c->blocks, memory_order_relaxed);
    }
}

int simpler_core_pool_open(struct simpler_device *device, uint32_t clusters,
                           struct simpler_core_pool **out)
{
    struct simpler_core_pool *pool = simpler_alloc_aligned(1, sizeof(*pool));
    if (pool == NULL)
        return SIMPLER_ENOMEM;
    pool->device = device;
    pool->aic_count = clusters;
    pool->count = clusters * 3;
    pool->cores = simpler_alloc_aligned(pool->count, sizeof(*pool->cores));
    if (pool->cores == NULL) {
        simpler_alloc_free(pool);
        return SIMPLER_ENOMEM;
    }
    atomic_store_explicit(&pool->overflow, SIMPLER_NO_TASK, memory_order_relaxed);
    atomic_store_explicit(&pool->arrived, SIMPLER_NO_TASK, memory_order_relaxed);
    pool->first = pool->last = SIMPLER_NO_TASK;
    simpler_event_init(&pool->freed[SIMPLER_CORE_AIC]);
    simpler_event_init(&pool->freed[SIMPLER_CORE_AIV]);
    for (uint32_t i = 0; i < pool->count; i++) {
        struct simpler_core *core = &pool->cores[i];
        core->pool = pool;
        core->type = i < clusters ? SIMPLER_CORE_AIC : SIMPLER_CORE_AIV;
        core->bit = i < clusters ? i : i - clusters;
        simpler_scheduler_init_thread(&core->thread, device, i);
        core->thread.lane = device->thread_count + i;
        core->lane = SIMPLER_LANE_NONE;
        core->thread.global.sub_block_id = i < clusters ? 0 : (int32_t)(core->bit % 2);
        simpler_event_init(&core->wake);
        atomic_store_explicit(&core->mailbox, SIMPLER_NO_TASK, memory_order_relaxed);
        release_core(core);
    }
    *out = pool;
    return 0;
}

void simpler_core_pool_set_handshake(struct simpler_core_pool *pool, uint32_t flags)
{
    for (uint32_t i = 0; i < pool->count; i++)
        pool->cores[i].thread.handshake = flags;
}

uint32_t simpler_core_pool_clusters(const struct simpler_core_pool *pool)
{
    return pool->aic_count;
}

uint32_t simpler_core_pool_count(const struct simpler_core_pool *pool)
{
    return pool->count;
}

struct simpler_thread *simpler_core_pool_thread(const struct simpler_core_pool *pool, uint32_t i)
{
    struct simpler_core *core = &pool->cores[i];
    /* acquire: the thread's fields; a dispatcher starts it at any time of a run. */
    return atomic_load_explicit(&core->started, memory_order_acquire) ? &core->thread : NULL;
}

uint32_t simpler_core_pool_mailbox(const struct simpler_core_pool *pool, uint32_t i)
{
    return atomic_load_explicit(&pool->cores[i].mailbox, memory_order_acquire);
}

uint32_t simpler_core_pool_overflow(const struct simpler_core_pool *pool)
{
    /* acquire, pairs with C3. */
    return atomic_load_explicit(&pool->overflow, memory_order_acquire);
}

uint32_t simpler_core_pool_arrived(const struct simpler_core_pool *pool)
{
    /* acquire, pairs with C4. */
    return atomic_load_explicit(&pool->arrived, memory_order_acquire);
}

uint32_t simpler_core_pool_first(const struct simpler_core_pool *pool)
{
    return pool->first;
}

void simpler_core_pool_ask_out(struct simpler_core_pool *pool)
{
    atomic_store_explicit(&pool->closing, true, memory_order_release);
    for (uint32_t i = 0; i < pool->count; i++)
        simpler_event_wake(&pool->cores[i].wake, 1);
    simpler_event_wake(&pool->freed[SIMPLER_CORE_AIC], INT_MAX);
    simpler_event_wake(&pool->freed[SIMPLER_CORE_AIV], INT_MAX);
}

void simpler_core_pool_close(struct simpler_core_pool *pool)
{
    if (pool == NULL)
        return;
    atomic_store_explicit(&pool->closing, true, memory_order_release);
    for (uint32_t i = 0; i < pool->count; i++) {
        struct simpler_core *core = &pool->cores[i];
        if (!atomic_load_explicit(&core->started, memory_order_relaxed))
            continue;
        simpler_event_wake(&core->wake, 1);
        pthread_join(core->thread.handle, NULL);
    }
    simpler_alloc_free(pool->cores);
    simpler_alloc_free(pool);
}
