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
#include "task/submit_args.h"
#include "tmr/admission.h"
#include "tmr/arg_capture.h"
#include "tmr/engine.h"
#include "tmr/fatal.h"
#include "tmr/handover.h"
#include "tmr/hazard_check.h"
#include "tmr/launch.h"
#include "tmr/linking.h"
#include "tmr/orch_functions.h"
#include "tmr/scheduler.h"
#include "tmr/scope_sample.h"
#include "tmr/solo.h"
#include "tmr/tensor_pack.h"

/* Submits between two looks at the watermark. */
#define ADVANCE_PERIOD 64u

struct request {
    enum simpler_shape shape;
    uint32_t func_id;
    const struct simpler_task_args *args;
    struct simpler_task_outputs *out;
    const char *file;
    int line;
    uint64_t heap_bytes;
    const struct simpler_mixed_kernels *mixed; /* of a task of shape LAUNCH; NULL: one kernel */
};

/* Bits of args->extra that make a task one of shape LAUNCH. */
#define LAUNCH_EXTRAS                                                            \
    (SIMPLER_EXTRA_BLOCKS | SIMPLER_EXTRA_SYNC_START | SIMPLER_EXTRA_PREDICATE | \
     SIMPLER_EXTRA_TIMING)

SIMPLER_COLD static int invalid(struct simpler_orch *orch, const struct request *q,
                                const char *what, uint32_t arg)
{
    return simpler_fatal_latch(
        orch, SIMPLER_CODE_INVALID_ARGS, "submit at %s:%d (kernel %u), argument %u: %s",
        q->file == NULL ? "(unknown)" : q->file, q->line, q->func_id, arg, what);
}

/* A valid type that the platform's cores do not have. */
SIMPLER_COLD static int no_dtype(struct simpler_orch *orch, const struct request *q, uint32_t dtype,
                                 uint32_t arg)
{
    return simpler_fatal_latch(
        orch, SIMPLER_CODE_INVALID_ARGS,
        "submit at %s:%d (kernel %u), argument %u is %s, which platform %s does not have",
        q->file == NULL ? "(unknown)" : q->file, q->line, q->func_id, arg,
        simpler_dtype_name(dtype), orch->device->platform->name);
}

/* A tensor of another form than the one before. */
SIMPLER_NOINLINE static int check_closely(struct simpler_orch *orch, const struct request *q,
                                          uint32_t arg)
{
    const struct simpler_tensor *t = q->args->tensor[arg];

    if (!simpler_submit_is_sane(t))
        return invalid(orch, q, "the tensor is not valid", arg);
    if (!simpler_platform_has_dtype(orch->device->platform, t->dtype))
        return no_dtype(orch, q, t->dtype, arg);
    if (t->is_contiguous)
        orch->sane_form = simpler_submit_form(t);
    return 0;
}

SIMPLER_INLINE int check_kernel_id(struct simpler_orch *orch, const struct request *q,
                                   uint32_t func_id, uint32_t core_type)
{
    const struct simpler_device *device = orch->device;

    if (func_id >= device->kernel_count || device->kernels[func_id] == NULL)
        return simpler_fatal_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                   "submit at %s:%d: the callable has no kernel %u",
                                   q->file == NULL ? "(unknown)" : q->file, q->line, func_id);
    if (device->kernels[func_id]->core_type != core_type)
        return simpler_fatal_latch(
            orch, SIMPLER_CODE_INVALID_ARGS,
            "submit at %s:%d: kernel %u is registered for %s cores, not for %s",
            q->file == NULL ? "(unknown)" : q->file, q->line, func_id,
            core_type == SIMPLER_CORE_AIC ? "AIV" : "AIC",
            core_type == SIMPLER_CORE_AIC ? "AIC" : "AIV");
    return 0;
}

