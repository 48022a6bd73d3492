/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device side of scope stats: one record a scope boundary.
 *
 * Depth and sites are kept here, so that an end is written with the site of its
 * begin.  A scope deeper than the stack holds no site: its two samples are
 * refused and counted, and everything around it stays paired.
 *
 * A site's basename is found once a pointer; the pointers are forgotten at the
 * start of each run, since a library may be replaced between two runs.
 *
 * Each call begins with one word of the thread: NULL when disabled or without a
 * base.  What is rare (a full buffer, a new file) is a call at the end of its
 * function, so that nothing is saved for it on the way.
 */
#include <string.h>

#include "base/compiler.h"
#include "collect/scope_stats/scope_stats_aicpu.h"
#include "collect/scope_stats/scope_stats_wire.h"
#include "prof/producer.h"

#define CACHED_FILES 32u

_Static_assert((CACHED_FILES & (CACHED_FILES - 1)) == 0, "files are hashed by a mask");

struct file_name {
    const char *file; /* NULL: the entry is free */
    char basename[SCOPE_STATS_SITE_BYTES];
};

struct open_scope {
    char basename[SCOPE_STATS_SITE_BYTES];
    int32_t line;
};

/* What one boundary looks like; the arguments of begin and end. */
struct sample {
    int ring_id;
    int32_t task_start, task_end;
    uint64_t heap_start, heap_end;
    int32_t dep_pool_start, dep_pool_end;
    int32_t tensormap_used;
};

struct device_state {
    struct simpler_producer producer;
    int64_t depth;            /* of the innermost open scope; -1: none */
    const char *pending_name; /* basename of a pending site; NULL: none */
    int32_t pending_line;
    struct open_scope open[SCOPE_STATS_MAX_SCOPE_DEPTH];
    struct file_name files[CACHED_FILES];
};

static _Thread_local struct device_state own;
/* &own while enabled and a base is set. */
static SIMPLER_THREAD_WORD struct device_state *active;
static SIMPLER_THREAD_WORD struct scope_stats_block *block; /* NULL: no base */
static SIMPLER_THREAD_WORD bool attached;                   /* own belongs to a base */
static SIMPLER_THREAD_WORD bool enabled;
static SIMPLER_THREAD_WORD uint32_t next_epoch;

static const char unknown[SCOPE_STATS_SITE_BYTES] = "(unknown)";

bool is_scope_stats_enabled(void)
{
    return enabled;
}

void set_scope_stats_enabled(bool enable)
{
    enabled = enable;
    active = enabled && attached ? &own : NULL;
}

void scope_stats_set_run_epoch(uint32_t run_epoch)
{
    next_epoch = run_epoch;
}

static struct simpler_prof_header *header_at(uint64_t base)
{
    return simpler_producer_header(base, SCOPE_STATS_MAGIC);
}

static struct scope_stats_block *block_of(struct simpler_prof_header *header)
{
    return header == NULL ? NULL : simpler_producer_block(header);
}

void set_platform_scope_stats_base(uint64_t scope_stats_data_base)
{
    struct simpler_prof_header *header = header_at(scope_stats_data_base);

    active = NULL;
    attached = header != NULL;
    block = block_of(header);
    if (header == NULL)
        return;
    memset(&own, 0, sizeof(own));
    own.depth = -1;
    atomic_store_explicit(&block->fatal_latched, 0, memory_order_relaxed);
    atomic_store_explicit(&block->site_cut, 0, memory_order_relaxed);
    simpler_producer_attach(&own.producer, header, 0, 0, next_epoch);
    simpler_producer_publish_epoch(header, next_epoch);
    next_epoch = 0;
    active = enabled ? &own : NULL;
}

void scope_stats_join_run(uint64_t scope_stats_data_base)
{
    block = block_of(header_at(scope_stats_data_base));
    enabled = block != NULL;
}

void scope_stats_set_ring_capacity(int ring_id, int32_t window_cap, uint64_t heap_cap,
                                   int32_t dep_pool_cap)
{
    if (!enabled || block == NULL || ring_id < 0 || ring_id >= SCOPE_STATS_MAX_RING_DEPTH)
        return;
    block->window_cap[ring_id] = window_cap;
    block->heap_cap[ring_id] = heap_cap;
    block->dep_pool_cap[ring_id] = dep_pool_cap;
}

void scope_stats_set_tensormap_capacity(int32_t cap)
{
    if (enabled && block != NULL)
        block->tensormap_cap = cap;
}

void scope_stats_on_fatal(void)
{
    /* release: pairs with the host's read after the lane's end. */
    if (enabled && block != NULL)
        atomic_store_explicit(&block->fatal_latched, 1, memory_order_release);
}

