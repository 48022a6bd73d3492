/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_ORCH_OPS_H
#define SIMPLER_TASK_ORCH_OPS_H

/*
 * The calls of simpler/orch.h as a runtime implements them.  Every runtime's
 * orchestrator begins with a struct simpler_orch_head, so that one scene source
 * serves all of them.
 */
#include "base/compiler.h"
#include "simpler/orch.h"

struct simpler_orch_ops {
    struct simpler_orch_submits submit; /* first: what the head of an orchestrator points at */
    int (*submit_mixed)(struct simpler_orch *orch, const struct simpler_mixed_kernels *kernels,
                        const struct simpler_task_args *args, struct simpler_task_outputs *out,
                        const char *file, int line);
    int (*submit_dummy)(struct simpler_orch *orch, const struct simpler_task_args *args,
                        struct simpler_task_outputs *out, const char *file, int line);
    int (*alloc_tensors)(struct simpler_orch *orch, const struct simpler_create_info *infos,
                         uint32_t count, struct simpler_task_outputs *out, const char *file,
                         int line);
    int (*submit_graph)(struct simpler_orch *orch, simpler_graph_fn fn,
                        const struct simpler_task_args *args, const void *config,
                        size_t config_bytes, const char *file, int line);
    /* Geometry of a submitted task's tensor argument; SIMPLER_ENOENT: there is none.  NULL: not
     * kept. */
    int (*get_argument)(struct simpler_orch *orch, uint64_t task, uint32_t i,
                        struct simpler_tensor *out);
    int (*scope_begin)(struct simpler_orch *orch, enum simpler_scope_mode mode, const char *file,
                       int line);
    int (*scope_end)(struct simpler_orch *orch);
    int (*get_tensor_data)(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                           const uint32_t *index, void *value);
    int (*set_tensor_data)(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                           const uint32_t *index, const void *value);
    /* @text is one line; @code is a device code. */
    void (*report_fatal)(struct simpler_orch *orch, enum simpler_device_code code,
                         const char *text);
    bool (*is_fatal)(const struct simpler_orch *orch);
    uint32_t (*cluster_count)(const struct simpler_orch *orch);
};

SIMPLER_INLINE const struct simpler_orch_ops *simpler_orch_ops_of(const struct simpler_orch *orch)
{
    return (const struct simpler_orch_ops *)(const void *)simpler_orch_submits_of(orch);
}

#endif
