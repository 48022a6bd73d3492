/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_VIEW_BOX_H
#define SIMPLER_TASK_VIEW_BOX_H

/*
 * The bytes of a view in one canonical form, whatever its element type, its
 * order of dimensions and its extents of 1: a contiguous run, repeated along up
 * to five strides.
 *
 * Invariant: the strides descend, each is at least as long as all that is
 * inside it (so no byte is met twice), and no two dimensions could be one.
 *
 * A view whose strides do not nest (rows that overlap or interleave) stands for
 * the whole range from its first to its last byte; one that is too large for 62
 * bits for the whole buffer.  That is a superset, so overlaps are never missed.
 */
#include <stdbool.h>
#include <stdint.h>

#include "simpler/tensor.h"

/* No box ends beyond this offset; offsets can be subtracted as int64_t. */
#define SIMPLER_BOX_END (UINT64_C(1) << 62)

struct simpler_view_box {
    uint64_t run;  /* contiguous bytes */
    uint64_t span; /* from the first byte to behind the last */
    uint32_t dims;
    uint64_t stride[SIMPLER_MAX_DIMS]; /* bytes */
    uint64_t count[SIMPLER_MAX_DIMS];  /* at least 2 */
};

/*
 * The form of a view that is not empty.  False: it is too large, the box is the
 * whole buffer and stands at offset 0.
 */
bool simpler_view_box_init(struct simpler_view_box *box, const struct simpler_tensor *tensor);

/*
 * Whether box @a at byte offset @a_start and box @b at @b_start share a byte.
 * True in doubt; there is no doubt where one of them is contiguous or has few
 * runs, or where all strides and runs of both divide one another.
 */
bool simpler_view_box_overlaps(const struct simpler_view_box *a, uint64_t a_start,
                               const struct simpler_view_box *b, uint64_t b_start);

/* Whether every byte of @b is one of @a; false in doubt. */
bool simpler_view_box_covers(const struct simpler_view_box *a, uint64_t a_start,
                             const struct simpler_view_box *b, uint64_t b_start);

#endif
