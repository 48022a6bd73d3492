#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 120
"""dump-viewer: exported text and csv read back to the same bits (AD-14, AD-32).

10,000 random patterns of every dtype, every code of the 8-bit, 4-bit and 16-bit
floats, and the digits of each against exact arithmetic.
"""
import functools
import os
import random
import sys

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests/support"))
import args_dump_gen as gen
import dump_text
import float_codes
from viewer_cli import check, finish, run, saved, scratch

PATTERNS = 10_000
SPECIAL = {
    "float64": (0, 1 << 63, 1, (1 << 63) | 1, 0x7ff << 52, 0xfff << 52, 0x7ff0000000000001,
                0x7ff8000000000000, 0xfff8000000000123, 0xffffffffffffffff, 0x000fffffffffffff,
                0x0010000000000000, 0x7fefffffffffffff, 0x3fb999999999999a),
    "float32": (0, 1 << 31, 1, 0x80000001, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000,
                0xffc00123, 0xffffffff, 0x007fffff, 0x00800000, 0x7f7fffff, 0x3dcccccd, 0x3f800001,
                0x4b7fffff, 0x4b800001),
}


def patterns(dtype, rng):
    bits = dump_text.BITS[dtype] if dtype != "fp4e2m1" else 8
    if bits <= 16 and float_codes.is_float(dtype):
        return list(range(1 << bits))  # all of them
    edges = [0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1]
    edges += SPECIAL.get(dtype, ())
    if dtype in ("float32", "float64"):  # denormals and NaNs are rare among random bits
        mantissa = float_codes.FORMATS[dtype][2]
        for _ in range(300):
            edges.append(rng.getrandbits(mantissa) | rng.getrandbits(1) << (bits - 1))
            edges.append(rng.getrandbits(bits) | ((1 << (bits - 1 - mantissa)) - 1) << mantissa)
    return edges + [rng.getrandbits(bits) for _ in range(PATTERNS)]


def codes_of(dtype, byte_codes):
    """What a payload's elements are: fp4e2m1 has two in a byte, the low nibble first."""
    if dtype != "fp4e2m1":
        return byte_codes
    return [n for b in byte_codes for n in (b & 15, b >> 4)]


def make(directory, rng):
    """One 2-D tensor of each dtype; returns {dtype: (index, shape, codes)}."""
    dump, wanted = gen.Dump(), {}
    for index, (dtype, width) in enumerate(gen.BYTES.items()):
        codes = patterns(dtype, rng)
        columns = 7 if len(codes) % 8 else 8
        codes += [0] * (-len(codes) % columns)
        payload = b"".join(c.to_bytes(width, "little") for c in codes)
        shape = [len(codes) // columns, columns]
        dump.tensor(dtype, shape, payload, task=index)
        wanted[dtype] = (index, shape, codes_of(dtype, codes))
    dump.write(directory)
    return wanted


def one_saved(result, directory):
    paths = saved(result, directory)
    check(len(paths) == 1, "one line 'Saved: PATH' for one entry", result)
    return paths[0] if paths else None


read_bits = functools.lru_cache(maxsize=None)(dump_text.bits_of)


def read_back(dtype, values, codes, where):
    """Compares printed values with the codes; also the digits against exact arithmetic."""
    if not check(len(values) == len(codes), f"{where}: {len(values)} values, {len(codes)} elements"):
        return
    for at, (text, code) in enumerate(zip(values, codes)):
        try:
            got = read_bits(dtype, text)
        except ValueError as error:
            if not check(False, f"{where}: element {at} (bits {code:#x}): {error}"):
                return
        if not check(got == code, f"{where}: element {at}: bits {code:#x} printed as {text!r}, "
                                  f"which reads as {got:#x}"):
            return
        if not digits_right(dtype, text, code):
            check(False, f"{where}: element {at}: bits {code:#x} printed as {text!r}: not the value "
                         f"rounded to its digits")
            return


@functools.lru_cache(maxsize=None)  # the csv holds the same texts as the txt
def digits_right(dtype, text, code):
    if not float_codes.is_float(dtype):
        return True
    kind, _, value = float_codes.decode(dtype, code)
    if kind != "finite":
        return kind in text.lower()
    if not dump_text.NUMBER.match(text.strip()):
        return False
    printed = dump_text.Fraction(text.strip())
    if dtype in float_codes.DIGITS:
        return printed == float_codes.rounded(value, float_codes.DIGITS[dtype])
    return abs(printed - value) <= abs(value) / 1000


def detail_values(export, shape, per_element, where):
    """The detail's values in order; their indices must be the row-major ones."""
    values = []
    indices = dump_text.row_major_indices(shape)
    for (index, text), want in zip(export.detail, indices):
        if not check(index == want, f"{where}: detail index {index} where {want} is due"):
            return []
        words = text.split()
        if not check(len(words) == per_element, f"{where}: {text!r} holds {len(words)} values"):
            return []
        values += words
    check(len(export.detail) == shape[0] * shape[1],
          f"{where}: {len(export.detail)} detail lines for shape {shape}")
    return values


def main():
    float_codes.self_check()
    directory = scratch()
    wanted = make(directory, random.Random(20240711))
    for dtype, (index, shape, codes) in wanted.items():
        per_element = 2 if dtype == "fp4e2m1" else 1
        result = run(directory, "--index", index)
        check(result.status == 0, f"{dtype}: export as text", result)
        path = one_saved(result, directory)
        if path:
            export = dump_text.TextExport(path)
            check(export.header.get("dtype") == dtype, f"{dtype}: header {export.header}")
            check(dump_text.NAN_RULE in export.header.get("numbers", "") or
                  not float_codes.is_float(dtype),
                  f"{dtype}: the header does not tell how NaN is spelled")
            values = detail_values(export, shape, per_element, f"{dtype} txt")
            read_back(dtype, values, codes, f"{dtype} txt")
            overview = [w for line in export.overview for w in line.split()]
            check(overview == values, f"{dtype}: overview and detail hold different values")
            check(len({len(line) for line in export.overview}) == 1,
                  f"{dtype}: the overview's columns are not aligned")
            check(len(export.overview) == shape[0], f"{dtype}: {len(export.overview)} overview rows")
        result = run(directory, "--index", index, "--format", "csv")
        check(result.status == 0, f"{dtype}: export as csv", result)
        path = one_saved(result, directory)
        if path:
            rows = dump_text.read_csv(path)
            check({len(row) for row in rows} == {shape[1] * per_element} and len(rows) == shape[0],
                  f"{dtype} csv: {len(rows)} rows for shape {shape}")
            read_back(dtype, [v for row in rows for v in row], codes, f"{dtype} csv")
    finish()


main()