/* The kernel ids of a mixed task, by lane; -1 everywhere: none. */
static void ids_by_lane(const struct simpler_mixed_kernels *mixed, int32_t id[SIMPLER_LANES])
{
    id[SIMPLER_LANE_AIC] = mixed->aic_kernel_id;
    id[SIMPLER_LANE_AIV0] = mixed->aiv0_kernel_id;
    id[SIMPLER_LANE_AIV1] = mixed->aiv1_kernel_id;
    /* An AIV1 alone runs as AIV0. */
    if (id[SIMPLER_LANE_AIC] < 0 && id[SIMPLER_LANE_AIV0] < 0) {
        id[SIMPLER_LANE_AIV0] = id[SIMPLER_LANE_AIV1];
        id[SIMPLER_LANE_AIV1] = -1;
    }
}

static struct simpler_launch_request launch_request(const struct simpler_device *device,
                                                    const struct request *q)
{
    struct simpler_launch_request request = {
        {SIMPLER_NO_FUNC, SIMPLER_NO_FUNC, SIMPLER_NO_FUNC}, q->args, q->file, q->line};
    int32_t id[SIMPLER_LANES];

    if (q->mixed != NULL) {
        ids_by_lane(q->mixed, id);
        for (uint32_t lane = 0; lane < SIMPLER_LANES; lane++)
            request.func_id[lane] = (uint16_t)id[lane];
    } else {
        bool aic = device->kernels[q->func_id]->core_type == SIMPLER_CORE_AIC;
        request.func_id[aic ? SIMPLER_LANE_AIC : SIMPLER_LANE_AIV0] = (uint16_t)q->func_id;
    }
    return request;
}

/* A task that is more than one call of one kernel: its shape is LAUNCH from here on. */
static int check_launch(struct simpler_orch *orch, struct request *q)
{
    static const struct simpler_mixed_kernels none = {-1, -1, -1};

    if (q->shape == SIMPLER_SHAPE_DUMMY)
        q->mixed = &none;
    q->shape = SIMPLER_SHAPE_LAUNCH;
    struct simpler_launch_request request = launch_request(orch->device, q);
    return simpler_launch_check(orch, &request);
}

static int check_mixed(struct simpler_orch *orch, const struct request *q)
{
    int32_t id[SIMPLER_LANES];
    int status = 0;

    ids_by_lane(q->mixed, id);
    for (uint32_t lane = 0; lane < SIMPLER_LANES && status == 0; lane++) {
        if (id[lane] < -1)
            status = invalid(orch, q, "a kernel id of a mixed task is below -1", 0);
        else if (id[lane] >= 0)
            status =
                check_kernel_id(orch, q, (uint32_t)id[lane],
                                lane == SIMPLER_LANE_AIC ? SIMPLER_CORE_AIC : SIMPLER_CORE_AIV);
    }
    return status;
}

SIMPLER_INLINE int check_kernel(struct simpler_orch *orch, const struct request *q)
{
    if (q->shape == SIMPLER_SHAPE_DUMMY)
        return 0;
    return check_kernel_id(orch, q, q->func_id, (uint32_t)q->shape);
}

static int check_kernels(struct simpler_orch *orch, const struct request *q)
{
    return q->mixed != NULL ? check_mixed(orch, q) : check_kernel(orch, q);
}

static void prepare_launch(struct simpler_orch *orch, const struct request *q, uint32_t number)
{
    struct simpler_launch_request request = launch_request(orch->device, q);

    simpler_launch_prepare(orch, number, &request);
}

static int check_output(struct simpler_orch *orch, struct request *q, uint32_t arg)
{
    const struct simpler_create_info *info = q->args->tensor[arg];
    uint64_t bytes;

    if (!simpler_submit_output_bytes(info, &bytes) ||
        __builtin_add_overflow(q->heap_bytes, bytes, &q->heap_bytes))
        return invalid(orch, q, "the create-info is not valid", arg);
    if (SIMPLER_UNLIKELY(info->dtype >= SIMPLER_SUBMIT_PLAIN_DTYPES) &&
        !simpler_platform_has_dtype(orch->device->platform, info->dtype))
        return no_dtype(orch, q, info->dtype, arg);
    return 0;
}

