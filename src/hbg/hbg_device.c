/* SPDX-License-Identifier: Apache-2.0 */
/* One run: built on the caller's thread, run by the device's, reported by the caller. */
#include "hbg/hbg_device.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/logger.h"
#include "base/memory.h"
#include "base/spin_wait.h"
#include "base/testpoint.h"
#include "hbg/hbg_hang.h"
#include "hbg/hbg_runtime.h"
#include "hbg/hbg_stall.h"
#include "hbg/host_limits.h"
#include "task/run_verdict.h"

/* ---- memory ---- */

/* Own nodes and those of calls: each at most the window. */
static uint64_t max_units(const struct simpler_runtime_env *env)
{
    return 2 * env->ring_task_window[0];
}

static void free_memory(struct simpler_hbg_device *device)
{
    simpler_memory_unmap((void *)device->units, max_units(&device->env) * sizeof(*device->units));
    simpler_memory_unmap((void *)device->failed, max_units(&device->env));
    device->units = NULL;
    device->failed = NULL;
    simpler_hbg_orch_close(device->orch);
    device->orch = NULL;
}

static int ensure_memory(struct simpler_hbg_device *device, const struct simpler_runtime_env *env)
{
    if (device->orch != NULL && memcmp(&device->env, env, sizeof(*env)) == 0)
        return 0;
    free_memory(device);
    device->env = *env;
    device->failed_dirty = false;
    device->units = simpler_memory_map(max_units(env) * sizeof(*device->units));
    device->failed = simpler_memory_map(max_units(env));
    if (device->units == NULL || device->failed == NULL ||
        simpler_hbg_orch_open(device->platform, env, &device->stop, &device->orch) != 0) {
        free_memory(device);
        return SIMPLER_ENOMEM;
    }
    return 0;
}

/* ---- the run ---- */

static uint64_t sum_of(const struct simpler_hbg_device *device, size_t offset)
{
    uint64_t sum = 0;
    uint32_t most = atomic_load_explicit(&device->most_threads, memory_order_relaxed);
    for (uint32_t i = 0; i < most; i++) {
        const char *counts = (const char *)&device->counts[i];
        sum += atomic_load_explicit((const _Atomic uint64_t *)(const void *)(counts + offset),
                                    memory_order_relaxed);
    }
    return sum;
}

#define SUM(device, member) sum_of(device, offsetof(struct simpler_hbg_counts, member))

uint64_t simpler_hbg_progress(const void *argument)
{
    const struct simpler_hbg_device *device = argument;
    return SUM(device, completed) -
           atomic_load_explicit(&device->progress_base, memory_order_relaxed);
}

/* True: nothing had stopped it before. */
static bool stop_run(struct simpler_hbg_device *device, int status)
{
    int32_t none = 0;
    bool first = atomic_compare_exchange_strong_explicit(
        &device->stop, &none, status, memory_order_release, memory_order_relaxed);

    atomic_store_explicit(&device->attention, 1, memory_order_relaxed);
    return first;
}

void simpler_hbg_cancel(void *device)
{
    struct simpler_hbg_device *d = device;

    (void)stop_run(d, SIMPLER_ECANCELED);
    /* The caller looks: from now on it waits less long. */
    simpler_event_notify_rare(&d->finish, 1);
}

/* Forgets the cancel of an earlier run, never that of this one. */
static void arm(struct simpler_hbg_device *device, const struct simpler_device_run *run)
{
    /* Read-modify-write (acquire): a cancel that is overwritten has set its flag before. */
    (void)atomic_exchange_explicit(&device->attention, 0, memory_order_acquire);
    (void)atomic_exchange_explicit(&device->stop, 0, memory_order_acquire);
    if (run->canceled != NULL && atomic_load_explicit(run->canceled, memory_order_acquire))
        simpler_hbg_cancel(device);
}

/* @ns from now; UINT64_MAX: never. */
static uint64_t later(uint64_t ns)
{
    uint64_t then;

    return __builtin_add_overflow(simpler_clock_ns(), ns, &then) ? UINT64_MAX : then;
}

static void report_progress(const struct simpler_hbg_device *device)
{
    device->run->progress(device->run->progress_user, simpler_hbg_progress(device));
}

/*
 * Whether the run came to its end while its threads were asked out: the last one has left it,
 * and (@first: the stop is ours) nothing was kept from running by the stop.
 */
static bool has_ended(const struct simpler_hbg_device *device, uint32_t before, bool first)
{
    return atomic_load_explicit(&device->finish_seq, memory_order_acquire) != before &&
           (!first || atomic_load_explicit(&device->cut, memory_order_relaxed) == 0);
}

