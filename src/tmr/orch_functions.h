/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_ORCH_FUNCTIONS_H
#define SIMPLER_TMR_ORCH_FUNCTIONS_H

/* What an orchestration calls, as this runtime does it; see task/orch_ops.h. */
#include "task/orch_ops.h"

extern const struct simpler_orch_ops simpler_tmr_ops;

int simpler_tmr_submit_aic(struct simpler_orch *orch, uint32_t func_id,
                           const struct simpler_task_args *args, struct simpler_task_outputs *out,
                           const char *file, int line);
int simpler_tmr_submit_aiv(struct simpler_orch *orch, uint32_t func_id,
                           const struct simpler_task_args *args, struct simpler_task_outputs *out,
                           const char *file, int line);
int simpler_tmr_submit_mixed(struct simpler_orch *orch, const struct simpler_mixed_kernels *kernels,
                             const struct simpler_task_args *args, struct simpler_task_outputs *out,
                             const char *file, int line);
int simpler_tmr_submit_dummy(struct simpler_orch *orch, const struct simpler_task_args *args,
                             struct simpler_task_outputs *out, const char *file, int line);
int simpler_tmr_alloc_tensors(struct simpler_orch *orch, const struct simpler_create_info *infos,
                              uint32_t count, struct simpler_task_outputs *out, const char *file,
                              int line);
int simpler_tmr_submit_graph(struct simpler_orch *orch, simpler_graph_fn fn,
                             const struct simpler_task_args *args, const void *config,
                             size_t config_bytes, const char *file, int line);
int simpler_tmr_scope_begin(struct simpler_orch *orch, enum simpler_scope_mode mode,
                            const char *file, int line);
int simpler_tmr_scope_end(struct simpler_orch *orch);
int simpler_tmr_get_tensor_data(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                                const uint32_t *index, void *value);
int simpler_tmr_set_tensor_data(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                                const uint32_t *index, const void *value);
void simpler_tmr_report_fatal(struct simpler_orch *orch, enum simpler_device_code code,
                              const char *text);
bool simpler_tmr_is_fatal(const struct simpler_orch *orch);
uint32_t simpler_tmr_cluster_count(const struct simpler_orch *orch);

#endif
