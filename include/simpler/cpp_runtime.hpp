// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_CPP_RUNTIME_HPP
#define SIMPLER_CPP_RUNTIME_HPP

/*
 * How the C++ headers reach the runtime: by its symbols or, with
 * SIMPLER_VIA_TABLE 1, through the table of ops.h.  Which run a call belongs to
 * is a property of the thread: the functions take no orchestrator.
 */
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "simpler/ops.h"

#ifndef SIMPLER_VIA_TABLE
#define SIMPLER_VIA_TABLE 0
#endif

/* One copy an object: two orchestrations in one process do not share it. */
#define SIMPLER_HIDDEN __attribute__((visibility("hidden")))

#if SIMPLER_VIA_TABLE
#define SIMPLER_CPP_NAMESPACE via_table
#define SIMPLER_CALL(name)    (::simpler::detail::ops()->name)
#define SIMPLER_SUBMIT(type)  SIMPLER_CALL(orch_submit_##type##_at)
#else
#define SIMPLER_CPP_NAMESPACE linked
#define SIMPLER_CALL(name)    (::simpler_##name)
#define SIMPLER_SUBMIT(type)  (::simpler_orch_submit_##type##_inline)
#endif

namespace simpler
{
inline namespace SIMPLER_CPP_NAMESPACE
{
namespace detail
{
struct OutputChunk;

/* What one thread knows of its run. */
struct Thread {
    simpler_orch *orch;        // NULL: no run
    OutputChunk *first_output; // of the run's outputs, see cpp_outputs.hpp
    OutputChunk *last_output;
};
SIMPLER_HIDDEN inline thread_local Thread this_thread{};

#if SIMPLER_VIA_TABLE
/* Written by each bind, always the same value. */
SIMPLER_HIDDEN inline std::atomic<const simpler_ops_table *> bound_ops{nullptr};

inline const simpler_ops_table *ops()
{
    return bound_ops.load(std::memory_order_relaxed);
}
#endif

inline simpler_orch *orch()
{
    return this_thread.orch;
}

/*
 * A mistake of the caller.  In an orchestration it fails the run with code 5
 * (the first mistake counts); elsewhere nobody could be told: the process ends.
 */
__attribute__((format(printf, 1, 2))) inline void fault(const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    (void)std::vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (orch() != nullptr) {
        SIMPLER_CALL(orch_report_fatal)(orch(), SIMPLER_CODE_INVALID_ARGS, "%s", text);
        return;
    }
    (void)std::fprintf(stderr, "simpler: %s\n", text);
    std::abort();
}

inline bool is_in_run(const char *function)
{
    if (orch() != nullptr)
        return true;
    fault("%s: called outside of an orchestration", function);
    return false;
}

__attribute__((format(printf, 3, 4))) inline void log(int level, const char *function,
                                                      const char *format, ...)
{
    char text[1024];
    va_list list;
    if (!SIMPLER_CALL(log_enabled)(level))
        return;
    va_start(list, format);
    (void)std::vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    SIMPLER_CALL(log_write)(level, "%s: %s", function, text);
}
} // namespace detail

/*
 * The calls below belong to the run of this thread.  Outside of an orchestration
 * they are a fault.
 */

/** Latches a fatal error, printf-like: the run fails with minus @code. */
__attribute__((format(printf, 2, 3))) inline void rt_report_fatal(int code, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    (void)std::vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (detail::is_in_run("rt_report_fatal"))
        SIMPLER_CALL(orch_report_fatal)(detail::orch(), code, "%s", text);
}

/** Whether the run has failed already. */
inline bool rt_is_fatal()
{
    return detail::is_in_run("rt_is_fatal") && SIMPLER_CALL(orch_is_fatal)(detail::orch());
}

/** Geometry of this run's device. */
inline int32_t rt_available_cluster_count()
{
    if (!detail::is_in_run("rt_available_cluster_count"))
        return 0;
    return static_cast<int32_t>(SIMPLER_CALL(orch_available_cluster_count)(detail::orch()));
}

inline int32_t rt_available_aiv_count()
{
    if (!detail::is_in_run("rt_available_aiv_count"))
        return 0;
    return static_cast<int32_t>(SIMPLER_CALL(orch_available_aiv_count)(detail::orch()));
}
} // namespace SIMPLER_CPP_NAMESPACE
} // namespace simpler

/* One line of the log, printf-like; its text begins with the function's name. */
#define SIMPLER_LOG_AT(level, ...) \
    (::simpler::detail::log(::SIMPLER_LOG_##level, __func__, __VA_ARGS__))
#define LOG_DEBUG(...)  SIMPLER_LOG_AT(DEBUG, __VA_ARGS__)
#define LOG_INFO(...)   SIMPLER_LOG_AT(INFO, __VA_ARGS__)
#define LOG_TIMING(...) SIMPLER_LOG_AT(TIMING, __VA_ARGS__)
#define LOG_WARN(...)   SIMPLER_LOG_AT(WARN, __VA_ARGS__)
#define LOG_ERROR(...)  SIMPLER_LOG_AT(ERROR, __VA_ARGS__)

#endif
