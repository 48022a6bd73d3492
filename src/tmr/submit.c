/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submit: the arguments are checked, a slot and heap are admitted, producers
 * are found, the slot is filled, the edges are linked, and the task is either
 * run here or published.
 *
 * A short task that comes after nothing unfinished passes through: it is run
 * and retired before the submit returns.  No later task can have to wait for it,
 * so neither a slot nor the map learns of it.
 */
#include <string.h>

#include "base/testpoint.h"
#include "tmr/admission.h"
#include "tmr/arg_capture.h"
#include "tmr/engine.h"
#include "tmr/fatal.h"
#include "tmr/handover.h"
#include "tmr/hazard_check.h"
#include "tmr/linking.h"
#include "tmr/orch_functions.h"
#include "tmr/passing.h"
#include "tmr/scheduler.h"
#include "tmr/scope_sample.h"
#include "tmr/solo.h"
#include "tmr/solo_capture.h"
#include "tmr/submit_check.h"
#include "tmr/submit_slot.h"

/* Submits between two looks around; a stretch may step over some. */
#define ADVANCE_PERIOD 64u
_Static_assert(SIMPLER_STRETCH_FIRST % ADVANCE_PERIOD == 0, "a stretch ends where one is due");

/* A refused submit: empty outputs, and in a dry run its needs are counted. */
SIMPLER_COLD static int refuse(struct simpler_orch *orch, struct simpler_submit_request *q,
                               int status)
{
    /* First: a tensor of the arguments may lie in @out. */
    if (orch->counting && q->args != NULL && q->args->error == SIMPLER_ARGS_OK &&
        simpler_submit_counts_fit(q->args))
        simpler_fatal_count_submit(orch, q->args);
    if (q->out != NULL) {
        q->out->id.raw = SIMPLER_TASK_ID_NONE;
        q->out->count = 0;
        if (q->args != NULL && q->args->output_count <= SIMPLER_MAX_TENSORS)
            memset(q->out->tensor, 0, q->args->output_count * sizeof(q->out->tensor[0]));
    }
    return status;
}

/* Entries that the map may need for the task. */
static uint32_t map_entries(const struct simpler_orch *orch, const struct simpler_task_args *args)
{
    uint32_t entries = 0;

    for (uint32_t i = 0; i < args->tensor_count && !orch->manual; i++) {
        const struct simpler_tensor *t = args->tensor[i];
        entries += (orch->recorded_uses >> (args->use[i] & 7) & 1) != 0 && t->manual_dep == 0;
    }
    return entries;
}

/* The map is asked once for as many entries as it has room for. */
static SIMPLER_NOINLINE bool take_credit(struct simpler_orch *orch,
                                         const struct simpler_submit_request *q)
{
    uint32_t entries = map_entries(orch, q->args);
    uint32_t room = simpler_tensormap_room(orch->map);

    orch->map_credit = room < entries ? room : room - entries;
    return room >= entries;
}

/* A task needs no more entries than it has tensors; they are counted when that is too many. */
SIMPLER_INLINE bool has_credit(struct simpler_orch *orch, const struct simpler_submit_request *q)
{
    if (SIMPLER_UNLIKELY(orch->map_credit < q->args->tensor_count))
        return take_credit(orch, q);
    orch->map_credit -= q->args->tensor_count;
    return true;
}

/* A slot, heap and room in the map, at once or after a wait. */
SIMPLER_INLINE int admit(struct simpler_orch *orch, struct simpler_submit_request *q,
                         uint8_t **block)
{
    struct simpler_ring *ring = &orch->ring[orch->current];

    *block = ring->heap.memory; /* where outputs without bytes lie */
    if (SIMPLER_LIKELY(simpler_ring_live(orch, orch->current) < ring->mask &&
                       has_credit(orch, q))) {
        if (q->heap_bytes == 0)
            return 0;
        *block = simpler_heap_ring_try_alloc(&ring->heap, q->heap_bytes);
        if (SIMPLER_LIKELY(*block != NULL))
            return 0;
    }
    return simpler_admission_wait(orch, orch->current, q->heap_bytes, map_entries(orch, q->args),
                                  block);
}