/* Sizes and validity; nothing is changed yet. */
static SIMPLER_NOINLINE int check_outputs_too(struct simpler_orch *orch, struct request *q)
{
    int status = 0;

    for (uint32_t i = 0; i < q->args->tensor_count && status == 0; i++)
        status = q->args->use[i] == SIMPLER_USE_OUTPUT ? check_output(orch, q, i)
                                                       : check_closely(orch, q, i);
    return status;
}

/* Most tensors have the form of the one before. */
SIMPLER_INLINE int check_tensors(struct simpler_orch *orch, struct request *q)
{
    const struct simpler_task_args *args = q->args;

    if (args->output_count != 0)
        return check_outputs_too(orch, q);
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (SIMPLER_UNLIKELY(simpler_submit_form(args->tensor[i]) != orch->sane_form) &&
            check_closely(orch, q, i) != 0)
            return simpler_fatal_status(orch);
    }
    return 0;
}

static int check_dependencies(struct simpler_orch *orch, const struct request *q)
{
    for (uint32_t i = 0; i < q->args->dependency_count; i++) {
        uint64_t raw = q->args->dependency[i].raw;
        if (raw >> 32 >= CHIP_MAX_RING_DEPTH || (uint32_t)raw >= orch->ring[(raw >> 32) & 3].next)
            return simpler_fatal_latch(orch, SIMPLER_CODE_INVALID_ARGS,
                                       "submit at %s:%d: dependency %u names no task "
                                       "(0x%016llx)",
                                       q->file == NULL ? "(unknown)" : q->file, q->line, i,
                                       (unsigned long long)raw);
    }
    return 0;
}

/* Arguments that are missing, have an error, or have extras. */
SIMPLER_INLINE bool is_odd(const struct simpler_task_args *args)
{
    return args == NULL || (args->error | args->extra) != 0;
}

/* Without @odd the arguments are not. */
SIMPLER_INLINE int check(struct simpler_orch *orch, struct request *q, bool odd)
{
    if (odd && q->args == NULL)
        return invalid(orch, q, "the arguments are NULL", 0);
    if (odd && q->args->error != SIMPLER_ARGS_OK)
        return invalid(orch, q, simpler_task_args_error_text(q->args->error), q->args->error_arg);
    if (SIMPLER_UNLIKELY(q->args->tensor_count > SIMPLER_MAX_TENSORS ||
                         q->args->scalar_count > SIMPLER_MAX_SCALARS))
        return invalid(orch, q, "the argument object was not initialised", 0);
    int status = odd ? check_kernels(orch, q) : check_kernel(orch, q);
    if (SIMPLER_LIKELY(status == 0) && q->args->tensor_count != 0)
        status = check_tensors(orch, q);
    if (SIMPLER_LIKELY(status == 0) && q->args->dependency_count != 0)
        status = check_dependencies(orch, q);
    if (odd && status == 0 && (q->mixed != NULL || (q->args->extra & LAUNCH_EXTRAS) != 0))
        status = check_launch(orch, q);
    return status;
}

