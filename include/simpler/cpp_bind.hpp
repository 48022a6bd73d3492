// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_CPP_BIND_HPP
#define SIMPLER_CPP_BIND_HPP

/* What the loader of an object calls that reaches the runtime through the table. */
#include "simpler/cpp_outputs.hpp"

#if SIMPLER_VIA_TABLE
extern "C" __attribute__((visibility("default"), used)) inline void
framework_bind_runtime(const simpler_binding *binding)
{
    simpler::detail::bound_ops.store(binding->ops, std::memory_order_relaxed);
    simpler::detail::bind(binding->orch);
}
#endif

#endif
