/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_HBG_ENGINE_H
#define SIMPLER_HBG_HBG_ENGINE_H

/*
 * The device's side: it only schedules.
 *
 * A run is its own graph and, for each recorded graph that it calls, that graph
 * again: parts.  A part's grains are units of the run.  A unit waits on the wake
 * list of its latest producer that is not done; whoever completes that one looks
 * at it anew.  A call is a unit too: running it starts its part, and the last
 * unit of the part completes it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/caller_seat.h"
#include "base/event.h"
#include "base/round_trip.h"
#include "base/sleepers.h"
#include "base/spin_wait.h"
#include "hbg/grain_plan.h"
#include "hbg/host_graph.h"
#include "platform/platform.h"
#include "simpler/kernel.h"
#include "task/deferral.h"
#include "task/kernel_guard.h"
#include "task/kernel_times.h"
#include "task/ready_queue.h"
#include "task/resident.h"
#include "task/runtime.h"

#define SIMPLER_HBG_NO_UNIT UINT32_MAX
/* Threads of the largest device, one a core of the largest geometry (exec threads), the crew. */
#define SIMPLER_HBG_MAX_THREADS (256u + 108u + 108u)

#define SIMPLER_HBG_WAKE_CLOSED UINT32_MAX

/*
 *   field    written by                               read by     publishes
 *   wake     waiters (push, release, W1)              completer   the waiter's next
 *            completer (CLOSED, acq_rel, W2)          waiters     the effects of the unit's tasks
 *   next     whoever holds the unit, before W1        completer
 *   cursor   whoever holds the unit                   the same
 *
 * Of a part that goes along tracks nobody waits on a list: the completer stores CLOSED (release,
 * W2), and who has a consumer looks.
 */
struct simpler_hbg_unit {
    _Atomic uint32_t wake; /* 0: nobody waits; 1 + a unit; CLOSED: done */
    uint32_t next;         /* 1 + a unit, or 0: of a wake list or a thread's stack */
    uint32_t cursor;       /* edges before it lead to units that are done */
};

/* Of a node.  DONE and HELD once the run was cut anew (recut.h), until then its unit says so. */
#define SIMPLER_HBG_FAILED 1u
#define SIMPLER_HBG_DONE   2u
#define SIMPLER_HBG_HELD   4u /* its kernels have returned, its conditions did not hold */

/*
 * Where a track is: in the high half the serial of the part that it belongs to, in the low half
 * the place in plan->track of the first grain that nobody has taken.  Who takes it counts it up by
 * a compare-exchange (relaxed: what the grain needs comes with W2 and the device's tracked).
 */
struct simpler_hbg_track {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint64_t at;
};

struct simpler_hbg_part {
    const struct simpler_hbg_image *image;
    const struct simpler_hbg_plan *plan;
    const struct simpler_hbg_base *bases;
    const uint64_t *scalars;
    const struct simpler_hbg_site *sites; /* for reports */
    /* Bits of each node: whoever ran it, before W2; who cuts anew.  Relaxed: a report that does not
     * wait for W2 may read them too. */
    _Atomic uint8_t *failed;
    uint64_t id_base; /* of node 0, and of owners in its base 0 */
    uint32_t serial;  /* of all parts of the device, from 1 */
    uint32_t first_unit;
    uint32_t call_unit, call_node; /* in the run's own graph; of that itself NO_UNIT */
    bool poisoned;                 /* a producer of the call failed; whoever starts the part */
    _Atomic bool tracked;          /* it goes along its plan's tracks; the same, before any unit */
    _Atomic bool any_failed;       /* before W2 */
    _Atomic uint32_t remaining;    /* units; the last one out completes the call (W3, acq_rel) */
};

struct simpler_hbg_device;

/* Counts of one thread, since the device was opened; written by it, read by all (relaxed). */
struct simpler_hbg_counts {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint64_t completed;
    _Atomic uint64_t run;
    _Atomic uint64_t failed;
    _Atomic uint64_t poisoned;
    _Atomic uint64_t skipped;
    _Atomic uint64_t blocks;
};