/* A refused submit: empty outputs, and in a dry run its needs are counted. */
SIMPLER_COLD static int refuse(struct simpler_orch *orch, struct request *q, int status)
{
    /* First: a tensor of the arguments may lie in @out. */
    if (orch->counting && q->args != NULL && q->args->error == SIMPLER_ARGS_OK)
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
static SIMPLER_NOINLINE bool take_credit(struct simpler_orch *orch, const struct request *q)
{
    uint32_t entries = map_entries(orch, q->args);
    uint32_t room = simpler_tensormap_room(orch->map);

    orch->map_credit = room < entries ? room : room - entries;
    return room >= entries;
}

/* A task needs no more entries than it has tensors; they are counted when that is too many. */
SIMPLER_INLINE bool has_credit(struct simpler_orch *orch, const struct request *q)
{
    if (SIMPLER_UNLIKELY(orch->map_credit < q->args->tensor_count))
        return take_credit(orch, q);
    orch->map_credit -= q->args->tensor_count;
    return true;
}

/* A slot, heap and room in the map, at once or after a wait. */
SIMPLER_INLINE int admit(struct simpler_orch *orch, struct request *q, uint8_t **block)
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

/* From the scope's first OUTPUT on its tasks stay until it ends. */
static void note_hold(struct simpler_orch *orch, struct simpler_ring *ring, uint64_t bytes,
                      bool at_zero)
{
    if (ring->hold_from == SIMPLER_NO_HOLD) {
        ring->hold_from = ring->next;
        ring->hold_depth = orch->depth;
        ring->held_bytes = 0;
        ring->held_max_block = 0;
        ring->held_from_zero = at_zero;
    }
    ring->held_bytes += bytes;
    if (bytes > ring->held_max_block)
        ring->held_max_block = bytes;
}

SIMPLER_INLINE uint32_t make_slot(struct simpler_orch *orch, const struct request *q)
{
    struct simpler_task_table *table = &orch->device->table;
    struct simpler_ring *ring = &orch->ring[orch->current];
    uint32_t id = ring->next++;
    uint32_t number = simpler_ring_slot(ring, id);
    struct simpler_task_slot *slot = &table->slot[number];
    struct simpler_task_desc *desc = &table->desc[number];

    atomic_store_explicit(&slot->fanout, 0, memory_order_relaxed);
    slot->id = id;
    slot->func_id = (uint16_t)q->func_id;
    slot->shape = (uint8_t)q->shape;
    slot->ring = (uint8_t)orch->current;
    atomic_store_explicit(&slot->poisoned, 0, memory_order_relaxed);
    slot->failed = 0;
    slot->tensor_count = 0;
    slot->scalar_count = 0;
    slot->mark = 0;
    slot->edge_count = 0;
    desc->heap_end = ring->heap.top;
    memset(desc->last_consumer, 0, sizeof(desc->last_consumer));
    desc->file = q->file;
    desc->line = q->line;
    atomic_store_explicit(&table->done[number], SIMPLER_DONE_NOT, memory_order_relaxed);
    table->retained[number] = 0;
    orch->self = number;
    orch->submitted++;
    simpler_linking_next_mark(orch);
    return number;
}

/* Creates output @k at @block; returns the block behind it. */
static uint8_t *place_output(const struct simpler_create_info *info, uint8_t *block, uint64_t owner,
                             struct simpler_tensor *out)
{
    uint64_t bytes = 0;

    (void)simpler_submit_output_bytes(info, &bytes); /* checked before */
    simpler_submit_make_output(info, (uint64_t)(uintptr_t)block, owner, out);
    if (info->has_initial_value)
        simpler_submit_fill_initial(block, bytes, info);
    return block + bytes;
}

static void pack_scalars(struct simpler_task_table *table, uint32_t number,
                         struct simpler_line_cursor cursor, const struct simpler_task_args *args)
{
    uint32_t n = args->scalar_count;
    struct simpler_task_line *line = NULL;

    table->slot[number].scalar_count = (uint8_t)n;
    for (uint32_t k = 0; k < n && k < SIMPLER_INLINE_SCALARS; k++)
        table->desc[number].scalar[k] = args->scalar[k];
    for (uint32_t k = SIMPLER_INLINE_SCALARS; k < n; k++) {
        uint32_t outside = k - SIMPLER_INLINE_SCALARS;
        if (outside % 8 == 0)
            line = simpler_line_cursor_take(&cursor, table, number);
        memcpy(line->bytes + 8 * (outside % 8), &args->scalar[k], 8);
    }
}

/* The OUTPUTs into orch->made. */
static SIMPLER_NOINLINE void make_outputs(struct simpler_orch *orch,
                                          const struct simpler_task_args *args, uint8_t *block,
                                          uint64_t owner)
{
    struct simpler_tensor *made = orch->made;

    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (args->use[i] == SIMPLER_USE_OUTPUT)
            block = place_output(args->tensor[i], block, owner, made++);
    }
}

/* Tells the caller; after the last use of the arguments, of which a tensor may lie in q->out. */
SIMPLER_INLINE void answer(const struct simpler_orch *orch, const struct request *q, uint64_t id)
{
    if (q->out == NULL)
        return;
    q->out->id.raw = id;
    q->out->count = q->args->output_count;
    for (uint32_t k = 0; k < q->args->output_count; k++)
        q->out->tensor[k] = orch->made[k];
}

