/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_VIEW_GRID_H
#define SIMPLER_TASK_VIEW_GRID_H

/*
 * Grids of boxes.  Boxes of one form whose starts differ by whole boxes in each
 * dimension are the cells of a grid: two of them are equal or disjoint, and a
 * cell's number (row-major) stands for its box.
 *
 * A grid's level is one stride of the box, or the run: level i counts boxes of
 * count[i] steps of stride[i] bytes.  Level 0 is open to the right; the others
 * end with the stride of the level outside.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "task/view_box.h"

#define SIMPLER_GRID_LEVELS (SIMPLER_MAX_DIMS + 1)

/* A form of boxes with what all grids of it share. */
struct simpler_view_form {
    struct simpler_view_box box;
    uint64_t start_mask; /* 0: the box is the whole buffer, wherever the view starts */
    uint32_t levels;
    bool regular;                             /* strides divide one another: grids exist */
    uint64_t pitch[SIMPLER_GRID_LEVELS];      /* bytes from one cell to the next */
    uint64_t reciprocal[SIMPLER_GRID_LEVELS]; /* of the pitch, rounded up */
    uint64_t stride[SIMPLER_GRID_LEVELS];
    uint64_t count[SIMPLER_GRID_LEVELS];
    uint64_t stride_reciprocal[SIMPLER_GRID_LEVELS];
    uint64_t count_reciprocal[SIMPLER_GRID_LEVELS];
    uint64_t limit[SIMPLER_GRID_LEVELS];  /* steps in the stride outside; level 0: none */
    uint32_t weight[SIMPLER_GRID_LEVELS]; /* numbers from one cell to the next */
    uint32_t last[SIMPLER_GRID_LEVELS];   /* the last cell that fits */
};

/* Cells of a grid, by level, both ends included. */
struct simpler_view_range {
    uint32_t first[SIMPLER_GRID_LEVELS];
    uint32_t last[SIMPLER_GRID_LEVELS];
};

__extension__ typedef unsigned __int128 simpler_uint128;

void simpler_view_form_init(struct simpler_view_form *form, const struct simpler_tensor *tensor);

/*
 * The only grid of @form that has a cell at @start, named by the offset of its
 * cell 0, and the cell; false: there is none.
 */
bool simpler_view_grid_locate(const struct simpler_view_form *form, uint64_t start,
                              uint64_t *origin, uint32_t *cell);

/*
 * The cells inside @bounds that @box at @start may touch; their number,
 * UINT64_MAX when it is huge.
 */
uint64_t simpler_view_grid_range(const struct simpler_view_form *form, uint64_t origin,
                                 const struct simpler_view_range *bounds,
                                 const struct simpler_view_box *box, uint64_t start,
                                 struct simpler_view_range *range);

/* Extends the range to a cell; false: it is in it already. */
bool simpler_view_range_add(struct simpler_view_range *range, const struct simpler_view_form *form,
                            uint32_t cell);

/* The same for a form of one level. */
SIMPLER_INLINE bool simpler_view_range_add_one(struct simpler_view_range *range, uint32_t cell)
{
    bool below = cell<range->first[0], above = cell> range->last[0];
    if (below)
        range->first[0] = cell;
    if (above)
        range->last[0] = cell;
    return below || above;
}

/* The box around all cells of a range, and where it starts. */
uint64_t simpler_view_range_box(const struct simpler_view_range *range,
                                const struct simpler_view_form *form, uint64_t origin,
                                struct simpler_view_box *box);

/* Quotient and remainder by multiplication: the estimate is at most 1 too low. */
SIMPLER_INLINE uint64_t simpler_view_divide(uint64_t *rest, uint64_t by, uint64_t reciprocal)
{
    uint64_t quotient = (uint64_t)((simpler_uint128)*rest * reciprocal >> 64);
    uint64_t left = *rest - quotient * by;
    bool low = left >= by;
    *rest = left - (low ? by : 0);
    return quotient + low;
}

/*
 * Whether the box at @start is a cell of the grid, and which one.  False in
 * doubt: the estimate by a reciprocal that is rounded up is never too low, and
 * one that is too high (in a buffer beyond 2^64 / pitch bytes, or by a pitch of
 * 1) leaves a rest that is too large.
 */
SIMPLER_INLINE bool simpler_view_grid_find(const struct simpler_view_form *form, uint64_t origin,
                                           uint64_t start, uint32_t *cell)
{
    uint64_t rest = start - origin;
    uint64_t number = 0;
    if (start < origin)
        return false;
    if (SIMPLER_LIKELY(form->levels == 1)) {
        number = (uint64_t)((simpler_uint128)rest * form->reciprocal[0] >> 64);
        *cell = (uint32_t)number;
        return number * form->pitch[0] == rest && number <= form->last[0];
    }
    for (uint32_t i = 0;; i++) {
        uint64_t pitch = form->pitch[i];
        uint64_t at = (uint64_t)((simpler_uint128)rest * form->reciprocal[i] >> 64);
        rest -= at * pitch;
        if (rest >= form->stride[i] || at > form->last[i])
            return false;
        number += at;
        if (i + 1 == form->levels)
            break;
        number *= form->last[i + 1] + UINT64_C(1);
    }
    *cell = (uint32_t)number;
    return true;
}

#endif
