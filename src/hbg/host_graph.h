/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_HOST_GRAPH_H
#define SIMPLER_HBG_HOST_GRAPH_H

/*
 * The orchestrator: it runs on the caller's thread, to the end, before any
 * device thread hears of the run.  Calls of the orchestration grow a draft; a
 * recorded graph has a draft of its own while it is recorded.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hbg/graph_builder.h"
#include "hbg/recorded_graph.h"
#include "platform/platform.h"
#include "task/orch_ops.h"
#include "task/runtime.h"
#include "task/tensormap.h"

/* Addresses while a graph is recorded: its outputs, and argument i. */
#define SIMPLER_HBG_RECORDED_HEAP ((uint64_t)1 << 55)
#define SIMPLER_HBG_ARGUMENT(i)   ((uint64_t)(256 + (i)) << 48)
/* Ring of the ids that a graph's function gets while it is recorded. */
#define SIMPLER_HBG_RECORDED_RING 1u

/* A graph that grows. */
struct simpler_hbg_draft {
    struct simpler_hbg_builder builder;
    struct simpler_tensormap *map;  /* ids are node numbers */
    uint64_t heap;                  /* address of base 0 */
    struct simpler_hbg_fill *fills; /* of a recording */
    uint32_t fill_count, fill_capacity;
};

/* One recorded graph in a run. */
struct simpler_hbg_call {
    struct simpler_hbg_recorded *graph;
    uint32_t node;     /* in the run's own graph */
    uint32_t first_id; /* of its tasks */
    uint64_t heap_offset;
    uint32_t first_base, first_scalar; /* in the orchestrator's lists */
};

/* The recording that is going on. */
struct simpler_hbg_recording {
    uint32_t tensor_count, scalar_count;
    uint32_t leader[SIMPLER_MAX_TENSORS]; /* whose address a tensor has */
    uint8_t use[SIMPLER_MAX_TENSORS];
    uint64_t scalar[SIMPLER_MAX_SCALARS]; /* where its function finds them */
};

/*
 * What the call that is recorded was given.  Its function may fill the caller's objects anew,
 * so nothing of them is read after it has begun.
 */
struct simpler_hbg_given {
    struct simpler_task_args args; /* its tensors are these */
    struct simpler_tensor tensor[SIMPLER_MAX_TENSORS];
    void *config;
    size_t config_capacity;
};

struct simpler_hbg_orch {
    struct simpler_orch_head head; /* first: see task/orch_ops.h */
    const struct simpler_platform *platform;
    const struct simpler_device_run *run;
    _Atomic int32_t *stop;           /* of the device */
    struct simpler_hbg_draft *draft; /* that calls go to */
    struct simpler_hbg_draft main;
    struct simpler_hbg_recording *recording; /* NULL: none */
    struct simpler_hbg_draft *recorder;      /* NULL until a graph is recorded */
    struct simpler_hbg_given given;
    struct simpler_hbg_graph_cache *cache;
    uint64_t cache_clock; /* when the run began */
    uint64_t sane_form;   /* simpler_submit_form of a tensor that was checked */
    int status;           /* 0, or why the run has failed; what every call answers */
    bool counting;
    bool any_manual;       /* some scope of the run is manual */
    uint32_t depth;        /* open scopes, the root included */
    uint32_t first_depth;  /* those that the function that runs now did not open */
    uint32_t manual_depth; /* of the outermost manual one, or 0 */
    uint32_t next_id;
    uint8_t *heap;
    uint64_t heap_bytes;
    /* After a size was too small: what all that is submitted needs. */
    uint64_t needed_tasks, needed_heap, needed_map;
    uint64_t counted; /* submits since then, the one that failed among them */
    struct simpler_hbg_call *calls;
    uint32_t call_count, call_capacity;
    struct simpler_hbg_base *call_bases;
    uint32_t call_base_count, call_base_capacity;
    uint64_t *call_scalars;
    uint32_t call_scalar_count, call_scalar_capacity;
    /* The task that is being submitted. */
    struct simpler_edge_sink sink;
    uint64_t sink_ids[64];
    bool edges_full;
    struct simpler_tensor made[SIMPLER_MAX_TENSORS];
    char fatal_text[1536];
};

/* SIMPLER_ENOMEM. */
int simpler_hbg_orch_open(const struct simpler_platform *platform,
                          const struct simpler_runtime_env *env, _Atomic int32_t *stop,
                          struct simpler_hbg_orch **out);
void simpler_hbg_orch_close(struct simpler_hbg_orch *orch);

/* Runs the orchestration; returns the run's status. */
int simpler_hbg_orch_run(struct simpler_hbg_orch *orch, const struct simpler_device_run *run,
                         struct simpler_hbg_graph_cache *cache);

/* Ids to nodes; UINT32_MAX: no such task. */
uint32_t simpler_hbg_orch_node_of(const struct simpler_hbg_orch *orch, uint64_t id);
uint64_t simpler_hbg_orch_id_of(const struct simpler_hbg_orch *orch, uint32_t node);

#endif
