/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TENSOR_H
#define SIMPLER_TENSOR_H

/*
 * Tensors: descriptors of strided views of a buffer.  A descriptor owns
 * nothing; copying it is cheap and every operation makes a new one.  Shapes and
 * offsets count elements.  For the order of tasks, tensors may share bytes only if
 * their buffers begin at the same address: take views of one tensor rather than
 * two tensors over one memory.  The result of an operation may be its input; it has
 * manual_dep 0, whatever the input had.  All functions may be called by any
 * thread.
 */
#include <stdint.h>

#include "simpler/dtype.h"
#include "simpler/status.h"

#ifdef __cplusplus
#define SIMPLER_ALIGNAS(n) alignas(n)
extern "C" {
#else
#define SIMPLER_ALIGNAS(n) _Alignas(n)
#endif

#define SIMPLER_MAX_DIMS 5
/** Owner of a tensor that no task created. */
#define SIMPLER_NO_OWNER UINT64_MAX

enum simpler_address_space { SIMPLER_SPACE_HOST = 0, SIMPLER_SPACE_DEVICE = 1 };

/**
 * A view of a buffer: 128 bytes, the layout that kernels see.
 *
 * Element (i0, i1, ...) lies at addr + (start_offset + sum(i_k * stride[k])) *
 * simpler_dtype_bytes(dtype).  Strides count elements and are above 0.
 */
struct simpler_tensor {
    SIMPLER_ALIGNAS(64) uint64_t addr; /**< byte address of the buffer */
    uint64_t buffer_bytes;             /**< size of the whole buffer */
    uint64_t owner;                    /**< task that created it, or SIMPLER_NO_OWNER */
    uint64_t start_offset;             /**< elements from addr to the view's origin */
    int32_t version;                   /**< generation of the buffer's contents */
    uint32_t ndims;                    /**< 1 to 5 */
    uint8_t dtype;                     /**< enum simpler_dtype */
    uint8_t manual_dep;                /**< 1: no inference, the creator's edge alone */
    uint8_t is_contiguous;             /**< strides are row-major of shape */
    uint8_t address_space;             /**< enum simpler_address_space */
    uint32_t shape[SIMPLER_MAX_DIMS];
    uint64_t extent; /**< 1 + sum((shape-1) * stride), 0 for an empty view */
    uint32_t stride[SIMPLER_MAX_DIMS];
    uint8_t reserved[36];
};

/**
 * A buffer that the runtime is to allocate for a task: 64 bytes.  It is
 * row-major; its bytes come from the heap ring of the task's scope.
 */
struct simpler_create_info {
    SIMPLER_ALIGNAS(64) uint64_t initial_value; /**< bits, the element's bytes low */
    uint8_t has_initial_value;
    uint8_t dtype;
    uint8_t manual_dep;
    uint8_t reserved0;
    uint32_t ndims;
    uint32_t shape[SIMPLER_MAX_DIMS];
    uint8_t reserved[28];
};

#ifndef __cplusplus
/** `SIMPLER_DIMS(4, 8)` stands for the two arguments "shape, ndims". */
#define SIMPLER_DIMS(...)            \
    (const uint32_t[]){__VA_ARGS__}, \
        (uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#endif

/**
 * A row-major tensor over memory of the caller.
 *
 * @param out    the descriptor; unchanged on failure
 * @param addr   the buffer, numel * element bytes long; may be NULL for no data
 * @param shape  ndims extents; 0 makes an empty tensor
 * @param ndims  1 to 5
 * @param dtype  enum simpler_dtype
 * @retval SIMPLER_EINVAL     out or shape is NULL, ndims or dtype out of range
 * @retval SIMPLER_EOVERFLOW  the bytes do not fit 64 bits, a stride not 32
 */
SIMPLER_API int simpler_tensor_init(struct simpler_tensor *out, const void *addr,
                                    const uint32_t *shape, uint32_t ndims, uint32_t dtype);

/**
 * As simpler_tensor_init, with element strides; the buffer is extent * element
 * bytes long.
 * @retval SIMPLER_EINVAL  also: a stride is 0
 */
SIMPLER_API int simpler_tensor_init_strided(struct simpler_tensor *out, const void *addr,
                                            const uint32_t *shape, const uint32_t *stride,
                                            uint32_t ndims, uint32_t dtype);

/**
 * The block of `shape` elements at `offset`; strides are kept.  If any extent
 * is 0 the view is empty and offsets do not count.
 *
 * @param out  may be @tensor itself
 * @retval SIMPLER_EINVAL  a pointer is NULL, or offset + shape leaves the tensor
 */
SIMPLER_API int simpler_tensor_view(const struct simpler_tensor *tensor, const uint32_t *shape,
                                    const uint32_t *offset, struct simpler_tensor *out);

/**
 * Two dimensions exchanged.
 * @retval SIMPLER_EINVAL  no such dimension, or a pointer is NULL
 */
SIMPLER_API int simpler_tensor_transpose(const struct simpler_tensor *tensor, uint32_t x,
                                         uint32_t y, struct simpler_tensor *out);

/**
 * Dimensions in another order.
 * @param order  ndims of them: dimension k of @out is order[k] of @tensor
 * @retval SIMPLER_EINVAL  @order is no permutation, or a pointer is NULL
 */
SIMPLER_API int simpler_tensor_permute(const struct simpler_tensor *tensor, const uint32_t *order,
                                       struct simpler_tensor *out);

/**
 * Every @step th index of [start, end) of one dimension.
 * @retval SIMPLER_EINVAL     end <= start, end beyond the shape, step 0, no such dimension
 * @retval SIMPLER_EOVERFLOW  the stride does not fit 32 bits
 */
SIMPLER_API int simpler_tensor_slice(const struct simpler_tensor *tensor, uint32_t dim,
                                     uint32_t start, uint32_t end, uint32_t step,
                                     struct simpler_tensor *out);

/**
 * The same elements in another shape.
 * @retval SIMPLER_EINVAL     the tensor is not contiguous or the element counts differ
 * @retval SIMPLER_EOVERFLOW  a stride does not fit 32 bits
 */
SIMPLER_API int simpler_tensor_reshape(const struct simpler_tensor *tensor, const uint32_t *shape,
                                       uint32_t ndims, struct simpler_tensor *out);

/**
 * Whether the descriptor keeps every rule of this header; cheap.  Nothing of the buffer is read.
 * @retval SIMPLER_EINVAL  it does not, or is NULL
 */
SIMPLER_API int simpler_tensor_check(const struct simpler_tensor *tensor);

/** Number of elements; 0 for NULL and for a rank that does not exist. */
static inline uint64_t simpler_tensor_numel(const struct simpler_tensor *tensor)
{
    uint64_t n = 1;
    if (tensor == NULL || tensor->ndims > SIMPLER_MAX_DIMS)
        return 0;
    for (uint32_t i = 0; i < tensor->ndims; i++)
        n *= tensor->shape[i];
    return n;
}

/** Address of the first element of the view; NULL for NULL. */
static inline void *simpler_tensor_data(const struct simpler_tensor *tensor)
{
    if (tensor == NULL)
        return NULL;
    return (void *)(uintptr_t)(tensor->addr +
                               (tensor->start_offset << simpler_dtype_shift(tensor->dtype)));
}

/**
 * A buffer to be created.
 * @retval SIMPLER_EINVAL     ndims or dtype out of range, a pointer is NULL
 * @retval SIMPLER_EOVERFLOW  the bytes do not fit 64 bits, a stride not 32
 */
SIMPLER_API int simpler_create_info_init(struct simpler_create_info *out, const uint32_t *shape,
                                         uint32_t ndims, uint32_t dtype);

/**
 * The value that every element has before the task runs.
 * @param value  one element of the create-info's type; copied.  NULL: does nothing
 */
SIMPLER_API void simpler_create_info_set_initial_value(struct simpler_create_info *info,
                                                       const void *value);

#ifdef __cplusplus
}
#endif
#endif
