/* SPDX-License-Identifier: Apache-2.0 */
/* Elements as text: printf for floats, digits by hand for integers. */
#include "report/number_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/number.h"

const char simpler_number_text_legend[] =
    "nan(0xM) has the mantissa field M; nan alone has the quiet bit only; "
    "the text reads back to the same bits";

size_t simpler_number_text_decimal(uint64_t value, char *out)
{
    char digits[20];
    size_t n = 0;

    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    for (size_t i = 0; i < n; i++)
        out[i] = digits[n - 1 - i];
    out[n] = '\0';
    return n;
}

static size_t signed_text(int64_t value, char *out)
{
    if (value >= 0)
        return simpler_number_text_decimal((uint64_t)value, out);
    *out = '-';
    return 1 + simpler_number_text_decimal(0 - (uint64_t)value, out + 1);
}

/* Digits that tell every two values of a type apart. */
static int significant_digits(uint32_t dtype)
{
    switch (dtype) {
    case SIMPLER_DTYPE_FLOAT64:
        return 17;
    case SIMPLER_DTYPE_FLOAT16:
        return 5;
    case SIMPLER_DTYPE_BFLOAT16:
        return 4;
    default:
        return 9;
    }
}

static size_t nan_text(const struct simpler_number *n, char *out)
{
    const char *sign = n->negative ? "-" : "";
    int length = n->canonical_nan ? snprintf(out, SIMPLER_NUMBER_TEXT_MAX, "%snan", sign)
                                  : snprintf(out, SIMPLER_NUMBER_TEXT_MAX, "%snan(0x%" PRIx64 ")",
                                             sign, n->mantissa);
    return (size_t)length;
}

static size_t float_text(uint32_t dtype, uint64_t bits, char *out)
{
    struct simpler_number n = simpler_number_float(dtype, bits);

    if (n.kind == SIMPLER_NUMBER_NAN)
        return nan_text(&n, out);
    if (n.kind == SIMPLER_NUMBER_ZERO || n.kind == SIMPLER_NUMBER_INF) {
        const char *text = n.kind == SIMPLER_NUMBER_ZERO ? "-0" : "-inf";
        text += n.negative ? 0 : 1;
        size_t length = strlen(text);
        memcpy(out, text, length + 1);
        return length;
    }
    return (size_t)snprintf(out, SIMPLER_NUMBER_TEXT_MAX, "%.*g", significant_digits(dtype),
                            n.value);
}

size_t simpler_number_text(uint32_t dtype, uint64_t bits, char out[SIMPLER_NUMBER_TEXT_MAX])
{
    switch (simpler_number_family(dtype)) {
    case SIMPLER_NUMBER_FLOAT:
        return float_text(dtype, bits, out);
    case SIMPLER_NUMBER_SIGNED:
        return signed_text(simpler_number_signed(dtype, bits), out);
    default:
        return simpler_number_text_decimal(bits, out);
    }
}

size_t simpler_number_text_width(uint32_t dtype)
{
    static const uint8_t widths[SIMPLER_DTYPE_NUM] = {
        [SIMPLER_DTYPE_FLOAT32] = 15,   /* -1.17549435e-38 */
        [SIMPLER_DTYPE_FLOAT16] = 11,   /* -nan(0x3ff), -5.9605e-08 */
        [SIMPLER_DTYPE_BFLOAT16] = 10,  /* -1.175e-38, -nan(0x7f) */
        [SIMPLER_DTYPE_FLOAT64] = 24,   /* -2.2250738585072014e-308 */
        [SIMPLER_DTYPE_FP8E4M3FN] = 12, /* -0.021484375 */
        [SIMPLER_DTYPE_FP8E8M0] = 14,   /* 5.87747175e-39 */
        [SIMPLER_DTYPE_FP4E2M1] = 4,    /* -0.5 */
        [SIMPLER_DTYPE_INT8] = 4,       [SIMPLER_DTYPE_INT16] = 6,   [SIMPLER_DTYPE_INT32] = 11,
        [SIMPLER_DTYPE_INT64] = 20,     [SIMPLER_DTYPE_UINT8] = 3,   [SIMPLER_DTYPE_BOOL] = 3,
        [SIMPLER_DTYPE_UINT16] = 5,     [SIMPLER_DTYPE_UINT32] = 10, [SIMPLER_DTYPE_UINT64] = 20,
    };
    return dtype < SIMPLER_DTYPE_NUM ? widths[dtype] : 2;
}
