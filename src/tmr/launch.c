/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks with blocks, lanes, a predicate or a timing slot: checked, made, run, finished. */
#include "tmr/launch.h"

#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "tmr/arg_capture.h"
#include "tmr/cohort.h"
#include "tmr/deferred.h"
#include "tmr/fatal.h"
#include "tmr/scheduler.h"

static const char *file_of(const struct simpler_launch_request *request)
{
    return request->file == NULL ? "(unknown)" : request->file;
}

/* ---- submit ---- */

static uint32_t lanes_of(const struct simpler_launch_request *request)
{
    return simpler_launch_args_lanes(request->func_id);
}

static int check_sync_start(struct simpler_orch *orch, const struct simpler_launch_request *request)
{
    uint32_t clusters = orch->device->run->cluster_count;
    bool aiv;
    uint32_t limit = simpler_launch_args_sync_limit(lanes_of(request), clusters, &aiv);
    int32_t blocks = simpler_launch_args_blocks(request->args);

    if ((uint32_t)blocks <= limit)
        return 0;
    return simpler_fatal_latch(orch, SIMPLER_CODE_REQUIRE_SYNC_START_INVALID,
                               "submit at %s:%d: sync_start with %d block%s, but the device has %u "
                               "%s%s, and all blocks must be resident at once; submit at most that "
                               "many blocks or raise cluster_count (%u)",
                               file_of(request), request->line, blocks,
                               simpler_text_plural((uint32_t)blocks), limit,
                               aiv ? "AIV core" : "cluster", simpler_text_plural(limit), clusters);
}

static int check_predicate(struct simpler_orch *orch, const struct simpler_launch_request *request)
{
    const char *fault = simpler_launch_args_fault(request->args);

    if (fault == NULL)
        return 0;
    return simpler_fatal_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                               "submit at %s:%d: the predicate's %s", file_of(request),
                               request->line, fault);
}

int simpler_launch_check(struct simpler_orch *orch, const struct simpler_launch_request *request)
{
    int status = 0;

    if (lanes_of(request) == 0)
        return 0;
    if ((request->args->extra & SIMPLER_EXTRA_SYNC_START) != 0)
        status = check_sync_start(orch, request);
    return status != 0 ? status : check_predicate(orch, request);
}

/* The element's address; the tensor itself need not live any longer than the submit. */
static void resolve_predicate(struct simpler_task_launch *launch,
                              const struct simpler_task_args *args)
{
    const struct simpler_predicate *p = &args->predicate;

    launch->op = SIMPLER_PREDICATE_NONE;
    if (launch->lanes == 0 || !simpler_launch_args_has_operand(args))
        return;
    launch->op = (uint8_t)p->op;
    launch->operand_bytes = (uint8_t)simpler_dtype_bytes(p->tensor->dtype);
    launch->operand = p->tensor->addr + simpler_launch_args_operand(p);
    launch->target = p->target;
}

void simpler_launch_prepare(struct simpler_orch *orch, uint32_t number,
                            const struct simpler_launch_request *request)
{
    struct simpler_task_launch *launch = &orch->device->table.launch[number];
    const struct simpler_task_args *args = request->args;

    launch->lanes = (uint8_t)lanes_of(request);
    launch->lane_count = (uint8_t)__builtin_popcount(launch->lanes);
    launch->block_num = simpler_launch_args_blocks(args);
    memcpy(launch->func_id, request->func_id, sizeof(launch->func_id));
    uint32_t kernels = (uint32_t)launch->block_num * launch->lane_count;
    atomic_store_explicit(&launch->left, kernels, memory_order_relaxed);
    atomic_store_explicit(&launch->failed, SIMPLER_LAUNCH_WELL, memory_order_relaxed);
    atomic_store_explicit(&launch->deferred, SIMPLER_DEFERRED_NOT, memory_order_relaxed);
    launch->stage = SIMPLER_LAUNCH_READY;
    launch->timing_slot = (args->extra & SIMPLER_EXTRA_TIMING) != 0
                              ? (uint8_t)args->task_timing_slot
                              : SIMPLER_NO_TIMING;
    launch->sync_start = (args->extra & SIMPLER_EXTRA_SYNC_START) != 0 && launch->lanes != 0;
    launch->next_block = 0;
    resolve_predicate(launch, args);
    if (simpler_launch_is_resident(launch))
        simpler_group_init(&launch->group, kernels);
}

/* ---- what a kernel may ask for ---- */

static int refuse(struct simpler_member *member, const char *what)
{
    struct simpler_thread *thread = member->owner;
    return simpler_fatal_latch_device(
        thread->device, SIMPLER_CODE_REQUIRE_SYNC_START_INVALID,
        "a kernel asks for %s, but its task is not resident: that takes a mixed task of one block "
        "or sync_start",
        what);
}

static int defer(struct simpler_member *member, const struct simpler_async_condition *condition)
{
    return simpler_deferred_register(member->owner, condition);
}

const struct simpler_member_ops simpler_launch_member_ops = {refuse, defer};

/* ---- run ---- */

static bool predicate_holds(const struct simpler_task_launch *launch)
{
    return launch->op == SIMPLER_PREDICATE_NONE ||
           simpler_predicate_holds(launch->op, launch->operand, launch->operand_bytes,
                                   launch->target);
}

static void note_start(const struct simpler_device *device, struct simpler_task_launch *launch)
{
    if (launch->timing_slot != SIMPLER_NO_TIMING)
        launch->start_ns = simpler_clock_ns() - device->start_ns;
}

