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

/* Lines that @tensor needs: 1 or 2. */
SIMPLER_INLINE uint32_t simpler_pack_lines(const struct simpler_tensor *tensor)
{
    if (SIMPLER_LIKELY(tensor->is_contiguous || tensor->ndims <= 2))
        return 1;
    return tensor->ndims == 3 && tensor->stride[2] == 1 ? 1 : 2;
}

/* Packs into @line and, if simpler_pack_lines says 2, @second. */
SIMPLER_INLINE void simpler_pack_tensor(struct simpler_task_line *line,
                                        struct simpler_task_line *second,
                                        const struct simpler_tensor *tensor)
{
    memcpy(line, tensor, 64);
    if (SIMPLER_LIKELY(tensor->is_contiguous))
        return;
    struct simpler_tensor *head = simpler_pack_head(line);
    uint32_t n = tensor->ndims;
    if (n <= 2) {
        head->address_space |= SIMPLER_PACK_INLINE << 4;
        head->shape[2] = tensor->stride[0];
        head->shape[3] = tensor->stride[1];
    } else if (n == 3 && tensor->stride[2] == 1) {
        head->address_space |= SIMPLER_PACK_INLINE << 4;
        head->shape[3] = tensor->stride[0];
        head->shape[4] = tensor->stride[1];
    } else {
        head->address_space |= SIMPLER_PACK_SECOND_LINE << 4;
        memcpy(second, tensor->stride, sizeof(tensor->stride));
    }
}

/* Rebuilds the whole descriptor; strides beyond ndims are 0. */
SIMPLER_INLINE uint32_t simpler_unpack_tensor(const struct simpler_task_line *line,
                                              const struct simpler_task_line *second,
                                              struct simpler_tensor *out)
{
    memcpy(out, line, 64);
    uint32_t n = out->ndims;
    uint32_t form = out->address_space >> 4;
    if (SIMPLER_LIKELY(form == SIMPLER_PACK_CONTIGUOUS)) {
        uint32_t stride = 1;
        for (uint32_t i = n; i-- > 0;) {
            out->stride[i] = stride;
            stride *= out->shape[i];
        }
        out->extent = simpler_tensor_numel(out);
        return 1;
    }
    out->address_space &= 15;
    if (form == SIMPLER_PACK_INLINE) {
        uint32_t at = n <= 2 ? 2 : 3;
        out->stride[0] = out->shape[at];
        out->stride[1] = out->shape[at + 1];
        out->stride[2] = 1;
        out->shape[at] = 0;
        out->shape[at + 1] = 0;
    } else {
        memcpy(out->stride, second, sizeof(out->stride));
    }
    uint64_t extent = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (out->shape[i] == 0) {
            extent = 0;
            break;
        }
        extent += (uint64_t)(out->shape[i] - 1) * out->stride[i];
    }
    out->extent = extent;
    return form == SIMPLER_PACK_INLINE ? 1 : 2;
}

#endif
