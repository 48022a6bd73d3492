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
#include "task/view_box.h"

#define LEVELS (2 * SIMPLER_MAX_DIMS + 1)
/* Boxes of so many runs are compared run by run where the lattice leaves a doubt. */
#define RUNS_MAX 64

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
    bool doubt;                 /* one of them was made greater than it is */
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
        l->doubt = l->doubt || l->low_width[i] % limit != 0;
        if (l->stride[i - 1] % l->stride[i] != 0)
            return false;
        l->low_width[i - 1] += (l->low_width[i] - 1) / limit;
        l->low_width[i] = limit;
    }
    return true;
}

/*
 * Where the other box passes the end of a stride that is no multiple of the
 * next, its steps inside are no longer intervals: there is nothing to compare.
 */
static bool is_cuttable(const struct lattice *l)
{
    uint64_t carry = 0;
    for (uint32_t i = l->levels - 1; i > 0; i--) {
        uint64_t limit = l->stride[i - 1] / l->stride[i];
        uint64_t end = l->at[i] + l->width[i] - 1 + carry;
        if (end >= limit && l->stride[i - 1] % l->stride[i] != 0)
            return false;
        carry = end / limit;
    }
    return true;
}

/* Whether the boxes meet in level @i and in all outside it. */
static bool levels_meet(struct lattice *l, uint32_t i, uint64_t carry, uint64_t more)
{
    uint64_t at = l->at[i] + carry;
    uint64_t width = l->width[i] + more;
    if (i == 0)
        return at < l->low_width[0];
    uint64_t limit = l->stride[i - 1] / l->stride[i];
    if (at + width <= limit)
        return at < l->low_width[i] && levels_meet(l, i - 1, 0, 0);
    l->doubt = l->doubt || width >= limit;
    if (width >= limit)
        return levels_meet(l, i - 1, 0, (at + width - 1) / limit);
    if (at < limit && at < l->low_width[i] && levels_meet(l, i - 1, 0, 0))
        return true;
    return levels_meet(l, i - 1, 1, 0);
}

/* Runs of a box; RUNS_MAX + 1 stands for more. */
static uint64_t count_runs(const struct simpler_view_box *box)
{
    uint64_t runs = 1;
    for (uint32_t i = 0; i < box->dims && runs <= RUNS_MAX; i++)
        runs *= box->count[i] <= RUNS_MAX ? box->count[i] : RUNS_MAX + 1;
    return runs <= RUNS_MAX ? runs : RUNS_MAX + 1;
}

static uint64_t run_start(const struct simpler_view_box *box, uint64_t start, uint64_t n)
{
    for (uint32_t i = 0; i < box->dims; i++) {
        start += n % box->count[i] * box->stride[i];
        n /= box->count[i];
    }
    return start;
}

/* Exact, run by run of @a. */
static bool runs_meet(const struct simpler_view_box *a, uint64_t a_start,
                      const struct simpler_view_box *b, uint64_t b_start, uint64_t runs)
{
    for (uint64_t n = 0; n < runs; n++) {
        uint64_t start = run_start(a, a_start, n);
        if (touches_range(b, b_start, start, start + a->run))
            return true;
    }
    return false;
}

static bool strided_overlap(const struct simpler_view_box *low, uint64_t low_start,
                            const struct simpler_view_box *high, uint64_t high_start)
{
    struct lattice l = {0};
    uint64_t distance = high_start - low_start;
    merge_strides(&l, low, high);
    for (uint32_t i = 0; i < l.levels; i++) {
        l.at[i] = distance / l.stride[i];
        distance %= l.stride[i];
    }
    bool comparable = settle_low(&l) && is_cuttable(&l);
    if (comparable && !levels_meet(&l, l.levels - 1, 0, 0))
        return false;
    if (comparable && !l.doubt)
        return true;
    uint64_t low_runs = count_runs(low);
    uint64_t high_runs = count_runs(high);
    if (low_runs <= high_runs && low_runs <= RUNS_MAX)
        return runs_meet(low, low_start, high, high_start, low_runs);
    return high_runs > RUNS_MAX || runs_meet(high, high_start, low, low_start, high_runs);
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
        return strided_overlap(a, a_start, b, b_start);
    return strided_overlap(b, b_start, a, a_start);
}

/* Whether the run lies in one run of the box. */
static bool has_run(const struct simpler_view_box *box, uint64_t start, uint64_t low, uint64_t run)
{
    if (low < start)
        return false;
    uint64_t rest = low - start;
    for (uint32_t i = 0; i < box->dims; i++) {
        if (rest / box->stride[i] >= box->count[i])
            return false;
        rest %= box->stride[i];
    }
    return rest + run <= box->run;
}

static bool has_runs(const struct simpler_view_box *a, uint64_t a_start,
                     const struct simpler_view_box *b, uint64_t b_start)
{
    uint64_t runs = count_runs(b);
    for (uint64_t n = 0; n < runs; n++)
        if (n == RUNS_MAX || !has_run(a, a_start, run_start(b, b_start, n), b->run))
            return false;
    return true;
}

/*
 * Strides of @b that are multiples of strides of @a are steps there; if there
 * are others, the runs are looked at.  A contiguous @a has been decided by then.
 */
bool simpler_view_box_covers(const struct simpler_view_box *a, uint64_t a_start,
                             const struct simpler_view_box *b, uint64_t b_start)
{
    if (b_start < a_start || b_start + b->span > a_start + a->span)
        return false;
    if (a->dims == 0)
        return true;
    uint64_t rest = b_start - a_start;
    uint32_t dim = 0;
    for (uint32_t i = 0; i < a->dims; i++) {
        uint64_t stride = a->stride[i];
        uint64_t width = rest / stride + 1;
        rest %= stride;
        for (; dim < b->dims && b->stride[dim] >= stride; dim++) {
            if (b->stride[dim] % stride != 0)
                return has_runs(a, a_start, b, b_start);
            width += b->stride[dim] / stride * (b->count[dim] - 1);
        }
        if (width > a->count[i])
            return false;
    }
    if (dim < b->dims)
        return has_runs(a, a_start, b, b_start);
    return rest + b->run <= a->run;
}