/*
 * What a thread is inside of, for who ends a hung run; written by the thread (relaxed but M1).
 * The guard's word says "inside tasks of this part" and, of one kernel of several, which; a
 * stretch of plain tasks is one stay, in which node goes from stretch on.
 */
struct simpler_hbg_place {
    struct simpler_kernel_guard guard; /* see simpler_hbg_word */
    _Atomic uint32_t node;
    _Atomic uint32_t stretch;       /* tasks from here to node are done, and not counted yet */
    _Atomic uint32_t in_diagnostic; /* 1 where it may wait for the host: the clock stands still */
};

struct simpler_hbg_thread {
    struct simpler_ready_queue queue;
    /* The owner alone from here on. */
    _Alignas(SIMPLER_CACHE_LINE) struct simpler_hbg_device *device;
    struct simpler_hbg_counts *counts;
    struct simpler_hbg_place place;
    uint32_t index;
    uint32_t lane;   /* of diagnostics */
    bool left;       /* the run hangs and it is on its way out: what it was at is not done */
    bool deferred;   /* the kernel that it runs, or has run last, has registered conditions */
    uint64_t nap_ns; /* its last sleep while conditions are open */
    uint32_t first;  /* node of the grain that it is in; those up to place.node are done */
    const struct simpler_hbg_part *part; /* of that grain; NULL: in none */
    uint32_t handed;                     /* unit to run next, or NO_UNIT */
    uint32_t stack;   /* 1 + a unit: ready ones that the queue had no room for; 0: none */
    uint32_t stacked; /* units on it */
    uint32_t timing;  /* tasks until the next that is timed */
    uint32_t victim;  /* where stealing starts */
    uint32_t done;    /* units of done_part that it has completed and remaining does not know */
    struct simpler_hbg_part *done_part;
    uint64_t head;       /* the track's place that it looks at, as simpler_hbg_track has it */
    uint32_t head_edge;  /* edges before it lead to units that are done */
    uint64_t told_ticks; /* when it last woke a thread for a track */
    bool woken;          /* it has slept, and found nothing since */
    uint32_t helped;     /* the other track that it last took a grain of, */
    uint64_t helped_at;  /* and where that was afterwards; 0: it has gone on since */
    int64_t args[SIMPLER_KERNEL_ARGS];
    uint64_t view_key[SIMPLER_MAX_TENSORS];   /* serial and view that scratch i is of */
    uint64_t view_start[SIMPLER_MAX_TENSORS]; /* its start_offset at distance 0 */
    struct simpler_tensor scratch[SIMPLER_MAX_TENSORS];
    struct simpler_local_context local;
    struct simpler_global_context global;
    struct simpler_member member;
    pthread_t handle;
    bool started;
    struct simpler_guard_verdict verdict; /* of a hung run; the caller's */
};

/* The first kernel that failed; whoever wins claim writes the rest before W2. */
struct simpler_hbg_failure {
    _Atomic uint32_t claim;
    uint32_t func_id;
    uint64_t id;
    int status;
    struct simpler_hbg_site site;
};

/* See block_spread.c. */
struct simpler_hbg_spread {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint64_t word; /* offer 32 | blocks not taken 32 */
    _Atomic uint32_t owner;
    _Atomic uint32_t left;
    _Atomic int32_t status;
    uint32_t number;
    struct simpler_hbg_part *part;
};

struct simpler_hbg_crew;

struct simpler_hbg_device {
    const struct simpler_platform *platform;
    struct simpler_runtime_env env; /* what the memory below is sized for */
    struct simpler_hbg_orch *orch;
    struct simpler_hbg_graph_cache cache;
    struct simpler_estimate_table all_estimates;

