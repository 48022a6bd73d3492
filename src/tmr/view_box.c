/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical boxes of bytes and how two of them lie to each other.
 *
 * Two boxes are compared in the lattice of all their strides.  With the origin
 * at the start of the lower box, the lower one is the product of intervals
 * [0, width) and the other one is a product of intervals too, once it is cut
 * where it passes the end of a stride.  Products of intervals meet if and only
 * if they meet in each dimension.
 */
#include "tmr/view_box.h"

#define LEVELS (2 * SIMPLER_MAX_DIMS + 1)

/* A stride of 2^35 bytes times 2^32: more than 64 bits, so it is checked. */
static bool add_span(uint64_t *span, uint64_t stride, uint64_t count)
{
    uint64_t bytes;
    return !__builtin_mul_overflow(stride, count - 1, &bytes) &&
           !__builtin_add_overflow(*span, bytes, span) && *span <= SIMPLER_BOX_END / 2;
}

/* Extents above 1, strides descending. */
static void sort_dims(struct simpler_view_box *box, const struct simpler_tensor *tensor)
{
    uint32_t shift = simpler_dtype_shift(tensor->dtype);
    box->dims = 0;
    for (uint32_t i = 0; i < tensor->ndims; i++) {
        if (tensor->shape[i] == 1)
            continue;
        uint64_t stride = (uint64_t)tensor->stride[i] << shift;
        uint32_t at = box->dims++;
        for (; at > 0 && box->stride[at - 1] < stride; at--) {
            box->stride[at] = box->stride[at - 1];
            box->count[at] = box->count[at - 1];
        }
        box->stride[at] = stride;
        box->count[at] = tensor->shape[i];
    }
}

/* Inner dimensions without gaps become part of the run. */
static bool fold_run(struct simpler_view_box *box)
{
    while (box->dims > 0 && box->stride[box->dims - 1] <= box->run) {
        uint32_t last = box->dims - 1;
        if (!add_span(&box->run, box->stride[last], box->count[last]))
            return false;
        box->dims = last;
    }
    return true;
}

static void remove_dim(struct simpler_view_box *box, uint32_t at)
{
    box->dims--;
    for (uint32_t i = at; i < box->dims; i++) {
        box->stride[i] = box->stride[i + 1];
        box->count[i] = box->count[i + 1];
    }
}

/* From the inside: dimensions that continue each other become one. */
static bool merge_dims(struct simpler_view_box *box)
{
    bool nested = true;
    box->span = box->run;
    for (uint32_t i = box->dims; i-- > 0;) {
        uint64_t count = box->count[i];
        uint64_t stride = box->stride[i];
        nested = nested && stride >= box->span;
        if (!add_span(&box->span, stride, count))
            return false;
        if (i + 1 < box->dims && stride == box->stride[i + 1] * box->count[i + 1]) {
            box->count[i + 1] *= count;
            remove_dim(box, i);
        }
    }
    if (!nested) {
        box->dims = 0;
        box->run = box->span;
    }
    return true;
}

bool simpler_view_box_init(struct simpler_view_box *box, const struct simpler_tensor *tensor)
{
    sort_dims(box, tensor);
    box->run = UINT64_C(1) << simpler_dtype_shift(tensor->dtype);
    if (fold_run(box) && merge_dims(box))
        return true;
    box->dims = 0;
    box->run = SIMPLER_BOX_END;
    box->span = SIMPLER_BOX_END;
    return false;
}

/* Exact: the first byte of the box at or behind @low lies before @high. */
static bool touches_range(const struct simpler_view_box *box, uint64_t start, uint64_t low,
                          uint64_t high)
{
    if (high <= start || low >= start + box->span)
        return false;
    if (low <= start)
        return true;
    uint64_t rest = low - start;
    uint64_t base = start;
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < box->dims; i++) {
        uint64_t at = rest / box->stride[i];
        if (at >= box->count[i])
            at = box->count[i] - 1;
        base += at * box->stride[i];
        rest -= at * box->stride[i];
        if (at + 1 < box->count[i])
            next = base + box->stride[i];
    }
    return rest < box->run || next < high;
}

/* Two boxes in the lattice of their strides; the last level is single bytes. */
struct lattice {
    uint32_t levels;
    uint64_t stride[LEVELS];
    uint64_t low_width[LEVELS]; /* of the box whose start is the origin */
    uint64_t width[LEVELS];     /* of the other */
    uint64_t at[LEVELS];        /* where the other starts */
};

