# SPDX-License-Identifier: Apache-2.0
"""Reads exported text back into bits, without knowing how it was written.

It reads numbers with exact rational arithmetic (float_codes) and Python's own
integers.  NaNs are read by what the file's header says about them.
"""
import csv
import io
import re
from fractions import Fraction

import float_codes

SIGNED = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
UNSIGNED = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
BITS = {**SIGNED, **UNSIGNED, "bool": 8, "fp8e8m0": 8,
        **{k: v[0] for k, v in float_codes.FORMATS.items()}}
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")


def bits_of(dtype, text):
    """The code that a printed value stands for; ValueError if it stands for none."""
    text = text.strip()
    if dtype in SIGNED or dtype in UNSIGNED:
        if not re.fullmatch(r"-?\d+", text):
            raise ValueError(f"not an integer: {text!r}")
        value, width = int(text), BITS[dtype]
        low, high = (-(1 << (width - 1)), 1 << (width - 1)) if dtype in SIGNED else (0, 1 << width)
        if not low <= value < high:
            raise ValueError(f"{text} is beyond {dtype}")
        return value % (1 << width)
    if dtype == "bool":
        if text in ("true", "false"):
            return int(text == "true")
        m = re.fullmatch(r"(?:true\()?(0x[0-9a-f]+|\d+)\)?", text)
        if not m:
            raise ValueError(f"not a bool: {text!r}")
        return int(m.group(1), 0)
    return float_bits(dtype, text)


def float_bits(dtype, text):
    bits = BITS[dtype]
    sign = text.startswith("-")
    if "nan" in text:
        return nan_bits(dtype, text, sign)
    if text.lstrip("+-").lower() in ("inf", "infinity"):
        _, ebits, mbits, _, infinite = float_codes.FORMATS[dtype]
        if not infinite:
            raise ValueError(f"{dtype} has no infinity")
        return sign << (bits - 1) | ((1 << ebits) - 1) << mbits
    if not NUMBER.match(text):
        raise ValueError(f"not a number: {text!r}")
    return float_codes.encode(dtype, Fraction(text), int(sign))


# What the header of every text export says about NaNs.
NAN_RULE = "nan(0xM) has the mantissa field M; nan alone has the quiet bit only"


def nan_bits(dtype, text, sign):
    """By NAN_RULE.  fp8e4m3fn has one NaN of each sign, fp8e8m0 a single one."""
    m = re.fullmatch(r"-?nan(?:\(0x([0-9a-f]+)\))?", text)
    if not m or (dtype == "fp8e8m0" and text != "nan"):
        raise ValueError(f"not a NaN of {dtype}: {text!r}")
    if dtype == "fp8e8m0":
        return 0xff
    if dtype == "fp8e4m3fn":
        return sign << 7 | 0x7f
    bits, ebits, width, _, _ = float_codes.FORMATS[dtype]
    mantissa = int(m.group(1), 16) if m.group(1) else 1 << (width - 1)
    if not 0 < mantissa < 1 << width:
        raise ValueError(f"no mantissa of {dtype}: {text!r}")
    return sign << (bits - 1) | ((1 << ebits) - 1) << width | mantissa


class TextExport:
    """One exported .txt file: header, overview and detail."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.text = f.read()
        self.header = {}
        self.comments = []
        self.overview = []
        self.detail = []
        part = "header"
        for line in self.text.split("\n"):
            if line.startswith("# Overview"):
                part = "overview"
            elif line.startswith("# Detail"):
                part = "detail"
            elif line.startswith("#"):
                self.comments.append(line)
                m = re.match(r"# (\w+):\s?(.*)$", line)
                if m:
                    self.header.setdefault(m.group(1), m.group(2))
            elif not line.strip():
                continue
            elif part == "overview":
                self.overview.append(line)
            elif part == "detail":
                m = re.match(r"\[([0-9, ]*)\]\s+(.*)$", line)
                if not m:
                    raise ValueError(f"{path}: a detail line of another shape: {line!r}")
                index = tuple(int(x) for x in m.group(1).split(",") if x.strip())
                self.detail.append((index, m.group(2)))
            else:
                raise ValueError(f"{path}: data in the header: {line!r}")


def row_major_indices(shape):
    index = [0] * len(shape)
    if any(extent == 0 for extent in shape):
        return
    while True:
        yield tuple(index)
        for axis in reversed(range(len(shape))):
            index[axis] += 1
            if index[axis] < shape[axis]:
                break
            index[axis] = 0
        else:
            return
        if not shape:
            return


def read_csv(path):
    """The rows of values."""
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.reader(io.StringIO(f.read())))
