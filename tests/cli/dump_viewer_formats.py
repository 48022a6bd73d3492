#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 120
"""dump-viewer: npy, raw, csv, statistics, and what has no values (AD-14, AD-32)."""
import math
import os
import random
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests/support"))
import args_dump_gen as gen
import dump_text
import float_codes
from viewer_cli import check, finish, json_rows, run, saved, scratch, table_rows

try:
    import numpy
except ImportError:
    print("python3-numpy is not installed")
    sys.exit(77)

NPY = {"float32": "<f4", "float16": "<f2", "int32": "<i4", "int16": "<i2", "int8": "|i1",
       "uint8": "|u1", "bfloat16": "<u2", "int64": "<i8", "uint64": "<u8", "uint16": "<u2",
       "uint32": "<u4", "bool": "|b1", "fp8e4m3fn": "|u1", "fp8e8m0": "|u1", "fp4e2m1": "|u1",
       "float64": "<f8"}
SHAPES = ([13], [3, 5], [2, 3, 4], [2, 1, 3, 2], [1, 2, 3, 1, 2], [])


def payload(rng, dtype, count):
    if dtype == "bool":
        return bytes(rng.getrandbits(1) for _ in range(count))
    return rng.randbytes(count * gen.BYTES[dtype])


def make(directory, rng):
    dump = gen.Dump()
    for d, dtype in enumerate(gen.BYTES):
        for s, shape in enumerate(SHAPES):
            dump.tensor(dtype, shape, payload(rng, dtype, gen.numel(shape)), task=d, arg=s)
    storage = struct.pack("<60f", *range(60))
    view, strides, start = [3, 4], [2, 10], 5  # a transposed, strided view
    dump.tensor("float32", view, gen.gather(storage, 4, view, strides, start), task=99,
                strides=strides, start=start)
    dump.write(directory)
    return dump


def test_npy_and_raw(directory, dump):
    result = run(directory, "--export", "--format", "npy")
    check(result.status == 0, "npy export of everything", result)
    arrays = saved(result, directory)
    result = run(directory, "--export", "--format", "raw")
    check(result.status == 0, "raw export of everything", result)
    slices = saved(result, directory)
    if not check(len(arrays) == len(slices) == len(dump.entries),
                 f"{len(arrays)} npy and {len(slices)} raw files for {len(dump.entries)} entries"):
        return
    check(len(set(arrays)) == len(arrays), "two entries were saved under one name")
    for entry, wanted, npy, raw in zip(dump.entries, dump.payloads, arrays, slices):
        what = f"{entry['dtype']}{entry['shape']}"
        array = numpy.load(npy, allow_pickle=False)
        check(array.dtype.str == NPY[entry["dtype"]], f"{what}: npy dtype {array.dtype.str}")
        check(list(array.shape) == entry["shape"], f"{what}: npy shape {array.shape}")
        check(array.tobytes() == wanted and array.flags.c_contiguous, f"{what}: npy bytes differ")
        with open(raw, "rb") as f:
            check(f.read() == wanted, f"{what}: raw bytes differ")


def test_large(directory):
    """More than the pieces in which payload is read, at an odd offset, and an odd rest."""
    values = (numpy.arange(600_001, dtype="<f4") * numpy.float32(0.75)).astype("<f4")
    codes = (numpy.arange(700_001) % 65521).astype("<u2")
    dump = gen.Dump()
    dump.tensor("int8", [3], b"abc")
    dump.tensor("float32", [600_001], values.tobytes(), arg=1)
    dump.tensor("uint16", [7, 100_000], codes[:700_000].tobytes(), arg=2)
    dump.tensor("int8", [5], b"tail.", arg=3)
    dump.write(directory)
    for fmt in ("raw", "npy"):
        files = saved(run(directory, "--export", "--format", fmt), directory)
        for path, wanted in zip(files, dump.payloads):
            with open(path, "rb") as f:
                data = f.read()
            data = data if fmt == "raw" else numpy.load(path).tobytes()
            check(data == wanted, f"{fmt} of a large payload: {path}")
    path = saved(run(directory, "--index", 1, "--format", "csv"), directory)[0]
    read = numpy.loadtxt(path, delimiter=",", dtype="<f8").astype("<f4").ravel()
    check(read.tobytes() == values.tobytes(), "csv of a large payload")
    rows = json_rows(run(directory, "--arg", "1,2", "--stats", "--json"))
    for row, array in zip(rows, (values, codes[:700_000])):
        exact = array.astype(object) if array.dtype.kind == "u" else array.astype("<f8")
        mean = math.fsum(exact) / array.size
        check(row["stats"]["count"] == array.size and close(row["stats"]["mean"], mean, mean)
              and float(row["stats"]["max"]) == float(array.max()), f"statistics: {row['stats']}")


