/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One access: find the form of the view, its buffer, its class and cell, and
 * the cell's entry; search the buffer's other classes; record the task.  The
 * steps have shortcuts for what was met last, because most tasks of a program
 * use few forms and neighbouring cells.
 *
 * Overlap is by buffer address, as the task model has it: memory that is
 * reached through two addresses is two buffers here.
 */
#include "task/tensormap.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "task/tensormap_class.h"
#include "task/tensormap_entry.h"
#include "task/tensormap_memory.h"
#include "task/tensormap_search.h"

/* Starts and extents from here on are not told apart: 8 times this are 2^61 bytes. */
#define LARGE_BITS 58

int simpler_tensormap_open(const struct simpler_tensormap_config *config,
                           struct simpler_tensormap **out)
{
    struct simpler_tensormap *map = simpler_alloc_zeroed(1, sizeof(*map));
    if (map == NULL)
        return SIMPLER_ENOMEM;
    int rc = simpler_tensormap_memory_open(map, config);
    if (rc != 0) {
        simpler_tensormap_close(map);
        return rc;
    }
    simpler_tensormap_reset(map, config->track_readers);
    *out = map;
    return 0;
}

void simpler_tensormap_close(struct simpler_tensormap *map)
{
    if (map == NULL)
        return;
    simpler_tensormap_memory_close(map);
    simpler_alloc_free(map);
}

static uint32_t take_counts(struct simpler_tensormap_ring *ring, uint32_t from, uint32_t to)
{
    uint32_t taken = 0;
    for (uint32_t id = from; id < to; id++) {
        taken += ring->count[id & ring->mask];
        ring->count[id & ring->mask] = 0;
    }
    return taken;
}

/* Only the last ids of a window's length can be counted. */
static void reset_counts(struct simpler_tensormap *map)
{
    for (uint32_t i = 0; i < CHIP_MAX_RING_DEPTH; i++) {
        struct simpler_tensormap_ring *ring = &map->ring[i];
        uint32_t to = ring->counted_to;
        if (map->used != 0)
            map->used -= take_counts(ring, to > ring->mask ? to - ring->mask - 1 : 0, to);
        ring->counted_to = 0;
    }
    SIMPLER_ASSERT(map->used == 0);
}

static void reset_pool(struct simpler_tensormap_pool *pool)
{
    pool->next = 1;
    pool->free = 0;
    pool->free_count = 0;
}

void simpler_tensormap_reset(struct simpler_tensormap *map, bool track_readers)
{
    reset_counts(map);
    reset_pool(&map->entries);
    reset_pool(&map->nodes);
    reset_pool(&map->classes);
    reset_pool(&map->buffers);
    reset_pool(&map->forms);
    for (uint32_t i = 0; i <= SIMPLER_TENSORMAP_SLOTS; i++) {
        map->slot[i].form = 0;
        map->slot[i].last_class = 0;
    }
    map->last_slot = &map->slot[0];
    /* No view is in class 0, and buffer 0 has no last entry. */
    map->class[0].buffer = SIMPLER_TENSORMAP_NO_BUFFER;
    map->buffer[0].last_form = UINT32_MAX;
    map->hand = 1;
    map->next_base = 0;
    map->last_addr = UINT64_MAX;
    map->last_buffer = 0;
    map->self = NO_TASK;
    map->track_readers = track_readers;
}

void simpler_tensormap_retire(struct simpler_tensormap *map, uint32_t ring, uint32_t from,
                              uint32_t to)
{
    map->used -= take_counts(&map->ring[ring], from, to);
}

uint32_t simpler_tensormap_used(const struct simpler_tensormap *map)
{
    return map->used;
}

/* Records that a pool can still hand out. */
static uint32_t left(const struct simpler_tensormap_pool *pool)
{
    return pool->end - pool->next + pool->free_count;
}

uint32_t simpler_tensormap_room(struct simpler_tensormap *map)
{
    if (SIMPLER_UNLIKELY(left(&map->entries) < SIMPLER_TENSORMAP_TASK_RECORDS ||
                         left(&map->nodes) < SIMPLER_TENSORMAP_TASK_RECORDS))
        simpler_tensormap_entry_sweep_all(map);
    uint32_t room = map->used < map->capacity ? map->capacity - map->used : 0;
    room = room < left(&map->entries) ? room : left(&map->entries);
    return room < left(&map->nodes) ? room : left(&map->nodes);
}