    /* One run: set before it starts, constant during it. */
    const struct simpler_device_run *run; /* NULL or &current */
    struct simpler_device_run current;    /* copies: a hung run outlives its caller's */
    struct simpler_orch_args current_args;
    struct simpler_estimates *estimates;
    uint32_t defer_serial;                       /* see kernel_times.h */
    const struct simpler_kernel *const *kernels; /* by func_id */
    uint32_t dump_level;
    struct simpler_hbg_image *image; /* of the run's own graph, image_capacity bytes */
    uint64_t image_capacity;
    struct simpler_hbg_plan plan; /* of it */
    struct simpler_hbg_base *bases;
    uint32_t base_capacity;
    struct simpler_hbg_part *parts;
    uint32_t part_count, part_capacity;
    uint32_t serial; /* of the part that was made last */
    struct simpler_hbg_unit *units;
    _Atomic uint8_t *failed;
    bool failed_dirty;
    uint32_t unit_capacity;

    struct simpler_hbg_thread *threads;
    uint32_t thread_count;
    /* So many counts are in use since the device was opened.  Written by the caller of a run, read
     * by anybody who asks for the progress (relaxed: it only grows), like progress_base. */
    _Atomic uint32_t most_threads;
    uint32_t parallel; /* threads that can run at once */
    uint64_t spin_ticks;
    bool spin_allowed;
    struct simpler_spin_wait caller_wait; /* for the end of a run */
    struct simpler_caller_seat caller;
    _Atomic bool spinning; /* a thread spins for the next run; threads, relaxed */
    uint64_t probed_ns;

    /* Why the run is to stop: 0, minus a code or SIMPLER_E*; first writer wins. */
    _Alignas(SIMPLER_CACHE_LINE) _Atomic int32_t stop;
    /* 1: something failed or is to stop; every task looks first.  Set before W2 or by stop. */
    _Atomic uint32_t attention;
    _Atomic uint32_t cut; /* 1: because of stop something was not run; any thread, before W2 */
    _Atomic uint32_t handover_ns;
    _Atomic bool closing; /* every thread is to leave the run, and its entry */
    /*
     * Threads in the run, and bit 31: it is over (or has not begun).  W4: the store
     * that opens it (release) publishes the run; entering acquires it.  The last
     * one out of a run that is over says so to the caller (finish_seq).  Bit 30: the run
     * is to be cut anew, by the last one out; nobody enters, W4 is stored once more.
     *
     * Who cuts claims it (bit 29, from "bit 30 alone"), who ends a hung run sets bit 28 before
     * anybody is told to leave: from then on no cut is claimed, and while one that was claimed
     * before is not done (W4) plans, units and bits are its own.
     */
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t gate;
    _Atomic uint32_t booted; /* enum simpler_hbg_boot */
    /* The part that goes along tracks now, or NULL; who starts it (release) and who ends it. */
    _Atomic(struct simpler_hbg_part *) tracked;
    _Atomic uint32_t tracks_taken; /* 1: by a part; W5, released when it is done */
    struct simpler_hbg_track tracks[SIMPLER_HBG_MAX_TRACKS];
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t finish_seq;
    struct simpler_sleepers work; /* threads wait for units and runs */
    struct simpler_event finish;  /* the caller waits */
    struct simpler_round_trip round_trip;
    struct simpler_hbg_failure failure;
    struct simpler_hbg_spread spread;
    struct simpler_deferral_list deferred;   /* a task: part << 32 | node */
    _Atomic(struct simpler_hbg_crew *) crew; /* NULL until a task needs it */
    uint32_t crew_clusters;
    uint64_t start_ns;                /* of the run */
    struct simpler_guard_set guarded; /* its threads, for the end of a hung run */
    _Atomic uint32_t asked;           /* a report is wanted; anyone */
    bool hung, busy;                  /* the last run; a thread of it is still inside; the caller */
    char busy_text[256];
    struct simpler_timing timing[SIMPLER_TIMING_SLOTS];
    struct simpler_hbg_counts counts[SIMPLER_HBG_MAX_THREADS];
    _Atomic uint64_t progress_base;
};

#define SIMPLER_HBG_GATE_OVER  0x80000000u
#define SIMPLER_HBG_GATE_RECUT 0x40000000u
#define SIMPLER_HBG_GATE_CUTS  0x20000000u
#define SIMPLER_HBG_GATE_HUNG  0x10000000u
#define SIMPLER_HBG_GATE_COUNT 0x0fffffffu
/* Nobody enters. */
#define SIMPLER_HBG_GATE_SHUT (SIMPLER_HBG_GATE_OVER | SIMPLER_HBG_GATE_RECUT)

