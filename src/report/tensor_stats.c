/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of up to 16 bits are counted by code unless the tensor is tiny, and each
 * code is looked at once at the end: exact, and as fast as memory for bytes.  Wider types are
 * summed in long double, whose range no square of a double leaves.
 */
#include "report/tensor_stats.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "report/number.h"

static size_t code_count(uint32_t dtype)
{
    return (size_t)1 << (8 * simpler_dtype_bytes(dtype));
}

int simpler_tensor_stats_init(struct simpler_tensor_stats *s, uint32_t dtype, uint64_t n_bytes)
{
    memset(s, 0, sizeof(*s));
    if (simpler_number_family(dtype) == SIMPLER_NUMBER_UNKNOWN)
        return SIMPLER_EINVAL;
    s->dtype = dtype;
    if (simpler_dtype_bytes(dtype) > 2 || n_bytes < code_count(dtype) / 4)
        return 0;
    s->histogram = simpler_alloc_zeroed(code_count(dtype), sizeof(*s->histogram));
    return s->histogram == NULL ? SIMPLER_ENOMEM : 0;
}

void simpler_tensor_stats_fini(struct simpler_tensor_stats *s)
{
    simpler_alloc_free(s->histogram);
    s->histogram = NULL;
}

/* How two finite values of a type compare. */
static bool is_less(uint32_t dtype, uint64_t a, uint64_t b)
{
    switch (simpler_number_family(dtype)) {
    case SIMPLER_NUMBER_FLOAT:
        return simpler_number_float(dtype, a).value < simpler_number_float(dtype, b).value;
    case SIMPLER_NUMBER_SIGNED:
        return simpler_number_signed(dtype, a) < simpler_number_signed(dtype, b);
    default:
        return a < b;
    }
}

static void add_finite(struct simpler_tensor_stats *s, uint64_t bits, long double value,
                       uint64_t times)
{
    if (s->finite == 0 || is_less(s->dtype, bits, s->min_bits))
        s->min_bits = bits;
    if (s->finite == 0 || is_less(s->dtype, s->max_bits, bits))
        s->max_bits = bits;
    s->finite += times;
    s->sum += value * (long double)times;
    s->sum_of_squares += value * value * (long double)times;
}

/* One value that occurs times times. */
static void add_value(struct simpler_tensor_stats *s, uint64_t bits, uint64_t times)
{
    s->count += times;
    if (simpler_number_family(s->dtype) != SIMPLER_NUMBER_FLOAT) {
        bool is_signed = simpler_number_family(s->dtype) == SIMPLER_NUMBER_SIGNED;
        s->zero += bits == 0 ? times : 0;
        add_finite(s, bits,
                   is_signed ? (long double)simpler_number_signed(s->dtype, bits)
                             : (long double)bits,
                   times);
        return;
    }
    struct simpler_number n = simpler_number_float(s->dtype, bits);
    if (n.kind == SIMPLER_NUMBER_NAN) {
        s->nan += times;
        return;
    }
    if (n.kind == SIMPLER_NUMBER_INF) {
        *(n.negative ? &s->negative_inf : &s->positive_inf) += times;
        return;
    }
    s->zero += n.kind == SIMPLER_NUMBER_ZERO ? times : 0;
    s->subnormal += n.kind == SIMPLER_NUMBER_SUBNORMAL ? times : 0;
    add_finite(s, bits, n.value, times);
}

/*
 * The loops over wide types.  Each keeps its sums in locals; what is special
 * takes the slow way through add_value.
 */
#define ADD_FLOATS(name, type, bits_type)                                                  \
    static void name(struct simpler_tensor_stats *s, const unsigned char *bytes, size_t n) \
    {                                                                                      \
        type low = (type)INFINITY, high = -(type)INFINITY;                                 \
        long double sum = 0, squares = 0;                                                  \
        uint64_t plain = 0;                                                                \
        for (size_t i = 0; i < n; i++) {                                                   \
            type v;                                                                        \
            memcpy(&v, bytes + i * sizeof(v), sizeof(v));                                  \
            if (!isnormal(v)) {                                                            \
                bits_type bits;                                                            \
                memcpy(&bits, &v, sizeof(bits));                                           \
                add_value(s, bits, 1);                                                     \
                continue;                                                                  \
            }                                                                              \
            low = v < low ? v : low;                                                       \
            high = v > high ? v : high;                                                    \
            sum += (long double)v;                                                         \
            squares += (long double)v * (long double)v;                                    \
            plain++;                                                                       \
        }                                                                                  \
        if (plain == 0)                                                                    \
            return;                                                                        \
        bits_type low_bits, high_bits;                                                     \
        memcpy(&low_bits, &low, sizeof(low_bits));                                         \
        memcpy(&high_bits, &high, sizeof(high_bits));                                      \
        add_block(s, low_bits, high_bits, sum, squares, plain);                            \
    }

