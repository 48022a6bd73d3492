/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMPLER_TOOLS_ELEMENT_H
#define SIMPLER_TOOLS_ELEMENT_H

/* Numbers as people write them, and the bits of one element that they become. */
#include <stdbool.h>
#include <stdint.h>

struct simpler_element_number {
    bool is_integer;
    bool is_negative;
    uint64_t magnitude; /* of an integer */
    double real;        /* of an integer too, rounded */
};

struct simpler_element_number simpler_element_integer(int64_t value);
struct simpler_element_number simpler_element_real(double value);
/* In any base that C has; inf and nan too.  False when it is no number. */
bool simpler_element_parse(const char *text, struct simpler_element_number *out);

/*
 * The element's bytes, low; floats are rounded to nearest even.  False when the
 * number does not fit the type, or the type has no numbers of its own (fp8, fp4).
 */
bool simpler_element_encode(uint32_t dtype, const struct simpler_element_number *number,
                            uint64_t *bits);

#endif