_Static_assert(SIMPLER_NO_OWNER == UINT64_MAX, "all owners and-ed are this if each is");

/* Element type and whether contiguous, as they lie in the descriptor. */
SIMPLER_INLINE uint32_t kind_of(const struct simpler_tensor *tensor)
{
    static const uint8_t mask[4] = {0xff, 0, 0xff, 0};
    _Static_assert(offsetof(struct simpler_tensor, is_contiguous) ==
                       offsetof(struct simpler_tensor, dtype) + 2,
                   "both in four bytes");
    uint32_t kind, bits;
    memcpy(&kind, (const char *)tensor + offsetof(struct simpler_tensor, dtype), sizeof(kind));
    memcpy(&bits, mask, sizeof(bits));
    return kind & bits;
}

SIMPLER_INLINE uint64_t pair_at(const uint32_t *two)
{
    uint64_t pair;
    memcpy(&pair, two, sizeof(pair));
    return pair;
}

SIMPLER_INLINE bool slot_matches(const struct simpler_tensormap_slot *slot,
                                 const struct simpler_tensor *tensor)
{
    if (slot->extent != tensor->extent || slot->kind != kind_of(tensor))
        return false;
    if (tensor->is_contiguous)
        return true;
    uint64_t differs = slot->ndims ^ tensor->ndims;
    differs |= pair_at(&slot->shape[0]) ^ pair_at(&tensor->shape[0]);
    differs |= pair_at(&slot->shape[2]) ^ pair_at(&tensor->shape[2]);
    differs |= slot->shape[4] ^ tensor->shape[4];
    differs |= pair_at(&slot->stride[0]) ^ pair_at(&tensor->stride[0]);
    differs |= pair_at(&slot->stride[2]) ^ pair_at(&tensor->stride[2]);
    differs |= slot->stride[4] ^ tensor->stride[4];
    return differs == 0;
}

/* The slot forgets its form, which others may still use. */
static SIMPLER_NOINLINE void fill_slot(struct simpler_tensormap *map,
                                       struct simpler_tensormap_slot *slot,
                                       const struct simpler_tensor *tensor)
{
    if (slot->form != 0)
        map->form[slot->form].slots &= ~(UINT64_C(1) << (slot - map->slot));
    slot->form = 0;
    slot->last_class = 0;
    slot->kind = kind_of(tensor);
    slot->shift = simpler_dtype_shift(tensor->dtype);
    slot->ndims = tensor->ndims;
    memcpy(slot->shape, tensor->shape, sizeof(slot->shape));
    memcpy(slot->stride, tensor->stride, sizeof(slot->stride));
    simpler_view_form_init(&slot->view, tensor);
    /* A form that hides the start is not for the shortcuts. */
    slot->extent = slot->view.start_mask != 0 ? tensor->extent : UINT64_MAX;
}

/* Where the slot of a tensor is, if it has one. */
SIMPLER_INLINE struct simpler_tensormap_slot *slot_of(struct simpler_tensormap *map,
                                                      const struct simpler_tensor *tensor)
{
    uint64_t key = tensor->extent ^ (uint64_t)kind_of(tensor) << 40;
    if (!tensor->is_contiguous)
        key ^= (uint64_t)tensor->shape[0] << 20 ^ (uint64_t)tensor->stride[0] << 32;
    return &map->slot[key * UINT64_C(0x9E3779B97F4A7C15) >> 59];
}

/* A view too large to be told from the whole buffer. */
static SIMPLER_COLD struct simpler_tensormap_slot *whole_slot(struct simpler_tensormap *map)
{
    static const struct simpler_tensor huge = {
        .ndims = 2,
        .extent = UINT64_MAX,
        .shape = {UINT32_MAX, UINT32_MAX},
        .stride = {UINT32_MAX, UINT32_MAX},
        .dtype = SIMPLER_DTYPE_FLOAT64,
    };
    struct simpler_tensormap_slot *slot = &map->slot[SIMPLER_TENSORMAP_WHOLE];
    if (slot->kind != UINT32_MAX)
        fill_slot(map, slot, &huge);
    slot->kind = UINT32_MAX;
    return slot;
}

