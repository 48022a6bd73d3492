/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Millions of entries a second: literals are copied with their length known, words and
 * numbers with room behind them, so that no copy depends on a length.
 */
#include "collect/args_dump/args_dump_line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "simpler/dtype.h"

#define PUT(to, text) put((to), (text), sizeof(text) - 1)

SIMPLER_INLINE char *put(char *to, const char *text, size_t bytes)
{
    memcpy(to, text, bytes);
    return to + bytes;
}

/* A word that is copied whole, with what lies behind its end. */
struct word {
    char text[24];
    uint8_t bytes;
};
#define WORD(text)             \
    {                          \
        text, sizeof(text) - 1 \
    }

SIMPLER_INLINE char *put_word(char *to, const struct word *word)
{
    memcpy(to, word->text, sizeof(word->text));
    return to + word->bytes;
}

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899"; /* and a NUL */

static SIMPLER_NOINLINE char *put_long(char *to, uint64_t value)
{
    char digits[40];
    size_t n = 20;

    for (; value >= 100; value /= 100)
        memcpy(&digits[n -= 2], &pairs[value % 100 * 2], 2);
    memcpy(&digits[n -= 2], &pairs[value * 2], 2);
    n += value < 10;
    memcpy(to, &digits[n], 20);
    return to + 20 - n;
}

SIMPLER_INLINE char *put_u64(char *to, uint64_t value)
{
    if (value >= 100)
        return put_long(to, value);
    memcpy(to, &pairs[value * 2 + (value < 10)], 2);
    return to + 2 - (value < 10);
}

static char *put_i64(char *to, int64_t value)
{
    if (value >= 0)
        return put_u64(to, (uint64_t)value);
    *to++ = '-';
    return put_u64(to, 0 - (uint64_t)value);
}

/* Eight digits at once: nibbles are spread over bytes, and those above 9 moved on to the letters.
 */
SIMPLER_INLINE uint64_t hex_of(uint32_t value)
{
    uint64_t x = value;

    x = (x << 16 | x) & 0x0000ffff0000ffff;
    x = (x << 8 | x) & 0x00ff00ff00ff00ff;
    x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0f;
    uint64_t letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
    return __builtin_bswap64(x + 0x3030303030303030 + letters * ('a' - '0' - 10));
}

SIMPLER_INLINE char *put_id(char *to, uint64_t id)
{
    uint64_t text[2] = {hex_of((uint32_t)(id >> 32)), hex_of((uint32_t)id)};

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    text[0] = __builtin_bswap64(text[0]);
    text[1] = __builtin_bswap64(text[1]);
#endif
    memcpy(to, text, sizeof(text));
    return to + sizeof(text);
}

SIMPLER_INLINE char *put_list(char *to, const uint32_t *values, uint32_t count)
{
    *to++ = '[';
    for (uint32_t i = 0; i < count; i++) {
        if (i != 0)
            to = PUT(to, ", ");
        to = put_u64(to, values[i]);
    }
    *to++ = ']';
    return to;
}

SIMPLER_INLINE char *put_bool(char *to, bool value)
{
    static const struct word words[] = {WORD("false"), WORD("true")};
    return put_word(to, &words[value]);
}

/* ---- scalars ---- */

/* The shortest text that reads back to the same number; always seen to be no integer. */
static char *put_number(char *to, double value, bool is_single)
{
    char text[40];

    if (isnan(value))
        return PUT(to, "\"nan\"");
    if (isinf(value))
        return value > 0 ? PUT(to, "\"inf\"") : PUT(to, "\"-inf\"");
    for (int digits = is_single ? 6 : 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, value);
        double back = is_single ? (double)strtof(text, NULL) : strtod(text, NULL);
        if (back == value)
            break;
    }
    to = put(to, text, strlen(text));
    return strpbrk(text, ".e") == NULL ? PUT(to, ".0") : to;
}

static double from_half(uint16_t bits)
{
    uint32_t exponent = bits >> 10 & 31;
    double fraction = bits & 1023, value;

    if (exponent == 31)
        value = fraction > 0 ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = fraction / 16777216.0;
    else
        value = (fraction + 1024) * (double)(1u << exponent) / 33554432.0;
    return bits & 0x8000 ? -value : value;
}

static double from_single_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return (double)value;
}

