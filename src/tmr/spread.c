/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a kernel that needs one core alone: whoever has the task offers it in
 * one of a few places, and every thread that finds nothing else takes ranges of
 * blocks from there.  A place is one word, so that a claim is one compare-exchange
 * and a late one, of a task that is over, fails:
 *
 *     blocks not taken 16 | slot number 32
 *
 * An equal word is an equal offer, so a word that comes back does no harm.
 *
 *   field   written by                       read by     publishes
 *   word    who offers it (release, S1)      claimers    the task's slot
 *           claimers (CAS, acquire)          all         "these blocks are taken"
 */
#include "base/testpoint.h"
#include "tmr/launch.h"
#include "tmr/scheduler.h"

_Static_assert(SIMPLER_MAX_BLOCKS < 1 << 16, "blocks fit their part of the word");

static uint32_t blocks_in(uint64_t word)
{
    return (uint32_t)(word >> 48);
}

static uint32_t number_in(uint64_t word)
{
    return (uint32_t)word;
}

/* Some of what is left, so that all threads end together: less and less at a time. */
static uint32_t share(const struct simpler_device *device, uint32_t left)
{
    uint32_t n = left / (2 * device->thread_count);
    return n == 0 ? 1 : n;
}

/* Runs blocks [first, first + count) counted from the end; true when one was the task's last. */
static bool run_blocks(struct simpler_thread *thread, uint32_t number, uint32_t left,
                       uint32_t count)
{
    const struct simpler_task_launch *launch = &thread->device->table.launch[number];
    enum simpler_lane lane = (enum simpler_lane)__builtin_ctz(launch->lanes);
    int32_t block = launch->block_num - (int32_t)left;
    bool last = false;

    for (uint32_t i = 0; i < count; i++)
        last = simpler_launch_block(thread, number, block + (int32_t)i, lane);
    return last;
}

/* Takes a range and runs it; false when there is none. */
static bool take_range(struct simpler_thread *thread, _Atomic uint64_t *place)
{
    uint64_t word = atomic_load_explicit(place, memory_order_relaxed);
    uint32_t left, count;

    do {
        left = blocks_in(word);
        if (left == 0)
            return false;
        count = share(thread->device, left);
        SIMPLER_TESTPOINT(SPREAD_BEFORE_TAKE);
        /* acquire, pairs with S1. */
    } while (!atomic_compare_exchange_weak_explicit(place, &word, word - ((uint64_t)count << 48),
                                                    memory_order_acquire, memory_order_relaxed));
    uint32_t number = number_in(word);
    if (run_blocks(thread, number, left, count))
        simpler_launch_finish(thread, number);
    return true;
}

bool simpler_spread_help(struct simpler_thread *thread)
{
    struct simpler_device *device = thread->device;
    bool helped = false;

    for (uint32_t i = 0; i < SIMPLER_SPREAD_PLACES; i++) {
        while (take_range(thread, &device->spread[i].word))
            helped = true;
    }
    return helped;
}

/* Puts the task into a free place, or NULL when all are taken. */
static _Atomic uint64_t *offer(struct simpler_device *device, uint32_t number)
{
    uint64_t blocks = (uint64_t)device->table.launch[number].block_num;

    for (uint32_t i = 0; i < SIMPLER_SPREAD_PLACES; i++) {
        _Atomic uint64_t *place = &device->spread[i].word;
        uint64_t word = atomic_load_explicit(place, memory_order_relaxed);
        if (blocks_in(word) != 0)
            continue;
        uint64_t made = blocks << 48 | number;
        /* S1, release. */
        if (atomic_compare_exchange_strong_explicit(place, &word, made, memory_order_release,
                                                    memory_order_relaxed))
            return place;
    }
    return NULL;
}

void simpler_spread_run(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_device *device = thread->device;
    uint32_t blocks = (uint32_t)device->table.launch[number].block_num;
    _Atomic uint64_t *place = device->thread_count == 1 ? NULL : offer(device, number);

    if (place == NULL) {
        if (run_blocks(thread, number, blocks, blocks))
            simpler_launch_finish(thread, number);
        return;
    }
    simpler_sleepers_wake(&device->work, blocks - 1);
    simpler_event_notify(&device->progress, 1);
    while (take_range(thread, place))
        ;
}
