/* SPDX-License-Identifier: Apache-2.0 */
/* The orchestrator: its memory, kept from run to run; one run of the orchestration. */
#include "base/alloc.h"
#include "base/memory.h"
#include "base/text.h"
#include "hbg/host_calls.h"
#include "hbg/host_limits.h"

int simpler_hbg_draft_open(struct simpler_hbg_draft *draft, const struct simpler_runtime_env *env)
{
    static const uint32_t alive[CHIP_MAX_RING_DEPTH];
    uint32_t window = (uint32_t)env->ring_task_window[0];
    struct simpler_tensormap_config config = {
        .capacity = (uint32_t)env->tensormap,
        .window = {window, SIMPLER_TASK_WINDOW_MIN, SIMPLER_TASK_WINDOW_MIN,
                   SIMPLER_TASK_WINDOW_MIN},
        .track_readers = true,
        .alive = alive,
    };
    int rc = simpler_hbg_builder_open(&draft->builder, window);

    return rc == 0 ? simpler_tensormap_open(&config, &draft->map) : rc;
}

void simpler_hbg_draft_close(struct simpler_hbg_draft *draft)
{
    simpler_tensormap_close(draft->map);
    simpler_hbg_builder_close(&draft->builder);
    simpler_alloc_free(draft->fills);
    draft->map = NULL;
}

int simpler_hbg_orch_open(const struct simpler_platform *platform,
                          const struct simpler_runtime_env *env, _Atomic int32_t *stop,
                          struct simpler_hbg_orch **out)
{
    struct simpler_hbg_orch *orch = simpler_alloc_aligned(1, sizeof(*orch));
    if (orch == NULL)
        return SIMPLER_ENOMEM;
    orch->head.submits = &simpler_hbg_ops.submit;
    orch->stop = stop;
    orch->platform = platform;
    orch->heap_bytes = env->ring_heap[0];
    orch->sink.ids = orch->sink_ids;
    orch->sink.capacity = sizeof(orch->sink_ids) / sizeof(orch->sink_ids[0]);
    orch->sink.flush = simpler_hbg_drain_sink;
    int rc = simpler_hbg_draft_open(&orch->main, env);
    orch->heap = rc == 0 ? simpler_memory_map(orch->heap_bytes) : NULL;
    if (orch->heap == NULL) {
        simpler_hbg_orch_close(orch);
        return SIMPLER_ENOMEM;
    }
    orch->main.heap = (uint64_t)(uintptr_t)orch->heap;
    *out = orch;
    return 0;
}

void simpler_hbg_orch_close(struct simpler_hbg_orch *orch)
{
    if (orch == NULL)
        return;
    simpler_hbg_draft_close(&orch->main);
    if (orch->recorder != NULL)
        simpler_hbg_draft_close(orch->recorder);
    simpler_alloc_free(orch->recorder);
    simpler_alloc_free(orch->given.config);
    simpler_memory_unmap(orch->heap, orch->heap_bytes);
    simpler_alloc_free(orch->calls);
    simpler_alloc_free(orch->call_bases);
    simpler_alloc_free(orch->call_scalars);
    simpler_alloc_free(orch);
}

static void reset(struct simpler_hbg_orch *orch, const struct simpler_device_run *run,
                  struct simpler_hbg_graph_cache *cache)
{
    orch->run = run;
    orch->cache = cache;
    orch->cache_clock = cache->clock;
    orch->draft = &orch->main;
    orch->recording = NULL;
    orch->status = 0;
    orch->counting = false;
    orch->depth = orch->first_depth = 1;
    orch->any_manual = false;
    orch->manual_depth = 0;
    orch->next_id = 0;
    orch->edges_full = false;
    orch->call_count = orch->call_base_count = orch->call_scalar_count = 0;
    orch->fatal_text[0] = '\0';
    simpler_hbg_builder_reset(&orch->main.builder, run->dump_args_level != 0);
    simpler_tensormap_reset(orch->main.map, run->hazards == SIMPLER_HAZARDS_ALL);
}

int simpler_hbg_orch_run(struct simpler_hbg_orch *orch, const struct simpler_device_run *run,
                         struct simpler_hbg_graph_cache *cache)
{
    const struct simpler_callable *callable = &run->callable->callable;
    uint32_t given = run->args->tensor_count + run->args->scalar_count;

    reset(orch, run, cache);
    if (callable->expected_arg_count > given)
        return simpler_hbg_latch(
            orch, SIMPLER_CODE_INVALID_ARGS, "the callable expects %u argument%s, but got %u",
            callable->expected_arg_count, simpler_text_plural(callable->expected_arg_count), given);
    callable->orchestrate((struct simpler_orch *)orch, run->args);
    if (simpler_hbg_status(orch) == 0 && orch->depth > 1)
        (void)simpler_hbg_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                "the orchestration returned with %u scope%s open", orch->depth - 1,
                                simpler_text_plural(orch->depth - 1));
    return simpler_hbg_status(orch);
}