static void note_end(struct simpler_device *device, const struct simpler_task_launch *launch)
{
    if (launch->timing_slot != SIMPLER_NO_TIMING)
        simpler_timing_note(&device->timing[launch->timing_slot], launch->start_ns,
                            simpler_clock_ns() - device->start_ns);
}

void simpler_launch_start_run(struct simpler_device *device, uint64_t start_ns)
{
    device->start_ns = start_ns;
    simpler_timing_reset(device->timing);
}

void simpler_launch_fill_timing(const struct simpler_device *device,
                                struct simpler_run_result *result)
{
    simpler_timing_fill(device->timing, result);
}

/* The task's argument array and tensors, on this thread. */
static void capture(struct simpler_thread *thread, uint32_t number, bool after)
{
    if (!simpler_arg_capture_is_on(thread->device))
        return;
    if (after) {
        simpler_arg_capture_after(thread, number);
        return;
    }
    simpler_scheduler_unpack(thread, number);
    simpler_arg_capture_before(thread, number);
}

/* Whoever asks does not run what it was about to run. */
static bool is_stopped(struct simpler_device *device)
{
    if (SIMPLER_LIKELY(atomic_load_explicit(&device->stop, memory_order_relaxed) == 0))
        return false;
    atomic_store_explicit(&device->cut, 1, memory_order_relaxed);
    return true;
}

/* True: there is nothing to run, the task was completed. */
static bool retire_unrun(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_device *device = thread->device;
    struct simpler_task_slot *slot = &device->table.slot[number];
    const struct simpler_task_launch *launch = &device->table.launch[number];

    if (atomic_load_explicit(&slot->poisoned, memory_order_relaxed)) {
        slot->failed = 1;
        simpler_scheduler_count(&thread->counts.poisoned);
    } else if (launch->lanes != 0 && !is_stopped(device)) {
        if (predicate_holds(launch))
            return false;
        simpler_scheduler_count(&thread->counts.skipped);
    } else if (launch->lanes == 0) {
        note_end(device, launch);
    }
    simpler_scheduler_complete(thread, number);
    return true;
}

void simpler_launch_run(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_device *device = thread->device;
    struct simpler_task_launch *launch = &device->table.launch[number];

    if (launch->stage == SIMPLER_LAUNCH_FINISH) {
        simpler_launch_finish(thread, number);
        return;
    }
    note_start(device, launch);
    if (retire_unrun(thread, number))
        return;
    capture(thread, number, false);
    if (device->exec_threads || simpler_launch_is_resident(launch)) {
        simpler_cohort_enqueue(thread, number);
    } else if (launch->block_num > 1) {
        simpler_spread_run(thread, number);
    } else {
        enum simpler_lane lane = (enum simpler_lane)__builtin_ctz(launch->lanes);
        if (simpler_launch_block(thread, number, 0, lane))
            simpler_launch_finish(thread, number);
    }
}

bool simpler_launch_block(struct simpler_thread *thread, uint32_t number, int32_t block,
                          enum simpler_lane lane)
{
    struct simpler_device *device = thread->device;
    struct simpler_task_launch *launch = &device->table.launch[number];
    uint32_t func_id = launch->func_id[lane];
    int status = 0;

    if (!is_stopped(device)) {
        thread->local.block_idx = block;
        thread->local.block_num = launch->block_num;
        thread->member.lane = lane;
        simpler_scheduler_unpack(thread, number);
        status = simpler_scheduler_call_kernel(thread, number, func_id);
        simpler_arg_capture_barrier(thread);
        thread->local.block_idx = 0;
        thread->local.block_num = 1;
        thread->member.lane = 0;
        simpler_scheduler_count(&thread->counts.blocks);
    } else {
        simpler_launch_leave_out(launch);
    }
    simpler_member_leave(&thread->member);
    if (thread->deferred != 0) {
        simpler_deferred_assign(thread, number);
        atomic_store_explicit(&launch->deferred, SIMPLER_DEFERRED, memory_order_relaxed);
    }
    if (status != 0) {
        simpler_scheduler_record_failure(device, number, func_id, status);
        atomic_store_explicit(&launch->failed, SIMPLER_LAUNCH_FAILED, memory_order_relaxed);
    }
    /* L1, acq_rel: the kernel's effects, to whoever is last. */
    return atomic_fetch_sub_explicit(&launch->left, 1, memory_order_acq_rel) == 1;
}

void simpler_launch_finish(struct simpler_thread *thread, uint32_t number)
{
    struct simpler_device *device = thread->device;
    struct simpler_task_launch *launch = &device->table.launch[number];

    /* relaxed: every kernel's countdown comes before. */
    uint8_t outcome = atomic_load_explicit(&launch->failed, memory_order_relaxed);
    uint8_t deferred = atomic_load_explicit(&launch->deferred, memory_order_relaxed);
    if (deferred == SIMPLER_DEFERRED) {
        if (outcome == SIMPLER_LAUNCH_WELL) {
            simpler_deferred_hold(device, number);
            return;
        }
        simpler_deferred_drop(device, number);
    }
    if (outcome != SIMPLER_LAUNCH_LEFT_OUT && deferred != SIMPLER_DEFERRED_CUT)
        capture(thread, number, true);
    if (outcome == SIMPLER_LAUNCH_FAILED) {
        device->table.slot[number].failed = 1;
        simpler_scheduler_count(&thread->counts.failed);
    } else if (outcome == SIMPLER_LAUNCH_WELL) {
        simpler_scheduler_count(&thread->counts.run);
    }
    note_end(device, launch);
    simpler_scheduler_complete(thread, number);
}
