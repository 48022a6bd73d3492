/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of every kind, with arithmetic of our own: nothing here calls the
 * runtime's view functions, so that the two can be compared.
 */
#include "graph_view.h"

#include <string.h>

/* Sizes as the task model's table has them. */
uint32_t graph_dtype_bytes(uint32_t dtype)
{
    static const uint8_t bytes[16] = {4, 2, 4, 2, 1, 1, 2, 8, 8, 2, 4, 1, 1, 1, 1, 8};
    return bytes[dtype];
}

uint64_t graph_view_numel(const struct graph_view *view)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < view->ndims; i++)
        n *= view->shape[i];
    return n;
}

uint64_t graph_view_byte(const struct graph_view *view, uint64_t i)
{
    uint64_t element = view->offset;
    for (uint32_t d = view->ndims; d-- > 0;) {
        element += i % view->shape[d] * view->stride[d];
        i /= view->shape[d];
    }
    return element * graph_dtype_bytes(view->dtype);
}

bool graph_view_contiguous(const struct graph_view *view)
{
    uint64_t run = 1;
    for (uint32_t d = view->ndims; d-- > 0;) {
        if (view->stride[d] != run)
            return false;
        run *= view->shape[d];
    }
    return true;
}

uint64_t graph_view_extent(const struct graph_view *view)
{
    uint64_t extent = 1;
    for (uint32_t d = 0; d < view->ndims; d++) {
        if (view->shape[d] == 0)
            return 0;
        extent += (uint64_t)(view->shape[d] - 1) * view->stride[d];
    }
    return extent;
}

static void set_row_major(struct graph_view *view)
{
    uint32_t run = 1;
    for (uint32_t d = view->ndims; d-- > 0;) {
        view->stride[d] = run;
        run *= view->shape[d];
    }
}

/* Spreads the prime factors of @count over 1 to 5 dimensions. */
static void random_shape(struct kit_random *random, uint32_t count, struct graph_view *view)
{
    view->ndims = 1 + kit_random_below(random, SIMPLER_MAX_DIMS);
    for (uint32_t d = 0; d < view->ndims; d++)
        view->shape[d] = 1;
    for (uint32_t p = 2; count > 1; p++) {
        for (; count % p == 0; count /= p)
            view->shape[kit_random_below(random, view->ndims)] *= p;
    }
    set_row_major(view);
}

void graph_random_whole(struct kit_random *random, uint32_t bytes, struct graph_view *out)
{
    memset(out, 0, sizeof(*out));
    do
        out->dtype = kit_dtype(kit_random_below(random, SIMPLER_DTYPE_NUM));
    while (bytes % graph_dtype_bytes(out->dtype) != 0);
    random_shape(random, bytes / graph_dtype_bytes(out->dtype), out);
}

/* Any shape and strides that stay inside the buffer; elements may coincide. */
static bool random_strided(struct kit_random *random, uint32_t bytes, struct graph_view *out)
{
    memset(out, 0, sizeof(*out));
    out->dtype = kit_dtype(kit_random_below(random, SIMPLER_DTYPE_NUM));
    out->ndims = 1 + kit_random_below(random, 3);
    for (uint32_t d = 0; d < out->ndims; d++) {
        out->shape[d] = 1 + kit_random_below(random, 6);
        out->stride[d] = 1 + kit_random_below(random, 24);
    }
    return graph_view_extent(out) * graph_dtype_bytes(out->dtype) <= bytes;
}

static void step_view(struct kit_random *random, struct graph_view *view, struct graph_step *step)
{
    step->kind = GRAPH_STEP_VIEW;
    bool empty = kit_random_chance(random, 2);
    for (uint32_t d = 0; d < view->ndims; d++) {
        uint32_t extent = view->shape[d];
        uint32_t wanted =
            kit_random_chance(random, 35) ? extent : 1 + kit_random_below(random, extent);
        step->a[d] = wanted;
        step->b[d] = kit_random_below(random, extent - wanted + 1);
    }
    if (empty)
        step->a[kit_random_below(random, view->ndims)] = 0;
    for (uint32_t d = 0; d < view->ndims; d++) {
        view->shape[d] = step->a[d];
        view->offset += empty ? 0 : (uint64_t)step->b[d] * view->stride[d];
    }
}

