/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers, classes and forms are freed with their last entry, so their pools
 * need no sweep of their own: an entry that is swept takes them along.
 */
#include "task/tensormap_class.h"

#include <string.h>

#include "task/tensormap_entry.h"

#define LOOSE_LEVEL_MIN 6
/* The address of a buffer that is not in use; no buffer begins at the last byte. */
#define NO_BUFFER UINT64_MAX

/* A record that was never used. */
static uint32_t take(struct simpler_tensormap_pool *pool)
{
    SIMPLER_ASSERT(pool->next < pool->end);
    return pool->next++;
}

uint32_t simpler_tensormap_class_find_buffer(struct simpler_tensormap *map, uint64_t addr)
{
    uint32_t bucket = simpler_tensormap_hash(&map->buffer_table, addr);
    uint32_t b = simpler_tensormap_head(&map->buffer_table, &map->buffers, bucket);
    if (addr == NO_BUFFER)
        return 0;
    while (b != 0 && map->buffer[b].addr != addr)
        b = map->buffer[b].next;
    if (b != 0) {
        map->last_addr = addr;
        map->last_buffer = b;
    }
    return b;
}

static uint32_t make_buffer(struct simpler_tensormap *map, uint64_t addr)
{
    struct simpler_tensormap_pool *pool = &map->buffers;
    uint32_t bucket = simpler_tensormap_hash(&map->buffer_table, addr);
    uint32_t head = simpler_tensormap_head(&map->buffer_table, pool, bucket);
    if (head != 0 && map->buffer[head].bucket != bucket)
        head = 0;
    uint32_t b = pool->free;
    if (b != 0)
        pool->free = map->buffer[b].last_entry;
    else
        b = take(pool);
    struct simpler_tensormap_buffer *buffer = &map->buffer[b];
    memset(buffer, 0, sizeof(*buffer));
    buffer->addr = addr;
    buffer->last_form = UINT32_MAX;
    buffer->bucket = bucket;
    buffer->next = head;
    map->buffer_table.head[bucket] = b;
    map->last_addr = addr;
    map->last_buffer = b;
    return b;
}

void simpler_tensormap_class_release_buffer(struct simpler_tensormap *map, uint32_t b)
{
    struct simpler_tensormap_buffer *buffer = &map->buffer[b];
    if (buffer->class_count != 0 || b == map->pinned_buffer)
        return;
    uint32_t *link = &map->buffer_table.head[buffer->bucket];
    while (*link != b)
        link = &map->buffer[*link].next;
    *link = buffer->next;
    if (map->last_buffer == b) {
        map->last_addr = NO_BUFFER;
        map->last_buffer = 0;
    }
    buffer->addr = NO_BUFFER;
    buffer->next = 0;
    buffer->last_form = UINT32_MAX;
    buffer->last_entry = map->buffers.free;
    map->buffers.free = b;
}

static bool same_box(const struct simpler_view_form *a, const struct simpler_view_form *b)
{
    return a->box.run == b->box.run && a->box.dims == b->box.dims &&
           memcmp(a->box.stride, b->box.stride, a->box.dims * sizeof(uint64_t)) == 0 &&
           memcmp(a->box.count, b->box.count, a->box.dims * sizeof(uint64_t)) == 0;
}

static uint64_t box_hash(const struct simpler_view_box *box)
{
    uint64_t hash = box->run;
    for (uint32_t i = 0; i < box->dims; i++) {
        hash = (hash ^ box->stride[i]) * UINT64_C(0xD6E8FEB86659FD93);
        hash = (hash ^ hash >> 32 ^ box->count[i]) * UINT64_C(0xD6E8FEB86659FD93);
    }
    return hash;
}

static uint32_t find_form(const struct simpler_tensormap *map, const struct simpler_view_form *view,
                          uint32_t bucket)
{
    uint32_t f = simpler_tensormap_head(&map->form_table, &map->forms, bucket);
    while (f != 0 && (map->form[f].uses == 0 || !same_box(&map->form[f].view, view)))
        f = map->form[f].next;
    return f;
}

static uint32_t make_form(struct simpler_tensormap *map, const struct simpler_view_form *view,
                          uint32_t bucket)
{
    struct simpler_tensormap_pool *pool = &map->forms;
    uint32_t head = simpler_tensormap_head(&map->form_table, pool, bucket);
    if (head != 0 && map->form[head].bucket != bucket)
        head = 0;
    uint32_t f = pool->free;
    if (f != 0)
        pool->free = map->form[f].reserved;
    else
        f = take(pool);
    struct simpler_tensormap_form *form = &map->form[f];
    form->view = *view;
    form->slots = 0;
    form->uses = 0;
    form->bucket = bucket;
    form->next = head;
    map->form_table.head[bucket] = f;
    return f;
}

