/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_TENSOR_STATS_H
#define SIMPLER_REPORT_TENSOR_STATS_H

/*
 * Statistics of one argument, fed piece by piece.  Counts are exact whatever
 * the size.  min, max, mean and L2 are those of the finite values; integers
 * keep min and max exactly.  A packed element counts as the values it holds.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simpler_tensor_stats {
    uint32_t dtype;
    uint64_t count;  /* values, special ones included */
    uint64_t finite; /* values that min, max, mean and L2 are of */
    uint64_t nan;
    uint64_t positive_inf;
    uint64_t negative_inf;
    uint64_t zero; /* of either sign */
    uint64_t subnormal;
    uint64_t min_bits; /* bits of one value of dtype; valid if finite > 0 */
    uint64_t max_bits;
    double mean; /* valid if finite > 0 */
    double l2;
    /* Private: running sums, and how often each code of a short type came. */
    long double sum;
    long double sum_of_squares;
    uint64_t *histogram;
};

/*
 * @n_bytes that will come: a hint, it decides how to count.  SIMPLER_EINVAL: a
 * type of unknown meaning; SIMPLER_ENOMEM.
 */
int simpler_tensor_stats_init(struct simpler_tensor_stats *s, uint32_t dtype, uint64_t n_bytes);
/* One value, or for a packed type one element, by its bits. */
void simpler_tensor_stats_add_bits(struct simpler_tensor_stats *s, uint64_t bits);
/* A whole number of elements, at any alignment. */
void simpler_tensor_stats_add(struct simpler_tensor_stats *s, const void *bytes, size_t n_bytes);
/* n_bytes of zeros, without looking at them: a hole of a sparse file. */
void simpler_tensor_stats_add_zeros(struct simpler_tensor_stats *s, uint64_t n_bytes);
/* Computes what needs all values; add nothing after it. */
void simpler_tensor_stats_finish(struct simpler_tensor_stats *s);
/* Safe on a zeroed and on a finished object. */
void simpler_tensor_stats_fini(struct simpler_tensor_stats *s);

#endif