static void merge_strides(struct lattice *l, const struct simpler_view_box *a,
                          const struct simpler_view_box *b)
{
    uint32_t i = 0;
    uint32_t j = 0;
    l->levels = 0;
    while (i < a->dims || j < b->dims) {
        uint64_t s = i < a->dims ? a->stride[i] : 0;
        uint64_t t = j < b->dims ? b->stride[j] : 0;
        l->stride[l->levels] = s > t ? s : t;
        l->low_width[l->levels] = s >= t ? a->count[i++] : 1;
        l->width[l->levels] = t >= s ? b->count[j++] : 1;
        l->levels++;
    }
    l->stride[l->levels] = 1;
    l->low_width[l->levels] = a->run;
    l->width[l->levels] = b->run;
    l->levels++;
}

/* Widths of the lower box that pass the end of a stride go on in the next one. */
static bool settle_low(struct lattice *l)
{
    for (uint32_t i = l->levels - 1; i > 0; i--) {
        uint64_t limit = l->stride[i - 1] / l->stride[i];
        if (l->low_width[i] <= limit)
            continue;
        if (l->stride[i - 1] % l->stride[i] != 0)
            return false;
        l->low_width[i - 1] += (l->low_width[i] - 1) / limit;
        l->low_width[i] = limit;
    }
    return true;
}

/* Whether the boxes meet in level @i and in all outside it. */
static bool levels_meet(const struct lattice *l, uint32_t i, uint64_t carry, uint64_t more)
{
    uint64_t at = l->at[i] + carry;
    uint64_t width = l->width[i] + more;
    if (i == 0)
        return at < l->low_width[0];
    uint64_t limit = l->stride[i - 1] / l->stride[i];
    if (at + width <= limit)
        return at < l->low_width[i] && levels_meet(l, i - 1, 0, 0);
    if (l->stride[i - 1] % l->stride[i] != 0)
        return true;
    if (width >= limit)
        return levels_meet(l, i - 1, 0, (at + width - 1) / limit);
    if (at < limit && at < l->low_width[i] && levels_meet(l, i - 1, 0, 0))
        return true;
    return levels_meet(l, i - 1, 1, 0);
}

static bool lattice_overlap(const struct simpler_view_box *low, const struct simpler_view_box *high,
                            uint64_t distance)
{
    struct lattice l;
    merge_strides(&l, low, high);
    if (!settle_low(&l))
        return true;
    for (uint32_t i = 0; i < l.levels; i++) {
        l.at[i] = distance / l.stride[i];
        distance %= l.stride[i];
    }
    return levels_meet(&l, l.levels - 1, 0, 0);
}

bool simpler_view_box_overlaps(const struct simpler_view_box *a, uint64_t a_start,
                               const struct simpler_view_box *b, uint64_t b_start)
{
    if (a_start + a->span <= b_start || b_start + b->span <= a_start)
        return false;
    if (a->dims == 0)
        return touches_range(b, b_start, a_start, a_start + a->run);
    if (b->dims == 0)
        return touches_range(a, a_start, b_start, b_start + b->run);
    if (a_start <= b_start)
        return lattice_overlap(a, b, b_start - a_start);
    return lattice_overlap(b, a, a_start - b_start);
}

bool simpler_view_box_covers(const struct simpler_view_box *a, uint64_t a_start,
                             const struct simpler_view_box *b, uint64_t b_start)
{
    if (b_start < a_start || b_start + b->span > a_start + a->span)
        return false;
    uint64_t rest = b_start - a_start;
    uint32_t dim = 0;
    for (uint32_t i = 0; i < a->dims; i++) {
        uint64_t stride = a->stride[i];
        uint64_t width = rest / stride + 1;
        rest %= stride;
        for (; dim < b->dims && b->stride[dim] >= stride; dim++) {
            if (b->stride[dim] % stride != 0)
                return false;
            width += b->stride[dim] / stride * (b->count[dim] - 1);
        }
        if (width > a->count[i])
            return false;
    }
    rest += b->run;
    for (; dim < b->dims; dim++)
        rest += b->stride[dim] * (b->count[dim] - 1);
    return rest <= a->run;
}
