/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor descriptors and their views.
 *
 * Each operation changes a local copy of its input and lets finish_view compute
 * what follows from shapes and strides, so that @out may be the input and stays
 * as it was on failure.
 *
 * An empty tensor (any extent 0) counts as contiguous, has extent 0 and, when
 * it is made row-major, strides of 1: a stride is never 0.
 */
#include "simpler/tensor.h"

#include <stdbool.h>
#include <string.h>

_Static_assert(sizeof(struct simpler_tensor) == 128, "kernels see 128 bytes");
_Static_assert(sizeof(struct simpler_create_info) == 64, "one cache line");

static bool is_empty(const uint32_t *shape, uint32_t ndims)
{
    for (uint32_t i = 0; i < ndims; i++) {
        if (shape[i] == 0)
            return true;
    }
    return false;
}

/* 1 + sum((shape - 1) * stride), 0 for an empty tensor; false when it overflows. */
static bool extent_of(const struct simpler_tensor *t, uint64_t *out)
{
    uint64_t extent = 1;

    if (is_empty(t->shape, t->ndims)) {
        *out = 0;
        return true;
    }
    for (uint32_t i = 0; i < t->ndims; i++) {
        /* Two factors below 2^32: their product fits. */
        uint64_t reach = (uint64_t)(t->shape[i] - 1) * t->stride[i];
        if (__builtin_add_overflow(extent, reach, &extent))
            return false;
    }
    *out = extent;
    return true;
}

static bool strides_are_row_major(const struct simpler_tensor *t)
{
    uint64_t expected = 1;

    if (is_empty(t->shape, t->ndims))
        return true;
    for (uint32_t i = t->ndims; i-- > 0;) {
        if (t->stride[i] != expected)
            return false;
        /* At most UINT32_MAX squared, else the next stride differs anyway. */
        expected *= t->shape[i];
    }
    return true;
}

/* False when a stride does not fit its 32 bits. */
static bool set_row_major_strides(struct simpler_tensor *t)
{
    bool empty = is_empty(t->shape, t->ndims);
    uint64_t stride = 1;

    for (uint32_t i = t->ndims; i-- > 0;) {
        if (stride > UINT32_MAX)
            return false;
        t->stride[i] = (uint32_t)stride;
        stride *= empty ? 1 : t->shape[i];
    }
    return true;
}

/* Extent and contiguity from shapes and strides; unused dimensions become 0. */
static int finish_view(struct simpler_tensor *t, struct simpler_tensor *out)
{
    for (uint32_t i = t->ndims; i < SIMPLER_MAX_DIMS; i++) {
        t->shape[i] = 0;
        t->stride[i] = 0;
    }
    if (!extent_of(t, &t->extent))
        return SIMPLER_EOVERFLOW;
    t->is_contiguous = strides_are_row_major(t);
    t->manual_dep = 0;
    *out = *t;
    return 0;
}

/* The buffer is as long as the view reaches; false when that leaves the address space. */
static bool set_buffer_bytes(struct simpler_tensor *t)
{
    uint64_t bytes, end;

    if (!extent_of(t, &t->extent) ||
        __builtin_mul_overflow(t->extent, (uint64_t)simpler_dtype_bytes(t->dtype), &bytes) ||
        __builtin_add_overflow(t->addr, bytes, &end))
        return false;
    t->buffer_bytes = bytes;
    return true;
}

/* A new tensor without strides. */
static int start_tensor(struct simpler_tensor *t, const void *addr, const uint32_t *shape,
                        uint32_t ndims, uint32_t dtype)
{
    if (shape == NULL || ndims == 0 || ndims > SIMPLER_MAX_DIMS || dtype >= SIMPLER_DTYPE_NUM)
        return SIMPLER_EINVAL;
    memset(t, 0, sizeof(*t));
    t->addr = (uint64_t)(uintptr_t)addr;
    t->owner = SIMPLER_NO_OWNER;
    t->ndims = ndims;
    t->dtype = (uint8_t)dtype;
    memcpy(t->shape, shape, ndims * sizeof(*shape));
    return 0;
}

int simpler_tensor_init(struct simpler_tensor *out, const void *addr, const uint32_t *shape,
                        uint32_t ndims, uint32_t dtype)
{
    struct simpler_tensor t;
    int rc = start_tensor(&t, addr, shape, ndims, dtype);

    if (rc != 0 || out == NULL)
        return SIMPLER_EINVAL;
    if (!set_row_major_strides(&t) || !set_buffer_bytes(&t))
        return SIMPLER_EOVERFLOW;
    return finish_view(&t, out);
}

int simpler_tensor_init_strided(struct simpler_tensor *out, const void *addr, const uint32_t *shape,
                                const uint32_t *stride, uint32_t ndims, uint32_t dtype)
{
    struct simpler_tensor t;
    int rc = start_tensor(&t, addr, shape, ndims, dtype);

    if (rc != 0 || out == NULL || stride == NULL)
        return SIMPLER_EINVAL;
    for (uint32_t i = 0; i < ndims; i++) {
        if (stride[i] == 0)
            return SIMPLER_EINVAL;
        t.stride[i] = stride[i];
    }
    if (!set_buffer_bytes(&t))
        return SIMPLER_EOVERFLOW;
    return finish_view(&t, out);
}

/* Whether the arrays of a descriptor may be walked: one that was never made has any ndims. */
static bool has_dims(const struct simpler_tensor *t)
{
    return t != NULL && t->ndims != 0 && t->ndims <= SIMPLER_MAX_DIMS;
}

