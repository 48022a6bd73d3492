/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers and flags of resident kernels.  A wait spins for a moment, then parks;
 * it ends with an error as soon as somebody that it needs has returned, so that a
 * kernel that fails early does not hang its peers.
 */
#include "task/resident.h"

#include <limits.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/testpoint.h"

/* A parked member looks at the run's stop word this often. */
#define LOOK_PERIOD_NS 20000000u

void simpler_group_init(struct simpler_group *group, uint32_t members)
{
    group->members = members;
    atomic_store_explicit(&group->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&group->phase, 0, memory_order_relaxed);
    atomic_store_explicit(&group->gone, 0, memory_order_relaxed);
    simpler_event_init(&group->event);
}

void simpler_block_group_init(struct simpler_block_group *block, uint8_t lanes)
{
    block->lanes = lanes;
    simpler_group_init(&block->group, (uint32_t)__builtin_popcount(lanes));
    for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++) {
        for (uint32_t flag = 0; flag < SIMPLER_LANE_FLAGS; flag++)
            atomic_store_explicit(&block->flag[lane][flag], 0, memory_order_relaxed);
    }
}

static void leave(struct simpler_group *group)
{
    /* R3, release: what the member did before. */
    atomic_fetch_add_explicit(&group->gone, 1, memory_order_release);
    simpler_event_notify_rare(&group->event, INT_MAX);
}

void simpler_member_leave(struct simpler_member *member)
{
    if (member->block != NULL)
        leave(&member->block->group);
    if (member->task != NULL)
        leave(member->task);
}

enum verdict { WAIT, PASSED, NEVER };

struct wait {
    struct simpler_group *group;
    uint32_t phase;         /* of a barrier: the one to be left */
    _Atomic uint32_t *flag; /* NULL: a barrier */
};