/* It is told as what it came to; its threads leave, and are started anew. */
static void take_back(struct simpler_hbg_device *device, bool first, uint64_t idle_ns)
{
    SIMPLER_TESTPOINT(HANG_TAKEN_BACK);
    SIMPLER_INFO("a run without progress for %llu ms ended as it was about to be taken away",
                 (unsigned long long)(idle_ns / 1000000));
    device->busy = false;
    if (first)
        atomic_store_explicit(&device->stop, 0, memory_order_release);
    simpler_hbg_stop_threads(device);
}

/* True: the run hangs, and was ended; *stall says how. */
static bool look(struct simpler_hbg_device *device, uint32_t before, struct simpler_hbg_look *seen,
                 struct simpler_stall *stall)
{
    uint64_t idle_ns = 0;

    if (!simpler_hbg_look(device, seen, &idle_ns))
        return false;
    SIMPLER_TESTPOINT(MONITOR_BEFORE_CLAIM);
    if (atomic_load_explicit(&device->finish_seq, memory_order_acquire) != before)
        return false;
    simpler_hbg_hang_claim(device);
    /* Before the stop: who sees that one leaves, and does not call the rest of its grain done. */
    simpler_hbg_ask_out(device);
    bool first = stop_run(device, -SIMPLER_CODE_SCHEDULER_TIMEOUT);
    SIMPLER_TESTPOINT(HANG_CLAIMED);
    simpler_hbg_hang_freeze(device);
    if (has_ended(device, before, first)) {
        take_back(device, first, idle_ns);
        return false;
    }
    simpler_hbg_end_hung(device, idle_ns, seen->stop, stall);
    return true;
}

/* The caller waits, and is the monitor meanwhile; true: the run hung. */
static bool wait_finish(struct simpler_hbg_device *device, uint32_t before, uint64_t end,
                        struct simpler_stall *stall)
{
    const struct simpler_device_run *run = device->run;
    struct simpler_hbg_look seen = {0};
    bool hung = false;
    uint64_t tick = run->progress != NULL ? later(run->progress_interval_ns) : UINT64_MAX;

    while (!hung && atomic_load_explicit(&device->finish_seq, memory_order_acquire) == before) {
        uint64_t now = simpler_clock_ns(), next = tick < end ? tick : end;
        uint64_t pause = simpler_hbg_look_ns(device);
        if (now >= end) {
            (void)stop_run(device, SIMPLER_ETIMEDOUT);
            end = UINT64_MAX;
        } else if (now >= tick) {
            report_progress(device);
            tick = later(run->progress_interval_ns);
        } else {
            simpler_spin_wait(&device->caller_wait, &device->finish_seq, before, &device->closing,
                              &device->finish, next - now < pause ? next - now : pause);
            hung = atomic_load_explicit(&device->finish_seq, memory_order_relaxed) == before &&
                   look(device, before, &seen, stall);
        }
    }
    if (run->progress != NULL)
        report_progress(device);
    return hung;
}

static int prepare(struct simpler_hbg_device *device, const struct simpler_device_run *run)
{
    int rc = ensure_memory(device, &run->env);

    if (rc == 0)
        rc = simpler_hbg_ensure_threads(device, run);
    if (rc != 0)
        return rc;
    device->estimates = simpler_estimates_find(&device->all_estimates, run->callable);
    if (device->estimates == NULL)
        return SIMPLER_ENOMEM;
    device->current = *run;
    device->current_args = *run->args;
    device->current.args = &device->current_args;
    device->run = &device->current;
    device->hung = false;
    atomic_store_explicit(&device->asked, 0, memory_order_relaxed);
    device->kernels = run->callable->by_id;
    atomic_store_explicit(&device->progress_base, SUM(device, completed), memory_order_relaxed);
    atomic_store_explicit(&device->cut, 0, memory_order_relaxed);
    atomic_store_explicit(&device->failure.claim, 0, memory_order_relaxed);
    simpler_deferral_reset(&device->deferred);
    simpler_estimates_learn_defers(device->estimates, &device->defer_serial);
    return 0;
}

static void start_dump(struct simpler_hbg_device *device)
{
    device->dump_level = 0;
#if SIMPLER_DFX
    const struct simpler_device_run *run = device->run;
    set_dump_args_enabled((run->enable_profiling_flag & SIMPLER_PROFILING_DUMP_ARGS) != 0);
    set_platform_dump_base(run->dump_data_base);
    device->dump_level = dump_args_init(run->run_epoch);
#endif
}

