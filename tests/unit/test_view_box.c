/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes and grids against the bytes of the views, element by element. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cm.h"
#include "task/view_box.h"
#include "task/view_grid.h"

#define BYTES 4096

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 11) % n);
}

struct view {
    struct simpler_tensor tensor;
    struct simpler_view_box box;
    uint64_t start;
    uint8_t has[BYTES];
    uint32_t bytes; /* that it has */
};

static void mark(struct view *view)
{
    const struct simpler_tensor *t = &view->tensor;
    uint64_t size = simpler_dtype_bytes(t->dtype);
    uint32_t at[SIMPLER_MAX_DIMS] = {0};
    memset(view->has, 0, sizeof(view->has));
    view->bytes = 0;
    for (uint64_t n = simpler_tensor_numel(t); n > 0; n--) {
        uint64_t element = t->start_offset;
        for (uint32_t i = 0; i < t->ndims; i++)
            element += (uint64_t)at[i] * t->stride[i];
        for (uint64_t b = element * size; b < (element + 1) * size; b++) {
            assert_true(b < BYTES);
            view->bytes += !view->has[b];
            view->has[b] = 1;
        }
        for (uint32_t i = t->ndims; i-- > 0;) {
            if (++at[i] < t->shape[i])
                break;
            at[i] = 0;
        }
    }
}

static void set_box(struct view *view)
{
    view->start = view->tensor.start_offset << simpler_dtype_shift(view->tensor.dtype);
    assert_true(simpler_view_box_init(&view->box, &view->tensor));
    mark(view);
}

