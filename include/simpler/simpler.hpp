// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_SIMPLER_HPP
#define SIMPLER_SIMPLER_HPP

/*
 * The C++ face: header-only C++17 over the C API, with the names of the SIMPLER
 * documents in namespace simpler.  A C++ orchestration becomes a callable's by
 * simpler::orchestration:
 *
 *     static void add_all(const simpler::ChipTaskArgs &args) { ... }
 *     callable.orchestrate = simpler::orchestration<add_all>;
 */
#if __cplusplus < 201703L
#error "simpler/simpler.hpp needs C++17: compile with -std=c++17 or a later one"
#else
#include <exception>

#include "simpler/cpp_bind.hpp"
#include "simpler/cpp_graph.hpp"
#include "simpler/cpp_kernel.hpp"
#include "simpler/cpp_orch.hpp"
#include "simpler/simpler.h"

#if !SIMPLER_VIA_TABLE
namespace simpler
{
inline namespace SIMPLER_CPP_NAMESPACE
{
/** @Entry as a C orchestration; an exception of it fails the run. */
template <void (*Entry)(const ChipTaskArgs &)>
void orchestration(simpler_orch *orch, const simpler_orch_args *args)
{
    detail::bind(orch);
#if defined(__cpp_exceptions)
    try {
        Entry(ChipTaskArgs(*args));
    } catch (const std::exception &e) {
        rt_report_fatal(SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "an exception: %s", e.what());
    } catch (...) {
        rt_report_fatal(SIMPLER_CODE_EXPLICIT_ORCH_FATAL, "an exception of an unknown type");
    }
#else
    Entry(ChipTaskArgs(*args));
#endif
    detail::bind(nullptr);
}
} // namespace SIMPLER_CPP_NAMESPACE
} // namespace simpler
#endif

#endif /* C++17 */
#endif