/* Gives the slot the record of its form, if there is one. */
static bool know_form(struct simpler_tensormap *map, struct simpler_tensormap_slot *slot,
                      uint32_t bucket)
{
    if (slot->form == 0) {
        slot->form = find_form(map, &slot->view, bucket);
        map->form[slot->form].slots |= UINT64_C(1) << (slot - map->slot);
    }
    return slot->form != 0;
}

static uint32_t form_bucket(const struct simpler_tensormap *map,
                            const struct simpler_tensormap_slot *slot)
{
    return simpler_tensormap_hash(&map->form_table, box_hash(&slot->view.box));
}

/* The record of the slot's form, with one more use. */
static uint32_t use_form(struct simpler_tensormap *map, struct simpler_tensormap_slot *slot)
{
    uint32_t bucket = form_bucket(map, slot);
    if (!know_form(map, slot, bucket)) {
        slot->form = make_form(map, &slot->view, bucket);
        map->form[slot->form].slots = UINT64_C(1) << (slot - map->slot);
    }
    map->form[slot->form].uses++;
    return slot->form;
}

void simpler_tensormap_class_release_form(struct simpler_tensormap *map, uint32_t f)
{
    struct simpler_tensormap_form *form = &map->form[f];
    if (--form->uses != 0)
        return;
    uint32_t *link = &map->form_table.head[form->bucket];
    while (*link != f)
        link = &map->form[*link].next;
    *link = form->next;
    for (uint64_t slots = form->slots; slots != 0; slots &= slots - 1) {
        struct simpler_tensormap_slot *slot = &map->slot[__builtin_ctzll(slots)];
        if (slot->form == f)
            slot->form = 0;
    }
    form->next = 0;
    form->reserved = map->forms.free;
    map->forms.free = f;
}

static uint32_t loose_level(const struct simpler_view_form *view)
{
    uint32_t level = 64 - (uint32_t)__builtin_clzll(view->box.span - 1 + (view->box.span == 1));
    return level < LOOSE_LEVEL_MIN ? LOOSE_LEVEL_MIN : level;
}

static uint32_t find_loose_class(const struct simpler_tensormap *map, uint32_t b, uint32_t level)
{
    uint32_t c = map->buffer[b].classes;
    while (c != 0 &&
           (map->class[c].form != SIMPLER_TENSORMAP_LOOSE || map->class[c].level != level))
        c = map->class[c].next;
    return c;
}

static uint32_t find_loose_entry(const struct simpler_tensormap *map,
                                 const struct simpler_tensormap_view *view)
{
    uint32_t c = find_loose_class(map, view->buffer, loose_level(&view->slot->view));
    if (c == 0)
        return 0;
    uint32_t cell = simpler_tensormap_loose_cell(&map->class[c], view -> start);
    uint64_t key = simpler_tensormap_key(c, cell);
    uint32_t e = simpler_tensormap_probe(map, c, cell);
    while (e != 0 && (map->entry[e].key != key || map->place[e].start != view->start ||
                      map->place[e].form != view->slot->form))
        e = map->entry[e].next;
    return e;
}

/*
 * A view that has a loose entry keeps it, though a grid for it may have been
 * made since: it has one entry at a time.
 */
void simpler_tensormap_class_find(struct simpler_tensormap *map,
                                  struct simpler_tensormap_view *view)
{
    struct simpler_tensormap_slot *slot = view->slot;
    struct simpler_tensormap_buffer *buffer = &map->buffer[view->buffer];
    view->class = 0;
    view->entry = 0;
    if (slot->form == 0 && !know_form(map, slot, form_bucket(map, slot)))
        return;
    if (buffer->loose_count != 0)
        view->entry = find_loose_entry(map, view);
    if (view->entry != 0)
        return;
    if (!simpler_view_grid_locate(&slot->view, view->start, &view->origin, &view->cell))
        return;
    uint32_t c = buffer->classes;
    while (c != 0 && (map->class[c].form != slot->form || map->class[c].origin != view->origin))
        c = map->class[c].next;
    if (c == 0)
        return;
    view->class = c;
    view->entry = simpler_tensormap_probe(map, c, view->cell);
    slot->last_class = c;
}

