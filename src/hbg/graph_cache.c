/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of recorded graphs: few of them, looked up by hash, the oldest dropped first. */
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "hbg/host_graph.h"
#include "simpler/status.h"

static void recorded_close(struct simpler_hbg_recorded *graph)
{
    if (graph == NULL)
        return;
    simpler_hbg_plan_fini(&graph->plan);
    simpler_alloc_free(graph->config);
    simpler_alloc_free(graph->image);
    simpler_alloc_free(graph->sites);
    simpler_alloc_free(graph->fills);
    simpler_alloc_free(graph->funcs);
    simpler_alloc_free(graph->func_ns);
    simpler_alloc_free(graph);
}

void simpler_hbg_graph_cache_fini(struct simpler_hbg_graph_cache *cache)
{
    for (uint32_t i = 0; i < cache->count; i++)
        recorded_close(cache->graph[i]);
    memset(cache, 0, sizeof(*cache));
}

static bool is_of(const struct simpler_hbg_recorded *g, const struct simpler_hbg_graph_key *key,
                  const void *config)
{
    return g->key.hash == key->hash && g->callable_hash == key->callable->hash &&
           memcmp(&g->key, key, sizeof(*key)) == 0 &&
           (key->config_bytes == 0 || memcmp(g->config, config, key->config_bytes) == 0);
}

struct simpler_hbg_recorded *simpler_hbg_graph_cache_find(struct simpler_hbg_graph_cache *cache,
                                                          const struct simpler_hbg_graph_key *key,
                                                          const void *config)
{
    for (uint32_t i = 0; i < cache->count; i++) {
        struct simpler_hbg_recorded *g = cache->graph[i];
        if (!is_of(g, key, config))
            continue;
        g->used = ++cache->clock;
        cache->hits++;
        return g;
    }
    cache->misses++;
    return NULL;
}

/* Distinct kernels of the image. */
static int list_funcs(struct simpler_hbg_recorded *g)
{
    const struct simpler_hbg_node *nodes = simpler_hbg_nodes(g->image);
    const struct simpler_hbg_launch *launches = simpler_hbg_at(g->image, g->image->launches);
    bool seen[SIMPLER_MAX_FUNC_ID + 1] = {false};
    uint32_t count = 0;

    for (uint32_t i = 0; i < g->image->node_count; i++) {
        if (nodes[i].func_id <= SIMPLER_MAX_FUNC_ID)
            seen[nodes[i].func_id] = true;
    }
    for (uint32_t i = 0; i < g->image->launch_count * SIMPLER_LANES; i++) {
        uint32_t func = launches[i / SIMPLER_LANES].func_id[i % SIMPLER_LANES];
        if (func != SIMPLER_NO_FUNC)
            seen[func] = true;
    }
    for (uint32_t func = 0; func <= SIMPLER_MAX_FUNC_ID; func++)
        count += seen[func];
    g->funcs = simpler_alloc_zeroed((size_t)count + 1, sizeof(*g->funcs));
    g->func_ns = simpler_alloc_zeroed((size_t)count + 1, sizeof(*g->func_ns));
    if (g->funcs == NULL || g->func_ns == NULL)
        return SIMPLER_ENOMEM;
    for (uint32_t func = 0; func <= SIMPLER_MAX_FUNC_ID; func++) {
        if (seen[func])
            g->funcs[g->func_count++] = (uint16_t)func;
    }
    return 0;
}

static int fill(struct simpler_hbg_recorded *g, const struct simpler_hbg_graph_key *key,
                const void *config, const struct simpler_hbg_draft *draft)
{
    const struct simpler_hbg_builder *builder = &draft->builder;

    g->key = *key;
    g->callable_hash = key->callable->hash;
    g->config = simpler_alloc_zeroed(key->config_bytes + 1, 1);
    g->image = simpler_alloc_aligned(1, simpler_hbg_builder_image_bytes(builder));
    g->sites = simpler_alloc_zeroed((size_t)builder->node_count + 1, sizeof(*g->sites));
    g->fills = simpler_alloc_aligned((size_t)draft->fill_count + 1, sizeof(*g->fills));
    if (g->config == NULL || g->image == NULL || g->sites == NULL || g->fills == NULL)
        return SIMPLER_ENOMEM;
    if (key->config_bytes != 0)
        memcpy(g->config, config, key->config_bytes);
    memcpy(g->sites, builder->site, builder->node_count * sizeof(*g->sites));
    if (draft->fill_count != 0)
        memcpy(g->fills, draft->fills, draft->fill_count * sizeof(*g->fills));
    g->fill_count = draft->fill_count;
    simpler_hbg_builder_pack(builder, g->image);
    return list_funcs(g);
}

/* A free place, or that of the graph that was not used for the longest time. */
static uint32_t find_place(struct simpler_hbg_graph_cache *cache, uint64_t run_clock)
{
    uint32_t oldest = 0;

    if (cache->count < SIMPLER_HBG_CACHED_GRAPHS)
        return cache->count;
    for (uint32_t i = 1; i < cache->count; i++) {
        if (cache->graph[i]->used < cache->graph[oldest]->used)
            oldest = i;
    }
    return cache->graph[oldest]->used > run_clock ? SIMPLER_HBG_CACHED_GRAPHS : oldest;
}

struct simpler_hbg_recorded *simpler_hbg_graph_cache_add(struct simpler_hbg_graph_cache *cache,
                                                         const struct simpler_hbg_graph_key *key,
                                                         const void *config,
                                                         const struct simpler_hbg_draft *draft,
                                                         uint64_t run_clock, bool *full)
{
    uint32_t place = find_place(cache, run_clock);

    *full = place == SIMPLER_HBG_CACHED_GRAPHS;
    if (*full)
        return NULL;
    struct simpler_hbg_recorded *g = simpler_alloc_zeroed(1, sizeof(*g));
    if (g == NULL || fill(g, key, config, draft) != 0) {
        recorded_close(g);
        return NULL;
    }
    if (place < cache->count)
        recorded_close(cache->graph[place]);
    else
        cache->count++;
    cache->graph[place] = g;
    g->used = ++cache->clock;
    return g;
}

/* Whether a time is now another one for the planner. */
static bool has_moved(uint32_t before, uint32_t now)
{
    if (before == 0 || now == 0)
        return before != now;
    return now > before + before / 4 + 8 || before > now + now / 4 + 8;
}

int simpler_hbg_recorded_plan(struct simpler_hbg_recorded *g, const struct simpler_hbg_costs *costs)
{
    bool stale = g->plan.first == NULL || g->plan.threads != costs->threads ||
                 g->plan.one_task_a_grain != costs->one_task_a_grain ||
                 g->plan.defer_serial != costs->defer_serial ||
                 has_moved(g->plan.handover_ns, costs->handover_ns);

    for (uint32_t i = 0; i < g->func_count && !stale; i++)
        stale = has_moved(g->func_ns[i], atomic_load_explicit(&costs->kernel_ns[g->funcs[i]],
                                                              memory_order_relaxed));
    if (!stale)
        return 0;
    for (uint32_t i = 0; i < g->func_count; i++)
        g->func_ns[i] = atomic_load_explicit(&costs->kernel_ns[g->funcs[i]], memory_order_relaxed);
    int rc = simpler_hbg_plan_make(&g->plan, g->image, costs);
    /* Made for no thread: the next run makes it anew. */
    if (rc != 0)
        g->plan.threads = 0;
    return rc;
}