static char *put_value(char *to, uint32_t dtype, uint64_t bits)
{
    double wide;

    switch (dtype) {
    case SIMPLER_DTYPE_FLOAT32:
        return put_number(to, from_single_bits((uint32_t)bits), true);
    case SIMPLER_DTYPE_FLOAT64:
        memcpy(&wide, &bits, sizeof(wide));
        return put_number(to, wide, false);
    case SIMPLER_DTYPE_FLOAT16:
        return put_number(to, from_half((uint16_t)bits), true);
    case SIMPLER_DTYPE_BFLOAT16:
        return put_number(to, from_single_bits((uint32_t)(bits & 0xffff) << 16), true);
    case SIMPLER_DTYPE_INT8:
        return put_i64(to, (int8_t)bits);
    case SIMPLER_DTYPE_INT16:
        return put_i64(to, (int16_t)bits);
    case SIMPLER_DTYPE_INT32:
        return put_i64(to, (int32_t)bits);
    case SIMPLER_DTYPE_INT64:
        return put_i64(to, (int64_t)bits);
    case SIMPLER_DTYPE_BOOL:
        return put_bool(to, (bits & 255) != 0);
    default: /* unsigned, and bits without a value of their own */
        return put_u64(to, simpler_dtype_bytes(dtype) == 8
                               ? bits
                               : bits & (((uint64_t)1 << 8 * simpler_dtype_bytes(dtype)) - 1));
    }
}

/* ---- entries ---- */

static const struct word dtypes[] = {
#define X(id, NAME, text, bytes) [id] = WORD(text),
    SIMPLER_DTYPE_MAP(X)
#undef X
        [SIMPLER_DTYPE_NUM] = WORD("UNKNOWN"),
};

SIMPLER_INLINE char *put_dtype(char *to, uint32_t dtype)
{
    return put_word(to, &dtypes[dtype < SIMPLER_DTYPE_NUM ? dtype : SIMPLER_DTYPE_NUM]);
}

SIMPLER_INLINE char *put_funcs(char *to, const struct args_dump_record *r)
{
    *to++ = '[';
    for (uint32_t i = 0; i < r->func_count && i < ARGS_DUMP_MAX_FUNCS; i++) {
        if (i != 0)
            to = PUT(to, ", ");
        to = r->func_ids[i] == ARGS_DUMP_FUNC_NONE ? PUT(to, "-1") : put_u64(to, r->func_ids[i]);
    }
    if (r->func_count == 0)
        to = PUT(to, "-1");
    *to++ = ']';
    return to;
}

SIMPLER_INLINE char *put_role(char *to, const struct args_dump_record *r)
{
    static const struct word roles[] = {WORD("input"), WORD("output"), WORD("inout"),
                                        WORD("inout")};

    to = PUT(to, ", \"role\": \"");
    to = put_word(to, &roles[r->role & 3]);
    to = r->stage == ARGS_DUMP_BEFORE
             ? PUT(to, "\", \"stage\": \"before_dispatch\", \"arg_index\": ")
             : PUT(to, "\", \"stage\": \"after_completion\", \"arg_index\": ");
    return put_u64(to, r->arg_index);
}

SIMPLER_INLINE char *put_view(char *to, const struct args_dump_record *r)
{
    to = PUT(to, ", \"shape\": ");
    to = put_list(to, r->shapes, r->ndims);
    to = PUT(to, ", \"strides\": ");
    to = put_list(to, r->strides, r->ndims);
    to = PUT(to, ", \"start_offset\": ");
    to = put_u64(to, r->start_offset);
    to = PUT(to, ", \"is_contiguous\": ");
    return put_bool(to, r->is_contiguous != 0);
}

size_t simpler_args_dump_line(char *to, const struct args_dump_record *r)
{
    char *start = to;

    to = PUT(to, "{\"task_id\": \"0x");
    to = put_id(to, r->task_id);
    to = PUT(to, "\", \"func_id\": ");
    to = put_funcs(to, r);
    to = put_role(to, r);
    if (r->flags & ARGS_DUMP_AMBIGUOUS)
        to = PUT(to, ", \"arg_index_ambiguous\": true");
    to = r->kind == ARGS_DUMP_SCALAR ? PUT(to, ", \"kind\": \"scalar\", \"dtype\": \"")
                                     : PUT(to, ", \"kind\": \"tensor\", \"dtype\": \"");
    to = put_dtype(to, r->dtype);
    *to++ = '"';
    if (SIMPLER_UNLIKELY(r->kind == ARGS_DUMP_SCALAR)) {
        to = PUT(to, ", \"value\": ");
        to = put_value(to, r->dtype, r->scalar_value);
    }
    to = put_view(to, r);
    to = PUT(to, ", \"truncated\": ");
    to = put_bool(to, r->truncated != 0);
    to = PUT(to, ", \"bin_offset\": ");
    to = put_u64(to, r->payload_size != 0 ? r->payload_offset : 0);
    to = PUT(to, ", \"bin_size\": ");
    to = put_u64(to, r->payload_size);
    *to++ = '}';
    return (size_t)(to - start);
}