def test_view(directory, dump):
    index = len(dump.entries) - 1
    result = run(directory, "--index", index)
    export = dump_text.TextExport(saved(result, directory)[0])
    want = [(i, j) for i in range(3) for j in range(4)]
    check([d[0] for d in export.detail] == want, "view: indices")
    check([float(d[1]) for d in export.detail] == [5 + 2 * i + 10 * j for i, j in want],
          f"view: values {export.detail}")
    check(len(export.overview) == 3 and len({len(l) for l in export.overview}) == 1,
          f"view: overview rows of one width: {export.overview}")
    check("2, 10" in export.header.get("strides", "") and export.header.get("start_offset") == "5"
          and export.header.get("is_contiguous") == "false", f"view: header {export.header}")


def test_names(directory):
    """A manifest's entries may share a file name (two dumps of one argument): none is lost."""
    dump = gen.Dump()
    dump.tensor("int32", [1], struct.pack("<i", 11), role="inout")
    dump.tensor("int32", [1], struct.pack("<i", 22), role="inout", stage=gen.STAGES[1])
    dump.tensor("int32", [1], struct.pack("<i", 33), role="inout", stage=gen.STAGES[1])
    dump.tensor("int32", [1], struct.pack("<i", 44), arg=1)
    dump.tensor("int32", [1], struct.pack("<i", 55), role="inout")  # out of order, too
    dump.write(directory)
    files = saved(run(directory, "--export", "--format", "raw"), directory)
    values = []
    for path in files:
        with open(path, "rb") as f:
            values.append(struct.unpack("<i", f.read())[0])
    check(sorted(values) == [11, 22, 33, 44, 55], f"entries of one name: {files} hold {values}")


def test_unknown_dtype(directory):
    """Bytes of a type that this version does not know are shown as bytes."""
    dump = gen.Dump()
    entry = dump.tensor("uint8", [2, 20], bytes(range(100, 140)))
    entry["dtype"] = "float8_e5m2"
    dump.write(directory)
    with open(saved(run(directory, "--index", 0), directory)[0], encoding="utf-8") as f:
        text = f.read()
    shown_bytes = " ".join(l for l in text.splitlines() if l and not l.startswith("#"))
    check(bytes.fromhex(shown_bytes) == dump.payloads[0] and "float8_e5m2" in text, f"unknown: {text}")
    array = numpy.load(saved(run(directory, "--index", 0, "--format", "npy"), directory)[0])
    check(array.tobytes() == dump.payloads[0] and array.dtype == numpy.uint8, f"unknown npy {array!r}")
    check("unknown" in run(directory).out, "the listing says that the dtype is unknown")
    check(run(directory, "--check").status == 1, "--check does not pass an unknown dtype")


def shown(directory, index, *words):
    """A row, an export's text and the JSON row of one entry; all must succeed."""
    result = run(directory)
    check(result.status == 0, "listing", result)
    row = [r for r in table_rows(result.out) if r["index"] == index]
    exported = run(directory, "--index", index)
    check(exported.status == 0, f"export of entry {index}", exported)
    path = saved(exported, directory)[0]
    with open(path, encoding="utf-8") as f:
        text = f.read()
    return row[0]["rest"] if row else "", text


