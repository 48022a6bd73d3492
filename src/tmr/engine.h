/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_ENGINE_H
#define SIMPLER_TMR_ENGINE_H

/*
 * The structs of the runtime: rings, threads, orchestrator, device.
 *
 * One thread orchestrates, the others schedule.  A task whose producers are done
 * and whose kernel is shorter than a hand-over to another core is run by the
 * orchestrator as it is submitted (solo); every other task is shared.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/event.h"
#include "base/caller_seat.h"
#include "base/round_trip.h"
#include "base/sleepers.h"
#include "base/spin_wait.h"
#include "simpler/orch.h"
#include "simpler/worker.h"
#include "task/deferral.h"
#include "base/idle_clock.h"
#include "task/kernel_guard.h"
#include "task/kernel_times.h"
#include "task/launch_args.h"
#include "task/resident.h"
#include "task/orch_ops.h"
#include "tmr/device.h"
#include "tmr/heap_ring.h"
#include "task/ready_queue.h"
#include "tmr/task_slot.h"
#include "task/tensormap.h"

#define SIMPLER_NO_TASK UINT32_MAX
#define SIMPLER_NO_HOLD UINT32_MAX
/* Ids of one ring in one run; the next submit is refused. */
#define SIMPLER_MAX_TASK_ID (UINT32_MAX - 2)
#define SIMPLER_MAX_THREADS 256u
/* Cores of the largest geometry: 36 clusters of 1 AIC and 2 AIV. */
#define SIMPLER_MAX_CORES 108u

struct simpler_arena;
struct simpler_hazard_check;
struct simpler_core_pool;

/* One ring; the orchestrator alone. */
struct simpler_ring {
    uint32_t first; /* slot number of slot 0 */
    uint32_t mask;  /* window - 1 */
    uint32_t next;  /* id of the next task */
    /* First id in the shallowest open scope of this ring that created an OUTPUT;
     * nothing from it on is retired.  SIMPLER_NO_HOLD: none. */
    uint32_t hold_from;
    uint32_t hold_depth; /* depth of the scope that set hold_from */
    uint32_t scope_from; /* id of the first task of the scope that began last here */
    uint32_t done_from;  /* all before this id are done, as last seen; at least alive */
    /* For the advice of a report: heap blocks of ids from hold_from on, the largest
     * of them, and whether the first lies at offset 0 of an empty heap. */
    uint64_t held_bytes;
    uint64_t held_max_block;
    bool held_from_zero;
    struct simpler_heap_ring heap;
    /* Edges to pending producers, inline ones too: pool entries top - tail. */
    uint64_t dep_top;
    uint64_t dep_tail;
    uint32_t dep_capacity;
    /* Both ends as scope stats show them: when a task was last wired here. */
    uint64_t dep_shown_top;
    uint64_t dep_shown_tail;
    uint32_t window_peak;
    uint64_t heap_peak;
    uint64_t dep_peak;
    /* What the rest of the orchestration would have needed, counted after a fatal code. */
    uint32_t dry_next;
    uint64_t needed_window;
    uint64_t needed_heap;
    uint64_t needed_dep;
};

/* Counts of one thread: written by it, read by everybody (relaxed; completed is P9). */
struct simpler_thread_counts {
    /* P9, release after the done byte: sums that equal the submits prove that all is done. */
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint64_t completed;
    _Atomic uint64_t run;
    struct simpler_kernel_guard guard; /* the word around a kernel, see kernel_word.h */
    _Atomic uint64_t failed;
    _Atomic uint64_t poisoned;
    _Atomic uint64_t skipped;       /* their predicate did not hold */
    _Atomic uint32_t running;       /* 1 while it holds a task: nothing is stuck */
    _Atomic uint32_t in_diagnostic; /* 1 where it may wait for the host: the clock stands still */
    _Atomic uint64_t blocks;        /* calls of kernels of tasks of shape LAUNCH */
};