static struct simpler_tensormap_slot *find_slot(struct simpler_tensormap *map,
                                                const struct simpler_tensor *tensor)
{
    if ((tensor->extent | tensor->start_offset) >> LARGE_BITS != 0)
        return whole_slot(map);
    struct simpler_tensormap_slot *slot = slot_of(map, tensor);
    if (!slot_matches(slot, tensor))
        fill_slot(map, slot, tensor);
    map->last_slot = slot;
    return slot;
}

/* The parts of the view and what the map has of them. */
static void find_view(struct simpler_tensormap *map, const struct simpler_tensor *tensor,
                      struct simpler_tensormap_view *view)
{
    /* The last address names no buffer in the table; it goes with the one before. */
    uint64_t addr = tensor->addr - (tensor->addr == UINT64_MAX);
    view->slot = find_slot(map, tensor);
    view->addr = addr;
    view->start =
        tensor->start_offset << simpler_dtype_shift(tensor->dtype) & view->slot->view.start_mask;
    view->buffer_bytes = tensor->buffer_bytes;
    view->class = 0;
    view->entry = 0;
    view->buffer =
        addr == map->last_addr ? map->last_buffer : simpler_tensormap_class_find_buffer(map, addr);
    if (view->buffer != 0)
        simpler_tensormap_class_find(map, view);
}

/* What a shortcut finds of a view: the slot, or nothing, and no more than is known. */
struct spot {
    struct simpler_tensormap_slot *slot;
    uint64_t start;
    uint32_t buffer;
    uint32_t class;
    uint32_t cell;
    uint32_t entry; /* 0: the cell has none */
    bool alone;     /* nothing else in the buffer can overlap the entry's box */
};

/* Class and cell of a view whose form's last class, or whose buffer's only one, holds it. */
SIMPLER_INLINE bool find_cell(const struct simpler_tensormap *map, struct spot *spot)
{
    const struct simpler_tensormap_buffer *buffer = &map->buffer[spot->buffer];
    const struct simpler_tensormap_class *class = &map->class[spot->slot->last_class];
    spot->class = spot->slot->last_class;
    if (class->buffer != spot->buffer) {
        if (buffer->class_count != 1)
            return false;
        spot->class = buffer->classes;
        class = &map->class[spot->class];
    }
    if (class->form != spot->slot->form ||
        !simpler_view_grid_find(&spot->slot->view, class->origin, spot->start, &spot->cell))
        return false;
    spot->entry = simpler_tensormap_probe_class(map, class, spot->class, spot->cell);
    spot->alone = (buffer->grids & ~class->apart) == 0;
    return spot->alone || buffer->loose_count == 0;
}

/* The tensor has been checked: its start is that of a view inside the buffer. */
SIMPLER_INLINE bool find_spot(struct simpler_tensormap *map, const struct simpler_tensor *tensor,
                              struct spot *spot)
{
    struct simpler_tensormap_slot *slot = map->last_slot;
    if (SIMPLER_UNLIKELY(!slot_matches(slot, tensor))) {
        slot = slot_of(map, tensor);
        if (!slot_matches(slot, tensor))
            return false;
        map->last_slot = slot;
    }
    spot->slot = slot;
    spot->start = tensor->start_offset << slot->shift;
    spot->buffer = tensor->addr == map->last_addr
                       ? map->last_buffer
                       : simpler_tensormap_class_find_buffer(map, tensor->addr);
    const struct simpler_tensormap_buffer *buffer = &map->buffer[spot->buffer];
    if (buffer->last_start == spot->start && buffer->last_form == slot->form) {
        spot->entry = buffer->last_entry;
        spot->class = buffer->classes;
        spot->cell = 0;
        spot->alone = true;
        return true;
    }
    return find_cell(map, spot);
}

/* Edges to the entries of the view and of those that overlap it. */
static void push_edges(const struct simpler_tensormap_search *search)
{
    struct simpler_tensormap *map = search->map;
    const struct simpler_tensormap_view *view = search->view;
    if (view->entry != 0)
        simpler_tensormap_search_push(search, view->entry);
    if (view->buffer == 0)
        return;
    const struct simpler_tensormap_buffer *buffer = &map->buffer[view->buffer];
    if (buffer->class_count != 1 || view->class == 0)
        simpler_tensormap_search_others(search);
}