/*
 * Where the class's cells begin in the table.  Classes with few cells lie side by
 * side; a record that is used again keeps its place if that is large enough, so
 * that a program which makes and forgets buffers touches no more of the table.
 */
static void place_cells(struct simpler_tensormap *map, struct simpler_tensormap_class *class,
                        uint32_t base, uint32_t room, uint64_t cells)
{
    uint32_t most = map->entry_table.mask / 8;
    uint32_t wanted = (cells < most ? (uint32_t)cells : most) | 1;
    if (wanted > room) {
        base = map->next_base;
        room = wanted;
        map->next_base += wanted;
    }
    class->base = base;
    class->room = room;
}

static uint32_t make_class(struct simpler_tensormap *map, uint32_t b, uint64_t cells)
{
    struct simpler_tensormap_pool *pool = &map->classes;
    struct simpler_tensormap_buffer *buffer = &map->buffer[b];
    uint32_t c = pool->free;
    bool recycled = c != 0;
    if (recycled)
        pool->free = map->class[c].next;
    else
        c = take(pool);
    struct simpler_tensormap_class *class = &map->class[c];
    uint32_t base = class->base;
    uint32_t room = recycled ? class->room : 0;
    memset(class, 0, sizeof(*class));
    class->buffer = b;
    class->low = UINT64_MAX;
    place_cells(map, class, base, room, cells);
    uint32_t *link = &buffer->classes;
    while (*link != 0)
        link = &map->class[*link].next;
    *link = c;
    buffer->class_count++;
    buffer->last_form = UINT32_MAX;
    return c;
}

/* What the buffer's other grids know about this one is not true any more. */
static void forget_apart(struct simpler_tensormap *map, struct simpler_tensormap_class *class)
{
    uint32_t c = map->buffer[class->buffer].classes;
    for (; c != 0; c = map->class[c].next) {
        map->class[c].apart &= ~class->bit;
        map->class[c].tested &= ~class->bit;
    }
    class->apart = class->bit;
    class->tested = class->bit;
}

static void make_grid(struct simpler_tensormap *map, struct simpler_tensormap_view *view)
{
    struct simpler_tensormap_buffer *buffer = &map->buffer[view->buffer];
    uint64_t cells = view->buffer_bytes / view->slot->view.box.span;
    view->class = make_class(map, view->buffer, cells);
    struct simpler_tensormap_class *class = &map->class[view->class];
    class->origin = view->origin;
    class->form = use_form(map, view->slot);
    class->bit = ~buffer->grids & (buffer->grids + 1);
    buffer->grids |= class->bit;
    for (uint32_t i = 0; i < SIMPLER_GRID_LEVELS; i++)
        class->bounds.first[i] = UINT32_MAX;
    class->apart = class->bit;
    class->tested = class->bit;
    view->slot->last_class = view->class;
}

static void make_loose(struct simpler_tensormap *map, struct simpler_tensormap_view *view,
                       uint32_t level)
{
    view->class = make_class(map, view->buffer, view->buffer_bytes >> level);
    map->class[view->class].form = SIMPLER_TENSORMAP_LOOSE;
    map->class[view->class].level = level;
    map->buffer[view->buffer].loose_count++;
    map->buffer[view->buffer].grids |= SIMPLER_TENSORMAP_HAS_LOOSE;
}

void simpler_tensormap_class_release(struct simpler_tensormap *map, uint32_t c)
{
    struct simpler_tensormap_class *class = &map->class[c];
    struct simpler_tensormap_buffer *buffer = &map->buffer[class->buffer];
    if (c == map->pinned_class)
        return;
    uint32_t *link = &buffer->classes;
    while (*link != c)
        link = &map->class[*link].next;
    *link = class->next;
    buffer->class_count--;
    if (class->form != SIMPLER_TENSORMAP_LOOSE) {
        forget_apart(map, class);
        buffer->grids &= ~class->bit;
        simpler_tensormap_class_release_form(map, class->form);
    } else if (--buffer->loose_count == 0) {
        buffer->grids &= ~SIMPLER_TENSORMAP_HAS_LOOSE;
    }
    simpler_tensormap_class_release_buffer(map, class->buffer);
    class->buffer = SIMPLER_TENSORMAP_NO_BUFFER;
    class->next = map->classes.free;
    map->classes.free = c;
}

