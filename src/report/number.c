/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of float layouts and one decoder for all of them.  The layouts
 * differ in their widths, their bias and in what the highest exponent means.
 */
#include "report/number.h"

#include <math.h>
#include <string.h>

/* What an exponent field of all ones means. */
enum top_exponent {
    TOP_IEEE,  /* infinities and NaNs */
    TOP_FN,    /* numbers, but NaN where the mantissa is all ones too */
    TOP_FINITE /* numbers */
};

struct float_layout {
    uint8_t exponent_bits; /* 0: not a float of sign, exponent and mantissa */
    uint8_t mantissa_bits;
    int16_t bias;
    enum top_exponent top;
};

static const struct float_layout layouts[SIMPLER_DTYPE_NUM] = {
    [SIMPLER_DTYPE_FLOAT32] = {8, 23, 127, TOP_IEEE},
    [SIMPLER_DTYPE_FLOAT16] = {5, 10, 15, TOP_IEEE},
    [SIMPLER_DTYPE_BFLOAT16] = {8, 7, 127, TOP_IEEE},
    [SIMPLER_DTYPE_FP8E4M3FN] = {4, 3, 7, TOP_FN},
    [SIMPLER_DTYPE_FP4E2M1] = {2, 1, 1, TOP_FINITE},
    [SIMPLER_DTYPE_FLOAT64] = {11, 52, 1023, TOP_IEEE},
};

enum simpler_number_family simpler_number_family(uint32_t dtype)
{
    switch (dtype) {
    case SIMPLER_DTYPE_FLOAT32:
    case SIMPLER_DTYPE_FLOAT16:
    case SIMPLER_DTYPE_BFLOAT16:
    case SIMPLER_DTYPE_FP8E4M3FN:
    case SIMPLER_DTYPE_FP8E8M0:
    case SIMPLER_DTYPE_FP4E2M1:
    case SIMPLER_DTYPE_FLOAT64:
        return SIMPLER_NUMBER_FLOAT;
    case SIMPLER_DTYPE_INT8:
    case SIMPLER_DTYPE_INT16:
    case SIMPLER_DTYPE_INT32:
    case SIMPLER_DTYPE_INT64:
        return SIMPLER_NUMBER_SIGNED;
    case SIMPLER_DTYPE_UINT8:
    case SIMPLER_DTYPE_UINT16:
    case SIMPLER_DTYPE_UINT32:
    case SIMPLER_DTYPE_UINT64:
    case SIMPLER_DTYPE_BOOL:
        return SIMPLER_NUMBER_UNSIGNED;
    default:
        return SIMPLER_NUMBER_UNKNOWN;
    }
}

unsigned simpler_number_values(uint32_t dtype)
{
    return dtype == SIMPLER_DTYPE_FP4E2M1 ? 2 : 1;
}

uint64_t simpler_number_load(uint32_t dtype, const void *element)
{
    const unsigned char *bytes = element;
    uint64_t bits = 0;

    for (size_t i = simpler_dtype_bytes(dtype); i-- > 0;)
        bits = bits << 8 | bytes[i];
    return bits;
}

int64_t simpler_number_signed(uint32_t dtype, uint64_t bits)
{
    uint64_t sign = (uint64_t)1 << (8 * simpler_dtype_bytes(dtype) - 1);
    uint64_t extended = (bits ^ sign) - sign;
    int64_t value;

    memcpy(&value, &extended, sizeof(value));
    return value;
}

/* 8 bits of exponent and nothing else: powers of two and one NaN. */
static struct simpler_number decode_scale(uint64_t bits)
{
    struct simpler_number n = {.kind = SIMPLER_NUMBER_NORMAL};

    if (bits == 0xff) {
        n.kind = SIMPLER_NUMBER_NAN;
        n.canonical_nan = true;
        n.value = (double)NAN;
        return n;
    }
    n.value = ldexp(1.0, (int)bits - 127);
    return n;
}

static void decode_top(struct simpler_number *n, const struct float_layout *layout)
{
    uint64_t quiet = (uint64_t)1 << (layout->mantissa_bits - 1);

    if (layout->top == TOP_IEEE && n->mantissa == 0) {
        n->kind = SIMPLER_NUMBER_INF;
        n->value = n->negative ? -(double)INFINITY : (double)INFINITY;
        return;
    }
    n->kind = SIMPLER_NUMBER_NAN;
    n->canonical_nan = layout->top == TOP_FN || n->mantissa == quiet;
    n->value = (double)NAN;
}

static bool is_special(const struct float_layout *layout, uint64_t exponent, uint64_t mantissa)
{
    if (exponent != ((uint64_t)1 << layout->exponent_bits) - 1)
        return false;
    if (layout->top == TOP_FN)
        return mantissa == ((uint64_t)1 << layout->mantissa_bits) - 1;
    return layout->top == TOP_IEEE;
}

struct simpler_number simpler_number_float(uint32_t dtype, uint64_t bits)
{
    if (dtype == SIMPLER_DTYPE_FP8E8M0)
        return decode_scale(bits & 0xff);
    const struct float_layout *layout = &layouts[dtype];
    unsigned width = layout->mantissa_bits;
    uint64_t exponent = bits >> width & (((uint64_t)1 << layout->exponent_bits) - 1);
    struct simpler_number n = {.kind = SIMPLER_NUMBER_NORMAL};

    n.mantissa = bits & (((uint64_t)1 << width) - 1);
    n.negative = (bits >> (width + layout->exponent_bits) & 1) != 0;
    if (is_special(layout, exponent, n.mantissa)) {
        decode_top(&n, layout);
        return n;
    }
    if (exponent == 0)
        n.kind = n.mantissa == 0 ? SIMPLER_NUMBER_ZERO : SIMPLER_NUMBER_SUBNORMAL;
    uint64_t whole = exponent == 0 ? n.mantissa : n.mantissa | (uint64_t)1 << width;
    int scale = (exponent == 0 ? 1 : (int)exponent) - layout->bias - (int)width;
    n.value = ldexp((double)whole, scale);
    if (n.negative)
        n.value = -n.value;
    return n;
}