int simpler_tensor_view(const struct simpler_tensor *tensor, const uint32_t *shape,
                        const uint32_t *offset, struct simpler_tensor *out)
{
    if (!has_dims(tensor) || shape == NULL || offset == NULL || out == NULL)
        return SIMPLER_EINVAL;
    struct simpler_tensor t = *tensor;
    memcpy(t.shape, shape, t.ndims * sizeof(*shape));
    if (is_empty(t.shape, t.ndims))
        return finish_view(&t, out);
    for (uint32_t i = 0; i < t.ndims; i++) {
        if ((uint64_t)offset[i] + shape[i] > tensor->shape[i])
            return SIMPLER_EINVAL;
        t.start_offset += (uint64_t)offset[i] * t.stride[i];
    }
    return finish_view(&t, out);
}

int simpler_tensor_transpose(const struct simpler_tensor *tensor, uint32_t x, uint32_t y,
                             struct simpler_tensor *out)
{
    if (!has_dims(tensor) || out == NULL || x >= tensor->ndims || y >= tensor->ndims)
        return SIMPLER_EINVAL;
    struct simpler_tensor t = *tensor;
    t.shape[x] = tensor->shape[y];
    t.shape[y] = tensor->shape[x];
    t.stride[x] = tensor->stride[y];
    t.stride[y] = tensor->stride[x];
    return finish_view(&t, out);
}

int simpler_tensor_permute(const struct simpler_tensor *tensor, const uint32_t *order,
                           struct simpler_tensor *out)
{
    uint32_t seen = 0;

    if (!has_dims(tensor) || order == NULL || out == NULL)
        return SIMPLER_EINVAL;
    struct simpler_tensor t = *tensor;
    for (uint32_t i = 0; i < t.ndims; i++) {
        if (order[i] >= t.ndims || (seen >> order[i] & 1) != 0)
            return SIMPLER_EINVAL;
        seen |= 1u << order[i];
        t.shape[i] = tensor->shape[order[i]];
        t.stride[i] = tensor->stride[order[i]];
    }
    return finish_view(&t, out);
}

int simpler_tensor_slice(const struct simpler_tensor *tensor, uint32_t dim, uint32_t start,
                         uint32_t end, uint32_t step, struct simpler_tensor *out)
{
    if (!has_dims(tensor) || out == NULL || dim >= tensor->ndims || end <= start ||
        end > tensor->shape[dim] || step == 0)
        return SIMPLER_EINVAL;
    struct simpler_tensor t = *tensor;
    uint64_t stride = (uint64_t)t.stride[dim] * step;
    if (stride > UINT32_MAX)
        return SIMPLER_EOVERFLOW;
    if (!is_empty(t.shape, t.ndims))
        t.start_offset += (uint64_t)start * t.stride[dim];
    t.shape[dim] = (end - start - 1) / step + 1;
    t.stride[dim] = (uint32_t)stride;
    return finish_view(&t, out);
}

/* The product of the extents; false when it overflows. */
static bool count_elements(const uint32_t *shape, uint32_t ndims, uint64_t *out)
{
    uint64_t n = is_empty(shape, ndims) ? 0 : 1;

    for (uint32_t i = 0; i < ndims; i++) {
        if (__builtin_mul_overflow(n, (uint64_t)shape[i], &n))
            return false;
    }
    *out = n;
    return true;
}

int simpler_tensor_reshape(const struct simpler_tensor *tensor, const uint32_t *shape,
                           uint32_t ndims, struct simpler_tensor *out)
{
    uint64_t before, after;

    if (!has_dims(tensor) || shape == NULL || out == NULL || ndims == 0 ||
        ndims > SIMPLER_MAX_DIMS || !tensor->is_contiguous)
        return SIMPLER_EINVAL;
    if (!count_elements(tensor->shape, tensor->ndims, &before) ||
        !count_elements(shape, ndims, &after) || before != after)
        return SIMPLER_EINVAL;
    struct simpler_tensor t = *tensor;
    t.ndims = ndims;
    memcpy(t.shape, shape, ndims * sizeof(*shape));
    if (!set_row_major_strides(&t))
        return SIMPLER_EOVERFLOW;
    return finish_view(&t, out);
}

/* Whether addr .. addr + buffer_bytes exists and holds the view. */
static bool view_is_in_buffer(const struct simpler_tensor *t)
{
    uint64_t elements, bytes, end;

    return !__builtin_add_overflow(t->start_offset, t->extent, &elements) &&
           !__builtin_mul_overflow(elements, (uint64_t)simpler_dtype_bytes(t->dtype), &bytes) &&
           bytes <= t->buffer_bytes && !__builtin_add_overflow(t->addr, t->buffer_bytes, &end);
}

int simpler_tensor_check(const struct simpler_tensor *tensor)
{
    uint64_t extent;

    if (!has_dims(tensor) || tensor->dtype >= SIMPLER_DTYPE_NUM ||
        tensor->address_space > SIMPLER_SPACE_DEVICE)
        return SIMPLER_EINVAL;
    for (uint32_t i = 0; i < tensor->ndims; i++) {
        if (tensor->stride[i] == 0)
            return SIMPLER_EINVAL;
    }
    if (!extent_of(tensor, &extent) || extent != tensor->extent ||
        tensor->is_contiguous != strides_are_row_major(tensor) || !view_is_in_buffer(tensor))
        return SIMPLER_EINVAL;
    return 0;
}