/* The view's entry, made if need be, counted for the current task. */
static uint32_t own_entry(struct simpler_tensormap *map, struct simpler_tensormap_view *view)
{
    uint32_t e = view->entry;
    if (e == 0)
        e = simpler_tensormap_class_make_entry(map, view);
    simpler_tensormap_entry_touch(map, &map->entry[e], map->self);
    struct simpler_tensormap_buffer *buffer = &map->buffer[view->buffer];
    if (buffer->class_count == 1 && buffer->loose_count == 0 &&
        map->class[buffer->classes].entries == 1) {
        buffer->last_entry = e;
        buffer->last_start = view->start;
        buffer->last_form = view->slot->form;
    }
    return e;
}

static void record_reader(struct simpler_tensormap *map, struct simpler_tensormap_view *view)
{
    if (view->entry != 0 && map->entry[view->entry].latest == map->self)
        return;
    uint32_t e = own_entry(map, view);
    simpler_tensormap_entry_add_task(map, e, map->self);
}

/* @ordered: after all tasks of the entry, which it therefore replaces. */
static void record_writer(struct simpler_tensormap *map, struct simpler_tensormap_view *view,
                          bool ordered)
{
    uint32_t e = own_entry(map, view);
    uint64_t before = map->entry[e].writer;
    if (ordered)
        simpler_tensormap_entry_clear_tasks(map, e);
    else if (before != map->self && simpler_tensormap_is_alive(map, before))
        simpler_tensormap_entry_add_task(map, e, before);
    map->entry[e].writer = map->self;
}

static void access_view(struct simpler_tensormap *map, struct simpler_tensormap_view *view,
                        enum simpler_tensor_use use, struct simpler_edge_sink *sink)
{
    bool write = use != SIMPLER_USE_INPUT;
    bool ordered = map->track_readers || use != SIMPLER_USE_OUTPUT_EXISTING;
    struct simpler_tensormap_search search = {
        .map = map,
        .view = view,
        .sink = sink,
        .writers = ordered,
        .readers = write,
        .remove = write && ordered,
    };
    if (ordered)
        push_edges(&search);
    if (write)
        record_writer(map, view, ordered);
    else if (map->track_readers)
        record_reader(map, view);
    else if (view->buffer != 0)
        simpler_tensormap_class_release_buffer(map, view->buffer);
}

static SIMPLER_NOINLINE void access_any(struct simpler_tensormap *map,
                                        const struct simpler_tensor *tensor,
                                        enum simpler_tensor_use use, struct simpler_edge_sink *sink)
{
    struct simpler_tensormap_view view;
    if (tensor->extent == 0)
        return;
    find_view(map, tensor, &view);
    access_view(map, &view, use, sink);
}

/* Class and cell are known; the entry may be missing, other views may overlap. */
static SIMPLER_NOINLINE void access_spot(struct simpler_tensormap *map,
                                         const struct simpler_tensor *tensor,
                                         enum simpler_tensor_use use,
                                         struct simpler_edge_sink *sink, struct spot spot)
{
    struct simpler_tensormap_view view = {
        .slot = spot.slot,
        .addr = tensor->addr,
        .start = spot.start,
        .buffer_bytes = tensor->buffer_bytes,
        .buffer = spot.buffer,
        .class = spot.class,
        .cell = spot.cell,
        .entry = spot.entry,
    };
    access_view(map, &view, use, sink);
}

/* A cell without an entry in a buffer without other classes: nothing comes before it. */
static SIMPLER_NOINLINE void access_new_cell(struct simpler_tensormap *map, uint32_t class_number,
                                             uint32_t cell, uint64_t start, bool write)
{
    if (!write && !map->track_readers)
        return;
    uint32_t e = simpler_tensormap_class_add_cell(map, class_number, cell, start);
    struct simpler_tensormap_entry *entry = &map->entry[e];
    uint64_t self = map->self;
    simpler_tensormap_entry_touch(map, entry, self);
    if (write) {
        entry->writer = self;
        return;
    }
    entry->near[0] = self;
    entry->near_count = 1;
}

