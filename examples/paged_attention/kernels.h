/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAGED_ATTENTION_KERNELS_H
#define PAGED_ATTENTION_KERNELS_H

#include "simpler/kernel.h"

/*
 * One page of one sequence.  q: heads x depth, a page of k or v: tokens x depth, of which
 * the first @valid count.
 *
 *     SCORES   s = q k^T / sqrt(depth)                        AIC
 *     WEIGHTS  m = max(s), p = exp(s - m), l = sum(p)         AIV   heads x 2: m, l
 *     VALUES   o = p v                                        AIC
 *     MERGE    what is known of the pages before and this one AIV   state: heads x (depth + 2)
 *     DIVIDE   out = o / l                                    AIV
 */
enum { SCORES, WEIGHTS, VALUES, MERGE, DIVIDE, KERNELS };

extern const struct simpler_kernel attention_kernels[KERNELS];

#endif