/* Explicit dependencies, creators, and what the map says. */
SIMPLER_INLINE void find_producers(struct simpler_orch *orch,
                                   const struct simpler_submit_request *q, uint64_t self)
{
    const struct simpler_task_args *args = q->args;

    orch->pending_count = 0;
    for (uint32_t i = 0; i < args->dependency_count; i++) {
        uint8_t kind = args->dependency_kind == NULL ? SIMPLER_DEP_WAIT | SIMPLER_DEP_RETAIN
                                                     : args->dependency_kind[i];
        simpler_linking_note(orch, args->dependency[i].raw, kind);
    }
    if (orch->manual)
        return;
    if (args->tensor_count == 0)
        return;
    if (simpler_tensormap_access_args(orch->map, args, self, &orch->sink)) {
        for (uint32_t i = 0; i < args->tensor_count; i++) {
            const struct simpler_tensor *t = args->tensor[i];
            if (args->use[i] != SIMPLER_USE_OUTPUT && t->owner != SIMPLER_NO_OWNER)
                simpler_linking_note(orch, t->owner, SIMPLER_DEP_WAIT | SIMPLER_DEP_RETAIN);
        }
    }
    if (orch->sink.count != 0)
        simpler_linking_drain_sink(&orch->sink);
}

/*
 * Marks that only grow are taken with a fresh watermark.  The task of this submit had a slot,
 * also when it is retired by now.
 */
SIMPLER_INLINE void note_peaks(struct simpler_orch *orch, struct simpler_ring *ring)
{
    uint32_t r = orch->current;
    if (simpler_ring_live(orch, r) > ring->window_peak ||
        simpler_heap_ring_used(&ring->heap) > ring->heap_peak) {
        simpler_admission_advance(orch, r);
        uint32_t live = simpler_ring_live(orch, r);
        if (live == 0)
            live = 1;
        if (live > ring->window_peak)
            ring->window_peak = live;
        if (simpler_heap_ring_used(&ring->heap) > ring->heap_peak)
            ring->heap_peak = simpler_heap_ring_used(&ring->heap);
    }
    uint32_t used = simpler_tensormap_used(orch->map);
    if (used > orch->map_peak)
        orch->map_peak = used;
}

/* Everything that was submitted is done. */
static bool is_all_done(const struct simpler_orch *orch)
{
    for (uint32_t r = 0; r < CHIP_MAX_RING_DEPTH; r++) {
        if (orch->ring[r].done_from != orch->ring[r].next)
            return false;
    }
    return true;
}

SIMPLER_NOINLINE void simpler_submit_look_around(struct simpler_orch *orch)
{
    const _Atomic uint64_t *failed = &orch->device->failure.task;

    simpler_admission_advance_all(orch);
    if (orch->settled == SIMPLER_SETTLED_NOT && is_all_done(orch) &&
        atomic_load_explicit(failed, memory_order_relaxed) == 0)
        orch->settled = orch->may_settle;
    if (orch->settled != SIMPLER_SETTLED_NOT)
        simpler_handover_look(orch);
}

SIMPLER_INLINE void look_at_times(struct simpler_orch *orch)
{
    if ((orch->submit_seq & (ADVANCE_PERIOD - 1)) == 0)
        simpler_submit_look_around(orch);
}

/* A task that is captured once its conditions hold is captured from its slot. */
static SIMPLER_COLD void keep_arguments(struct simpler_orch *orch,
                                        const struct simpler_submit_request *q, uint32_t number,
                                        int status)
{
    if (orch->dump_level == 0 || status != 0)
        return;
    simpler_submit_fill_payload(orch, q->args, number);
    simpler_arg_capture_submit(orch, q->args, number);
}

int simpler_submit_keep(struct simpler_orch *orch, const struct simpler_submit_request *q,
                        int status)
{
    uint32_t number = simpler_submit_make_slot(orch, q);
    uint64_t id = simpler_task_id_of(&orch->device->table.slot[number]);

    find_producers(orch, q, id);
    keep_arguments(orch, q, number, status);
    simpler_submit_answer(orch, q, id);
    simpler_scheduler_note_odd_end(orch->thread, number, status);
    simpler_solo_complete(orch, number);
    note_peaks(orch, &orch->ring[orch->current]);
    return 0;
}