/* An access to the only entry that can matter; not a write that leaves others in it. */
SIMPLER_INLINE void access_entry(struct simpler_tensormap *map, uint32_t e, bool write,
                                 uint64_t self, struct simpler_edge_sink *sink)
{
    struct simpler_tensormap_entry *entry = &map->entry[e];
    uint64_t writer = entry->writer;
    if (writer != self && simpler_tensormap_is_alive(map, writer))
        simpler_tensormap_entry_push_alive(sink, writer);
    if (!write) {
        if (!map->track_readers && entry->near_count != 0)
            simpler_tensormap_entry_push_tasks(map, e, sink);
        if (!map->track_readers || entry->latest == self)
            return;
        simpler_tensormap_entry_touch(map, entry, self);
        simpler_tensormap_entry_add_task(map, e, self);
        return;
    }
    if (entry->near_count != 0) {
        simpler_tensormap_entry_push_tasks(map, e, sink);
        simpler_tensormap_entry_clear_tasks(map, e);
    }
    entry->writer = self;
    simpler_tensormap_entry_touch(map, entry, self);
}

SIMPLER_INLINE void access_one(struct simpler_tensormap *map, const struct simpler_tensor *tensor,
                               enum simpler_tensor_use use, uint64_t self,
                               struct simpler_edge_sink *sink)
{
    struct spot spot;
    if (SIMPLER_UNLIKELY(!find_spot(map, tensor, &spot)))
        access_any(map, tensor, use, sink);
    else if (SIMPLER_LIKELY(spot.entry != 0 && spot.alone &&
                            (map->track_readers || use != SIMPLER_USE_OUTPUT_EXISTING)))
        access_entry(map, spot.entry, use != SIMPLER_USE_INPUT, self, sink);
    else if (spot.entry == 0 && map->buffer[spot.buffer].class_count == 1)
        access_new_cell(map, spot.class, spot.cell, spot.start, use != SIMPLER_USE_INPUT);
    else
        access_spot(map, tensor, use, sink, spot);
}

bool simpler_tensormap_access_args(struct simpler_tensormap *map,
                                   const struct simpler_task_args *args, uint64_t self,
                                   struct simpler_edge_sink *sink)
{
    uint64_t owners = SIMPLER_NO_OWNER;
    uint32_t count = args->tensor_count;
    if (self != map->self)
        simpler_tensormap_entry_set_self(map, self);
    for (uint32_t i = 0; i < count; i++) {
        enum simpler_tensor_use use = (enum simpler_tensor_use)args->use[i];
        const struct simpler_tensor *tensor = args->tensor[i];
        if (use == SIMPLER_USE_OUTPUT)
            continue;
        owners &= tensor->owner;
        if (use != SIMPLER_USE_NO_DEP && !tensor->manual_dep)
            access_one(map, tensor, use, self, sink);
    }
    return owners != SIMPLER_NO_OWNER;
}

void simpler_tensormap_access(struct simpler_tensormap *map, const struct simpler_tensor *tensor,
                              enum simpler_tensor_use use, uint64_t self,
                              struct simpler_edge_sink *sink)
{
    if (use == SIMPLER_USE_OUTPUT || use == SIMPLER_USE_NO_DEP)
        return;
    if (self != map->self)
        simpler_tensormap_entry_set_self(map, self);
    access_one(map, tensor, use, self, sink);
}

void simpler_tensormap_lookup(struct simpler_tensormap *map, const struct simpler_tensor *tensor,
                              bool writers, bool readers, struct simpler_edge_sink *sink)
{
    struct simpler_tensormap_view view;
    if (tensor->extent == 0)
        return;
    map->self = NO_TASK;
    find_view(map, tensor, &view);
    struct simpler_tensormap_search search = {
        .map = map, .view = &view, .sink = sink, .writers = writers, .readers = readers};
    push_edges(&search);
    if (view.buffer != 0)
        simpler_tensormap_class_release_buffer(map, view.buffer);
}

bool simpler_tensormap_contains(struct simpler_tensormap *map, const struct simpler_tensor *tensor)
{
    struct simpler_tensormap_view view;
    if (tensor->extent == 0)
        return false;
    map->self = NO_TASK;
    find_view(map, tensor, &view);
    bool in_use = view.entry != 0 && simpler_tensormap_is_alive(map, map->entry[view.entry].latest);
    if (view.buffer != 0)
        simpler_tensormap_class_release_buffer(map, view.buffer);
    return in_use;
}
