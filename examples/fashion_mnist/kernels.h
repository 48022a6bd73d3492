/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASHION_KERNELS_H
#define FASHION_KERNELS_H

#include "simpler/kernel.h"

/* The kernels by func_id, with their tensors and scalars in order. */
enum fashion_kernel {
    FASHION_LOAD,     /* pixel in; x out */
    FASHION_HIDDEN,   /* x, w1 in; h out */
    FASHION_OUTPUT,   /* h, w2, label in; dz, row_loss out; uint32 batch */
    FASHION_LOSS,     /* row_loss in; loss out */
    FASHION_BACK,     /* dz, w2, h in; dh out */
    FASHION_GRADIENT, /* a, b in; g = transposed a times b out */
    FASHION_DESCEND,  /* g in; w, v in and out; float32 rate, momentum */
    FASHION_KERNELS
};

extern const struct simpler_kernel fashion_kernels[FASHION_KERNELS];

#endif