/* The device has the run until the last thread has left it. */
static int run_on_device(struct simpler_hbg_device *device, uint64_t end,
                         struct simpler_stall *stall)
{
    int rc = simpler_hbg_load(device);

    if (rc != 0 || device->plan.grain_count == 0)
        return rc;
    if (atomic_load_explicit(&device->stop, memory_order_acquire) != 0)
        return 0;
    uint32_t before = atomic_load_explicit(&device->finish_seq, memory_order_relaxed);
    atomic_store_explicit(&device->booted, SIMPLER_HBG_BOOT_NEW, memory_order_relaxed);
    simpler_caller_seat_take(&device->caller);
    /* W4, release: the run. */
    atomic_store_explicit(&device->gate, 0, memory_order_release);
    /* One, which starts it and wakes the others; who will sleep at once leaves it its CPU. */
    simpler_sleepers_wake_one(&device->work, simpler_spin_wait_is_due(&device->caller_wait)
                                                 ? SIMPLER_WAKE_ANYWHERE
                                                 : SIMPLER_WAKE_HERE);
    (void)wait_finish(device, before, end, stall);
    if (atomic_load_explicit(&device->attention, memory_order_relaxed) != 0)
        device->failed_dirty = true;
    return 0;
}

/* ---- the report ---- */

static void fill_stats(struct simpler_hbg_device *device, const struct simpler_hbg_counts *before,
                       struct simpler_run_stats *stats)
{
    const struct simpler_hbg_orch *orch = device->orch;
    struct simpler_ring_stats *ring = &stats->ring[0];

    stats->tasks = orch->next_id;
    stats->tasks_run = SUM(device, run) - before->run;
    stats->tasks_failed = SUM(device, failed) - before->failed;
    stats->tasks_poisoned = SUM(device, poisoned) - before->poisoned;
    stats->tasks_skipped = SUM(device, skipped) - before->skipped;
    stats->blocks_run = SUM(device, blocks) - before->blocks;
    stats->edges = orch->main.builder.edge_count;
    for (uint32_t i = 0; i < orch->call_count; i++)
        stats->edges += orch->calls[i].graph->image->edge_count;
    stats->tensormap_max = device->env.tensormap;
    stats->tensormap_peak = simpler_tensormap_used(orch->main.map);
    ring->tasks = ring->task_window_peak = orch->next_id;
    ring->task_window_max = device->env.ring_task_window[0];
    ring->heap_max = device->env.ring_heap[0];
    ring->heap_peak = orch->main.builder.heap_bytes;
}

static void report(struct simpler_hbg_device *device, struct simpler_run_result *result)
{
    const struct simpler_hbg_failure *f = &device->failure;
    int status = atomic_load_explicit(&device->stop, memory_order_acquire);

    if (status == 0 && result->stats.tasks_failed != 0)
        status = SIMPLER_EKERNEL;
    simpler_run_verdict_head(result, status, device->orch->fatal_text);
    if (status == 0)
        return;
    if (atomic_load_explicit(&f->claim, memory_order_relaxed) != 0) {
        struct simpler_run_failure failure = {
            .kernel = device->kernels[f->func_id]->name,
            .func_id = f->func_id,
            .task_id = f->id,
            .status = f->status,
            .file = f->site.file,
            .line = f->site.line,
        };
        simpler_run_verdict_failure(result, &failure);
    }
    if (simpler_run_verdict_is_code(status))
        simpler_hbg_advise(device->orch, -status, result);
}

/* The hang is why the run ends. */
static bool is_timeout(struct simpler_hbg_device *device)
{
    return atomic_load_explicit(&device->stop, memory_order_relaxed) ==
           -SIMPLER_CODE_SCHEDULER_TIMEOUT;
}

/* Behind the report; what has come back is started anew. */
static void report_hang(struct simpler_hbg_device *device, const struct simpler_stall *stall,
                        struct simpler_run_result *result)
{
    if (!is_timeout(device))
        simpler_run_verdict_append(result->message, sizeof(result->message),
                                   "then the run hung: %s\n", stall->headline);
    simpler_run_verdict_append(result->message, sizeof(result->message), "%s", stall->details);
    if (!device->busy)
        simpler_hbg_stop_threads(device);
}

int simpler_hbg_execute(void *argument, const struct simpler_device_run *run,
                        struct simpler_run_result *result)
{
    struct simpler_hbg_device *device = argument;
    struct simpler_hbg_counts before = {0};
    struct simpler_stall stall;
    uint64_t start = simpler_clock_ns();
    uint64_t end = run->deadline_ns != 0 ? later(run->deadline_ns) : UINT64_MAX;