/* Strides of a random row-major buffer of the element type, or any. */
static void random_view(struct view *view, bool nested)
{
    static const uint32_t dtypes[] = {SIMPLER_DTYPE_UINT8, SIMPLER_DTYPE_INT16,
                                      SIMPLER_DTYPE_FLOAT32, SIMPLER_DTYPE_FLOAT64};
    uint32_t dtype = dtypes[below(4)];
    uint32_t most = (uint32_t)(BYTES / simpler_dtype_bytes(dtype));
    for (;;) {
        uint32_t ndims = 1 + below(5);
        uint32_t shape[5], stride[5];
        uint64_t extent = 1;
        uint64_t step = 1;
        for (uint32_t i = ndims; i-- > 0;) {
            shape[i] = 1 + below(6);
            stride[i] = (uint32_t)(nested ? step : 1 + below(60));
            step *= shape[i] + below(3);
            step *= 1 + below(2);
            extent += (uint64_t)(shape[i] - 1) * stride[i];
        }
        if (extent > most)
            continue;
        assert_int_equal(
            simpler_tensor_init_strided(&view->tensor, NULL, shape, stride, ndims, dtype), 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(
                simpler_tensor_transpose(&view->tensor, below(ndims), below(ndims), &view->tensor),
                0);
        view->tensor.start_offset = below(most - (uint32_t)extent + 1);
        set_box(view);
        return;
    }
}

static void relate(const struct view *a, const struct view *b, bool *share, bool *within)
{
    *share = false;
    *within = true;
    for (int i = 0; i < BYTES; i++) {
        *share = *share || (a->has[i] && b->has[i]);
        *within = *within && (a->has[i] || !b->has[i]);
    }
}

/* The bytes of a box are those of its view, or all of its range where strides do not nest. */
static void a_box_has_the_bytes_of_its_view(void **state)
{
    (void)state;
    seed = 7;
    for (int i = 0; i < 2000; i++) {
        static struct view view;
        bool nested = i % 2 == 0;
        random_view(&view, nested);
        uint64_t bytes = view.box.run;
        uint64_t inner = view.box.run;
        for (uint32_t d = view.box.dims; d-- > 0;) {
            assert_true(view.box.stride[d] >= inner && view.box.count[d] >= 2);
            inner += view.box.stride[d] * (view.box.count[d] - 1);
            bytes *= view.box.count[d];
        }
        assert_int_equal(inner, view.box.span);
        assert_true(view.has[view.start] && view.has[view.start + inner - 1]);
        if (nested)
            assert_int_equal(bytes, view.bytes);
        else
            assert_true(bytes >= view.bytes);
    }
}

static void boxes_meet_where_their_bytes_do(void **state)
{
    (void)state;
    static struct view a, b;
    uint32_t shared = 0, apart = 0, covered = 0, doubts = 0;
    seed = 11;
    for (int i = 0; i < 30000; i++) {
        random_view(&a, i % 8 != 0);
        random_view(&b, i % 8 != 0);
        bool share, within;
        relate(&a, &b, &share, &within);
        bool overlaps = simpler_view_box_overlaps(&a.box, a.start, &b.box, b.start);
        assert_int_equal(overlaps, simpler_view_box_overlaps(&b.box, b.start, &a.box, a.start));
        bool covers = simpler_view_box_covers(&a.box, a.start, &b.box, b.start);
        assert_true(!share || overlaps);
        shared += share;
        apart += !share && !overlaps;
        covered += covers;
        doubts += !share && overlaps && i % 8 != 0;
        if (i % 8 != 0)
            assert_true(!covers || within);
    }
    assert_true(shared > 1000 && apart > 1000 && covered > 100);
    /* Boxes of this size are small enough to be compared exactly, bar the largest. */
    assert_true(doubts < 100);
}

/* Starts of one grid: equal numbers are equal boxes, others share no byte. */
static void cells_of_a_grid_are_equal_or_disjoint(void **state)
{
    (void)state;
    static struct view a, b;
    uint32_t cells = 0;
    seed = 13;
    for (int i = 0; i < 20000; i++) {
        struct simpler_view_form form;
        uint64_t origin;
        uint32_t cell = 0, other = 0;
        random_view(&a, true);
        simpler_view_form_init(&form, &a.tensor);
        if (!simpler_view_grid_locate(&form, a.start, &origin, &cell))
            continue;
        b.tensor = a.tensor;
        uint32_t most = (uint32_t)(BYTES / simpler_dtype_bytes(a.tensor.dtype));
        b.tensor.start_offset = below(most - (uint32_t)a.tensor.extent + 1);
        set_box(&b);
        uint64_t b_origin;
        bool found = simpler_view_grid_find(&form, origin, b.start, &other);
        uint32_t b_cell = 0;
        bool has_origin = simpler_view_grid_locate(&form, b.start, &b_origin, &b_cell);
        if (found)
            assert_true(has_origin && b_origin == origin && b_cell == other);
        else
            assert_true(!has_origin || b_origin != origin || form.box.run == 1);
        if (!found)
            continue;
        bool share, within;
        relate(&a, &b, &share, &within);
        assert_int_equal(share, a.start == b.start);
        assert_int_equal(cell == other, a.start == b.start);
        cells++;
    }
    assert_true(cells > 500);
}

static bool in_range(const struct simpler_view_form *form, const struct simpler_view_range *range,
                     uint32_t cell)
{
    for (uint32_t i = 0; i < form->levels; i++) {
        uint32_t at = cell / form->weight[i];
        cell %= form->weight[i];
        if (at < range->first[i] || at > range->last[i])
            return false;
    }
    return true;
}

static void a_range_has_every_cell_that_is_touched(void **state)
{
    (void)state;
    static struct view a, b;
    uint32_t touched = 0, left_out = 0;
    seed = 17;
    for (int i = 0; i < 30000; i++) {
        struct simpler_view_form form;
        struct simpler_view_range range;
        uint64_t origin;
        uint32_t cell = 0;
        random_view(&a, i % 4 != 0);
        random_view(&b, i % 4 != 1);
        simpler_view_form_init(&form, &a.tensor);
        if (!simpler_view_grid_locate(&form, a.start, &origin, &cell))
            continue;
        bool share, within;
        relate(&a, &b, &share, &within);
        struct simpler_view_range bounds = {{0}, {0}};
        memcpy(bounds.last, form.last, sizeof(bounds.last));
        uint64_t cells = simpler_view_grid_range(&form, origin, &bounds, &b.box, b.start, &range);
        bool in = cells != 0 && in_range(&form, &range, cell);
        assert_true(!share || in);
        touched += share;
        left_out += !in;
    }
    assert_true(touched > 1000 && left_out > 1000);
}

static void the_box_of_a_range_has_its_cells(void **state)
{
    (void)state;
    static struct view a, b;
    uint32_t pairs = 0;
    seed = 19;
    for (int i = 0; i < 20000; i++) {
        struct simpler_view_form form;
        struct simpler_view_box box;
        uint64_t origin;
        uint32_t cell = 0, other = 0;
        random_view(&a, true);
        simpler_view_form_init(&form, &a.tensor);
        if (!simpler_view_grid_locate(&form, a.start, &origin, &cell))
            continue;
        b.tensor = a.tensor;
        uint32_t most = (uint32_t)(BYTES / simpler_dtype_bytes(a.tensor.dtype));
        b.tensor.start_offset = below(most - (uint32_t)a.tensor.extent + 1);
        set_box(&b);
        if (!simpler_view_grid_find(&form, origin, b.start, &other))
            continue;
        struct simpler_view_range range;
        memset(range.first, 0xff, sizeof(range.first));
        memset(range.last, 0, sizeof(range.last));
        assert_true(simpler_view_range_add(&range, &form, cell));
        assert_int_equal(simpler_view_range_add(&range, &form, other), cell != other);
        assert_false(simpler_view_range_add(&range, &form, cell));
        uint64_t start = simpler_view_range_box(&range, &form, origin, &box);
        assert_true(simpler_view_box_covers(&box, start, &a.box, a.start));
        assert_true(simpler_view_box_covers(&box, start, &b.box, b.start));
        /* No more than the cells: it begins and ends with some. */
        uint64_t low = a.start < b.start ? a.start : b.start;
        assert_true(start <= low);
        assert_int_equal(box.span >= a.box.span, 1);
        if (cell == other)
            assert_true(start == a.start && box.span == a.box.span);
        pairs += cell != other;
    }
    assert_true(pairs > 200);
}

static void what_is_too_large_is_the_whole_buffer(void **state)
{
    (void)state;
    struct simpler_view_form form;
    struct simpler_tensor t = {
        .ndims = 5,
        .dtype = SIMPLER_DTYPE_INT64,
        .shape = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
        .stride = {UINT32_MAX, UINT32_MAX, UINT32_MAX, 1, 1},
    };
    simpler_view_form_init(&form, &t);
    assert_int_equal(form.start_mask, 0);
    assert_int_equal(form.box.run, SIMPLER_BOX_END);
    uint64_t origin;
    uint32_t cell = 1;
    assert_true(simpler_view_grid_locate(&form, 0, &origin, &cell));
    assert_true(simpler_view_grid_find(&form, origin, 0, &cell));
    assert_int_equal(cell, 0);
    t.ndims = 1;
    t.shape[0] = 4;
    t.stride[0] = 1;
    struct simpler_view_box small;
    assert_true(simpler_view_box_init(&small, &t));
    assert_true(simpler_view_box_overlaps(&form.box, 0, &small, UINT64_C(1) << 61));
    assert_true(simpler_view_box_overlaps(&small, UINT64_C(1) << 61, &form.box, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_has_the_bytes_of_its_view),
        cmocka_unit_test(boxes_meet_where_their_bytes_do),
        cmocka_unit_test(cells_of_a_grid_are_equal_or_disjoint),
        cmocka_unit_test(a_range_has_every_cell_that_is_touched),
        cmocka_unit_test(the_box_of_a_range_has_its_cells),
        cmocka_unit_test(what_is_too_large_is_the_whole_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
