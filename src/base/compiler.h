/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_BASE_COMPILER_H
#define SIMPLER_BASE_COMPILER_H

/* What differs between compilers, and asserts. */
#include <assert.h>

#define SIMPLER_LIKELY(x)   __builtin_expect(!!(x), 1)
#define SIMPLER_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SIMPLER_INLINE      static inline __attribute__((always_inline))
#define SIMPLER_NOINLINE    __attribute__((noinline))
#define SIMPLER_COLD        __attribute__((noinline, cold))

#if defined(SIMPLER_DEBUG)
#define SIMPLER_ASSERT(x) assert(x)
#else
#define SIMPLER_ASSERT(x) ((void)0)
#endif

/* Reached without a call, also from a shared library; for single words alone. */
#define SIMPLER_THREAD_WORD _Thread_local __attribute__((tls_model("initial-exec")))

/* One cache line; single-writer lines apart. */
#define SIMPLER_CACHE_LINE 64

#endif
