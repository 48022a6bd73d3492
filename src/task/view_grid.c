/* SPDX-License-Identifier: Apache-2.0 */
/* Forms of boxes, their grids, and which cells of a grid a foreign box can touch. */
#include "task/view_grid.h"

#include <string.h>

/* Cells get 32-bit numbers; a form with more than these inside level 0 has no grids. */
static bool number_cells(struct simpler_view_form *form)
{
    uint64_t weight = 1;
    for (uint32_t i = form->levels - 1; i > 0; i--) {
        if (form->stride[i - 1] % form->stride[i] != 0)
            return false;
        form->limit[i] = form->stride[i - 1] / form->stride[i];
        uint64_t cells = form->limit[i] / form->count[i];
        form->weight[i] = (uint32_t)weight;
        form->last[i] = (uint32_t)(cells - 1);
        if (__builtin_mul_overflow(weight, cells, &weight) || weight > UINT32_MAX)
            return false;
    }
    form->weight[0] = (uint32_t)weight;
    form->last[0] = (uint32_t)(UINT32_MAX / weight - 1);
    return true;
}

void simpler_view_form_init(struct simpler_view_form *form, const struct simpler_tensor *tensor)
{
    memset(form, 0, sizeof(*form));
    form->start_mask = simpler_view_box_init(&form->box, tensor) ? UINT64_MAX : 0;
    uint32_t dims = form->box.dims;
    form->levels = dims + 1;
    for (uint32_t i = 0; i <= dims; i++) {
        form->stride[i] = i < dims ? form->box.stride[i] : 1;
        form->count[i] = i < dims ? form->box.count[i] : form->box.run;
        form->pitch[i] = form->stride[i] * form->count[i];
        form->reciprocal[i] = UINT64_MAX / form->pitch[i] + 1;
        form->stride_reciprocal[i] = UINT64_MAX / form->stride[i];
        form->count_reciprocal[i] = UINT64_MAX / form->count[i];
    }
    form->regular = number_cells(form);
}

/*
 * The origin is the start modulo the count of each level.  It is unique: steps
 * of an origin are fewer than count, so that those of a cell are fewer than
 * limit and are the start's own.  The cells lie in the lattice that begins at
 * the origin, for a matrix need not begin at a multiple of its row's length.
 */
bool simpler_view_grid_locate(const struct simpler_view_form *form, uint64_t start,
                              uint64_t *origin, uint32_t *cell)
{
    uint64_t rest = start;
    uint64_t residue = 0;
    uint64_t number = 0;
    if (!form->regular)
        return false;
    for (uint32_t i = 0; i < form->levels; i++) {
        uint64_t steps = simpler_view_divide(&rest, form->stride[i], form->stride_reciprocal[i]);
        uint64_t at = simpler_view_divide(&steps, form->count[i], form->count_reciprocal[i]);
        if (at > form->last[i])
            return false;
        residue += steps * form->stride[i];
        number += at * form->weight[i];
    }
    *origin = residue;
    *cell = (uint32_t)number;
    return true;
}

/* A box relative to a grid: by level where it starts and how many steps follow. */
struct hull {
    int64_t at[SIMPLER_GRID_LEVELS];
    uint64_t more[SIMPLER_GRID_LEVELS];
    uint32_t full_from; /* anything inside this level may be touched */
};

static void place_start(struct hull *hull, const struct simpler_view_form *form, uint64_t start,
                        uint64_t origin)
{
    int64_t distance = (int64_t)(start - origin);
    uint64_t rest = (uint64_t)distance;
    int64_t before = 0;
    if (distance < 0) {
        before = (int64_t)((uint64_t)-distance / form->stride[0]) + 1;
        rest += (uint64_t)before * form->stride[0];
    }
    for (uint32_t i = 0; i < form->levels; i++) {
        hull->at[i] =
            (int64_t)simpler_view_divide(&rest, form->stride[i], form->stride_reciprocal[i]);
        hull->more[i] = 0;
    }
    hull->at[0] -= before;
    hull->full_from = form->levels;
}