def test_without_values(directory):
    """Zero-size is empty, payload-less is not captured, truncated is what there is (AD-32)."""
    dump = gen.Dump(level=3)
    dump.tensor("float32", [0], b"")
    dump.tensor("float32", [3, 0, 2], b"", arg=1)
    dump.tensor("float32", [4], None, arg=2)
    dump.tensor("float32", [2, 4], struct.pack("<5f", 1, 2, 3, 4, 5), arg=3, truncated=True)
    dump.tensor("float32", [], struct.pack("<f", 2.5), arg=4)
    dump.tensor("int16", [2], struct.pack("<2h", -3, 4), arg=5)
    scalars = (("float64", math.nan, "nan"), ("float32", math.inf, "inf"),
               ("float32", -math.inf, "-inf"), ("float64", 0.1, "0.1"), ("int8", -5, "-5"),
               ("uint64", (1 << 64) - 1, str((1 << 64) - 1)), ("int64", -(1 << 63), str(-(1 << 63))),
               ("bool", True, "true"), ("uint64", (1 << 53) + 1, str((1 << 53) + 1)))
    for i, (dtype, value, _) in enumerate(scalars):
        dump.scalar(dtype, value, arg=6 + i, ambiguous=i == 3)
    dump.write(directory)
    for index in (0, 1):
        row, text = shown(directory, index)
        check("empty" in row and "not captured" not in row, f"zero-size row: {row}")
        check("empty" in text and "not captured" not in text, f"zero-size text: {text}")
    row, text = shown(directory, 2)
    check("not captured" in row and "empty" not in row, f"payload-less row: {row}")
    check("not captured" in text and "empty" not in text, f"payload-less text: {text}")
    row, text = shown(directory, 3)
    check("truncated" in row.lower(), f"truncated row: {row}")
    check("truncated" in text.lower() and "5" in text and "8" in text, f"truncated text: {text}")
    export = dump_text.TextExport(saved(run(directory, "--index", 3), directory)[0])
    check([(d[0], float(d[1])) for d in export.detail] ==
          [((0, 0), 1), ((0, 1), 2), ((0, 2), 3), ((0, 3), 4), ((1, 0), 5)],
          f"truncated: {export.detail}")
    row, text = shown(directory, 4)
    check("[] 2.5" in text, f"zero-dim tensor: {text}")
    for i, (dtype, _, printed) in enumerate(scalars):
        row, text = shown(directory, 6 + i)
        check(printed in re.split(r"[ ;=]+", row),
              f"scalar row {dtype} {printed}: {row}")
        check(f"value: {printed}\n" in text, f"scalar text {dtype} {printed}: {text}")
        check(("ambiguous" in text) == (i == 3), f"arg_index_ambiguous: {text}")
    for index in (0, 1):
        array = numpy.load(saved(run(directory, "--index", index, "--format", "npy"), directory)[0])
        check(list(array.shape) == dump.entries[index]["shape"], f"zero-size npy {array.shape}")
    result = run(directory, "--index", 3, "--format", "npy")
    array = numpy.load(saved(result, directory)[0])
    check(array.tobytes() == dump.payloads[3] and array.ndim == 1, f"truncated npy {array!r}")
    result = run(directory, "--index", 2, "--format", "npy")
    check(not any(p.endswith(".npy") for p in saved(result, directory)),
          "an array of values that were not captured", result)
    check("not captured" in result.out + result.err, "npy of a payload-less tensor", result)


def known_stats(dtype, data):
    """count, min, max, mean, l2, nan, +inf, -inf, zero, subnormal in exact arithmetic."""
    width = gen.BYTES[dtype]
    codes = [int.from_bytes(data[i:i + width], "little") for i in range(0, len(data), width)]
    if dtype == "fp4e2m1":
        codes = [n for c in codes for n in (c & 15, c >> 4)]
    want = {"count": len(codes), "nan": 0, "positive_inf": 0, "negative_inf": 0, "zero": 0, "subnormal": 0}
    values = []
    for code in codes:
        if float_codes.is_float(dtype):
            kind, sign, value = float_codes.decode(dtype, code)
            want["subnormal"] += float_codes.subnormal(dtype, code)
            if kind == "nan":
                want["nan"] += 1
                continue
            if kind == "inf":
                want["negative_inf" if sign else "positive_inf"] += 1
                continue
        else:
            bits = width * 8
            value = code - (1 << bits) if dtype.startswith("int") and code >> (bits - 1) else code
            value = int(bool(code)) if dtype == "bool" else value
        want["zero"] += value == 0
        values.append(value)
    want["values"] = values
    return want


