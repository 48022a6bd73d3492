/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TASK_SUBMIT_ARGS_H
#define SIMPLER_TASK_SUBMIT_ARGS_H

/* What a submit checks of its arguments and makes of create-infos, in every runtime. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "simpler/task.h"

/* An OUTPUT takes a multiple of this of the heap. */
#define SIMPLER_OUTPUT_UNIT 1024u

/* False: the object was never reset, and its arrays cannot be walked. */
static inline bool simpler_submit_counts_fit(const struct simpler_task_args *args)
{
    return args->tensor_count <= SIMPLER_MAX_TENSORS && args->scalar_count <= SIMPLER_MAX_SCALARS;
}
#define SIMPLER_SUBMIT_NOT_RESET "the argument object was not initialised"

/* Bytes of one OUTPUT in its packed block; false when the create-info is invalid. */
static inline bool simpler_submit_output_bytes(const struct simpler_create_info *info,
                                               uint64_t *bytes)
{
    uint64_t n = 1;

    if (info->ndims - 1 >= SIMPLER_MAX_DIMS || info->dtype >= SIMPLER_DTYPE_NUM)
        return false;
    for (uint32_t i = 0; i < info->ndims; i++) {
        if (__builtin_mul_overflow(n, info->shape[i], &n))
            return false;
    }
    if (n > (UINT64_MAX >> 4))
        return false;
    n <<= simpler_dtype_shift(info->dtype);
    *bytes = (n + SIMPLER_OUTPUT_UNIT - 1) / SIMPLER_OUTPUT_UNIT * SIMPLER_OUTPUT_UNIT;
    return true;
}

/* Every platform has the types below it; whoever submits asks the platform about the others. */
#define SIMPLER_SUBMIT_PLAIN_DTYPES SIMPLER_DTYPE_FP8E4M3FN

/*
 * What decides whether a contiguous descriptor is sane, as it lies there: dimensions,
 * element type, flags, address space.
 */
SIMPLER_INLINE uint64_t simpler_submit_form(const struct simpler_tensor *t)
{
    uint64_t form;
    _Static_assert(offsetof(struct simpler_tensor, address_space) ==
                       offsetof(struct simpler_tensor, ndims) + 7,
                   "all in eight bytes");
    memcpy(&form, &t->ndims, sizeof(form));
    return form;
}

/* Whether the descriptor leads nowhere outside itself and divides by no 0. */
static inline bool simpler_submit_is_sane(const struct simpler_tensor *t)
{
    if (t->ndims - 1 >= SIMPLER_MAX_DIMS || t->dtype >= SIMPLER_DTYPE_NUM ||
        t->address_space > SIMPLER_SPACE_DEVICE || t->is_contiguous > 1)
        return false;
    for (uint32_t i = 0; i < t->ndims; i++) {
        if (t->stride[i] == 0)
            return false;
    }
    return true;
}

/* Address of one element, or NULL. */
static inline uint8_t *simpler_submit_element(const struct simpler_tensor *tensor,
                                              const uint32_t *index)
{
    uint64_t at;

    if (tensor == NULL || index == NULL || tensor->addr == 0 || simpler_tensor_check(tensor) != 0)
        return NULL;
    at = tensor->start_offset;
    for (uint32_t i = 0; i < tensor->ndims; i++) {
        if (index[i] >= tensor->shape[i])
            return NULL;
        at += (uint64_t)index[i] * tensor->stride[i];
    }
    return (uint8_t *)(uintptr_t)tensor->addr + (at << simpler_dtype_shift(tensor->dtype));
}

/* Repeats the value's bytes over the block, padding included. */
static inline void simpler_submit_fill_initial(uint8_t *block, uint64_t bytes,
                                               const struct simpler_create_info *info)
{
    size_t n = simpler_dtype_bytes(info->dtype);
    uint64_t word = 0;
    for (size_t at = 0; at < 8; at += n)
        memcpy((uint8_t *)&word + at, &info->initial_value, n);
    for (uint64_t at = 0; at < bytes; at += 8)
        memcpy(block + at, &word, 8);
}

/* The tensor that a valid create-info makes at @addr. */
static inline void simpler_submit_make_output(const struct simpler_create_info *info, uint64_t addr,
                                              uint64_t owner, struct simpler_tensor *out)
{
    uint64_t n = 1;

    memset(out, 0, sizeof(*out));
    out->addr = addr;
    out->owner = owner;
    out->ndims = info->ndims;
    out->dtype = info->dtype;
    out->manual_dep = info->manual_dep;
    out->is_contiguous = 1;
    for (uint32_t i = info->ndims; i-- > 0;) {
        out->shape[i] = info->shape[i];
        out->stride[i] = (uint32_t)n;
        n *= info->shape[i];
    }
    out->extent = n;
    out->buffer_bytes = n << simpler_dtype_shift(info->dtype);
}

#endif