#define ADD_INTEGERS(name, type, bits_type)                                                \
    static void name(struct simpler_tensor_stats *s, const unsigned char *bytes, size_t n) \
    {                                                                                      \
        type low = 0, high = 0;                                                            \
        long double sum = 0, squares = 0;                                                  \
        for (size_t i = 0; i < n; i++) {                                                   \
            type v;                                                                        \
            memcpy(&v, bytes + i * sizeof(v), sizeof(v));                                  \
            low = i == 0 || v < low ? v : low;                                             \
            high = i == 0 || v > high ? v : high;                                          \
            s->zero += v == 0;                                                             \
            sum += (long double)v;                                                         \
            squares += (long double)v * (long double)v;                                    \
        }                                                                                  \
        if (n > 0)                                                                         \
            add_block(s, (bits_type)low, (bits_type)high, sum, squares, n);                \
    }

/* The sums of many plain values at once. */
static void add_block(struct simpler_tensor_stats *s, uint64_t low, uint64_t high, long double sum,
                      long double squares, uint64_t n)
{
    if (s->finite == 0 || is_less(s->dtype, low, s->min_bits))
        s->min_bits = low;
    if (s->finite == 0 || is_less(s->dtype, s->max_bits, high))
        s->max_bits = high;
    s->count += n;
    s->finite += n;
    s->sum += sum;
    s->sum_of_squares += squares;
}

ADD_FLOATS(add_float32, float, uint32_t)
ADD_FLOATS(add_float64, double, uint64_t)
ADD_INTEGERS(add_int32, int32_t, uint32_t)
ADD_INTEGERS(add_uint32, uint32_t, uint32_t)
ADD_INTEGERS(add_int64, int64_t, uint64_t)
ADD_INTEGERS(add_uint64, uint64_t, uint64_t)

static void count_codes(struct simpler_tensor_stats *s, const unsigned char *bytes, size_t n_bytes)
{
    if (simpler_dtype_bytes(s->dtype) == 1) {
        for (size_t i = 0; i < n_bytes; i++)
            s->histogram[bytes[i]]++;
        return;
    }
    for (size_t i = 0; i + 1 < n_bytes; i += 2)
        s->histogram[bytes[i] | (unsigned)bytes[i + 1] << 8]++;
}

/* All values of one element that occurs times times. */
static void add_element(struct simpler_tensor_stats *s, uint64_t bits, uint64_t times)
{
    if (simpler_number_values(s->dtype) == 1) {
        add_value(s, bits, times);
        return;
    }
    add_value(s, bits & 15, times);
    add_value(s, bits >> 4, times);
}

static void add_one_by_one(struct simpler_tensor_stats *s, const unsigned char *bytes, size_t n)
{
    size_t element = simpler_dtype_bytes(s->dtype);

    for (size_t i = 0; i < n; i++)
        add_element(s, simpler_number_load(s->dtype, bytes + i * element), 1);
}

void simpler_tensor_stats_add_bits(struct simpler_tensor_stats *s, uint64_t bits)
{
    add_element(s, bits, 1);
}

void simpler_tensor_stats_add(struct simpler_tensor_stats *s, const void *bytes, size_t n_bytes)
{
    size_t n = n_bytes / simpler_dtype_bytes(s->dtype);

    if (s->histogram != NULL)
        count_codes(s, bytes, n_bytes);
    else if (s->dtype == SIMPLER_DTYPE_FLOAT32)
        add_float32(s, bytes, n);
    else if (s->dtype == SIMPLER_DTYPE_FLOAT64)
        add_float64(s, bytes, n);
    else if (s->dtype == SIMPLER_DTYPE_INT32)
        add_int32(s, bytes, n);
    else if (s->dtype == SIMPLER_DTYPE_UINT32)
        add_uint32(s, bytes, n);
    else if (s->dtype == SIMPLER_DTYPE_INT64)
        add_int64(s, bytes, n);
    else if (s->dtype == SIMPLER_DTYPE_UINT64)
        add_uint64(s, bytes, n);
    else
        add_one_by_one(s, bytes, n);
}

void simpler_tensor_stats_add_zeros(struct simpler_tensor_stats *s, uint64_t n_bytes)
{
    uint64_t n = n_bytes / simpler_dtype_bytes(s->dtype);

    if (n == 0)
        return;
    if (s->histogram != NULL)
        s->histogram[0] += n;
    else
        add_element(s, 0, n);
}

static void look_at_codes(struct simpler_tensor_stats *s)
{
    size_t codes = code_count(s->dtype);

    for (size_t code = 0; code < codes; code++) {
        if (s->histogram[code] > 0)
            add_element(s, code, s->histogram[code]);
    }
}

void simpler_tensor_stats_finish(struct simpler_tensor_stats *s)
{
    if (s->histogram != NULL)
        look_at_codes(s);
    if (s->finite == 0)
        return;
    s->mean = (double)(s->sum / (long double)s->finite);
    s->l2 = (double)sqrtl(s->sum_of_squares);
}