def test_stats(directory, rng):
    dump = gen.Dump()
    for d, dtype in enumerate(gen.BYTES):
        data = payload(rng, dtype, 3000)
        if dtype in ("float32", "float64"):  # plain magnitudes, so that sums are finite
            data = numpy.array([rng.uniform(-1e3, 1e3) for _ in range(3000)]).astype(NPY[dtype]).tobytes()
            mantissa = float_codes.FORMATS[dtype][2]
            for code in (1, 1 << (gen.BYTES[dtype] * 8 - 1), 0, 5, 1 << mantissa):
                data += code.to_bytes(gen.BYTES[dtype], "little")
        dump.tensor(dtype, [len(data) // gen.BYTES[dtype]], data, task=d)
    big = (1 << 31) - 1
    dump.tensor("int32", [3000], struct.pack("<3000i", *[big] * 3000), task=50)
    dump.tensor("int64", [3], struct.pack("<3q", (1 << 63) - 1, (1 << 63) - 1, -1), task=51)
    dump.tensor("uint64", [3], struct.pack("<3Q", *[(1 << 64) - 1] * 3), task=52)
    dump.tensor("float32", [4], struct.pack("<4f", math.nan, math.inf, math.inf, -math.inf), task=53)
    dump.tensor("float16", [3], struct.pack("<3H", 0xfc00, 0x7c00, 0xfc00), task=55)
    dump.tensor("float64", [6], struct.pack("<6d", 1e307, 1e307, 1e307, -1e307, -1e307, 3.0), task=54)
    dump.write(directory)
    result = run(directory, "--stats", "--json")
    check(result.status == 0, "--stats", result)
    rows = json_rows(result)
    if not check(len(rows) == len(dump.entries), f"--stats: {len(rows)} rows", result):
        return
    for row, entry, data in zip(rows, dump.entries, dump.payloads):
        compare_stats(row["stats"], known_stats(entry["dtype"], data),
                      f"stats of {entry['dtype']} task {entry['task_id'][-2:]}")
    text = run(directory, "--stats")
    check(text.status == 0 and "2147483647" in text.out, "--stats as text", text)


def close(got, want, scale):
    return got is not None and abs(float(got) - float(want)) <= 1e-12 * float(scale)


def compare_stats(got, want, what):
    dtype = what.split()[2]
    for key in ("count", "nan", "positive_inf", "negative_inf", "zero", "subnormal"):
        check(got.get(key) == want[key], f"{what}: {key} is {got.get(key)}, not {want[key]}")
    values = want["values"]
    if not values:
        check(got.get("min") is None and got.get("mean") is None, f"{what}: no finite value: {got}")
        return
    for key, value in (("min", min(values)), ("max", max(values))):
        if float_codes.is_float(dtype):  # printed with the digits of the dtype: the same bits
            bits = dump_text.bits_of(dtype, str(got[key]))
            check(float_codes.decode(dtype, bits)[2] == value, f"{what}: {key} is {got[key]}, not {float(value)}")
        else:
            check(int(got[key]) == value, f"{what}: {key} is {got[key]}, not {value}")
    total = sum(values)
    mean = total / len(values) if not isinstance(total, int) else float_codes.Fraction(total, len(values))
    scale = max(abs(v) for v in values) or 1
    check(close(got["mean"], mean, scale), f"{what}: mean is {got['mean']}, not {float(mean)}")
    squares = sum(float_codes.Fraction(v) ** 2 for v in values)
    exponent = max(float_codes._floor_log2(squares) // 2, 0) if squares else 0
    l2 = math.sqrt(squares / float_codes.Fraction(4) ** exponent) * 2.0 ** exponent if squares else 0.0
    check(close(got["l2"], l2, l2 or 1), f"{what}: L2 is {got['l2']}, not {l2}")


def main():
    directory = scratch()
    dump = make(directory, random.Random(3))
    test_npy_and_raw(directory, dump)
    test_view(directory, dump)
    test_large(scratch())
    test_names(scratch())
    test_unknown_dtype(scratch())
    test_without_values(scratch())
    test_stats(scratch(), random.Random(5))
    finish()


main()
