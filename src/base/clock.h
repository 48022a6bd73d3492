/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_CLOCK_H
#define SIMPLER_BASE_CLOCK_H

/*
 * Two clocks: nanoseconds of CLOCK_MONOTONIC for waits and reports, and ticks
 * of the cheapest counter there is for timing kernels (9 ns against 21).
 */
#include <stdint.h>

#include "base/compiler.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

uint64_t simpler_clock_ns(void);
void simpler_clock_sleep(uint64_t ns);

/* Finds the ticks of a nanosecond; the first call takes about a millisecond. */
void simpler_clock_calibrate(void);
/* 0 before the calibration. */
uint64_t simpler_clock_ticks_to_ns(uint64_t ticks);
uint64_t simpler_clock_ns_to_ticks(uint64_t ns);

SIMPLER_INLINE uint64_t simpler_clock_ticks(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#else
    return simpler_clock_ns();
#endif
}

/* One turn of a spin loop. */
SIMPLER_INLINE void simpler_clock_relax(void)
{
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