/* A stride that is no multiple of the level's may reach anything inside that level. */
static void place_dims(struct hull *hull, const struct simpler_view_form *form,
                       const struct simpler_view_box *box)
{
    uint32_t level = 0;
    for (uint32_t i = 0; i < box->dims; i++) {
        while (form->stride[level] > box->stride[i])
            level++;
        uint64_t steps = box->stride[i] / form->stride[level];
        if (box->stride[i] % form->stride[level] != 0) {
            steps++;
            if (level + 1 < hull->full_from)
                hull->full_from = level + 1;
        }
        hull->more[level] += steps * (box->count[i] - 1);
    }
    hull->more[form->levels - 1] += box->run - 1;
}

/* What passes the end of a stride goes on in the level outside. */
static void carry_over(struct hull *hull, const struct simpler_view_form *form)
{
    for (uint32_t i = form->levels - 1; i > 0; i--) {
        uint64_t end = (uint64_t)hull->at[i] + hull->more[i];
        if (i < hull->full_from && end < form->limit[i])
            continue;
        hull->more[i - 1] += end / form->limit[i];
        hull->at[i] = 0;
        hull->more[i] = form->limit[i] - 1;
    }
}

uint64_t simpler_view_grid_range(const struct simpler_view_form *form, uint64_t origin,
                                 const struct simpler_view_range *bounds,
                                 const struct simpler_view_box *box, uint64_t start,
                                 struct simpler_view_range *range)
{
    struct hull hull;
    uint64_t cells = 1;
    place_start(&hull, form, start, origin);
    place_dims(&hull, form, box);
    carry_over(&hull, form);
    for (uint32_t i = 0; i < form->levels; i++) {
        int64_t end = hull.at[i] + (int64_t)hull.more[i];
        if (end < 0)
            return 0;
        uint64_t rest = hull.at[i] < 0 ? 0 : (uint64_t)hull.at[i];
        uint64_t first = simpler_view_divide(&rest, form->count[i], form->count_reciprocal[i]);
        rest = (uint64_t)end;
        uint64_t last = simpler_view_divide(&rest, form->count[i], form->count_reciprocal[i]);
        first = first > bounds->first[i] ? first : bounds->first[i];
        last = last < bounds->last[i] ? last : bounds->last[i];
        if (first > last)
            return 0;
        range->first[i] = (uint32_t)first;
        range->last[i] = (uint32_t)last;
        if (__builtin_mul_overflow(cells, last - first + 1, &cells))
            cells = UINT64_MAX;
    }
    return cells;
}

bool simpler_view_range_add(struct simpler_view_range *range, const struct simpler_view_form *form,
                            uint32_t cell)
{
    bool grown = false;
    for (uint32_t i = 0; i < form->levels; i++) {
        uint32_t at = cell;
        if (i + 1 < form->levels) {
            at = cell / form->weight[i];
            cell -= at * form->weight[i];
        }
        grown = grown || at < range->first[i] || at > range->last[i];
        range->first[i] = at < range->first[i] ? at : range->first[i];
        range->last[i] = at > range->last[i] ? at : range->last[i];
    }
    return grown;
}

uint64_t simpler_view_range_box(const struct simpler_view_range *range,
                                const struct simpler_view_form *form, uint64_t origin,
                                struct simpler_view_box *box)
{
    uint32_t dims = form->levels - 1;
    uint64_t start = origin;
    box->dims = dims;
    box->span = 0;
    for (uint32_t i = 0; i <= dims; i++) {
        uint64_t count = (uint64_t)(range->last[i] - range->first[i] + 1) * form->count[i];
        start += range->first[i] * form->pitch[i];
        if (i == dims) {
            box->run = count;
            box->span += count;
            break;
        }
        box->stride[i] = form->stride[i];
        box->count[i] = count;
        box->span += (count - 1) * form->stride[i];
    }
    return start;
}