/* The scope that held the ring has ended: whether nothing of it is left. */
static SIMPLER_NOINLINE bool catches_up(struct simpler_orch *orch)
{
    simpler_admission_advance(orch, orch->current);
    return simpler_ring_live(orch, orch->current) == 0;
}

/* Whether the task is not worth a hand-over. */
SIMPLER_INLINE bool is_short(const struct simpler_orch *orch,
                             const struct simpler_submit_request *q)
{
    if (SIMPLER_UNLIKELY(q->shape >= SIMPLER_SHAPE_DUMMY))
        return q->shape == SIMPLER_SHAPE_DUMMY && !orch->never_solo;
    return simpler_handover_kernel_ns(orch->device, q->func_id) < orch->solo_below_ns;
}

/* Nothing unfinished is before the task, it is short, and nothing would keep it from retiring. */
SIMPLER_INLINE bool passes_through(struct simpler_orch *orch, const struct simpler_ring *ring,
                                   const struct simpler_submit_request *q,
                                   enum simpler_settled settled)
{
    if (orch->settled != settled || ring->hold_from != SIMPLER_NO_HOLD ||
        q->args->output_count != 0 || !is_short(orch, q))
        return false;
    return SIMPLER_LIKELY(simpler_ring_live(orch, orch->current) == 0) || catches_up(orch);
}

/* The kernel gets the caller's arguments; @made: its OUTPUTs, NULL: none. */
SIMPLER_INLINE int call_here(struct simpler_orch *orch, const struct simpler_submit_request *q,
                             const struct simpler_tensor *made, uint64_t id, uint64_t word,
                             bool watched)
{
    if (watched && orch->dump_level != 0)
        return simpler_solo_capture_call(orch, q, made, id, word);
    return simpler_solo_call(orch->thread, q->func_id, q->args, made, word);
}

SIMPLER_INLINE uint64_t next_id(const struct simpler_orch *orch, const struct simpler_ring *ring)
{
    return (uint64_t)orch->current << 32 | ring->next;
}

SIMPLER_INLINE int pass_through(struct simpler_orch *orch, struct simpler_ring *ring,
                                const struct simpler_submit_request *q, bool watched)
{
    struct simpler_thread *thread = orch->thread;

    if (q->shape != SIMPLER_SHAPE_DUMMY) {
        orch->solo_file = q->file;
        orch->solo_line = q->line;
        int status = call_here(orch, q, NULL, next_id(orch, ring), q->func_id, watched);
        if (SIMPLER_UNLIKELY(((uint32_t)status | thread->deferred) != 0))
            return simpler_submit_keep(orch, q, status);
        simpler_scheduler_count(&thread->counts.run);
    }
    simpler_submit_answer(orch, q, next_id(orch, ring));
    ring->done_from = ++ring->next;
    orch->device->alive[orch->current] = ring->next;
    if (ring->window_peak == 0)
        ring->window_peak = 1;
    simpler_scope_sample_wired(orch, ring);
    orch->submitted++;
    simpler_linking_next_mark(orch);
    simpler_scheduler_count_completed(thread);
    look_at_times(orch);
    /* The look, or the run itself if it was timed, may have found that it is not short any more. */
    if (!watched && q->shape != SIMPLER_SHAPE_DUMMY && q->args->dependency_count == 0 &&
        is_short(orch, q))
        simpler_passing_begin(orch, q);
    return 0;
}

/* The task waits for nothing: its kernel gets the caller's arguments. */
SIMPLER_INLINE void run_here(struct simpler_orch *orch, const struct simpler_submit_request *q,
                             uint32_t number, uint64_t id, bool watched)
{
    struct simpler_thread *thread = orch->thread;
    struct simpler_task_slot *slot = &orch->device->table.slot[number];

    if (SIMPLER_UNLIKELY(atomic_load_explicit(&slot->poisoned, memory_order_relaxed))) {
        slot->failed = SIMPLER_OUTCOME_FAILED;
        simpler_scheduler_count(&thread->counts.poisoned);
    } else if (q->shape != SIMPLER_SHAPE_DUMMY) {
        int status = call_here(orch, q, orch->made, id, simpler_kernel_word_of(slot), watched);
        if (SIMPLER_LIKELY(((uint32_t)status | thread->deferred) == 0)) {
            simpler_scheduler_count(&thread->counts.run);
        } else {
            keep_arguments(orch, q, number, status);
            simpler_scheduler_note_odd_end(thread, number, status);
        }
    }
    simpler_submit_answer(orch, q, id);
    simpler_solo_complete(orch, number);
}

