/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device side of the args dump: a record an argument, its bytes in the
 * lane's arena.
 *
 * The arena is written one payload behind the other.  Before a payload would
 * cross its end, the lane publishes what it holds and waits until the host has
 * taken every payload of the lane; then it starts at the arena's beginning.  To
 * keep the host busy meanwhile, a buffer is published early when its payloads
 * are a part of the arena.
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "collect/args_dump/args_dump_aicpu.h"
#include "collect/args_dump/args_dump_copy.h"
#include "collect/args_dump/args_dump_wire.h"
#include "prof/producer.h"
#include "simpler/dtype.h"

/* Payloads that are published at once: a part of the arena, and one write of the host. */
#define EARLY_PARTS 16u
#define EARLY_BYTES ((uint64_t)1 << 20)

/* A lane as its thread sees it. */
struct lane_state {
    struct simpler_producer producer;
    struct args_dump_block *block;
    struct args_dump_lane *lane;
    uint64_t base;
    uint8_t *arena;
    uint64_t arena_size;
    uint64_t cursor;      /* bytes of the run, skipped ones included */
    uint64_t physical;    /* cursor % arena_size */
    uint64_t early;       /* payload bytes that are published at once */
    uint64_t unpublished; /* payload bytes in the held buffer */
    uint64_t committed;   /* payloads, as published_payloads counts */
    uint64_t begin_ticks; /* of this capture */
    uint64_t now_ns;      /* of this capture, since the start of the run */
    uint64_t records;     /* of this capture; in the lane's counts at its end */
    uint64_t payload_bytes;
};

static _Thread_local struct lane_state own;

/* The leader's, until dump_args_init. */
static SIMPLER_THREAD_WORD bool enabled;
static SIMPLER_THREAD_WORD uint64_t pending_base;

static struct simpler_prof_header *header_at(uint64_t base)
{
    return simpler_producer_header(base, ARGS_DUMP_MAGIC);
}

static struct args_dump_block *block_of(struct simpler_prof_header *header)
{
    return simpler_producer_block(header);
}

