#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Small and IEEE float formats from their definitions, in exact rational numbers.

float16, float32, float64: IEEE 754.  bfloat16: the high half of a float32.
fp8e4m3fn: OCP 8-bit, bias 7, no infinity, NaN only S.1111.111.  fp8e8m0 and
fp4e2m1: OCP microscaling; 2^(code - 127) with 0xff as NaN, and E2M1 with bias 1
and neither infinity nor NaN.
"""
from fractions import Fraction

# name: bits, exponent bits, mantissa bits, bias, has infinities
FORMATS = {
    "float64": (64, 11, 52, 1023, True),
    "float32": (32, 8, 23, 127, True),
    "float16": (16, 5, 10, 15, True),
    "bfloat16": (16, 8, 7, 127, True),
    "fp8e4m3fn": (8, 4, 3, 7, False),
    "fp4e2m1": (4, 2, 1, 1, False),
}
# Significant digits of the text export.
DIGITS = {"float64": 17, "float32": 9, "float16": 5, "bfloat16": 4}


def is_float(dtype):
    return dtype in FORMATS or dtype == "fp8e8m0"


def decode(dtype, code):
    """('finite', sign, Fraction), ('inf', sign, None) or ('nan', sign, None)."""
    if dtype == "fp8e8m0":
        if code == 0xff:
            return "nan", 0, None
        return "finite", 0, Fraction(2) ** (code - 127)
    bits, ebits, mbits, bias, infinite = FORMATS[dtype]
    sign = code >> (bits - 1)
    exponent = code >> mbits & ((1 << ebits) - 1)
    mantissa = code & ((1 << mbits) - 1)
    top = (1 << ebits) - 1
    if infinite and exponent == top:
        return ("inf" if mantissa == 0 else "nan"), sign, None
    if dtype == "fp8e4m3fn" and exponent == top and mantissa == 7:
        return "nan", sign, None
    if exponent == 0:
        value = Fraction(mantissa, 1 << mbits) * Fraction(2) ** (1 - bias)
    else:
        value = (1 + Fraction(mantissa, 1 << mbits)) * Fraction(2) ** (exponent - bias)
    return "finite", sign, -value if sign else value


def subnormal(dtype, code):
    kind, _, value = decode(dtype, code)
    if dtype == "fp8e8m0" or kind != "finite" or value == 0:
        return False
    return abs(value) < Fraction(2) ** (1 - FORMATS[dtype][3])


def _floor_log2(value):
    e = value.numerator.bit_length() - value.denominator.bit_length()
    return e if Fraction(2) ** e <= value else e - 1


def encode(dtype, value, sign):
    """The code nearest to a Fraction, ties to even; sign matters for zero."""
    value = abs(value)
    if dtype == "fp8e8m0":
        if value == 0 or sign:
            raise ValueError(f"fp8e8m0 has no {'negative number' if sign else 'zero'}")
        e = _floor_log2(value)
        if value / Fraction(2) ** e > Fraction(3, 2):
            e += 1
        return e + 127
    bits, _, mbits, bias, infinite = FORMATS[dtype]
    code = 0
    if value != 0:
        e = max(_floor_log2(value), 1 - bias)
        units = value / Fraction(2) ** (e - mbits)
        n = round(units)  # to even
        code = n if e == 1 - bias else ((e + bias) << mbits) + n - (1 << mbits)
    if code >= 1 << (bits - 1):
        raise ValueError("beyond the format")
    if not infinite and decode(dtype, code)[0] != "finite":
        raise ValueError("beyond the format")
    return code | sign << (bits - 1)


def rounded(value, digits):
    """A Fraction rounded to so many significant decimal digits, ties to even."""
    if value == 0:
        return value
    magnitude = abs(value)
    e = len(str(magnitude.numerator)) - len(str(magnitude.denominator))
    if Fraction(10) ** e > magnitude:
        e -= 1
    unit = Fraction(10) ** (e - digits + 1)
    return round(value / unit) * unit


def self_check():
    """Known codes, worked out by hand from the standards' own tables."""
    assert decode("fp8e4m3fn", 0x7e) == ("finite", 0, 448)
    assert decode("fp8e4m3fn", 0x01) == ("finite", 0, Fraction(1, 512))
    assert decode("fp8e4m3fn", 0x08) == ("finite", 0, Fraction(1, 64))
    assert decode("fp8e4m3fn", 0xff)[0] == "nan" and decode("fp8e4m3fn", 0x78)[2] == 256
    assert [decode("fp4e2m1", c)[2] for c in range(8)] == [
        0, Fraction(1, 2), 1, Fraction(3, 2), 2, 3, 4, 6]
    assert decode("fp8e8m0", 0)[2] == Fraction(1, 2 ** 127) and decode("fp8e8m0", 127)[2] == 1
    assert decode("float16", 0x7bff)[2] == 65504 and decode("bfloat16", 0x4049)[2] == Fraction(201, 64)
    assert decode("float32", 0x3f800001)[2] == 1 + Fraction(1, 1 << 23)
    for dtype in ("fp8e4m3fn", "fp8e8m0", "fp4e2m1"):
        for code in range(16 if dtype == "fp4e2m1" else 256):
            kind, sign, value = decode(dtype, code)
            if kind == "finite":
                assert encode(dtype, value, sign) == code, (dtype, code)


if __name__ == "__main__":
    self_check()
    print("ok")
