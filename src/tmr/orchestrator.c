/* SPDX-License-Identifier: Apache-2.0 */
/* One run: the root scope, the orchestration, the drain, the numbers. */
#include "tmr/orchestrator.h"

#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "task/submit_args.h"
#include "tmr/admission.h"
#include "tmr/arena.h"
#include "tmr/arg_capture.h"
#include "tmr/core_pool.h"
#include "tmr/fatal.h"
#include "tmr/handover.h"
#include "tmr/hazard_check.h"
#include "tmr/launch.h"
#include "tmr/linking.h"
#include "tmr/monitor.h"
#include "tmr/orch_functions.h"
#include "tmr/orch_wait.h"
#include "tmr/passing.h"
#include "tmr/scheduler.h"
#include "tmr/scope_sample.h"

/* dep_pool counters start at 1: entry 0 is the documents' null marker. */
#define DEP_START 1u

static void reset_ring(struct simpler_device *device, uint32_t r, uint32_t first)
{
    const struct simpler_arena *arena = device->arena;
    struct simpler_ring *ring = &device->orch.ring[r];

    memset(ring, 0, sizeof(*ring));
    ring->first = first;
    ring->mask = (uint32_t)arena->env.ring_task_window[r] - 1;
    ring->hold_from = SIMPLER_NO_HOLD;
    ring->dep_top = ring->dep_tail = DEP_START;
    ring->dep_shown_top = ring->dep_shown_tail = DEP_START;
    ring->dep_capacity = (uint32_t)arena->env.ring_dep_pool[r];
    simpler_heap_ring_init(&ring->heap, arena->heap[r], arena->env.ring_heap[r]);
    device->alive[r] = 0;
}

bool simpler_orchestrator_is_drained(const struct simpler_device *device)
{
    return simpler_scheduler_completed(device) - device->progress_base == device->orch.submitted;
}

static enum simpler_wait is_drained(struct simpler_orch *orch, void *context)
{
    (void)context;
    return simpler_orchestrator_is_drained(orch->device) ? SIMPLER_WAIT_DONE : SIMPLER_WAIT_MORE;
}

/*
 * Nothing runs and nothing is ready, but tasks are left: nothing can make progress
 * any more.  The monitor ends the run; this thread is asked out.
 */
static void drain(struct simpler_orch *orch)
{
    if (simpler_orch_wait(orch, is_drained, NULL, SIMPLER_DRAIN_STUCK_NS, true) !=
        SIMPLER_WAIT_IDLE)
        return;
    simpler_monitor_report_stuck(orch->device);
    (void)simpler_orch_wait(orch, is_drained, NULL, UINT64_MAX, true);
}

/* Threads count from their start on. */
static void add_counts(const struct simpler_device *device, struct simpler_run_stats *stats)
{
    for (uint32_t i = 0; i < device->thread_count; i++) {
        const struct simpler_thread_counts *c = &device->threads[i].counts;
        stats->tasks_run += atomic_load_explicit(&c->run, memory_order_relaxed);
        stats->tasks_failed += atomic_load_explicit(&c->failed, memory_order_relaxed);
        stats->tasks_poisoned += atomic_load_explicit(&c->poisoned, memory_order_relaxed);
        stats->tasks_skipped += atomic_load_explicit(&c->skipped, memory_order_relaxed);
        stats->blocks_run += atomic_load_explicit(&c->blocks, memory_order_relaxed);
    }
    simpler_core_pool_add_stats(device->cores, stats);
}

void simpler_orchestrator_reset(struct simpler_device *device)
{
    static const struct simpler_tensor plain = {.ndims = 1, .is_contiguous = 1};
    struct simpler_orch *orch = &device->orch;
    struct simpler_scope_frame *frames = orch->frames;
    uint32_t frame_capacity = orch->frame_capacity;
    uint64_t probed = orch->probed_ticks;
    uint32_t first = 0;

    memset(orch, 0, sizeof(*orch));
    orch->head.submits = &simpler_tmr_ops.submit;
    orch->frames = frames;
    orch->frame_capacity = frame_capacity;
    orch->probed_ticks = probed;
    orch->device = device;
    orch->thread = &device->threads[device->thread_count - 1];
    orch->map = device->arena->map;
    orch->pending = device->arena->pending;
    orch->sink.ids = orch->sink_ids;
    orch->sink.capacity = sizeof(orch->sink_ids) / sizeof(orch->sink_ids[0]);
    orch->sink.flush = simpler_linking_drain_sink;
    orch->recorded_uses = 1u << SIMPLER_USE_INOUT | 1u << SIMPLER_USE_OUTPUT_EXISTING |
                          (uint32_t)(device->run->hazards == SIMPLER_HAZARDS_ALL)
                              << SIMPLER_USE_INPUT;
    orch->sane_form = orch->strided_form = simpler_submit_form(&plain);
    simpler_passing_forget(orch);
    simpler_handover_start(orch);
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        reset_ring(device, r, first);
        first += orch->ring[r].mask + 1;
    }
    simpler_tensormap_reset(orch->map, device->run->hazards == SIMPLER_HAZARDS_ALL);
    orch->start_ns = simpler_clock_ns();
    add_counts(device, &orch->before);
}

