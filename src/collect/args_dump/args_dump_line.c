/* SPDX-License-Identifier: Apache-2.0 */
/* Millions of entries a second: literals are copied with their length known. */
#include "collect/args_dump/args_dump_line.h"

#include <inttypes.h>
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

static char *put_text(char *to, const char *text)
{
    return put(to, text, strlen(text));
}

static char *put_u64(char *to, uint64_t value)
{
    char digits[20];
    size_t n = sizeof(digits);

    do {
        digits[--n] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return put(to, digits + n, sizeof(digits) - n);
}

static char *put_i64(char *to, int64_t value)
{
    if (value >= 0)
        return put_u64(to, (uint64_t)value);
    *to++ = '-';
    return put_u64(to, 0 - (uint64_t)value);
}

static char *put_id(char *to, uint64_t id)
{
    static const char hex[] = "0123456789abcdef";

    for (int shift = 60; shift >= 0; shift -= 4)
        *to++ = hex[id >> shift & 15];
    return to;
}

static char *put_list(char *to, const uint32_t *values, uint32_t count)
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

static char *put_bool(char *to, bool value)
{
    return value ? PUT(to, "true") : PUT(to, "false");
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
    to = put_text(to, text);
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

static char *put_funcs(char *to, const struct args_dump_record *r)
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

static char *put_role(char *to, const struct args_dump_record *r)
{
    static const char *const roles[] = {"input", "output", "inout", "inout"};

    to = PUT(to, ", \"role\": \"");
    to = put_text(to, roles[r->role & 3]);
    to = r->stage == ARGS_DUMP_BEFORE ? PUT(to, "\", \"stage\": \"before_dispatch\"")
                                      : PUT(to, "\", \"stage\": \"after_completion\"");
    to = PUT(to, ", \"arg_index\": ");
    return put_u64(to, r->arg_index);
}

static char *put_view(char *to, const struct args_dump_record *r)
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
    to = put_text(to, simpler_dtype_name(r->dtype));
    *to++ = '"';
    if (r->kind == ARGS_DUMP_SCALAR) {
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
