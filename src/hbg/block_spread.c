/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One task at a time offers its blocks; whoever else has such a task meanwhile
 * runs all of its blocks itself.
 *
 *   field   written by                         read by     publishes
 *   owner   offerers (CAS, acquire; 0, release)  offerers  "the place is free"
 *   word    owner (release, S1); claimers (CAS)  claimers  part and number
 *   left    whoever ran blocks (acq_rel, S2)     owner     the blocks' effects, status
 *   status  whoever ran blocks, before S2        owner
 */
#include "base/clock.h"
#include "hbg/hbg_launch.h"

#define OFFER_BITS 32

static uint32_t share(const struct simpler_hbg_device *device, uint32_t left)
{
    uint32_t n = left / (2 * device->thread_count);
    return n == 0 ? 1 : n;
}

/* @count blocks, the first of which is @left from the end. */
static int run_blocks(struct simpler_hbg_thread *thread, const struct simpler_hbg_part *part,
                      uint32_t number, uint32_t left, uint32_t count)
{
    const struct simpler_hbg_launch *launch = simpler_hbg_launch_of(part->image, number);
    uint32_t lane = (uint32_t)__builtin_ctz(launch->lanes);
    int32_t block = launch->block_num - (int32_t)left;
    int status = 0;

    for (uint32_t i = 0; i < count && !thread->left; i++) {
        int rc = simpler_hbg_run_block(thread, part, number, block + (int32_t)i, lane);
        status = status == 0 ? rc : status;
    }
    return status;
}

static bool take_range(struct simpler_hbg_thread *thread)
{
    struct simpler_hbg_spread *spread = &thread->device->spread;
    uint64_t word = atomic_load_explicit(&spread->word, memory_order_relaxed);
    uint32_t left, count;
    int32_t none = 0;

    do {
        left = (uint32_t)word;
        if (left == 0)
            return false;
        count = share(thread->device, left);
        /* acquire, pairs with S1. */
    } while (!atomic_compare_exchange_weak_explicit(&spread->word, &word, word - count,
                                                    memory_order_acquire, memory_order_relaxed));
    /* The offer stands until our blocks are done. */
    int status = run_blocks(thread, spread->part, spread->number, left, count);
    if (thread->left)
        return false;
    if (status != 0)
        (void)atomic_compare_exchange_strong_explicit(&spread->status, &none, status,
                                                      memory_order_relaxed, memory_order_relaxed);
    /* S2, acq_rel. */
    atomic_fetch_sub_explicit(&spread->left, count, memory_order_acq_rel);
    return true;
}

bool simpler_hbg_spread_help(struct simpler_hbg_thread *thread)
{
    bool helped = false;

    while (take_range(thread))
        helped = true;
    return helped;
}

static bool take_place(struct simpler_hbg_device *device)
{
    uint32_t nobody = 0;

    return device->thread_count > 1 &&
           atomic_compare_exchange_strong_explicit(&device->spread.owner, &nobody, 1,
                                                   memory_order_acquire, memory_order_relaxed);
}

int simpler_hbg_spread_blocks(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                              uint32_t number)
{
    struct simpler_hbg_device *device = thread->device;
    struct simpler_hbg_spread *spread = &device->spread;
    uint32_t blocks = (uint32_t)simpler_hbg_launch_of(part->image, number)->block_num;

    if (blocks == 1 || !take_place(device))
        return run_blocks(thread, part, number, blocks, blocks);
    uint64_t offer = (atomic_load_explicit(&spread->word, memory_order_relaxed) >> OFFER_BITS) + 1;
    spread->part = part;
    spread->number = number;
    atomic_store_explicit(&spread->status, 0, memory_order_relaxed);
    atomic_store_explicit(&spread->left, blocks, memory_order_relaxed);
    /* S1, release. */
    atomic_store_explicit(&spread->word, offer << OFFER_BITS | blocks, memory_order_release);
    simpler_sleepers_wake(&device->work, blocks - 1);
    while (take_range(thread))
        ;
    /* acquire, pairs with S2.  Others have at most one range each. */
    while (atomic_load_explicit(&spread->left, memory_order_acquire) != 0) {
        /* The place stays taken: the run hangs. */
        thread->left |= simpler_hbg_is_closing(device);
        if (thread->left)
            return 0;
        simpler_clock_relax();
    }
    int status = atomic_load_explicit(&spread->status, memory_order_relaxed);
    atomic_store_explicit(&spread->owner, 0, memory_order_release);
    return status;
}
