/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A foreign class is searched by the cells that the view can touch, or by its
 * entries if those are fewer.  What is found is compared box by box.
 */
#include "task/tensormap_search.h"

#include "task/tensormap_entry.h"

/* A class gets rid of dead entries that no search meets: a few of the oldest, at times. */
#define REAP_EVERY 8
#define REAP_STEPS 16

void simpler_tensormap_search_push(const struct simpler_tensormap_search *search, uint32_t e)
{
    struct simpler_tensormap *map = search->map;
    if (search->writers)
        simpler_tensormap_entry_push(map, search->sink, map->entry[e].writer);
    if (map->track_readers ? search->readers : search->writers)
        simpler_tensormap_entry_push_tasks(map, e, search->sink);
}

static void visit(const struct simpler_tensormap_search *search, uint32_t e)
{
    struct simpler_tensormap *map = search->map;
    const struct simpler_view_box *box = &search->view->slot->view.box;
    uint64_t start = search->view->start;
    if (e == search->view->entry)
        return;
    if (simpler_tensormap_entry_is_dead(map, e)) {
        simpler_tensormap_entry_free(map, e);
        return;
    }
    const struct simpler_view_box *other = &map->form[map->place[e].form].view.box;
    uint64_t other_start = map->place[e].start;
    if (!simpler_view_box_overlaps(box, start, other, other_start))
        return;
    simpler_tensormap_search_push(search, e);
    if (search->remove && simpler_view_box_covers(box, start, other, other_start))
        simpler_tensormap_entry_free(map, e);
}

/* The class may be gone after the last of them. */
static void visit_all(const struct simpler_tensormap_search *search, uint32_t c)
{
    struct simpler_tensormap *map = search->map;
    uint32_t e = map->class[c].newest;
    for (uint32_t n = map->class[c].entries; n > 0; n--) {
        uint32_t older = map->place[e].older;
        visit(search, e);
        e = older;
    }
}

/* All entries of one cell; a loose class has several. */
static void visit_cell(const struct simpler_tensormap_search *search, uint32_t c, uint32_t cell)
{
    struct simpler_tensormap *map = search->map;
    uint64_t key = simpler_tensormap_key(c, cell);
    uint32_t e = simpler_tensormap_probe(map, c, cell);
    while (e != 0) {
        uint32_t next = map->entry[e].next;
        if (map->entry[e].key == key)
            visit(search, e);
        e = next;
    }
}

static void visit_range(const struct simpler_tensormap_search *search, uint32_t c,
                        const struct simpler_view_form *form,
                        const struct simpler_view_range *range)
{
    uint32_t at[SIMPLER_GRID_LEVELS];
    uint32_t levels = form->levels;
    uint32_t cell = 0;
    for (uint32_t i = 0; i < levels; i++) {
        at[i] = range->first[i];
        cell += at[i] * form->weight[i];
    }
    for (;;) {
        visit_cell(search, c, cell);
        uint32_t i = levels;
        while (i-- > 0) {
            if (at[i] < range->last[i]) {
                at[i]++;
                cell += form->weight[i];
                break;
            }
            cell -= (at[i] - range->first[i]) * form->weight[i];
            at[i] = range->first[i];
        }
        if (i == UINT32_MAX)
            return;
    }
}

static void search_grid(const struct simpler_tensormap_search *search, uint32_t c)
{
    struct simpler_tensormap *map = search->map;
    const struct simpler_tensormap_view *view = search->view;
    const struct simpler_tensormap_class *class = &map->class[c];
    const struct simpler_view_form *form = &map->form[class->form].view;
    struct simpler_view_range range;
    if (class->entries == 1) {
        visit(search, class->newest);
        return;
    }
    uint64_t cells = simpler_view_grid_range(form, class->origin, &class->bounds,
                                             &view->slot->view.box, view->start, &range);
    if (cells > class->entries) {
        visit_all(search, c);
    } else if (cells != 0) {
        /* A last entry that is removed must not take the class with it. */
        map->pinned_class = c;
        visit_range(search, c, form, &range);
        map->pinned_class = 0;
        if (class->entries == 0)
            simpler_tensormap_class_release(map, c);
    }
}

/* An entry that begins before the view ends at most one cell further. */
static void search_loose(const struct simpler_tensormap_search *search, uint32_t c)
{
    struct simpler_tensormap *map = search->map;
    const struct simpler_tensormap_view *view = search->view;
    const struct simpler_tensormap_class *class = &map->class[c];
    uint64_t first = view->start >> class->level;
    uint64_t last = (view->start + view->slot->view.box.span - 1) >> class->level;
    first -= first > 0;
    if (last - first >= class->entries) {
        visit_all(search, c);
        return;
    }
    map->pinned_class = c;
    for (uint64_t cell = first; cell <= last; cell++)
        visit_cell(search, c, (uint32_t)cell);
    map->pinned_class = 0;
    if (class->entries == 0)
        simpler_tensormap_class_release(map, c);
}

/* Whether no entry of the grids meets one of the other; remembered until one of them grows. */
static bool are_apart(const struct simpler_tensormap *map, struct simpler_tensormap_class *own,
                      const struct simpler_tensormap_class *other)
{
    if (own->tested & other->bit)
        return own->apart & other->bit;
    struct simpler_view_box a, b;
    uint64_t a_start =
        simpler_view_range_box(&own->bounds, &map->form[own->form].view, own->origin, &a);
    uint64_t b_start =
        simpler_view_range_box(&other->bounds, &map->form[other->form].view, other->origin, &b);
    own->tested |= other->bit;
    if (simpler_view_box_overlaps(&a, a_start, &b, b_start))
        return false;
    own->apart |= other->bit;
    return true;
}

static void search_class(const struct simpler_tensormap_search *search, uint32_t c)
{
    struct simpler_tensormap *map = search->map;
    const struct simpler_tensormap_view *view = search->view;
    const struct simpler_tensormap_class *class = &map->class[c];
    bool loose = class->form == SIMPLER_TENSORMAP_LOOSE;
    /* A view that has no entry may lie outside its grid's bounds. */
    if (!loose && view->class != 0 && view->entry != 0 &&
        are_apart(map, &map->class[view->class], class))
        return;
    if ((++map->class[c].visits % REAP_EVERY == 0 &&
         simpler_tensormap_entry_reap_class(map, c, REAP_STEPS, view->entry)) ||
        class->high <= view->start || class->low >= view->start + view->slot->view.box.span)
        return;
    if (loose)
        search_loose(search, c);
    else
        search_grid(search, c);
}

void simpler_tensormap_search_others(const struct simpler_tensormap_search *search)
{
    struct simpler_tensormap *map = search->map;
    uint32_t b = search->view->buffer;
    map->pinned_buffer = b;
    for (uint32_t c = map->buffer[b].classes, next; c != 0; c = next) {
        next = map->class[c].next;
        if (c != search->view->class)
            search_class(search, c);
    }
    map->pinned_buffer = 0;
}
