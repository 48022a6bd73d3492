/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_HBG_RECORDED_GRAPH_H
#define SIMPLER_HBG_RECORDED_GRAPH_H

/*
 * Recorded graphs: an image each, found again by function, configuration and
 * everything of the arguments but where they lie and what the scalars are.
 */
#include "hbg/graph_builder.h"
#include "hbg/grain_plan.h"
#include "simpler/orch.h"
#include "task/callable.h"

struct simpler_hbg_draft;

/* What of a tensor argument makes another graph. */
struct simpler_hbg_shape {
    uint8_t use, dtype, manual_dep, is_contiguous;
    uint32_t ndims;
    uint32_t shape[SIMPLER_MAX_DIMS], stride[SIMPLER_MAX_DIMS];
    uint32_t leader;   /* first argument whose bytes it may share; itself when none */
    uint64_t distance; /* elements behind the leader's */
};

struct simpler_hbg_graph_key {
    const struct simpler_callable_copy *callable;
    simpler_graph_fn fn;
    uint32_t tensor_count, scalar_count;
    uint32_t hazards;
    uint32_t manual;
    uint64_t config_bytes;
    uint64_t hash; /* of the rest, the configuration's bytes included */
    struct simpler_hbg_shape shape[SIMPLER_MAX_TENSORS];
};

/* An output with an initial value: where it lies behind base 0. */
struct simpler_hbg_fill {
    struct simpler_create_info info;
    uint64_t offset, bytes;
};

struct simpler_hbg_recorded {
    struct simpler_hbg_graph_key key;
    void *config;
    struct simpler_hbg_image *image;
    struct simpler_hbg_site *sites; /* of each node */
    struct simpler_hbg_fill *fills;
    uint32_t fill_count;
    struct simpler_hbg_plan plan;
    /* The kernels in it, and the times that the plan was made with. */
    uint16_t *funcs;
    uint32_t *func_ns;
    uint32_t func_count;
    uint64_t callable_hash;
    uint64_t used; /* when it was last; the oldest goes first */
};

#define SIMPLER_HBG_CACHED_GRAPHS 256

struct simpler_hbg_graph_cache {
    struct simpler_hbg_recorded *graph[SIMPLER_HBG_CACHED_GRAPHS];
    uint32_t count;
    uint64_t clock;
    uint64_t hits, misses;
};

void simpler_hbg_graph_cache_fini(struct simpler_hbg_graph_cache *cache);

/* The graph of a key, or NULL; @config is compared byte by byte. */
struct simpler_hbg_recorded *simpler_hbg_graph_cache_find(struct simpler_hbg_graph_cache *cache,
                                                          const struct simpler_hbg_graph_key *key,
                                                          const void *config);
/*
 * Keeps what @draft holds under @key.  NULL: out of memory.  A graph that the
 * run since @run_clock uses is never dropped for it; then the cache is full: NULL, *full.
 */
struct simpler_hbg_recorded *simpler_hbg_graph_cache_add(struct simpler_hbg_graph_cache *cache,
                                                         const struct simpler_hbg_graph_key *key,
                                                         const void *config,
                                                         const struct simpler_hbg_draft *draft,
                                                         uint64_t run_clock, bool *full);

/* Makes the plan when there is none or the times have changed. SIMPLER_ENOMEM. */
int simpler_hbg_recorded_plan(struct simpler_hbg_recorded *graph,
                              const struct simpler_hbg_costs *costs);

/* simpler_orch_submit_graph, as this runtime does it. */
int simpler_hbg_submit_graph(struct simpler_orch *orch, simpler_graph_fn fn,
                             const struct simpler_task_args *args, const void *config,
                             size_t config_bytes, const char *file, int line);

#endif