static void fill_stats(struct simpler_orch *orch, struct simpler_run_stats *stats)
{
    struct simpler_device *device = orch->device;

    stats->tasks = orch->submitted;
    stats->edges = orch->edges;
    stats->tensormap_max = device->arena->env.tensormap;
    stats->tensormap_peak = orch->map_peak;
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        const struct simpler_ring *ring = &orch->ring[r];
        struct simpler_ring_stats *out = &stats->ring[r];
        out->tasks = ring->next;
        out->task_window_max = (uint64_t)ring->mask + 1;
        out->task_window_peak = ring->window_peak;
        out->heap_max = ring->heap.size;
        out->heap_peak = ring->heap_peak;
        out->dep_pool_max = ring->dep_capacity;
        out->dep_pool_peak = ring->dep_peak;
    }
    add_counts(device, stats);
}

/* Threads count from the device's opening; a run's numbers are differences. */
static void subtract_before(struct simpler_run_stats *stats, const struct simpler_run_stats *before)
{
    stats->tasks_run -= before->tasks_run;
    stats->tasks_failed -= before->tasks_failed;
    stats->tasks_poisoned -= before->tasks_poisoned;
    stats->tasks_skipped -= before->tasks_skipped;
    stats->blocks_run -= before->blocks_run;
}

static void orchestrate(struct simpler_orch *orch)
{
    const struct simpler_device_run *run = orch->device->run;
    const struct simpler_callable *callable = &run->callable->callable;
    uint32_t given = run->args->tensor_count + run->args->scalar_count;
    bool sited = callable->file != NULL;

    if (simpler_orchestrator_enter(orch, SIMPLER_SCOPE_AUTO,
                                   sited ? callable->file : "(orchestration)",
                                   sited ? callable->line : 0) != 0)
        return;
    if (callable->expected_arg_count > given)
        (void)simpler_fatal_latch(
            orch, SIMPLER_CODE_INVALID_ARGS, "the callable expects %u argument%s, but got %u",
            callable->expected_arg_count, simpler_text_plural(callable->expected_arg_count), given);
    else
        callable->orchestrate(orch, run->args);
    simpler_passing_end(orch);
    /* As its calls were told: a stop of this moment has kept nothing from it. */
    if (orch->status == 0 && orch->open > 1)
        (void)simpler_fatal_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                  "the orchestration returned with %u scope%s open", orch->open - 1,
                                  simpler_text_plural(orch->open - 1));
    while (orch->open > 0)
        simpler_orchestrator_leave(orch);
}

void simpler_orchestrator_add_hazards(struct simpler_device *device)
{
    const struct simpler_orch *orch = &device->orch;
    struct simpler_run_result *result = &device->result;

    if (orch->check == NULL)
        return;
    result->stats.unordered_pairs = simpler_hazard_check_pairs(orch->check);
    size_t at = strlen(result->message);
    simpler_hazard_check_report(orch->check, result->message + at, sizeof(result->message) - at);
}

void simpler_orchestrator_conclude(struct simpler_device *device)
{
    struct simpler_orch *orch = &device->orch;
    struct simpler_run_result *result = &device->result;

    memset(&result->stats, 0, sizeof(result->stats));
    result->stats.orchestration_ns = orch->orchestration_ns;
    result->stats.wall_ns = simpler_clock_ns() - orch->start_ns;
    fill_stats(orch, &result->stats);
    subtract_before(&result->stats, &orch->before);
    simpler_launch_fill_timing(device, result);
    simpler_fatal_report(orch, result);
}

void simpler_orchestrator_forget(struct simpler_device *device)
{
    simpler_hazard_check_close(device->orch.check);
    device->orch.check = NULL;
}

bool simpler_orchestrator_execute(struct simpler_device *device)
{
    struct simpler_orch *orch = &device->orch;

    orch->start_ns = simpler_clock_ns();
    simpler_launch_start_run(device, orch->start_ns);
    if (device->run->check_hazards && device->run->hazards == SIMPLER_HAZARDS_RAW &&
        simpler_hazard_check_open(&orch->check) != 0)
        (void)simpler_fatal_stop(orch, SIMPLER_ENOMEM);
    simpler_scope_sample_start(orch);
    simpler_arg_capture_start(orch);
    orch->watched = orch->check != NULL || orch->dump_level != 0;
    /* A hazard check needs every task in its slot. */
    if (orch->check == NULL && !orch->never_solo)
        orch->may_settle = orch->watched ? SIMPLER_SETTLED_WATCHED : SIMPLER_SETTLED;
    orch->settled = orch->may_settle;
    orchestrate(orch);
    simpler_scope_sample_finish(orch);
    orch->orchestration_ns = simpler_clock_ns() - orch->start_ns;
    drain(orch);
    bool ours = simpler_monitor_claim_end(device);
    if (ours) {
        simpler_arg_capture_finish(orch);
        simpler_orchestrator_conclude(device);
        simpler_orchestrator_add_hazards(device);
        simpler_orchestrator_forget(device);
    }
    return ours;
}