/* One device thread (or core thread). */
struct simpler_thread {
    struct simpler_ready_queue queue;
    struct simpler_thread_counts counts;
    /* The owner alone from here on. */
    _Alignas(SIMPLER_CACHE_LINE) struct simpler_device *device;
    uint32_t index;
    uint32_t lane;        /* of diagnostics: unique among the threads of the device */
    uint32_t handed;      /* successor to run next, or SIMPLER_NO_TASK */
    uint32_t stack;       /* more ready tasks, linked by link[0], or SIMPLER_NO_TASK */
    uint32_t stack_count; /* of them */
    uint64_t stack_ns;    /* their estimated time, those included that have left meanwhile */
    uint32_t timing;      /* runs until the next timed one */
    uint32_t unnotified;  /* completions while the orchestrator sleeps and was not woken */
    uint32_t woken_sleep; /* the sleep of the orchestrator that this thread has ended */
    uint32_t owed;        /* a consumer with many references, or SIMPLER_NO_TASK */
    int32_t owed_count;   /* of which this thread has so many to drop */
    uint32_t owed_finds;  /* tasks begun since it last dropped some */
    uint32_t victim;      /* where stealing starts */
    uint32_t deferred;    /* conditions that the kernel which runs has registered */
    uint32_t handshake;   /* its copy of the run's enable_profiling_flag, see arg_capture.h */
    uint64_t nap_ns;      /* its last sleep while conditions are open, see deferred.h */
    int64_t contexts[2];  /* what goes to the last two arguments of each kernel */
    int64_t args[SIMPLER_KERNEL_ARGS];
    struct simpler_tensor scratch[SIMPLER_MAX_TENSORS];
    struct simpler_local_context local;
    struct simpler_member member;
    struct simpler_global_context global;
    pthread_t handle;
    bool started;
    /* Of a hung run, written by the monitor, read by the caller behind P11. */
    struct simpler_guard_verdict verdict;
};

/* One open scope; what its end puts back. */
struct simpler_scope_frame {
    const char *file; /* NULL: unknown */
    int32_t line;
    uint8_t manual;   /* of the scope around it */
    uint8_t had_hold; /* its ring was held by a scope around it */
    uint8_t ring;     /* of the scope around it */
    uint8_t reserved;
};

/* Whether every task that was submitted is done, and none has failed: short ones may pass. */
enum simpler_settled {
    SIMPLER_SETTLED_NOT = 0,
    SIMPLER_SETTLED = 1,
    SIMPLER_SETTLED_WATCHED = 2 /* in a run whose args dump sees every task */
};

/*
 * A stretch of tasks that pass through, see passing.h.  The orchestrator's; the monitor's once
 * that has been revoked inside a kernel.
 */
#define SIMPLER_PASSING_TYPES   2u /* AIC and AIV, as in enum simpler_shape */
#define SIMPLER_PASSING_KERNELS 8u /* of each, by the low bits of func_id */
struct simpler_passing {
    /* Values of the thread's count of completed tasks: when the stretch began, when time is looked
     * at next (0: there is no stretch), when it ends. */
    uint64_t from, until, last;
    /* The submit whose kernel runs. */
    uint32_t func_id;
    const struct simpler_task_args *args;
    struct simpler_task_outputs *out;
    /* Kernels that are known to be short, each in its place; none: the id of another place. */
    uint32_t known[SIMPLER_PASSING_TYPES][SIMPLER_PASSING_KERNELS];
    simpler_kernel_fn fn[SIMPLER_PASSING_TYPES][SIMPLER_PASSING_KERNELS];
};