SIMPLER_INLINE int hand_over(struct simpler_orch *orch, const struct simpler_submit_request *q,
                             uint32_t number, uint64_t id, bool odd)
{
    simpler_passing_drop(orch, q->func_id);
    simpler_submit_fill_payload(orch, q->args, number);
    simpler_submit_answer(orch, q, id);
    simpler_arg_capture_submit(orch, q->args, number);
    if (odd && q->shape == SIMPLER_SHAPE_LAUNCH)
        simpler_submit_prepare_launch(orch, q, number);
    return simpler_linking_finish(orch, number);
}

/* By its slot.  @watched: args dump or hazard check see the task. */
SIMPLER_INLINE int submit_slot(struct simpler_orch *orch, struct simpler_ring *ring,
                               struct simpler_submit_request *q, uint8_t *block, bool odd,
                               bool watched)
{
    int status = 0;

    if (q->args->output_count != 0)
        simpler_submit_note_hold(orch, ring, q->heap_bytes, block == ring->heap.memory);
    uint32_t number = simpler_submit_make_slot(orch, q);
    if (watched && orch->check != NULL)
        simpler_hazard_check_submit(orch->check, orch, q->args, number);
    uint64_t id = (uint64_t)orch->current << 32 | (ring->next - 1);
    find_producers(orch, q, id);
    if (q->args->output_count != 0)
        simpler_submit_make_outputs(orch, q->args, block, id);
    if (orch->pending_count == 0 && is_short(orch, q))
        run_here(orch, q, number, id, watched);
    else
        status = hand_over(orch, q, number, id, odd);
    if (SIMPLER_UNLIKELY(status != 0))
        return refuse(orch, q, status);
    note_peaks(orch, ring);
    look_at_times(orch);
    return 0;
}

static SIMPLER_NOINLINE int submit_watched(struct simpler_orch *orch,
                                           struct simpler_submit_request *q, uint8_t *block)
{
    struct simpler_ring *ring = &orch->ring[orch->current];

    if (passes_through(orch, ring, q, SIMPLER_SETTLED_WATCHED))
        return pass_through(orch, ring, q, true);
    return submit_slot(orch, ring, q, block, true, true);
}

SIMPLER_INLINE int submit_checked(struct simpler_orch *orch, struct simpler_submit_request *q,
                                  bool odd)
{
    uint8_t *block;

    if (SIMPLER_UNLIKELY(atomic_load_explicit(&orch->device->stop, memory_order_relaxed) != 0))
        return refuse(orch, q, simpler_fatal_status(orch));
    int status = odd ? simpler_submit_check_odd(orch, q) : simpler_submit_check_plain(orch, q);
    if (SIMPLER_LIKELY(status == 0))
        status = admit(orch, q, &block);
    if (SIMPLER_UNLIKELY(status != 0))
        return refuse(orch, q, status);
    struct simpler_ring *ring = &orch->ring[orch->current];
    if (SIMPLER_UNLIKELY(ring->next >= SIMPLER_MAX_TASK_ID))
        return refuse(orch, q,
                      simpler_fatal_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                          "ring %u has had 2^32 - 2 tasks in this run, the most "
                                          "that its ids can name",
                                          orch->current));
    if (passes_through(orch, ring, q, SIMPLER_SETTLED))
        return pass_through(orch, ring, q, false);
    if (SIMPLER_UNLIKELY(orch->watched))
        return submit_watched(orch, q, block);
    return submit_slot(orch, ring, q, block, odd, false);
}

/* Apart, so that plain tasks do not pay for what is rare. */
static SIMPLER_NOINLINE int submit_odd(struct simpler_orch *orch, struct simpler_submit_request *q)
{
    return submit_checked(orch, q, true);
}

SIMPLER_INLINE int submit(struct simpler_orch *orch, struct simpler_submit_request *q)
{
    if (SIMPLER_UNLIKELY(simpler_submit_is_odd(q->args)))
        return submit_odd(orch, q);
    return submit_checked(orch, q, false);
}