/* Copies tensors and scalars into the slot's lines. */
SIMPLER_INLINE void fill_payload(struct simpler_orch *orch, const struct simpler_task_args *args,
                                 uint32_t number)
{
    struct simpler_task_table *table = &orch->device->table;
    struct simpler_line_cursor cursor = simpler_line_cursor_init(table, number);
    const struct simpler_tensor *made = orch->made;

    for (uint32_t i = 0; i < args->tensor_count; i++) {
        bool output = args->use[i] == SIMPLER_USE_OUTPUT;
        simpler_pack_tensor(&cursor, table, number, output ? made : args->tensor[i]);
        made += output;
    }
    table->slot[number].tensor_count = (uint8_t)args->tensor_count;
    if (args->scalar_count != 0)
        pack_scalars(table, number, cursor, args);
}

/* Explicit dependencies, creators, and what the map says. */
SIMPLER_INLINE void find_producers(struct simpler_orch *orch, const struct request *q,
                                   uint64_t self)
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
    for (uint32_t i = 0; i < args->tensor_count; i++) {
        if (args->use[i] == SIMPLER_USE_OUTPUT)
            continue;
        const struct simpler_tensor *t = args->tensor[i];
        if (t->owner != SIMPLER_NO_OWNER)
            simpler_linking_note(orch, t->owner, SIMPLER_DEP_WAIT | SIMPLER_DEP_RETAIN);
        if (args->use[i] != SIMPLER_USE_NO_DEP && !t->manual_dep)
            simpler_tensormap_access(orch->map, t, (enum simpler_tensor_use)args->use[i], self,
                                     &orch->sink);
    }
    if (orch->sink.count != 0)
        simpler_linking_drain_sink(&orch->sink);
}

