/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_HOST_CALLS_H
#define SIMPLER_HBG_HOST_CALLS_H

/* What an orchestration calls besides submits, and what submits of both kinds share. */
#include "hbg/host_graph.h"

static inline struct simpler_hbg_orch *simpler_hbg_of(struct simpler_orch *orch)
{
    return (struct simpler_hbg_orch *)orch;
}

int simpler_hbg_scope_begin(struct simpler_orch *orch, enum simpler_scope_mode mode,
                            const char *file, int line);
int simpler_hbg_scope_end(struct simpler_orch *orch);
int simpler_hbg_get_tensor_data(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                                const uint32_t *index, void *value);
int simpler_hbg_set_tensor_data(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                                const uint32_t *index, const void *value);
void simpler_hbg_report_fatal(struct simpler_orch *orch, enum simpler_device_code code,
                              const char *text);
bool simpler_hbg_is_fatal(const struct simpler_orch *orch);
uint32_t simpler_hbg_cluster_count(const struct simpler_orch *orch);

/* What an orchestration calls; and of the orchestrator's sink, the edges of the node. */
extern const struct simpler_orch_ops simpler_hbg_ops;
void simpler_hbg_drain_sink(struct simpler_edge_sink *sink);

/* The edges of the node that is being made. */
void simpler_hbg_find_producers(struct simpler_hbg_orch *orch,
                                const struct simpler_task_args *args);
/* After it; the status of a run with too many. */
int simpler_hbg_check_edges(struct simpler_hbg_orch *orch, const char *file, int line);

/* An output of the recorded graph has an initial value. */
void simpler_hbg_add_fill(struct simpler_hbg_orch *orch, const struct simpler_create_info *info,
                          uint64_t offset, uint64_t bytes);

int simpler_hbg_draft_open(struct simpler_hbg_draft *draft, const struct simpler_runtime_env *env);
void simpler_hbg_draft_close(struct simpler_hbg_draft *draft);

#endif
