/* SPDX-License-Identifier: Apache-2.0 */
/* Counts hits and calls the test's function; empty in release builds. */
#include "base/testpoint.h"

#if defined(SIMPLER_DEBUG)
#include <stdatomic.h>
#include <stddef.h>

static _Atomic uint64_t hits[SIMPLER_TESTPOINT_NUM];
static _Atomic(simpler_testpoint_fn) hook;
static void *_Atomic hook_user;

void simpler_testpoint_set(simpler_testpoint_fn fn, void *user)
{
    atomic_store_explicit(&hook_user, user, memory_order_relaxed);
    atomic_store_explicit(&hook, fn, memory_order_release);
}

uint64_t simpler_testpoint_hits(enum simpler_testpoint point)
{
    return atomic_load_explicit(&hits[point], memory_order_relaxed);
}

void simpler_testpoint_reset_hits(void)
{
    for (int i = 0; i < SIMPLER_TESTPOINT_NUM; i++)
        atomic_store_explicit(&hits[i], 0, memory_order_relaxed);
}

bool simpler_testpoint_hit(enum simpler_testpoint point)
{
    atomic_fetch_add_explicit(&hits[point], 1, memory_order_relaxed);
    simpler_testpoint_fn fn = atomic_load_explicit(&hook, memory_order_acquire);
    return fn != NULL && fn(atomic_load_explicit(&hook_user, memory_order_relaxed), point);
}
#else
typedef int simpler_testpoint_unused;
#endif