/* Marks that only grow are taken with a fresh watermark. */
SIMPLER_INLINE void note_peaks(struct simpler_orch *orch, struct simpler_ring *ring)
{
    uint32_t r = orch->current;
    if (simpler_ring_live(orch, r) > ring->window_peak ||
        simpler_heap_ring_used(&ring->heap) > ring->heap_peak) {
        simpler_admission_advance(orch, r);
        uint32_t live = simpler_ring_live(orch, r);
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

/* What is done is retired, and when everything is, tasks may pass through. */
static SIMPLER_NOINLINE void look_around(struct simpler_orch *orch)
{
    const _Atomic uint64_t *failed = &orch->device->failure.task;

    simpler_admission_advance_all(orch);
    if (!orch->settled && orch->may_settle)
        orch->settled =
            is_all_done(orch) && atomic_load_explicit(failed, memory_order_relaxed) == 0;
    if (orch->settled)
        simpler_handover_probe(orch);
}

SIMPLER_INLINE void look_at_times(struct simpler_orch *orch)
{
    if ((orch->submit_seq & (ADVANCE_PERIOD - 1)) == 0)
        look_around(orch);
}

/*
 * A task that passed through has failed, or is not done yet: later tasks learn of it from
 * its slot and the map.
 */
static SIMPLER_COLD int keep(struct simpler_orch *orch, const struct request *q, int status)
{
    uint32_t number = make_slot(orch, q);
    uint64_t id = simpler_task_id_of(&orch->device->table.slot[number]);

    find_producers(orch, q, id);
    answer(orch, q, id);
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
SIMPLER_INLINE bool is_short(const struct simpler_orch *orch, const struct request *q)
{
    if (SIMPLER_UNLIKELY(q->shape >= SIMPLER_SHAPE_DUMMY))
        return q->shape == SIMPLER_SHAPE_DUMMY && !orch->never_solo;
    return simpler_handover_kernel_ns(orch->device, q->func_id) < orch->solo_below_ns;
}

/* Nothing unfinished is before the task, it is short, and nothing would keep it from retiring. */
SIMPLER_INLINE bool passes_through(struct simpler_orch *orch, const struct simpler_ring *ring,
                                   const struct request *q)
{
    if (!orch->settled || ring->hold_from != SIMPLER_NO_HOLD || q->args->output_count != 0 ||
        !is_short(orch, q))
        return false;
    return SIMPLER_LIKELY(simpler_ring_live(orch, orch->current) == 0) || catches_up(orch);
}

SIMPLER_INLINE int pass_through(struct simpler_orch *orch, struct simpler_ring *ring,
                                const struct request *q)
{
    struct simpler_thread *thread = orch->thread;

    if (q->shape != SIMPLER_SHAPE_DUMMY) {
        orch->solo_file = q->file;
        orch->solo_line = q->line;
        int status = simpler_solo_call(thread, q->func_id, q->args, NULL, q->func_id);
        if (SIMPLER_UNLIKELY(((uint32_t)status | thread->deferred) != 0))
            return keep(orch, q, status);
        simpler_scheduler_count(&thread->counts.run);
    }
    answer(orch, q, (uint64_t)orch->current << 32 | ring->next);
    ring->done_from = ++ring->next;
    orch->device->alive[orch->current] = ring->next;
    if (ring->window_peak == 0)
        ring->window_peak = 1;
    simpler_scope_sample_wired(orch, ring);
    orch->submitted++;
    simpler_linking_next_mark(orch);
    simpler_scheduler_count_completed(thread);
    look_at_times(orch);
    return 0;
}

/* The task waits for nothing: its kernel gets the caller's arguments. */
SIMPLER_INLINE void run_here(struct simpler_orch *orch, const struct request *q, uint32_t number,
                             uint64_t id)
{
    struct simpler_thread *thread = orch->thread;
    struct simpler_task_slot *slot = &orch->device->table.slot[number];

    if (SIMPLER_UNLIKELY(atomic_load_explicit(&slot->poisoned, memory_order_relaxed))) {
        slot->failed = SIMPLER_OUTCOME_FAILED;
        simpler_scheduler_count(&thread->counts.poisoned);
    } else if (q->shape != SIMPLER_SHAPE_DUMMY) {
        int status = simpler_solo_call(thread, q->func_id, q->args, orch->made,
                                       simpler_kernel_word_of(slot));
        if (SIMPLER_LIKELY(((uint32_t)status | thread->deferred) == 0))
            simpler_scheduler_count(&thread->counts.run);
        else
            simpler_scheduler_note_odd_end(thread, number, status);
    }
    answer(orch, q, id);
    simpler_solo_complete(orch, number);
}

SIMPLER_INLINE int hand_over(struct simpler_orch *orch, const struct request *q, uint32_t number,
                             uint64_t id, bool odd)
{
    fill_payload(orch, q->args, number);
    answer(orch, q, id);
    simpler_arg_capture_submit(orch, q->args, number);
    if (odd && q->shape == SIMPLER_SHAPE_LAUNCH)
        prepare_launch(orch, q, number);
    return simpler_linking_finish(orch, number);
}

SIMPLER_INLINE int submit_checked(struct simpler_orch *orch, struct request *q, bool odd)
{
    uint8_t *block;

    if (SIMPLER_UNLIKELY(atomic_load_explicit(&orch->device->stop, memory_order_relaxed) != 0))
        return refuse(orch, q, simpler_fatal_status(orch));
    int status = check(orch, q, odd);
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
    if (passes_through(orch, ring, q))
        return pass_through(orch, ring, q);
    if (q->args->output_count != 0)
        note_hold(orch, ring, q->heap_bytes, block == ring->heap.memory);
    uint32_t number = make_slot(orch, q);
    if (SIMPLER_UNLIKELY(orch->check != NULL))
        simpler_hazard_check_submit(orch->check, orch, q->args, number);
    uint64_t id = (uint64_t)orch->current << 32 | (ring->next - 1);
    find_producers(orch, q, id);
    if (q->args->output_count != 0)
        make_outputs(orch, q->args, block, id);
    if (orch->pending_count == 0 && is_short(orch, q) && orch->dump_level == 0)
        run_here(orch, q, number, id);
    else
        status = hand_over(orch, q, number, id, odd);
    if (SIMPLER_UNLIKELY(status != 0))
        return refuse(orch, q, status);
    note_peaks(orch, ring);
    look_at_times(orch);
    return 0;
}

/* Apart, so that plain tasks do not pay for what is rare. */
static SIMPLER_NOINLINE int submit_odd(struct simpler_orch *orch, struct request *q)
{
    return submit_checked(orch, q, true);
}

SIMPLER_INLINE int submit(struct simpler_orch *orch, struct request *q)
{
    if (SIMPLER_UNLIKELY(is_odd(q->args)))
        return submit_odd(orch, q);
    return submit_checked(orch, q, false);
}

int simpler_tmr_submit_aic(struct simpler_orch *orch, uint32_t func_id,
                           const struct simpler_task_args *args, struct simpler_task_outputs *out,
                           const char *file, int line)
{
    struct request q = {SIMPLER_SHAPE_AIC, func_id, args, out, file, line, 0, NULL};
    return submit(orch, &q);
}

int simpler_tmr_submit_aiv(struct simpler_orch *orch, uint32_t func_id,
                           const struct simpler_task_args *args, struct simpler_task_outputs *out,
                           const char *file, int line)
{
    struct request q = {SIMPLER_SHAPE_AIV, func_id, args, out, file, line, 0, NULL};
    return submit(orch, &q);
}

int simpler_tmr_submit_mixed(struct simpler_orch *orch, const struct simpler_mixed_kernels *kernels,
                             const struct simpler_task_args *args, struct simpler_task_outputs *out,
                             const char *file, int line)
{
    struct request q = {SIMPLER_SHAPE_LAUNCH, 0, args, out, file, line, 0, kernels};
    int32_t id[SIMPLER_LANES] = {-1, -1, -1};

    if (kernels != NULL)
        ids_by_lane(kernels, id);
    int32_t first = id[0] >= 0 ? id[0] : id[1];
    if (first < 0) {
        q.mixed = NULL;
        return refuse(orch, &q, invalid(orch, &q, "a mixed task has no kernel", 0));
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
    struct request q = {SIMPLER_SHAPE_DUMMY, 0, args, out, file, line, 0, NULL};
    return submit(orch, &q);
}

int simpler_tmr_alloc_tensors(struct simpler_orch *orch, const struct simpler_create_info *infos,
                              uint32_t count, struct simpler_task_outputs *out, const char *file,
                              int line)
{
    struct simpler_task_args args;
    struct request q = {SIMPLER_SHAPE_DUMMY, 0, &args, out, file, line, 0, NULL};
    uint8_t *block;

    simpler_task_args_reset(&args);
    for (uint32_t i = 0; infos != NULL && i < count && i <= SIMPLER_MAX_TENSORS; i++)
        simpler_task_args_add_create(&args, &infos[i]);
    if (SIMPLER_UNLIKELY(atomic_load_explicit(&orch->device->stop, memory_order_relaxed) != 0))
        return refuse(orch, &q, simpler_fatal_status(orch));
    int status;
    if (infos == NULL || count == 0 || out == NULL)
        status =
            invalid(orch, &q, "alloc_tensors needs create-infos and a place for its tensors", 0);
    else
        status = check(orch, &q, true);
    if (status == 0)
        status = admit(orch, &q, &block);
    if (status != 0)
        return refuse(orch, &q, status);
    struct simpler_ring *ring = &orch->ring[orch->current];
    note_hold(orch, ring, q.heap_bytes, block == ring->heap.memory);
    uint32_t number = make_slot(orch, &q);
    if (SIMPLER_UNLIKELY(orch->check != NULL))
        simpler_hazard_check_submit(orch->check, orch, q.args, number);
    uint64_t id = simpler_task_id_of(&orch->device->table.slot[number]);
    make_outputs(orch, &args, block, id);
    answer(orch, &q, id);
    simpler_solo_complete(orch, number);
    note_peaks(orch, ring);
    return 0;
}