/* The orchestrator of one run. */
struct simpler_orch {
    struct simpler_orch_head head; /* first: see task/orch_ops.h */
    struct simpler_device *device;
    struct simpler_thread *thread;
    struct simpler_passing passing;
    struct simpler_ring ring[CHIP_MAX_RING_DEPTH];
    int status;       /* 0, or why the run has failed; what every call answers */
    uint32_t depth;   /* of the innermost scope; 0 is the root */
    uint32_t open;    /* open scopes, the root included */
    uint32_t current; /* ring of the innermost scope */
    bool manual;
    bool all_solo;       /* one thread: there is nobody to hand over to */
    bool never_solo;     /* kernels run on core threads */
    uint8_t may_settle;  /* enum simpler_settled: what all being done makes of it */
    uint8_t settled;     /* enum simpler_settled */
    bool watched;        /* args dump or hazard check see every task */
    bool scope_stats;    /* each scope boundary is told to the collector */
    uint8_t dump_level;  /* of the args dump; 0: off */
    bool counting;       /* a ring, the pool or the map was too small: count what would do */
    uint32_t submit_seq; /* number of the submit, from 1; marks slots */
    uint64_t submitted;
    uint64_t edges;
    uint64_t map_peak;
    uint64_t sane_form; /* of the last tensor that was found sane and contiguous */
    uint64_t
        strided_form; /* the same of one that is not contiguous: its strides must be looked at */
    uint32_t recorded_uses; /* bit per enum simpler_tensor_use: the map keeps it */
    uint32_t map_credit;    /* entries that may be made before the map is asked again */
    uint64_t needed_map;
    struct simpler_tensormap *map;
    struct simpler_hazard_check *check; /* NULL: off */
    uint64_t solo_below_ns;             /* kernels that take less are not handed over */
    uint64_t probed_ticks;              /* when the round trip was last measured */
    uint64_t looked_ticks;              /* when times were last looked at */
    uint32_t looked_seq;                /* submit_seq then */
    uint32_t closely;                   /* so many more of its runs are all timed */
    uint32_t calm;                      /* looks in a row that found tasks short, see handover.h */
    /* Producers of the task being submitted. */
    struct simpler_edge_sink sink;
    uint64_t sink_ids[64];
    uint32_t *pending; /* slot numbers of those that are not done; one each of all slots fits */
    uint32_t pending_count;
    /* The task being submitted. */
    uint32_t self;                                   /* slot number */
    struct simpler_tensor made[SIMPLER_MAX_TENSORS]; /* its OUTPUTs, until they are given back */
    /* Open scopes; grows, never on a path that does not open a deeper scope than before. */
    struct simpler_scope_frame *frames;
    uint32_t frame_capacity;
    /* Of the task that is run while it is submitted, in no slot. */
    const char *solo_file;
    int32_t solo_line;
    /* While a task that is captured runs so: the monitor's, behind this thread's word (M1). */
    const struct simpler_solo_capture *solo_capture;
    /* Of this run: its start, when the orchestration returned, what threads had counted before. */
    uint64_t start_ns;
    uint64_t orchestration_ns;
    struct simpler_run_stats before;
};

/* Where the first failing kernel was. */
struct simpler_failure {
    _Atomic uint64_t task; /* id + 1; 0: none.  First writer wins. */
    _Atomic int32_t status;
    _Atomic uint32_t func_id;
};

/* Where a task offers its blocks to all threads, see spread.c. */
#define SIMPLER_SPREAD_PLACES 4u
struct simpler_spread_place {
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint64_t word;
};

/*
 * The thread that owns the no-progress clock of a device (monitor.c).
 *
 *   field     written by            read by       publishes
 *   closing   device (release)      monitor       -
 *   budget    caller (relaxed)      monitor       -; constant during a run
 *   stuck     orchestrator          monitor       nothing is left that could make progress
 *   asked     anyone                monitor       a report is wanted
 *   answer    monitor               orchestrator  its part of the report is wanted
 */
struct simpler_monitor {
    pthread_t handle;
    bool started; /* the caller's */
    /* Guards the threads of the device: the monitor looks at them, the caller makes them. */
    pthread_mutex_t lock;
    bool lock_ready;
    struct simpler_event wake; /* parked without runs; else it sleeps on the epoch alone */
    _Atomic bool closing;
    _Atomic uint64_t budget_ns;
    _Atomic uint32_t stuck;
    _Atomic uint32_t asked;
    _Atomic uint32_t answer;
    /* The monitor alone. */
    uint64_t seen_phase;
    uint64_t seen_progress;
    int32_t seen_stop;              /* a stop gives the kernels inside a budget of their own */
    struct simpler_idle_clock idle; /* since the last progress */
};

/* Who ends a run: the low bits of phase; the rest is the run's number. */
enum simpler_phase {
    SIMPLER_PHASE_ENDED = 0,
    SIMPLER_PHASE_RUNNING = 1,
    SIMPLER_PHASE_HUNG = 2 /* the monitor ends it */
};

struct simpler_device {
    const struct simpler_platform *platform;
    struct simpler_task_table table;
    /* First id of each ring that is not retired; the orchestrator alone. */
    uint32_t alive[CHIP_MAX_RING_DEPTH];
    struct simpler_arena *arena;

