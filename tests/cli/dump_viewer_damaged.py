#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 120
"""dump-viewer: damaged manifests give an error that names the file, or the right rows (AD-33).

SIMPLER_TEST_SECONDS lengthens it.
"""
import json
import os
import random
import re
import sys
import time

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests/support"))
import args_dump_gen as gen
import faults as matrix
from viewer_cli import FAULTS, check, finish, run, sanitized, scratch, table_rows

SEED = int(os.environ.get("SIMPLER_TEST_SEED", "1"))
SECONDS = float(os.environ.get("SIMPLER_TEST_SECONDS", "0"))
ROUNDS = 600 if sanitized() else 2000


def sample():
    dump = gen.Dump()
    for t in range(4):
        dump.tensor("float32", [2, 3], bytes(24), task=t << 32 | t, func=[t, 1])
        dump.tensor("uint8", [3], b"abc", task=t << 32 | t, role="inout", arg=1)
        dump.scalar("float64", float("nan") if t == 1 else t + 0.5, task=t << 32 | t, arg=2)
        dump.tensor("int64", [1], bytes(8), task=t << 32 | t, role="output", arg=3)
    return dump


def damage(rng, good):
    data = bytearray(good)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.randrange(max(len(data), 1))
        span = rng.choice((1, 1, 2, 8, 64, 512))
        kind = rng.randrange(8)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            data[at:at + 1] = bytes([data[at] ^ 1 << rng.randrange(8)]) if data else b""
        elif kind == 2:
            del data[at:at + span]
        elif kind == 3:
            data[at:at] = data[at:at + span]
        elif kind == 4:
            hole = min(span, len(data) - at)
            data[at:at + hole] = bytes(hole)
        elif kind == 5:
            data[at:at] = bytes(rng.choice(b'{}[]",:0123456789-eE.\\ntu \n') for _ in range(span % 9 + 1))
        elif kind == 6:
            data[at:at + 1] = rng.choice((b"-", b"1e999", b"18446744073709551616", b"\xff", b"null",
                                          b"[" * 3000, b'"\\ud800"', b"0x1", b"NaN"))
        else:
            lines = bytes(data).split(b"\n")
            a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            data = bytearray(b"\n".join(lines))
    return bytes(data)


def strictly_parsed(data):
    """The document, or None if it is not JSON; a duplicated key makes it doubtful (False)."""
    doubtful = []

    def pairs(items):
        if len({k for k, _ in items}) != len(items):
            doubtful.append(True)
        return dict(items)

    def constant(name):
        raise ValueError(name)
    try:
        doc = json.loads(data.decode("latin-1"), object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError):
        return None
    return False if doubtful else doc


def same_dtype(shown, said):
    """Known ones in lower case, others as they stand; what would break the column is not compared."""
    if re.search(r"[^\x21-\x7e]", said):
        return True
    return shown == (said.lower() if said.lower() in gen.BYTES else said)


def right_rows(doc, rows):
    """What the table shows is what the manifest says."""
    args = doc.get("args", doc.get("tensors")) if isinstance(doc, dict) else None
    if not isinstance(args, list) or len(args) != len(rows):
        return False
    for i, (e, row) in enumerate(zip(args, rows)):
        if row["index"] != i or row["task_id"] != str(e.get("task_id")).lower() or \
                row["arg"] != e.get("arg_index") or row["role"] != e.get("role") or \
                row["stage"] != str(e.get("stage")).split("_")[0] or \
                not same_dtype(row["dtype"], str(e.get("dtype"))):
            return False
    return True


def try_one(directory, manifest, data, name):
    """The exit status, or None if it is not right."""
    with open(manifest, "wb") as f:
        f.write(data)
    result = run(directory)
    if result.status == 1:
        fine = check("args_dump.json" in result.err or "args.bin" in result.err,
                     f"{name}: the error names no file", result)
        return 1 if fine else None
    if not check(result.status == 0, f"{name}: exit status", result):
        return None
    doc = strictly_parsed(data)
    if doc is False:
        return 0
    if not check(doc is not None, f"{name}: not JSON, and yet accepted", result):
        return None
    return 0 if check(right_rows(doc, table_rows(result.out)), f"{name}: wrong rows", result) else None


def main():
    directory = scratch()
    dump = sample()
    dump.sort()
    rng = random.Random(SEED)
    ends = time.monotonic() + SECONDS
    good = []
    for layout in gen.LAYOUTS:
        dump.write(directory, layout)
        with open(os.path.join(directory, "args_dump.json"), "rb") as f:
            good.append(f.read())
    manifest = os.path.join(directory, "args_dump.json")
    n = refused = 0
    while (n < ROUNDS or time.monotonic() < ends) and len(FAULTS) < 10:
        data = damage(rng, rng.choice(good))
        outcome = try_one(directory, manifest, data, f"variant {n} of seed {SEED}")
        if outcome is None:
            keep = os.path.join(os.environ["BUILD_DIR"], f"damaged_{SEED}_{n}.json")
            with open(keep, "wb") as f:
                f.write(data)
            print("kept:", keep)
        n += 1
        refused += outcome == 1
    print(f"{n} variants")
    if not FAULTS:
        matrix.saw("damaged-manifest", refused, exit=1, told="file")
        matrix.saw("damaged-manifest", n - refused, exit=0, told="right-rows")
    finish()


main()
