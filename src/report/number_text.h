/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_REPORT_NUMBER_TEXT_H
#define SIMPLER_REPORT_NUMBER_TEXT_H

/*
 * Elements as text that reads back to the same bits.
 *
 *   finite floats  as many significant digits as the type needs: float64 17,
 *                  float32 9, float16 5, bfloat16 4; smaller ones are exact
 *   zeros          0 and -0
 *   infinities     inf and -inf
 *   NaN            nan and -nan for the NaN whose quiet bit alone is set, else
 *                  nan(0x12) or -nan(0x12): the whole mantissa field
 *   integers       decimal; a bool is its byte
 */
#include <stddef.h>
#include <stdint.h>

/* Enough for any element and its NUL. */
#define SIMPLER_NUMBER_TEXT_MAX 40

/*
 * Writes one value and a NUL, returns the length.  For fp4e2m1 the low four
 * bits count.  An unknown type is not allowed.
 */
size_t simpler_number_text(uint32_t dtype, uint64_t bits, char out[SIMPLER_NUMBER_TEXT_MAX]);

/* The longest text of any value of the type. */
size_t simpler_number_text_width(uint32_t dtype);

/* Decimal digits of an integer and a NUL, at most 21 bytes; returns the length. */
size_t simpler_number_text_decimal(uint64_t value, char *out);

/* One sentence on how NaNs are spelt, for the head of a file. */
extern const char simpler_number_text_legend[];

#endif
