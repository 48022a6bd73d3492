/* SPDX-License-Identifier: Apache-2.0 */
/* A test point hook that counts down. */
#include "failing_alloc.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/testpoint.h"

#if defined(SIMPLER_DEBUG)
static _Atomic uint64_t steps_left;
static _Atomic bool fired;

static bool count_down(void *user, enum simpler_testpoint point)
{
    (void)user;
    if (point != SIMPLER_TESTPOINT_ALLOC && point != SIMPLER_TESTPOINT_MAP_MEMORY &&
        point != SIMPLER_TESTPOINT_REGION_CLAIM && point != SIMPLER_TESTPOINT_THREAD_START)
        return false;
    if (atomic_fetch_sub_explicit(&steps_left, 1, memory_order_relaxed) != 0)
        return false;
    atomic_store_explicit(&fired, true, memory_order_relaxed);
    return true;
}

void failing_alloc_arm(uint64_t nth)
{
    atomic_store_explicit(&steps_left, nth, memory_order_relaxed);
    atomic_store_explicit(&fired, false, memory_order_relaxed);
    simpler_testpoint_set(count_down, NULL);
}

bool failing_alloc_fired(void)
{
    return atomic_load_explicit(&fired, memory_order_relaxed);
}

void failing_alloc_disarm(void)
{
    simpler_testpoint_set(NULL, NULL);
}

bool failing_alloc_available(void)
{
    return true;
}
#else
void failing_alloc_arm(uint64_t nth)
{
    (void)nth;
}

bool failing_alloc_fired(void)
{
    return false;
}

void failing_alloc_disarm(void)
{
}

bool failing_alloc_available(void)
{
    return false;
}
#endif