    /* Set before the run starts, constant during it. */
    const struct simpler_device_run *run; /* NULL or &current */
    struct simpler_device_run current;    /* copies: a hung run outlives its caller's */
    struct simpler_orch_args current_args;
    struct simpler_estimates *estimates;
    const struct simpler_kernel *const *kernels; /* by func_id */
    uint32_t kernel_count;
    uint8_t dump_level;             /* of the args dump; 0: off */
    struct simpler_thread *threads; /* the last one orchestrates */
    uint32_t thread_count;
    uint32_t cpus;                   /* that this process may use */
    uint64_t spin_ticks;             /* how long an idle thread spins before it parks */
    bool spin_allowed;               /* fewer threads can run than CPUs exist */
    struct simpler_core_pool *cores; /* their threads start when they are first needed */
    bool exec_threads;               /* every kernel runs on a core; else those that may wait */
    uint64_t start_ns;               /* of the run */
    /* A core has been started (release, before it gets a task): look at the pool too. */
    _Atomic bool cores_active;

    /* Why the run is to stop: 0, minus a code or SIMPLER_E*; first writer wins.
     * Written by anyone, read by everyone before each kernel and submit. */
    _Alignas(SIMPLER_CACHE_LINE) _Atomic int32_t stop;
    _Atomic uint32_t handover_ns; /* measured round trip */
    _Atomic bool closing;
    /* 1: because of stop a task was not run, or somebody was told of it.  Any thread; read by the
     * monitor when all have left (M3).  The orchestrator's own calls tell by its status. */
    _Atomic uint32_t cut;

    struct simpler_sleepers work;  /* schedulers wait for ready tasks */
    struct simpler_event progress; /* the orchestrator waits for completions */
    /* P12 (release): number of the orchestrator's sleep, whose epoch it has read before. */
    _Atomic uint32_t progress_sleep;
    struct simpler_sleepers start; /* the orchestrator waits for a run */
    struct simpler_event finish;   /* the caller waits for its end */
    /* P10 (release): run number; the run's description is behind it. */
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t start_seq;
    struct simpler_caller_seat caller; /* in the line that the orchestrator gets anyway */
    /* P11 (release): the result is behind it. */
    _Alignas(SIMPLER_CACHE_LINE) _Atomic uint32_t finish_seq;

    /* (run number << 2 | enum simpler_phase).  RUNNING by the caller (release); from there by
     * compare-exchange ENDED by the orchestrator or HUNG by the monitor: the one that wins ends
     * the run and writes its result. */
    _Atomic uint64_t phase;
    struct simpler_monitor monitor;
    struct simpler_guard_set guarded; /* its threads, for the end of a hung run */
    /* Written by the monitor, read by the caller behind P11. */
    bool hung;
    bool busy; /* a thread of the hung run is still inside */
    char busy_text[256];

    /* Round-trip probe: ping by the orchestrator, pong by an idle scheduler. */
    struct simpler_round_trip round_trip;

    struct simpler_deferral_list deferred;
    struct simpler_spread_place spread[SIMPLER_SPREAD_PLACES];
    _Alignas(SIMPLER_CACHE_LINE) struct simpler_failure failure;
    struct simpler_timing timing[SIMPLER_TIMING_SLOTS];
    struct simpler_orch orch;
    /* Written by who ends the run, behind P11; the caller copies it. */
    struct simpler_run_result result;
    uint64_t progress_base; /* completed before this run */
    /* Tasks done in this run as the orchestrator last saw it; read for progress. */
    _Atomic uint64_t published;
    char fatal_text[1536]; /* explanation and remedy; by who latched */
    struct simpler_estimate_table all_estimates;
    struct simpler_spin_wait caller_wait; /* the caller's, for the end of a run */
};

SIMPLER_INLINE uint64_t simpler_task_id_of(const struct simpler_task_slot *slot)
{
    return (uint64_t)slot->ring << 32 | slot->id;
}

SIMPLER_INLINE uint32_t simpler_ring_slot(const struct simpler_ring *ring, uint32_t id)
{
    return ring->first + (id & ring->mask);
}

/* Slots in use: submitted and not retired. */
SIMPLER_INLINE uint32_t simpler_ring_live(const struct simpler_orch *orch, uint32_t r)
{
    return orch->ring[r].next - orch->device->alive[r];
}

#endif