/* Whether the buffer may have one more grid; looks for dead ones if not. */
static bool has_grid_left(struct simpler_tensormap *map, uint32_t b)
{
    const uint32_t all = (UINT32_C(1) << SIMPLER_TENSORMAP_GRIDS) - 1;
    if ((map->buffer[b].grids & all) != all)
        return true;
    map->pinned_buffer = b;
    for (uint32_t c = map->buffer[b].classes, next; c != 0; c = next) {
        next = map->class[c].next;
        (void)simpler_tensormap_entry_reap_class(map, c, 2, 0);
    }
    map->pinned_buffer = 0;
    return (map->buffer[b].grids & all) != all;
}

/* A grid if the form has one here and the buffer has few, else a loose class. */
static void choose_class(struct simpler_tensormap *map, struct simpler_tensormap_view *view)
{
    const struct simpler_view_form *form = &view->slot->view;
    if (has_grid_left(map, view->buffer) &&
        simpler_view_grid_locate(form, view->start, &view->origin, &view->cell)) {
        make_grid(map, view);
        return;
    }
    uint32_t level = loose_level(form);
    view->class = find_loose_class(map, view->buffer, level);
    if (view->class == 0)
        make_loose(map, view, level);
    view->cell = simpler_tensormap_loose_cell(&map->class[view->class], view -> start);
}

SIMPLER_INLINE void grow(struct simpler_tensormap_class *class, uint64_t start, uint64_t span)
{
    class->low = start < class->low ? start : class->low;
    class->high = start + span > class->high ? start + span : class->high;
}

/* Entry @e becomes one of the class, whose bounds grow. */
static void enter(struct simpler_tensormap *map, uint32_t e, uint32_t c, uint32_t cell,
                  uint64_t start, uint64_t span)
{
    struct simpler_tensormap_class *class = &map->class[c];
    grow(class, start, span);
    map->entry[e].key = simpler_tensormap_key(c, cell);
    map->place[e].start = start;
    simpler_tensormap_entry_link(map, e, simpler_tensormap_bucket(map, class->base, cell));
}

/* A grid gets a cell; the bytes of a cell. */
SIMPLER_INLINE uint64_t grow_grid(struct simpler_tensormap *map,
                                  struct simpler_tensormap_class *class, uint32_t cell)
{
    const struct simpler_view_form *form = &map->form[class->form].view;
    bool grown = SIMPLER_LIKELY(form->levels == 1)
                     ? simpler_view_range_add_one(&class->bounds, cell)
                     : simpler_view_range_add(&class->bounds, form, cell);
    if (grown && map->buffer[class->buffer].class_count > 1)
        forget_apart(map, class);
    return form->box.span;
}

static void enter_grid(struct simpler_tensormap *map, uint32_t e, uint32_t c, uint32_t cell,
                       uint64_t start)
{
    struct simpler_tensormap_class *class = &map->class[c];
    map->place[e].form = class->form;
    enter(map, e, c, cell, start, grow_grid(map, class, cell));
}

uint32_t simpler_tensormap_class_add_cell(struct simpler_tensormap *map, uint32_t c, uint32_t cell,
                                          uint64_t start)
{
    struct simpler_tensormap_class *class = &map->class[c];
    uint32_t bucket = simpler_tensormap_bucket(map, class->base, cell);
    uint32_t e = simpler_tensormap_entry_move(map, c, simpler_tensormap_key(c, cell), bucket);
    if (SIMPLER_LIKELY(e != 0)) {
        map->place[e].start = start;
        grow(class, start, grow_grid(map, class, cell));
        return e;
    }
    map->pinned_class = c;
    e = simpler_tensormap_entry_alloc(map);
    map->pinned_class = 0;
    enter_grid(map, e, c, cell, start);
    return e;
}

uint32_t simpler_tensormap_class_make_entry(struct simpler_tensormap *map,
                                            struct simpler_tensormap_view *view)
{
    if (view->class != 0)
        return simpler_tensormap_class_add_cell(map, view->class, view->cell, view->start);
    map->pinned_buffer = view->buffer;
    uint32_t e = simpler_tensormap_entry_alloc(map);
    map->pinned_buffer = 0;
    if (view->buffer == 0)
        view->buffer = make_buffer(map, view->addr);
    choose_class(map, view);
    if (map->class[view->class].form != SIMPLER_TENSORMAP_LOOSE) {
        enter_grid(map, e, view->class, view->cell, view->start);
        return e;
    }
    map->place[e].form = use_form(map, view->slot);
    enter(map, e, view->class, view->cell, view->start, view->slot->view.box.span);
    return e;
}
