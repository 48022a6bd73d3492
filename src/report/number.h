/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_NUMBER_H
#define SIMPLER_REPORT_NUMBER_H

/*
 * The elements of a tensor as numbers: what the bits of each element type mean.
 * Small floats are decoded exactly (every value of theirs is a double).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simpler/dtype.h"

enum simpler_number_class {
    SIMPLER_NUMBER_NORMAL,
    SIMPLER_NUMBER_ZERO,
    SIMPLER_NUMBER_SUBNORMAL,
    SIMPLER_NUMBER_INF,
    SIMPLER_NUMBER_NAN,
};

struct simpler_number {
    enum simpler_number_class kind;
    bool negative;      /* the sign bit, of zeros and NaNs too */
    double value;       /* NaN for NaN, +-inf for infinities */
    uint64_t mantissa;  /* the raw mantissa field: a NaN's payload */
    bool canonical_nan; /* the NaN that arithmetic makes: quiet bit alone */
};

/* How an element type reads: a float, a signed or an unsigned integer. */
enum simpler_number_family {
    SIMPLER_NUMBER_FLOAT,
    SIMPLER_NUMBER_SIGNED,
    SIMPLER_NUMBER_UNSIGNED, /* bool too: any byte keeps its value */
    SIMPLER_NUMBER_UNKNOWN,
};

enum simpler_number_family simpler_number_family(uint32_t dtype);
/* Values in one element: 2 for fp4e2m1, 1 for others. */
unsigned simpler_number_values(uint32_t dtype);
/* Little-endian bytes of one element as an integer; dtype must be known. */
uint64_t simpler_number_load(uint32_t dtype, const void *element);
/* Bits sign-extended from the width of dtype. */
int64_t simpler_number_signed(uint32_t dtype, uint64_t bits);
/* The float with these bits; for fp4e2m1 the low four bits count. */
struct simpler_number simpler_number_float(uint32_t dtype, uint64_t bits);

#endif