int simpler_tmr_submit_aic(struct simpler_orch *orch, uint32_t func_id,
                           const struct simpler_task_args *args, struct simpler_task_outputs *out,
                           const char *file, int line)
{
    struct simpler_submit_request q = {SIMPLER_SHAPE_AIC, func_id, args, out, file, line, 0, NULL};
    return submit(orch, &q);
}

int simpler_tmr_submit_aiv(struct simpler_orch *orch, uint32_t func_id,
                           const struct simpler_task_args *args, struct simpler_task_outputs *out,
                           const char *file, int line)
{
    struct simpler_submit_request q = {SIMPLER_SHAPE_AIV, func_id, args, out, file, line, 0, NULL};
    return submit(orch, &q);
}

int simpler_tmr_submit_mixed(struct simpler_orch *orch, const struct simpler_mixed_kernels *kernels,
                             const struct simpler_task_args *args, struct simpler_task_outputs *out,
                             const char *file, int line)
{
    struct simpler_submit_request q = {SIMPLER_SHAPE_LAUNCH, 0, args, out, file, line, 0, kernels};
    int32_t id[SIMPLER_LANES] = {-1, -1, -1};

    if (kernels != NULL)
        simpler_submit_ids_by_lane(kernels, id);
    int32_t first = id[0] >= 0 ? id[0] : id[1];
    if (first < 0) {
        q.mixed = NULL;
        return refuse(orch, &q,
                      simpler_submit_invalid(orch, simpler_submit_site_of(&q),
                                             "a mixed task has no kernel", 0));
    }
    q.func_id = (uint32_t)first;
    if (id[SIMPLER_LANE_AIV1] < 0 && (id[0] < 0 || id[1] < 0)) {
        q.shape = id[0] >= 0 ? SIMPLER_SHAPE_AIC : SIMPLER_SHAPE_AIV;
        q.mixed = NULL;
    }
    return submit_odd(orch, &q);
}

int simpler_tmr_submit_dummy(struct simpler_orch *orch, const struct simpler_task_args *args,
                             struct simpler_task_outputs *out, const char *file, int line)
{
    struct simpler_submit_request q = {SIMPLER_SHAPE_DUMMY, 0, args, out, file, line, 0, NULL};
    return submit(orch, &q);
}

int simpler_tmr_alloc_tensors(struct simpler_orch *orch, const struct simpler_create_info *infos,
                              uint32_t count, struct simpler_task_outputs *out, const char *file,
                              int line)
{
    struct simpler_task_args args;
    struct simpler_submit_request q = {SIMPLER_SHAPE_DUMMY, 0, &args, out, file, line, 0, NULL};
    uint8_t *block;

    simpler_task_args_reset(&args);
    for (uint32_t i = 0; infos != NULL && i < count && i <= SIMPLER_MAX_TENSORS; i++)
        simpler_task_args_add_create(&args, &infos[i]);
    if (SIMPLER_UNLIKELY(atomic_load_explicit(&orch->device->stop, memory_order_relaxed) != 0))
        return refuse(orch, &q, simpler_fatal_status(orch));
    int status;
    if (infos == NULL || count == 0 || out == NULL)
        status = simpler_submit_invalid(
            orch, simpler_submit_site_of(&q),
            "alloc_tensors needs create-infos and a place for its tensors", 0);
    else
        status = simpler_submit_check_odd(orch, &q);
    if (status == 0)
        status = admit(orch, &q, &block);
    if (status != 0)
        return refuse(orch, &q, status);
    struct simpler_ring *ring = &orch->ring[orch->current];
    simpler_submit_note_hold(orch, ring, q.heap_bytes, block == ring->heap.memory);
    uint32_t number = simpler_submit_make_slot(orch, &q);
    if (SIMPLER_UNLIKELY(orch->check != NULL))
        simpler_hazard_check_submit(orch->check, orch, q.args, number);
    uint64_t id = simpler_task_id_of(&orch->device->table.slot[number]);
    simpler_submit_make_outputs(orch, &args, block, id);
    simpler_submit_answer(orch, &q, id);
    simpler_solo_complete(orch, number);
    note_peaks(orch, ring);
    return 0;
}
