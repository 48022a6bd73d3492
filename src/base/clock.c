/* SPDX-License-Identifier: Apache-2.0 */
/* CLOCK_MONOTONIC, and the counter's rate measured against it once. */
#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* Nanoseconds a tick as a 32.32 fixed-point number; written once, before use. */
static _Atomic uint64_t ns_per_tick_q32;
static pthread_once_t once = PTHREAD_ONCE_INIT;

uint64_t simpler_clock_ns(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void simpler_clock_sleep(uint64_t ns)
{
    struct timespec ts = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    (void)nanosleep(&ts, NULL);
}

static void calibrate(void)
{
    uint64_t ns0 = simpler_clock_ns();
    uint64_t ticks0 = simpler_clock_ticks();
    uint64_t ns1;
    do
        ns1 = simpler_clock_ns();
    while (ns1 - ns0 < 500000);
    uint64_t ticks = simpler_clock_ticks() - ticks0;
    if (ticks == 0)
        ticks = 1;
    atomic_store_explicit(&ns_per_tick_q32, ((ns1 - ns0) << 32) / ticks, memory_order_relaxed);
}

void simpler_clock_calibrate(void)
{
    (void)pthread_once(&once, calibrate);
}

uint64_t simpler_clock_ticks_to_ns(uint64_t ticks)
{
    uint64_t q = atomic_load_explicit(&ns_per_tick_q32, memory_order_relaxed);
    return (ticks >> 32) * q + (((ticks & 0xffffffffu) * q) >> 32);
}

uint64_t simpler_clock_ns_to_ticks(uint64_t ns)
{
    uint64_t q = atomic_load_explicit(&ns_per_tick_q32, memory_order_relaxed);
    return q == 0 ? ns : (ns << 32) / q;
}