    memset(&result->stats, 0, sizeof(result->stats));
    result->message[0] = '\0';
    result->orch_error_code = result->sched_error_code = 0;
    /* Before the memory and the threads are made: a cancel meanwhile is for this run. */
    arm(device, run);
    result->status = prepare(device, run);
    if (result->status != 0)
        return result->status;
    before.run = SUM(device, run);
    before.failed = SUM(device, failed);
    before.poisoned = SUM(device, poisoned);
    before.skipped = SUM(device, skipped);
    before.blocks = SUM(device, blocks);
    device->start_ns = start;
    simpler_timing_reset(device->timing);
    /* Also of a run that never gets to the device: its dump has no records, which is known. */
    start_dump(device);
    (void)simpler_hbg_orch_run(device->orch, device->run, &device->cache);
    result->stats.orchestration_ns = simpler_clock_ns() - start;
    int rc = atomic_load_explicit(&device->stop, memory_order_acquire) == 0
                 ? run_on_device(device, end, &stall)
                 : 0;
    if (rc != 0)
        (void)stop_run(device, rc);
    result->stats.wall_ns = simpler_clock_ns() - start;
    fill_stats(device, &before, &result->stats);
    simpler_timing_fill(device->timing, result);
    if (device->hung && is_timeout(device))
        memcpy(device->orch->fatal_text, stall.headline, sizeof(stall.headline));
    report(device, result);
    if (device->hung)
        report_hang(device, &stall, result);
    if (!device->busy)
        device->run = NULL;
    return result->status;
}

enum simpler_device_lane_end simpler_hbg_lane_end(const void *argument, uint32_t lane)
{
    const struct simpler_hbg_device *device = argument;

    return device->hung && device->busy && lane < device->thread_count
               ? device->threads[lane].verdict.end
               : SIMPLER_DEVICE_LANE_COMPLETE;
}

int simpler_hbg_quiesce(void *argument, uint64_t timeout_ns, const char **why)
{
    struct simpler_hbg_device *device = argument;

    if (!device->busy)
        return 0;
    *why = device->busy_text;
    int rc = simpler_kernel_guard_quiesce(&device->guarded, timeout_ns);
    if (rc != 0)
        return rc;
    simpler_hbg_stop_threads(device);
    device->busy = false;
    device->run = NULL;
    return 0;
}

void simpler_hbg_report(void *argument)
{
    struct simpler_hbg_device *device = argument;

    atomic_store_explicit(&device->asked, 1, memory_order_release);
    simpler_event_notify_rare(&device->finish, 1);
}

int simpler_hbg_open(const struct simpler_platform *platform, void **out)
{
    struct simpler_hbg_device *device = simpler_alloc_aligned(1, sizeof(*device));
    if (device == NULL)
        return SIMPLER_ENOMEM;
    simpler_event_setup();
    simpler_clock_calibrate();
    device->platform = platform;
    simpler_sleepers_init(&device->work);
    simpler_event_init(&device->finish);
    simpler_hbg_hang_init(device);
    atomic_store_explicit(&device->gate, SIMPLER_HBG_GATE_OVER, memory_order_relaxed);
    *out = device;
    return 0;
}

void simpler_hbg_close(void *argument)
{
    struct simpler_hbg_device *device = argument;
    const char *why;

    if (device == NULL)
        return;
    if (simpler_hbg_quiesce(device, 0, &why) != 0) {
        SIMPLER_WARN("a device is closed while %s: its memory stays until the process ends", why);
        return;
    }
    simpler_hbg_stop_threads(device);
    free_memory(device);
    simpler_hbg_graph_cache_fini(&device->cache);
    simpler_hbg_plan_fini(&device->plan);
    simpler_alloc_free(device->image);
    simpler_alloc_free(device->bases);
    simpler_alloc_free(device->parts);
    simpler_estimates_fini(&device->all_estimates);
    simpler_alloc_free(device);
}

const struct simpler_runtime simpler_runtime_hbg = {
    .name = "host_build_graph",
    .description = "the host builds the whole graph, then the device runs it; recorded graphs",
    .samples_scopes = false,
    .open = simpler_hbg_open,
    .close = simpler_hbg_close,
    .execute = simpler_hbg_execute,
    .cancel = simpler_hbg_cancel,
    .progress = simpler_hbg_progress,
    .lane_end = simpler_hbg_lane_end,
    .quiesce = simpler_hbg_quiesce,
    .report = simpler_hbg_report,
};