static uint32_t counted(const _Atomic uint32_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Where the host has made room for it. */
static void write_terminal(const struct simpler_producer *producer)
{
    const struct simpler_prof_state *state = producer->state;

    if (block->terminal_count == 0)
        return;
    struct scope_stats_terminal *t = &block->terminal[producer->run_epoch % block->terminal_count];
    t->total = counted(&state->total);
    t->dropped_no_free = counted(&state->dropped_no_free);
    t->dropped_ready_full = counted(&state->dropped_ready_full);
    t->dropped_other = counted(&state->dropped_other);
    t->live_at_close = producer->buffer != NULL ? producer->count : 0;
    /* T1, release: pairs with the host's acquire load at the boundary. */
    atomic_store_explicit(&t->run_epoch, producer->run_epoch, memory_order_release);
}

void scope_stats_flush(void)
{
    if (active == NULL)
        return;
    simpler_producer_finish(&active->producer);
    write_terminal(&active->producer);
}

/* ---- sites ---- */

/* Bytes of @name that fit a site, never a part of a code point. */
static size_t fitting_bytes(const char *name, size_t bytes)
{
    size_t n = SCOPE_STATS_SITE_BYTES - 1;

    if (bytes <= n)
        return bytes;
    /* A code point has at most three bytes behind its first. */
    for (int back = 0; back < 3 && ((unsigned char)name[n] & 0xc0) == 0x80; back++)
        n--;
    return ((unsigned char)name[n] & 0xc0) == 0x80 ? SCOPE_STATS_SITE_BYTES - 1 : n;
}

SIMPLER_NOINLINE static void copy_basename(const char *file, char *out)
{
    const char *name = file;

    for (const char *p = file; *p != '\0'; p++) {
        if (*p == '/' || *p == '\\')
            name = p + 1;
    }
    size_t bytes = strlen(name);
    size_t n = fitting_bytes(name, bytes);
    if (n < bytes)
        atomic_store_explicit(&block->site_cut, 1, memory_order_relaxed);
    memset(out, 0, SCOPE_STATS_SITE_BYTES);
    memcpy(out, name, n);
}

SIMPLER_NOINLINE static void add_file(struct device_state *d, struct file_name *f, const char *file,
                                      int line)
{
    copy_basename(file, f->basename);
    f->file = file;
    d->pending_name = f->basename;
    d->pending_line = line;
}

void scope_stats_set_pending_site(const char *file, int line)
{
    struct device_state *d = active;
    uintptr_t hash = (uintptr_t)file;

    if (d == NULL)
        return;
    struct file_name *f = &d->files[(hash ^ hash >> 5 ^ hash >> 10) & (CACHED_FILES - 1)];
    if (SIMPLER_UNLIKELY(f->file != file)) {
        add_file(d, f, file, line);
        return;
    }
    d->pending_name = file != NULL ? f->basename : NULL;
    d->pending_line = line;
}

/* ---- samples ---- */

static bool is_ring(int ring_id)
{
    return ring_id >= 0 && ring_id < SCOPE_STATS_MAX_RING_DEPTH;
}

SIMPLER_INLINE void fill(struct scope_stats_record *record, const struct open_scope *scope,
                         const struct sample *s, int64_t depth, int16_t phase)
{
    memcpy(record->site, scope->basename, sizeof(record->site));
    record->heap_start = s->heap_start;
    record->heap_end = s->heap_end;
    record->line = scope->line;
    record->task_start = s->task_start;
    record->task_end = s->task_end;
    record->dep_pool_start = s->dep_pool_start;
    record->dep_pool_end = s->dep_pool_end;
    record->tensormap = s->tensormap_used;
    record->depth = (int16_t)depth;
    record->ring = (int16_t)s->ring_id;
    record->phase = phase;
    record->reserved = 0;
}

/* The buffer is full, the scope too deep, or there is no such ring (then nothing is done). */
SIMPLER_NOINLINE static void take_slowly(struct device_state *d, struct sample s, int64_t depth,
                                         int16_t phase)
{
    struct scope_stats_record *record;

    if (!is_ring(s.ring_id))
        return;
    if (depth >= SCOPE_STATS_MAX_SCOPE_DEPTH) {
        simpler_producer_refuse(&d->producer);
        return;
    }
    record = simpler_producer_reserve(&d->producer);
    if (record == NULL)
        return;
    fill(record, &d->open[depth], &s, depth, phase);
    simpler_producer_commit(&d->producer);
}

/* A sample of the scope at @depth. */
SIMPLER_INLINE void take(struct device_state *d, const struct sample *s, int64_t depth,
                         int16_t phase)
{
    struct simpler_producer *producer = &d->producer;

    if (SIMPLER_UNLIKELY(!is_ring(s->ring_id) || depth >= SCOPE_STATS_MAX_SCOPE_DEPTH ||
                         producer->count >= producer->capacity)) {
        take_slowly(d, *s, depth, phase);
        return;
    }
    fill((struct scope_stats_record *)(void *)producer->next, &d->open[depth], s, depth, phase);
    simpler_producer_commit(producer);
}

void scope_stats_begin(int ring_id, int32_t task_start, int32_t task_end, uint64_t heap_start,
                       uint64_t heap_end, int32_t dep_pool_start, int32_t dep_pool_end,
                       int32_t tensormap_used)
{
    struct device_state *d = active;
    struct sample s = {ring_id,  task_start,     task_end,     heap_start,
                       heap_end, dep_pool_start, dep_pool_end, tensormap_used};

    if (d == NULL)
        return;
    int64_t depth = ++d->depth;
    if (SIMPLER_LIKELY(depth < SCOPE_STATS_MAX_SCOPE_DEPTH)) {
        struct open_scope *scope = &d->open[depth];
        const char *name = d->pending_name != NULL ? d->pending_name : unknown;
        memcpy(scope->basename, name, sizeof(scope->basename));
        scope->line = d->pending_line;
    }
    d->pending_name = NULL;
    d->pending_line = 0;
    take(d, &s, depth, 0);
}

void scope_stats_end(int ring_id, int32_t task_start, int32_t task_end, uint64_t heap_start,
                     uint64_t heap_end, int32_t dep_pool_start, int32_t dep_pool_end,
                     int32_t tensormap_used)
{
    struct device_state *d = active;
    struct sample s = {ring_id,  task_start,     task_end,     heap_start,
                       heap_end, dep_pool_start, dep_pool_end, tensormap_used};

    if (d == NULL || d->depth < 0)
        return;
    int64_t depth = d->depth--;
    take(d, &s, depth, 1);
}
