/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_OPS_H
#define SIMPLER_OPS_H

/*
 * What an orchestration calls, as a table of pointers: a shared object that is
 * given the table needs no symbol of the runtime.  The C++ headers call through it
 * when SIMPLER_VIA_TABLE is 1 (the headers in compat/ set it); whoever loads such
 * an object hands it the table by its exported function framework_bind_runtime.
 */
#include "simpler/log.h"
#include "simpler/orch.h"
#include "simpler/task.h"
#include "simpler/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(name): simpler_<name>.  Append only: an object may have been built with a shorter table. */
#define SIMPLER_OPS_MAP(X)                   \
    X(dtype_bytes)                           \
    X(dtype_name)                            \
    X(tensor_init)                           \
    X(tensor_init_strided)                   \
    X(tensor_view)                           \
    X(tensor_transpose)                      \
    X(tensor_permute)                        \
    X(tensor_slice)                          \
    X(tensor_reshape)                        \
    X(create_info_init)                      \
    X(create_info_set_initial_value)         \
    X(task_args_add_scalar)                  \
    X(task_args_add_scalars)                 \
    X(task_args_add_scalars_i32)             \
    X(task_args_copy_scalars)                \
    X(task_args_set_dependencies)            \
    X(task_args_set_dependencies_with_kinds) \
    X(task_args_dump_list)                   \
    X(task_args_dump_all)                    \
    X(task_args_error_text)                  \
    X(orch_submit_aic_at)                    \
    X(orch_submit_aiv_at)                    \
    X(orch_submit_dummy_at)                  \
    X(orch_alloc_tensors_at)                 \
    X(orch_scope_begin_at)                   \
    X(orch_scope_end)                        \
    X(orch_get_tensor_data)                  \
    X(orch_set_tensor_data)                  \
    X(orch_report_fatal)                     \
    X(orch_is_fatal)                         \
    X(orch_available_cluster_count)          \
    X(orch_available_aiv_count)              \
    X(log_enabled)                           \
    X(log_write)                             \
    X(orch_submit_mixed_at)                  \
    X(kernel_sync_all)                       \
    X(kernel_sync_block)                     \
    X(kernel_set_flag)                       \
    X(kernel_wait_flag)                      \
    X(kernel_lane)                           \
    X(kernel_defer)                          \
    X(async_counter_add)                     \
    X(async_counter_get)                     \
    X(orch_submit_graph_at)                  \
    X(orch_set_tensor_info_to_task)          \
    X(orch_add_task_with_tensor_info_at)

struct simpler_ops_table {
    uint64_t bytes; /**< size of the table that the runtime has */
#define X(name) __typeof__(simpler_##name) *name;
    SIMPLER_OPS_MAP(X)
#undef X
};

/** The runtime's table; static, the same for all devices. */
SIMPLER_API const struct simpler_ops_table *simpler_ops(void);

/** What framework_bind_runtime gets; read before it returns. */
struct simpler_binding {
    const struct simpler_ops_table *ops;
    struct simpler_orch *orch; /**< NULL: the run has ended, or the object has kernels alone */
};

/**
 * The loader's side of one exported function of such an object:
 * `extern "C" void framework_bind_runtime(const struct simpler_binding *)`.
 * Called on the orchestrator's thread before the entry, and with orch NULL after it.
 */
typedef void (*simpler_bind_fn)(const struct simpler_binding *binding);

#ifdef __cplusplus
}
#endif
#endif