/* A tile on a grid, so that many views of one class meet. */
static void step_tile(struct kit_random *random, struct graph_view *view, struct graph_step *step)
{
    step->kind = GRAPH_STEP_VIEW;
    for (uint32_t d = 0; d < view->ndims; d++) {
        uint32_t extent = view->shape[d];
        uint32_t parts = extent % 4 == 0 ? 4 : extent % 2 == 0 ? 2 : 1;
        step->a[d] = extent / parts;
        step->b[d] = kit_random_below(random, parts) * step->a[d];
        view->shape[d] = step->a[d];
        view->offset += (uint64_t)step->b[d] * view->stride[d];
    }
}

static void step_slice(struct kit_random *random, struct graph_view *view, struct graph_step *step)
{
    step->kind = GRAPH_STEP_SLICE;
    uint32_t dim = kit_random_below(random, view->ndims);
    uint32_t extent = view->shape[dim];
    uint32_t start = kit_random_below(random, extent);
    uint32_t end = start + 1 + kit_random_below(random, extent - start);
    uint32_t by = 1 + kit_random_below(random, 4);
    step->a[0] = dim;
    step->a[1] = start;
    step->a[2] = end;
    step->a[3] = by;
    view->offset += (uint64_t)start * view->stride[dim];
    view->stride[dim] *= by;
    view->shape[dim] = (end - start + by - 1) / by;
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t t = *a;
    *a = *b;
    *b = t;
}

static void step_transpose(struct kit_random *random, struct graph_view *view,
                           struct graph_step *step)
{
    step->kind = GRAPH_STEP_TRANSPOSE;
    step->a[0] = kit_random_below(random, view->ndims);
    step->a[1] = kit_random_below(random, view->ndims);
    swap(&view->shape[step->a[0]], &view->shape[step->a[1]]);
    swap(&view->stride[step->a[0]], &view->stride[step->a[1]]);
}

static void step_permute(struct kit_random *random, struct graph_view *view,
                         struct graph_step *step)
{
    step->kind = GRAPH_STEP_PERMUTE;
    struct graph_view old = *view;
    for (uint32_t d = 0; d < view->ndims; d++)
        step->a[d] = d;
    for (uint32_t d = view->ndims; d-- > 1;)
        swap(&step->a[d], &step->a[kit_random_below(random, d + 1)]);
    for (uint32_t d = 0; d < view->ndims; d++) {
        view->shape[d] = old.shape[step->a[d]];
        view->stride[d] = old.stride[step->a[d]];
    }
}

static void step_reshape(struct kit_random *random, struct graph_view *view,
                         struct graph_step *step)
{
    step->kind = GRAPH_STEP_RESHAPE;
    random_shape(random, (uint32_t)graph_view_numel(view), view);
    step->n = view->ndims;
    memcpy(step->a, view->shape, sizeof(step->a));
}

static void random_step(struct kit_random *random, struct graph_view *view, struct graph_step *step)
{
    memset(step, 0, sizeof(*step));
    switch (kit_random_below(random, 7)) {
    case 0:
        step_slice(random, view, step);
        break;
    case 1:
        step_transpose(random, view, step);
        break;
    case 2:
        step_permute(random, view, step);
        break;
    case 3:
    case 4:
        step_tile(random, view, step);
        break;
    case 5:
        if (graph_view_contiguous(view)) {
            step_reshape(random, view, step);
            break;
        }
        step_view(random, view, step);
        break;
    default:
        step_view(random, view, step);
    }
}

void graph_whole_view(const struct graph_buffer *buffer, struct graph_access *access)
{
    access->rebased = false;
    access->base = buffer->whole;
    access->view = buffer->whole;
    access->step_count = 0;
}

void graph_random_view(struct kit_random *random, const struct graph_buffer *buffer,
                       struct graph_access *access)
{
    graph_whole_view(buffer, access);
    uint32_t choice = kit_random_below(random, 10);
    if (choice < 2) {
        graph_random_whole(random, buffer->bytes, &access->base);
        access->rebased = true;
    } else if (choice < 3) {
        access->rebased = random_strided(random, buffer->bytes, &access->base);
        if (!access->rebased)
            access->base = buffer->whole;
    }
    access->view = access->base;
    uint32_t steps = kit_random_below(random, GRAPH_MAX_STEPS + 1);
    for (uint32_t i = 0; i < steps && graph_view_numel(&access->view) > 0; i++)
        random_step(random, &access->view, &access->step[access->step_count++]);
}
