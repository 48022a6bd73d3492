// SPDX-License-Identifier: Apache-2.0
#ifndef SIMPLER_COMPAT_H
#define SIMPLER_COMPAT_H

/*
 * The names of the SIMPLER headers in the global namespace, as orchestrations
 * spell them; docs/porting.md tells what is the same and what differs.
 */
#ifndef SIMPLER_VIA_TABLE
#define SIMPLER_VIA_TABLE 1
#endif
#include "simpler/simpler.hpp"

#include "intrinsic.h"
#include "tensor.h"

using simpler::ChipTaskArgs;
using simpler::CORE_MAX_SCALAR_ARGS;
using simpler::CORE_MAX_TENSOR_ARGS;
using simpler::CoreTaskArgs;
using simpler::CoreTaskArgsWithDeps;
using simpler::CoreTaskPredicate;
using simpler::DepFlags;
using simpler::GraphScalar;
using simpler::GraphTaskArgs;
using simpler::INVALID_KERNEL_ID;
using simpler::LaunchSpec;
using simpler::MixedKernels;
using simpler::OrchestrationConfig;
using simpler::PredicateOp;
using simpler::ScopeMode;
using simpler::TaskId;
using simpler::TaskOutputTensors;

using simpler::alloc_tensors;
using simpler::get_tensor_data;
using simpler::rt_available_aiv_count;
using simpler::rt_available_cluster_count;
using simpler::rt_is_fatal;
using simpler::rt_report_fatal;
using simpler::rt_scope_begin;
using simpler::rt_scope_end;
using simpler::rt_submit_aic_task;
using simpler::rt_submit_aiv_task;
using simpler::rt_submit_dummy_task;
using simpler::rt_submit_graph;
using simpler::rt_submit_task;
using simpler::set_tensor_data;

/* Earlier spellings of the same. */
using Arg = CoreTaskArgs;
template <std::size_t N = 16> using ArgWithDeps = CoreTaskArgsWithDeps<N>;
using ChipStorageTaskArgs = ChipTaskArgs;
using PTO2OrchestrationConfig = OrchestrationConfig;
using PTO2ScopeMode = ScopeMode;
using PTO2TaskId = TaskId;
#define MAX_TENSOR_ARGS  SIMPLER_MAX_TENSORS
#define MAX_SCALAR_ARGS  SIMPLER_MAX_SCALARS
#define PTO2_SCOPE       SIMPLER_SCOPE
#define PTO2_SCOPE_GUARD SIMPLER_SCOPE_GUARD

#endif
