/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TMR_TENSOR_PACK_H
#define SIMPLER_TMR_TENSOR_PACK_H

/*
 * A tensor in a task's lines: the first 64 bytes of the descriptor as they are,
 * without what can be derived.  Strides of a view that is not contiguous go
 * where unused shapes are (up to two dimensions, or three whose innermost
 * stride is 1), else into a second line.  The form stands in the high bits of
 * the address_space byte.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "simpler/tensor.h"
#include "tmr/task_slot.h"

enum simpler_pack_form {
    SIMPLER_PACK_CONTIGUOUS = 0,
    SIMPLER_PACK_INLINE = 1,
    SIMPLER_PACK_SECOND_LINE = 2
};

_Static_assert(offsetof(struct simpler_tensor, shape) == 44 &&
                   offsetof(struct simpler_tensor, extent) == 64,
               "the first line of a tensor ends with its shape");

SIMPLER_INLINE struct simpler_tensor *simpler_pack_head(struct simpler_task_line *line)
{
    return (struct simpler_tensor *)(void *)line;
}

/* Strides into the first line, or false: they need a second one. */
SIMPLER_INLINE bool simpler_pack_strides(struct simpler_tensor *head,
                                         const struct simpler_tensor *tensor)
{
    uint32_t n = tensor->ndims;
    if (n > 3 || (n == 3 && tensor->stride[2] != 1)) {
        head->address_space |= SIMPLER_PACK_SECOND_LINE << 4;
        return false;
    }
    uint32_t at = n <= 2 ? 2 : 3;
    head->address_space |= SIMPLER_PACK_INLINE << 4;
    head->shape[at] = tensor->stride[0];
    head->shape[at + 1] = tensor->stride[1];
    return true;
}

SIMPLER_INLINE void simpler_pack_tensor(struct simpler_line_cursor *cursor,
                                        const struct simpler_task_table *table, uint32_t number,
                                        const struct simpler_tensor *tensor)
{
    struct simpler_task_line *line = simpler_line_cursor_take(cursor, table, number);
    memcpy(line, tensor, 64);
    if (SIMPLER_LIKELY(tensor->is_contiguous) ||
        simpler_pack_strides(simpler_pack_head(line), tensor))
        return;
    memcpy(simpler_line_cursor_take(cursor, table, number), tensor->stride, sizeof(tensor->stride));
}

/* Row-major strides and the extent of a contiguous tensor. */
SIMPLER_INLINE void simpler_unpack_contiguous(struct simpler_tensor *out)
{
    if (SIMPLER_LIKELY(out->ndims == 1)) {
        out->stride[0] = 1;
        out->extent = out->shape[0];
        return;
    }
    uint64_t stride = 1;
    for (uint32_t i = out->ndims; i-- > 0;) {
        out->stride[i] = (uint32_t)stride;
        stride *= out->shape[i];
    }
    out->extent = stride;
}

static inline void simpler_unpack_extent(struct simpler_tensor *out)
{
    uint64_t extent = 1;
    for (uint32_t i = 0; i < out->ndims; i++) {
        if (out->shape[i] == 0) {
            extent = 0;
            break;
        }
        extent += (uint64_t)(out->shape[i] - 1) * out->stride[i];
    }
    out->extent = extent;
}

/* Rebuilds the whole descriptor; strides beyond ndims are not set. */
SIMPLER_INLINE void simpler_unpack_tensor(struct simpler_line_cursor *cursor,
                                          const struct simpler_task_table *table, uint32_t number,
                                          struct simpler_tensor *out)
{
    memcpy(out, simpler_line_cursor_take(cursor, table, number), 64);
    uint32_t form = out->address_space >> 4;
    if (SIMPLER_LIKELY(form == SIMPLER_PACK_CONTIGUOUS)) {
        simpler_unpack_contiguous(out);
        return;
    }
    out->address_space &= 15;
    if (form == SIMPLER_PACK_INLINE) {
        uint32_t at = out->ndims <= 2 ? 2 : 3;
        out->stride[0] = out->shape[at];
        out->stride[1] = out->shape[at + 1];
        out->stride[2] = 1;
        out->shape[at] = 0;
        out->shape[at + 1] = 0;
    } else {
        memcpy(out->stride, simpler_line_cursor_take(cursor, table, number), sizeof(out->stride));
    }
    simpler_unpack_extent(out);
}

#endif