/* The units are put where they belong by one thread, which takes it. */
enum simpler_hbg_boot {
    SIMPLER_HBG_BOOT_NEW = 0,  /* nothing was run */
    SIMPLER_HBG_BOOT_DONE = 1, /* taken */
    SIMPLER_HBG_BOOT_REST = 2  /* the run was cut anew */
};

/* The word around tasks of @part; @func_id: the kernel of one lane, or NO_FUNC: the task's own. */
SIMPLER_INLINE uint64_t simpler_hbg_word(const struct simpler_hbg_device *device,
                                         const struct simpler_hbg_part *part, uint32_t func_id)
{
    return (uint64_t)(part - device->parts + 1) << 32 | func_id;
}

SIMPLER_INLINE const struct simpler_hbg_part *
simpler_hbg_word_part(const struct simpler_hbg_device *device, uint64_t word)
{
    return &device->parts[(word >> 32) - 1];
}

SIMPLER_INLINE bool simpler_hbg_is_closing(const struct simpler_hbg_device *device)
{
    return atomic_load_explicit(&device->closing, memory_order_acquire);
}

/*
 * Before a task; who is told so does not run it.  acquire: pairs with the stop of who ends a hung
 * run, who sets closing before: asked in this order, a run that is taken away is left and not
 * gone through.
 */
SIMPLER_INLINE bool simpler_hbg_is_stopped(struct simpler_hbg_device *device)
{
    if (SIMPLER_LIKELY(atomic_load_explicit(&device->stop, memory_order_acquire) == 0))
        return false;
    atomic_store_explicit(&device->cut, 1, memory_order_relaxed);
    return true;
}

/* It is over, or to be left because it is cut anew. */
SIMPLER_INLINE bool simpler_hbg_is_shut(const struct simpler_hbg_device *device)
{
    return (atomic_load_explicit(&device->gate, memory_order_relaxed) & SIMPLER_HBG_GATE_SHUT) != 0;
}

SIMPLER_INLINE bool simpler_hbg_is_recut(const struct simpler_hbg_device *device)
{
    return (atomic_load_explicit(&device->gate, memory_order_relaxed) & SIMPLER_HBG_GATE_RECUT) !=
           0;
}

/* See failed of a part; one writer at a time. */
SIMPLER_INLINE uint8_t simpler_hbg_bits(const struct simpler_hbg_part *part, uint32_t node)
{
    return atomic_load_explicit(&part->failed[node], memory_order_relaxed);
}

SIMPLER_INLINE void simpler_hbg_add_bit(const struct simpler_hbg_part *part, uint32_t node,
                                        uint8_t bit)
{
    atomic_store_explicit(&part->failed[node], (uint8_t)(simpler_hbg_bits(part, node) | bit),
                          memory_order_relaxed);
}

/* Whether all of the grain is done; a part of one grain is done in one piece with its call. */
SIMPLER_INLINE bool simpler_hbg_is_grain_done(const struct simpler_hbg_device *device,
                                              const struct simpler_hbg_part *part, uint32_t grain)
{
    bool whole = part->call_unit != SIMPLER_HBG_NO_UNIT && part->plan->grain_count == 1;
    uint32_t unit = whole ? part->call_unit : part->first_unit + grain;

    /* acquire, pairs with W2. */
    return atomic_load_explicit(&device->units[unit].wake, memory_order_acquire) ==
           SIMPLER_HBG_WAKE_CLOSED;
}

/* The part that a unit belongs to. */
SIMPLER_INLINE struct simpler_hbg_part *simpler_hbg_part_of(const struct simpler_hbg_device *device,
                                                            uint32_t unit)
{
    uint32_t low = 0, high = device->part_count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (device->parts[middle].first_unit <= unit)
            low = middle;
        else
            high = middle;
    }
    return &device->parts[low];
}

#endif