static bool take_flag(_Atomic uint32_t *flag)
{
    uint32_t n = atomic_load_explicit(flag, memory_order_relaxed);
    while (n != 0) {
        /* acquire, pairs with R4. */
        if (atomic_compare_exchange_weak_explicit(flag, &n, n - 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    }
    return false;
}

static bool has_come(const struct wait *w)
{
    if (w->flag != NULL)
        return take_flag(w->flag);
    /* acquire, pairs with R2. */
    return atomic_load_explicit(&w->group->phase, memory_order_acquire) != w->phase;
}

static enum verdict look(const struct wait *w)
{
    if (has_come(w))
        return PASSED;
    /* acquire, pairs with R3: what a member that is gone did is seen by the second look. */
    uint32_t gone = atomic_load_explicit(&w->group->gone, memory_order_acquire);
    if (gone == 0 || (w->flag != NULL && gone + 1 < w->group->members))
        return WAIT;
    return has_come(w) ? PASSED : NEVER;
}

static int wait_for(const struct simpler_member *member, const struct wait *w)
{
    uint64_t end = simpler_clock_ticks() + member->spin_ticks;
    enum verdict verdict = look(w);

    while (verdict == WAIT && simpler_clock_ticks() < end) {
        simpler_clock_relax();
        verdict = look(w);
    }
    while (verdict == WAIT) {
        int32_t stop = atomic_load_explicit(member->stop, memory_order_acquire);
        if (stop != 0) {
            atomic_store_explicit(member->cut, 1, memory_order_relaxed);
            return stop;
        }
        uint32_t seen = simpler_event_prepare_rare(&w->group->event);
        verdict = look(w);
        if (verdict == WAIT)
            simpler_event_wait(&w->group->event, seen, LOOK_PERIOD_NS);
        else
            simpler_event_cancel(&w->group->event);
        if (verdict == WAIT)
            verdict = look(w);
    }
    return verdict == PASSED ? 0 : SIMPLER_EKERNEL;
}

static int arrive(const struct simpler_member *member, struct simpler_group *group)
{
    struct wait w = {group, atomic_load_explicit(&group->phase, memory_order_relaxed), NULL};

    SIMPLER_TESTPOINT(GROUP_BEFORE_ARRIVE);
    /* R1, acq_rel: the last one takes what all the others gave. */
    if (atomic_fetch_add_explicit(&group->arrived, 1, memory_order_acq_rel) + 1 != group->members)
        return wait_for(member, &w);
    atomic_store_explicit(&group->arrived, 0, memory_order_relaxed);
    /* R2, release. */
    atomic_store_explicit(&group->phase, w.phase + 1, memory_order_release);
    simpler_event_notify_rare(&group->event, INT_MAX);
    return 0;
}

/* NULL: the caller may wait for nobody, or it is no kernel at all. */
static struct simpler_member *member_of(const int64_t *args)
{
    if (args == NULL || args[SIMPLER_KERNEL_LOCAL_CONTEXT] == 0)
        return NULL;
    const struct simpler_local_context *local =
        (const struct simpler_local_context *)(uintptr_t)args[SIMPLER_KERNEL_LOCAL_CONTEXT];
    return local->member;
}

static int refuse(struct simpler_member *member, const char *what)
{
    return member == NULL ? -SIMPLER_CODE_REQUIRE_SYNC_START_INVALID
                          : member->ops->refuse(member, what);
}

int simpler_kernel_sync_all(const int64_t *args)
{
    struct simpler_member *member = member_of(args);
    if (member == NULL || member->task == NULL)
        return refuse(member, "a barrier of all blocks");
    return arrive(member, member->task);
}

int simpler_kernel_sync_block(const int64_t *args)
{
    struct simpler_member *member = member_of(args);
    if (member == NULL || member->block == NULL)
        return refuse(member, "a barrier of the lanes of a block");
    return arrive(member, &member->block->group);
}

int simpler_kernel_set_flag(const int64_t *args, uint32_t lane, uint32_t flag)
{
    struct simpler_member *member = member_of(args);
    if (member == NULL || member->block == NULL)
        return refuse(member, "a flag of a lane");
    struct simpler_block_group *block = member->block;
    if (flag >= SIMPLER_LANE_FLAGS || lane >= SIMPLER_LANES || (block->lanes >> lane & 1) == 0)
        return SIMPLER_EINVAL;
    /* R4, release. */
    atomic_fetch_add_explicit(&block->flag[lane][flag], 1, memory_order_release);
    simpler_event_notify_rare(&block->group.event, INT_MAX);
    return 0;
}

int simpler_kernel_wait_flag(const int64_t *args, uint32_t flag)
{
    struct simpler_member *member = member_of(args);
    if (member == NULL || member->block == NULL)
        return refuse(member, "a wait for a flag of a lane");
    if (flag >= SIMPLER_LANE_FLAGS)
        return SIMPLER_EINVAL;
    struct wait w = {&member->block->group, 0, &member->block->flag[member->lane][flag]};
    return wait_for(member, &w);
}

uint32_t simpler_kernel_lane(const int64_t *args)
{
    const struct simpler_member *member = member_of(args);
    return member == NULL ? SIMPLER_LANE_AIC : member->lane;
}

int simpler_kernel_defer(const int64_t *args, const struct simpler_async_condition *condition)
{
    struct simpler_member *member = member_of(args);
    return member == NULL ? -SIMPLER_CODE_ASYNC_REGISTRATION_FAILED
                          : member->ops->defer(member, condition);
}

void simpler_async_counter_add(struct simpler_async_counter *counter, uint32_t n)
{
    if (counter == NULL) {
        SIMPLER_ERROR("async_counter_add: the counter is NULL");
        return;
    }
    /* Release: pairs with the acquire load of whoever looks at the condition. */
    (void)__atomic_fetch_add(&counter->value, n, __ATOMIC_RELEASE);
}

uint32_t simpler_async_counter_get(const struct simpler_async_counter *counter)
{
    return counter == NULL ? 0 : __atomic_load_n(&counter->value, __ATOMIC_ACQUIRE);
}
