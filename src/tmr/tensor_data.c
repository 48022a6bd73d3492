/* SPDX-License-Identifier: Apache-2.0 */
/* Single elements read and written by the orchestration. */
#include <string.h>

#include "task/submit_args.h"
#include "tmr/admission.h"
#include "tmr/fatal.h"
#include "tmr/linking.h"
#include "tmr/orch_functions.h"
#include "tmr/orch_wait.h"
#include "tmr/scheduler.h"

/* Time without a running or ready task after which a tensor will not come (facts 1.14). */
#define TENSOR_WAIT_NS 15000000000u

struct task_wait {
    uint32_t number; /* slot; nothing is submitted meanwhile, so it stays this task's */
    bool failed;
};

static enum simpler_wait is_done(struct simpler_orch *orch, void *context)
{
    struct task_wait *w = context;
    uint8_t done = atomic_load_explicit(&orch->device->table.done[w->number], memory_order_acquire);
    w->failed = done == SIMPLER_DONE_FAILED;
    return done == SIMPLER_DONE_NOT ? SIMPLER_WAIT_MORE : SIMPLER_WAIT_DONE;
}

static int wait_done(struct simpler_orch *orch, uint32_t number)
{
    struct task_wait w = {number, false};
    switch (simpler_orch_wait(orch, is_done, &w, TENSOR_WAIT_NS, false)) {
    case SIMPLER_WAIT_DONE:
        return w.failed ? simpler_fatal_stop(orch, SIMPLER_EKERNEL) : 0;
    case SIMPLER_WAIT_STOP:
        return simpler_fatal_status(orch);
    default:
        return simpler_fatal_latch(
            orch, SIMPLER_CODE_TENSOR_WAIT_TIMEOUT,
            "task 0x%016llx, which a tensor's data waits for, is not done, and for 15 s no task "
            "ran or was ready",
            (unsigned long long)simpler_task_id_of(&orch->device->table.slot[number]));
    }
}

/* Keeps a live task for the wait; each once. */
static void note_user(struct simpler_orch *orch, uint64_t id)
{
    uint32_t r = (uint32_t)(id >> 32);
    if (r >= CHIP_MAX_RING_DEPTH || (uint32_t)id < orch->device->alive[r] ||
        (uint32_t)id >= orch->ring[r].next)
        return;
    uint32_t number = simpler_ring_slot(&orch->ring[r], (uint32_t)id);
    struct simpler_task_slot *slot = &orch->device->table.slot[number];
    if (slot->mark == orch->submit_seq)
        return;
    slot->mark = orch->submit_seq;
    orch->pending[orch->pending_count++] = number;
}

struct user_sink {
    struct simpler_edge_sink sink;
    uint64_t ids[64];
    struct simpler_orch *orch;
};

static void note_sink(struct simpler_edge_sink *sink)
{
    struct user_sink *u = (struct user_sink *)(void *)sink;
    uint32_t n = sink->count;

    sink->count = 0;
    for (uint32_t i = 0; i < n; i++)
        note_user(u->orch, sink->ids[i]);
}

static enum simpler_wait all_done(struct simpler_orch *orch, void *context)
{
    (void)context;
    return simpler_scheduler_completed(orch->device) - orch->device->progress_base ==
                   orch->submitted
               ? SIMPLER_WAIT_DONE
               : SIMPLER_WAIT_MORE;
}

/* hazards raw keeps no readers: wait for everything that was submitted. */
static int wait_all(struct simpler_orch *orch)
{
    switch (simpler_orch_wait(orch, all_done, NULL, TENSOR_WAIT_NS, false)) {
    case SIMPLER_WAIT_DONE:
        return 0;
    case SIMPLER_WAIT_STOP:
        return simpler_fatal_status(orch);
    default:
        return simpler_fatal_latch(orch, SIMPLER_CODE_TENSOR_WAIT_TIMEOUT,
                                   "a tensor's readers are not done, and for 15 s no task ran or "
                                   "was ready");
    }
}

static int wait_for_users(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                          bool readers)
{
    bool tracked = orch->device->run->hazards == SIMPLER_HAZARDS_ALL;
    struct user_sink u = {.sink = {u.ids, 0, 64, note_sink}, .orch = orch};
    int status = 0;

    if (orch->manual || (readers && !tracked))
        return wait_all(orch);
    orch->pending_count = 0;
    simpler_linking_next_mark(orch);
    if (tensor->owner != SIMPLER_NO_OWNER)
        note_user(orch, tensor->owner);
    simpler_tensormap_lookup(orch->map, tensor, true, readers, &u.sink);
    note_sink(&u.sink);
    for (uint32_t i = 0; i < orch->pending_count && status == 0; i++)
        status = wait_done(orch, orch->pending[i]);
    return status;
}

int simpler_tmr_get_tensor_data(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                                const uint32_t *index, void *value)
{
    int status = simpler_fatal_status(orch);
    if (status != 0)
        return status;
    const uint8_t *from = simpler_submit_element(tensor, index);
    if (from == NULL || value == NULL)
        return SIMPLER_EINVAL;
    status = wait_for_users(orch, tensor, false);
    if (status == 0)
        memcpy(value, from, simpler_dtype_bytes(tensor->dtype));
    return status;
}

int simpler_tmr_set_tensor_data(struct simpler_orch *orch, const struct simpler_tensor *tensor,
                                const uint32_t *index, const void *value)
{
    int status = simpler_fatal_status(orch);
    if (status != 0)
        return status;
    uint8_t *to = simpler_submit_element(tensor, index);
    if (to == NULL || value == NULL)
        return SIMPLER_EINVAL;
    status = wait_for_users(orch, tensor, true);
    if (status == 0)
        memcpy(to, value, simpler_dtype_bytes(tensor->dtype));
    return status;
}
