/* SPDX-License-Identifier: Apache-2.0 */
#include "element.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simpler/dtype.h"

struct simpler_element_number simpler_element_integer(int64_t value)
{
    struct simpler_element_number number = {true, value < 0, (uint64_t)value, (double)value};

    if (value < 0)
        number.magnitude = 0 - number.magnitude;
    return number;
}

struct simpler_element_number simpler_element_real(double value)
{
    struct simpler_element_number number = {false, value < 0, 0, value};

    /* 2.0 is as good an integer as 2; -0.0 is none. */
    if (value == floor(value) && fabs(value) < 9007199254740992.0 &&
        !(value == 0 && signbit(value)))
        return simpler_element_integer((int64_t)value);
    return number;
}

bool simpler_element_parse(const char *text, struct simpler_element_number *out)
{
    const char *digits = text + (text[0] == '-');
    char *end;

    errno = 0;
    uint64_t magnitude = strtoull(digits, &end, 0);
    if (end != digits && *end == '\0' && errno == 0 && *digits != '-') {
        out->is_integer = true;
        out->is_negative = digits != text && magnitude != 0;
        out->magnitude = magnitude;
        out->real = digits != text ? -(double)magnitude : (double)magnitude;
        return true;
    }
    *out = simpler_element_real(strtod(text, &end));
    return end != text && *end == '\0';
}

/* A finite or infinite double as float16: one rounding, to nearest even. */
static uint64_t encode_float16(double value)
{
    const uint64_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);

    if (isnan(value))
        return sign | 0x7e00;
    if (magnitude >= 65520.0)
        return sign | 0x7c00;
    int exponent = magnitude < 0x1p-14 ? -14 : ilogb(magnitude);
    /* In units of the last place; 2048 of them carry into the next exponent. */
    uint64_t units = (uint64_t)nearbyint(ldexp(magnitude, 10 - exponent));
    return sign | (units + ((uint64_t)(exponent + 14) << 10));
}

static uint64_t encode_bfloat16(double value)
{
    const float narrow = (float)value;
    uint32_t bits;

    memcpy(&bits, &narrow, sizeof(bits));
    if (isnan(narrow))
        return bits >> 16 | 0x40;
    return (uint32_t)(bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static bool encode_integer(uint32_t width, bool is_signed,
                           const struct simpler_element_number *number, uint64_t *bits)
{
    const uint64_t all = UINT64_MAX >> (64 - width);
    const uint64_t most = is_signed ? all >> 1 : all;

    if (!number->is_integer ||
        number->magnitude > (number->is_negative ? (is_signed ? most + 1 : 0) : most))
        return false;
    *bits = (number->is_negative ? 0 - number->magnitude : number->magnitude) & all;
    return true;
}

bool simpler_element_encode(uint32_t dtype, const struct simpler_element_number *number,
                            uint64_t *bits)
{
    const float narrow = (float)number->real;
    const uint32_t width = 8 * (uint32_t)simpler_dtype_bytes(dtype);

    *bits = 0;
    switch (dtype) {
    case SIMPLER_DTYPE_FLOAT64:
        memcpy(bits, &number->real, sizeof(number->real));
        return true;
    case SIMPLER_DTYPE_FLOAT32:
        memcpy(bits, &narrow, sizeof(narrow));
        return true;
    case SIMPLER_DTYPE_FLOAT16:
        *bits = encode_float16(number->real);
        return true;
    case SIMPLER_DTYPE_BFLOAT16:
        *bits = encode_bfloat16(number->real);
        return true;
    case SIMPLER_DTYPE_BOOL:
        *bits = number->real != 0;
        return true;
    case SIMPLER_DTYPE_INT8:
    case SIMPLER_DTYPE_INT16:
    case SIMPLER_DTYPE_INT32:
    case SIMPLER_DTYPE_INT64:
        return encode_integer(width, true, number, bits);
    case SIMPLER_DTYPE_UINT8:
    case SIMPLER_DTYPE_UINT16:
    case SIMPLER_DTYPE_UINT32:
    case SIMPLER_DTYPE_UINT64:
        return encode_integer(width, false, number, bits);
    default:
        return false;
    }
}
