/* SPDX-License-Identifier: Apache-2.0 */
#include "hbg/hbg_launch.h"

#include "base/clock.h"
#include "hbg/hbg_deferred.h"
#include "hbg/host_limits.h"
#include "hbg/run_tasks.h"

static int refuse(struct simpler_member *member, const char *what)
{
    struct simpler_hbg_thread *thread = member->owner;
    struct simpler_hbg_device *device = thread->device;

    return simpler_hbg_latch_device(
        device->orch, SIMPLER_CODE_REQUIRE_SYNC_START_INVALID,
        "a kernel asks for %s, but its task is not resident: that takes a mixed task of one block "
        "or sync_start",
        what);
}

const struct simpler_member_ops simpler_hbg_member_ops = {refuse, simpler_hbg_deferred_register};

static bool holds(const struct simpler_hbg_part *part, const struct simpler_hbg_launch *launch)
{
    const struct simpler_hbg_base *base = &part->bases[launch->operand_base];
    uint64_t addr = base->addr + (base->start_offset << launch->operand_shift) + launch->operand;

    return launch->op == SIMPLER_PREDICATE_NONE ||
           simpler_predicate_holds(launch->op, addr, launch->operand_bytes, launch->target);
}

/* The status of a kernel that was not called because the run had ended. */
#define LEFT_OUT INT32_MIN

/* The task is not complete, and none of its kernels has failed; a kernel may answer anything. */
static bool is_left_out(const struct simpler_hbg_device *device, int status)
{
    return status == LEFT_OUT && atomic_load_explicit(&device->stop, memory_order_relaxed) != 0;
}

int simpler_hbg_run_block(struct simpler_hbg_thread *thread, const struct simpler_hbg_part *part,
                          uint32_t number, int32_t block, uint32_t lane)
{
    const struct simpler_hbg_launch *launch = simpler_hbg_launch_of(part->image, number);

    /* A run that hangs is left as it is, any other stopped one is gone through. */
    bool stopped = simpler_hbg_is_stopped(thread->device);
    if (simpler_hbg_is_closing(thread->device)) {
        thread->left = true;
        return 0;
    }
    if (stopped)
        return LEFT_OUT;
    simpler_hbg_fill_args(thread, part, number);
    thread->local.block_idx = block;
    thread->local.block_num = launch->block_num;
    thread->global.sub_block_id = lane == SIMPLER_LANE_AIV1;
    thread->member.lane = lane;
    simpler_hbg_enter(thread, part, number, launch->func_id[lane]);
    int status = simpler_hbg_call_kernel(thread, launch->func_id[lane]);
    simpler_hbg_leave(thread);
    /* The task's thread asks the list. */
    thread->deferred = false;
    thread->local.block_idx = 0;
    thread->local.block_num = 1;
    thread->global.sub_block_id = 0;
    thread->member.lane = 0;
    simpler_hbg_add_count(&thread->counts->blocks, 1);
    return status;
}

/* Whether a kernel of the task, on whatever thread, has registered conditions. */
static bool is_deferred(struct simpler_hbg_thread *thread, const struct simpler_hbg_part *part,
                        uint32_t number, uint64_t start_ns)
{
    struct simpler_hbg_device *device = thread->device;

    if (!simpler_deferral_is_open(&device->deferred) ||
        !simpler_deferral_note(&device->deferred, simpler_hbg_deferred_key(device, part, number),
                               start_ns))
        return false;
    atomic_store_explicit(&thread->place.node, number, memory_order_relaxed);
    return true;
}

/* All kernels, with the dump around them. */
static int run_kernels(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                       uint32_t number, uint64_t start_ns)
{
    const struct simpler_hbg_launch *launch = simpler_hbg_launch_of(part->image, number);
    int status;

    simpler_hbg_fill_args(thread, part, number);
    simpler_hbg_capture(thread, part, number, DUMP_ARGS_STAGE_BEFORE);
    if (launch->sync_start || launch->lane_count > 1)
        status = simpler_hbg_crew_run(thread, part, number);
    else
        status = simpler_hbg_spread_blocks(thread, part, number);
    if (thread->left)
        return status;
    bool left_out = is_left_out(thread->device, status);
    thread->deferred = (status == 0 || left_out) && is_deferred(thread, part, number, start_ns);
    if (thread->deferred)
        return 0;
    if (left_out)
        return status;
    simpler_hbg_fill_args(thread, part, number);
    simpler_hbg_capture(thread, part, number, DUMP_ARGS_STAGE_AFTER);
    return status;
}

void simpler_hbg_launch_note_end(struct simpler_hbg_device *device,
                                 const struct simpler_hbg_launch *launch, uint64_t start_ns)
{
    if (launch->timing_slot != SIMPLER_NO_TIMING)
        simpler_timing_note(&device->timing[launch->timing_slot], start_ns - device->start_ns,
                            simpler_clock_ns() - device->start_ns);
}

int simpler_hbg_run_launch(struct simpler_hbg_thread *thread, struct simpler_hbg_part *part,
                           uint32_t number)
{
    const struct simpler_hbg_launch *launch = simpler_hbg_launch_of(part->image, number);
    struct simpler_hbg_device *device = thread->device;
    uint64_t start = launch->timing_slot != SIMPLER_NO_TIMING ? simpler_clock_ns() : 0;
    int status;

    if (!holds(part, launch)) {
        simpler_hbg_add_count(&thread->counts->skipped, 1);
        return 0;
    }
    status = launch->lanes == 0 ? 0 : run_kernels(thread, part, number, start);
    if (thread->left)
        return 0;
    if (!thread->deferred)
        simpler_hbg_launch_note_end(device, launch, start);
    if (is_left_out(device, status))
        return 0;
    if (status == 0 && launch->lanes != 0)
        simpler_hbg_add_count(&thread->counts->run, 1);
    return status;
}