static void store(_Atomic uint64_t *counter, uint64_t value)
{
    /* relaxed: read by the host after the end of the lane is proved. */
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

static void add(_Atomic uint64_t *counter, uint64_t value)
{
    store(counter, atomic_load_explicit(counter, memory_order_relaxed) + value);
}

static uint64_t shorter(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- a run ---- */

void set_dump_args_enabled(bool enable)
{
    enabled = enable;
}

void set_platform_dump_base(uint64_t dump_data_base)
{
    pending_base = dump_data_base;
    /* Another region may lie where an earlier one was, with the same run number. */
    own.base = 0;
}

static void reset_lane(struct args_dump_lane *lane)
{
    store(&lane->arena_write_offset, 0);
    store(&lane->records, 0);
    store(&lane->payload_bytes, 0);
    store(&lane->capture_ns, 0);
    store(&lane->truncated, 0);
    store(&lane->arena_dropped, 0);
    store(&lane->published_payloads,
          atomic_load_explicit(&lane->completed_payloads, memory_order_relaxed));
}

uint32_t dump_args_init(uint32_t run_epoch)
{
    struct simpler_prof_header *header = header_at(pending_base);
    struct simpler_producer producer;

    if (!enabled || header == NULL)
        return ARGS_DUMP_OFF;
    struct args_dump_block *block = block_of(header);
    for (uint32_t l = 0; l < header->lane_count; l++) {
        simpler_producer_attach(&producer, header, l, 0, run_epoch);
        reset_lane(&block->lanes[l]);
    }
    for (uint32_t n = 0; n < ARGS_DUMP_NOTES; n++)
        store(&block->notes[n], 0);
    block->start_ticks = simpler_clock_ticks();
    simpler_producer_publish_epoch(header, run_epoch);
    return block->dump_args_level;
}

/* The run's leader has initialised the lane before any task of the run was published. */
static SIMPLER_NOINLINE void join(struct lane_state *s, const struct dump_args_run *run,
                                  uint32_t lane)
{
    struct simpler_prof_header *header = header_at(run->base);

    memset(s, 0, sizeof(*s));
    s->base = run->base;
    s->block = block_of(header);
    s->lane = &s->block->lanes[lane];
    s->arena = simpler_device_place(s->lane->arena_base);
    s->arena_size = s->lane->arena_size;
    s->early = shorter(s->arena_size / EARLY_PARTS, EARLY_BYTES);
    s->committed = atomic_load_explicit(&s->lane->published_payloads, memory_order_relaxed);
    simpler_producer_attach(&s->producer, header, lane, 0, run->run_epoch);
}

static bool has_joined(const struct lane_state *s, const struct dump_args_run *run)
{
    return s->base == run->base && s->producer.run_epoch == run->run_epoch;
}

void dump_args_begin(const struct dump_args_run *run, uint32_t lane)
{
    struct lane_state *s = &own;

    if (SIMPLER_UNLIKELY(!has_joined(s, run)))
        join(s, run, lane);
    s->begin_ticks = simpler_clock_ticks();
    s->now_ns = simpler_clock_ticks_to_ns(s->begin_ticks - s->block->start_ticks);
}

void dump_args_end(void)
{
    struct lane_state *s = &own;

    add(&s->lane->records, s->records);
    add(&s->lane->payload_bytes, s->payload_bytes);
    store(&s->lane->arena_write_offset, s->cursor);
    s->records = s->payload_bytes = 0;
    add(&s->lane->capture_ns, simpler_clock_ticks_to_ns(simpler_clock_ticks() - s->begin_ticks));
}

/* Everything that was committed is published. */
static void note_published(struct lane_state *s)
{
    s->unpublished = 0;
    store(&s->lane->published_payloads, s->committed);
}

static bool publish(struct lane_state *s)
{
    if (!simpler_producer_flush(&s->producer))
        return false;
    note_published(s);
    return true;
}

void dump_args_flush(const struct dump_args_run *run, uint32_t lane)
{
    struct lane_state *s = &own;

    (void)lane;
    if (!has_joined(s, run))
        return;
    simpler_producer_finish(&s->producer);
}

void dump_args_note(enum dump_args_note note, uint64_t task_id, uint32_t func_id, uint32_t arg,
                    uint32_t a, uint32_t b)
{
    uint64_t none = 0;
    uint64_t packed = 1 | (uint64_t)(a & 7) << 1 | (uint64_t)(b & 7) << 4 |
                      (uint64_t)(arg & 63) << 7 | (uint64_t)(func_id & 2047) << 13 |
                      (task_id & 0xffffffff) << 24 | (task_id >> 32 & 255) << 56;

    /* relaxed: read after the end of the run. */
    (void)atomic_compare_exchange_strong_explicit(&own.block->notes[note], &none, packed,
                                                  memory_order_relaxed, memory_order_relaxed);
}

/* ---- the arena ---- */

static bool is_taken(const void *subject)
{
    const struct lane_state *s = subject;
    /* acquire, pairs with A1: the host has read the payloads. */
    uint64_t completed = atomic_load_explicit(&s->lane->completed_payloads, memory_order_acquire);
    return (int64_t)(completed - s->committed) >= 0;
}

static bool wait_until_taken(const struct lane_state *s)
{
    struct simpler_gate gate = simpler_producer_gate(&s->producer, &s->lane->acked, is_taken, s);
    return simpler_gate_pass(&gate);
}

/* The next payload goes to the arena's beginning, which the host has taken. */
static void start_over(struct lane_state *s)
{
    if (s->physical != 0)
        s->cursor += s->arena_size - s->physical;
    s->physical = 0;
}

/* The arena is full; false: the host does not answer. */
static SIMPLER_NOINLINE bool turn_over(struct lane_state *s)
{
    if (!publish(s) || !wait_until_taken(s))
        return false;
    start_over(s);
    return true;
}

/* Room for @bytes, at most the arena's size, in one piece. */
SIMPLER_INLINE bool make_room(struct lane_state *s, uint64_t bytes)
{
    /* While the host keeps up, the arena's first lines serve again: they are in cache. */
    if (s->unpublished == 0 && s->physical >= s->early && is_taken(s))
        start_over(s);
    if (SIMPLER_LIKELY((s->physical != 0 || s->cursor == 0) &&
                       bytes <= s->arena_size - s->physical))
        return true;
    return turn_over(s);
}

static void refuse(struct lane_state *s)
{
    simpler_producer_refuse(&s->producer);
    add(&s->lane->arena_dropped, 1);
}

/* ---- records ---- */

/* The next record, or NULL when it is dropped (and counted). */
SIMPLER_INLINE struct args_dump_record *reserve(struct lane_state *s,
                                                const struct dump_args_task *task)
{
    struct args_dump_record *r = simpler_producer_reserve(&s->producer);

    if (SIMPLER_UNLIKELY(r == NULL))
        return NULL;
    if (s->producer.count == 0)
        note_published(s);
    memset(r, 0, sizeof(*r));
    r->task_id = task->task_id;
    r->stage = task->stage;
    memcpy(r->func_ids, task->func_ids, sizeof(r->func_ids));
    r->func_count = task->func_count;
    r->submit_seq = task->submit_seq;
    r->capture_ns = s->now_ns;
    return r;
}

/* How much of a tensor is copied; sets *truncated. */
static uint64_t bytes_to_copy(const struct lane_state *s, const struct dump_args_info *info,
                              uint8_t *truncated)
{
    uint32_t shift = simpler_dtype_shift(info->dtype);
    uint64_t bytes = simpler_args_dump_numel(info) << shift;

    *truncated = bytes > s->arena_size;
    return *truncated ? s->arena_size / 2 >> shift << shift : bytes;
}

static void put_view(struct args_dump_record *r, const struct dump_args_info *info)
{
    r->ndims = (uint8_t)info->ndims;
    r->dtype = info->dtype;
    r->is_contiguous = info->is_contiguous;
    r->start_offset = info->start_offset;
    r->buffer_addr = info->buffer_addr;
    for (uint32_t i = 0; i < info->ndims; i++) {
        r->shapes[i] = info->shape[i];
        r->strides[i] = info->stride[i];
    }
}

static void put_payload(struct lane_state *s, struct args_dump_record *r,
                        const struct dump_args_info *info, uint64_t bytes)
{
    r->payload_offset = s->cursor;
    r->payload_size = bytes;
    r->crc32c = simpler_args_dump_copy(s->arena + s->physical, info, bytes);
    s->cursor += bytes;
    s->physical += bytes;
    if (s->physical == s->arena_size)
        s->physical = 0;
    s->unpublished += bytes;
    s->committed++;
    s->producer.payloads++;
    s->payload_bytes += bytes;
}

static void commit(struct lane_state *s)
{
    simpler_producer_commit(&s->producer);
    s->records++;
}

void dump_arg_record(const struct dump_args_task *task, const struct dump_args_info *info,
                     uint8_t role, uint32_t arg_index, bool payload)
{
    struct lane_state *s = &own;
    uint8_t truncated = 0;
    uint64_t bytes = payload ? bytes_to_copy(s, info, &truncated) : 0;

    if (bytes != 0 && !make_room(s, bytes)) {
        refuse(s);
        return;
    }
    struct args_dump_record *r = reserve(s, task);
    if (SIMPLER_UNLIKELY(r == NULL))
        return;
    r->role = role;
    r->arg_index = arg_index;
    r->truncated = truncated;
    put_view(r, info);
    if (bytes != 0)
        put_payload(s, r, info, bytes);
    if (truncated)
        add(&s->lane->truncated, 1);
    commit(s);
    if (SIMPLER_UNLIKELY(s->unpublished >= s->early))
        (void)publish(s);
}

void dump_args_scalar(const struct dump_args_task *task, uint32_t arg_index, uint8_t dtype,
                      uint64_t value, bool ambiguous)
{
    struct lane_state *s = &own;
    struct args_dump_record *r = reserve(s, task);

    if (SIMPLER_UNLIKELY(r == NULL))
        return;
    r->role = ARGS_DUMP_INPUT;
    r->kind = ARGS_DUMP_SCALAR;
    r->flags = ambiguous ? ARGS_DUMP_AMBIGUOUS : 0;
    r->arg_index = arg_index;
    r->dtype = dtype;
    r->is_contiguous = 1;
    r->scalar_value = value;
    commit(s);
}
