/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_TESTPOINT_H
#define SIMPLER_BASE_TESTPOINT_H

/*
 * Fault seams.  A test point is a named place where a test may run code of its
 * own: a delay in a race window, a failure of the nth step.  Debug builds count
 * the hits of each point, so that a test can insist that its window was
 * reached.  In release builds a point is nothing.
 *
 *   SIMPLER_TESTPOINT(NAME);            // a place in a race window
 *   if (SIMPLER_FAILPOINT(NAME)) ...    // a step that a test can make fail
 */
#include <stdbool.h>
#include <stdint.h>

/* One row a point: X(NAME).  Append freely. */
#define SIMPLER_TESTPOINT_MAP(X) \
    X(ALLOC)                     \
    X(THREAD_START)              \
    X(MAP_MEMORY)                \
    X(REGION_CLAIM)              \
    X(PARK_BEFORE_RECHECK)       \
    X(PARK_BEFORE_WAIT)          \
    X(WAKE_BEFORE_CHECK)         \
    X(APART_BEFORE_SET)          \
    X(COMPLETE_BEFORE_CLOSE)     \
    X(COMPLETE_BEFORE_DECREMENT) \
    X(COMPLETE_BEFORE_DONE)      \
    X(LINK_BEFORE_PUBLISH)       \
    X(LINK_BEFORE_READY)         \
    X(QUEUE_BEFORE_TAKE)         \
    X(QUEUE_BEFORE_PUBLISH)      \
    X(TRACK_BEFORE_LOOK)         \
    X(TRACK_BEFORE_TAKE)         \
    X(PLAN_TRACKS)               \
    X(DROP_EDGE)                 \
    X(MAKE_CYCLE)                \
    X(KERNEL_ASKED)              \
    X(KERNEL_BEFORE_LEAVE)       \
    X(REVOKE_AT_ONCE)            \
    X(REVOKE_AFTER_ASK)          \
    X(MONITOR_BEFORE_CLAIM)      \
    X(HANG_CLAIMED)              \
    X(HANG_TAKEN_BACK)           \
    X(PARTIAL_BEFORE_CAPTURE)    \
    X(RECUT_BEFORE_CLAIM)        \
    X(RECUT_CLAIMED)             \
    X(VISIT_REFUSED)             \
    X(VISIT_INSIDE)              \
    X(SCOPE_TASKS)               \
    X(GROUP_BEFORE_ARRIVE)       \
    X(SPREAD_BEFORE_TAKE)        \
    X(COHORT_BEFORE_START)       \
    X(CORE_BEFORE_LEAVE)         \
    X(GATE_BEFORE_LOOK)          \
    X(PRODUCER_SWITCH)           \
    X(PRODUCER_BEFORE_PUBLISH)   \
    X(PRODUCER_AFTER_PUBLISH)    \
    X(PRODUCER_BEFORE_TAKE)      \
    X(SPSC_BEFORE_PUBLISH)       \
    X(SPSC_BEFORE_TAKE)          \
    X(DRAIN_BEFORE_GIVE)         \
    X(DRAIN_BEFORE_RELEASE)      \
    X(COLLECTOR_BEFORE_COLLECT)  \
    X(REPLENISH_BEFORE_STOCK)    \
    X(SESSION_PATIENCE)          \
    X(SCOPE_FILE_WRITE)          \
    X(SCOPE_FILE_BEFORE_PUBLISH) \
    X(RETAINED_BEFORE_CHUNK)     \
    X(RETAINED_BEFORE_MANIFEST)  \
    X(DUMP_BIN_WRITE)            \
    X(DUMP_BIN_READ)             \
    X(DUMP_BIN_READ_AGAIN)       \
    X(DUMP_RESERVE)              \
    X(DUMP_SPOOL_WRITE)          \
    X(DUMP_MANIFEST_WRITE)       \
    X(DUMP_LOSE_METADATA)        \
    X(DUMP_SPOIL_METADATA)       \
    X(DUMP_CLEAR_HANDSHAKE)      \
    X(DUMP_BARRIER)              \
    X(RECOVER_STEP)              \
    X(REGION_OPEN)               \
    X(REGION_READ)

enum simpler_testpoint {
#define X(NAME) SIMPLER_TESTPOINT_##NAME,
    SIMPLER_TESTPOINT_MAP(X)
#undef X
        SIMPLER_TESTPOINT_NUM
};

/* Returns true to make a failpoint fail; ignored at a plain test point. */
typedef bool (*simpler_testpoint_fn)(void *user, enum simpler_testpoint point);

#if defined(SIMPLER_DEBUG)
/* NULL removes it.  Set while no other thread is inside the library. */
void simpler_testpoint_set(simpler_testpoint_fn fn, void *user);
uint64_t simpler_testpoint_hits(enum simpler_testpoint point);
void simpler_testpoint_reset_hits(void);
bool simpler_testpoint_hit(enum simpler_testpoint point);
#define SIMPLER_TESTPOINT(NAME) ((void)simpler_testpoint_hit(SIMPLER_TESTPOINT_##NAME))
#define SIMPLER_FAILPOINT(NAME) simpler_testpoint_hit(SIMPLER_TESTPOINT_##NAME)
#else
/* There is nothing to set, and to take away again; what tests of a seam look for is not there. */
static inline void simpler_testpoint_set(simpler_testpoint_fn fn, void *user)
{
    (void)fn;
    (void)user;
}
#define SIMPLER_TESTPOINT(NAME) ((void)0)
#define SIMPLER_FAILPOINT(NAME) false
#endif

#endif
