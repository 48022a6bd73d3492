# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 240
"""The scene dump_args at every level, against manifests and payloads that an
independent generator makes from the document: keys, their order, values, views,
ambiguity, roles and stages, every platform, kernels inline and on threads.

Proves AD-02, AD-04, AD-06, AD-07, AD-08, AD-09, AD-10, AD-11, AD-12, AD-17 and, with
the cases of the command line at the end, AD-01.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests", "support"))
import numpy as np

import args_dump_gen as gen

SIMPLER = os.environ["SIMPLER"]
N = 8
faults = []


def simpler(*args, cwd):
    return subprocess.run([SIMPLER, *args], cwd=cwd, capture_output=True, text=True)


def expect(truth, what):
    if not truth:
        faults.append(what)


def golden(level):
    """Every entry of the scene, in the manifest's order; marked ones alone at level 1."""
    f32, i32 = np.float32, np.int32
    i = np.arange(N)
    x, y = i.astype(f32), ((100 + i) / 2).astype(f32)
    c = x + y
    d = c * f32(1.5) + f32(1.5)
    matrix = (10 * np.arange(N)[:, None] + np.arange(6)[None, :]).astype(f32)
    odd = np.ascontiguousarray(matrix[:, 1::2])
    e = odd.sum(axis=1, dtype=f32)
    before = (1000 * i).astype(i32)
    after = (before - 3 * (d + e).astype(i32)).astype(i32)
    dump = gen.Dump(level)

    def tensor(task, func, arg, role, array, marked, stage=None, **view):
        if level == 1 and not marked:
            return
        dtype = {"f": "float32", "i": "int32"}[array.dtype.kind]
        payload = array.tobytes() if level != 3 or marked else None
        dump.tensor(dtype, view.pop("shape", array.shape), payload, task=task, func=(func,),
                    role=role, stage=stage, arg=arg, **view)

    def scalar(task, func, arg, dtype, value, marked, ambiguous=False):
        if level != 1 or marked:
            dump.scalar(dtype, value, task=task, func=(func,), arg=arg,
                        ambiguous=ambiguous and level != 2)

    tensor(0, 0, 0, "input", x, True)
    tensor(0, 0, 1, "input", y, False)
    tensor(0, 0, 2, "output", c, True)
    tensor(1, 1, 0, "input", c, False)
    scalar(1, 1, 2, "float32", 1.5, True, ambiguous=True)
    scalar(1, 1, 3, "float32", 1.5, False)
    tensor(1, 1, 1, "output", d, True)
    tensor(2, 2, 0, "input", odd, True, strides=[6, 2], start=1, contiguous=False)
    tensor(2, 2, 1, "output", e, False)
    tensor(3, 3, 0, "input", d, True)
    tensor(3, 3, 1, "input", e, True)
    tensor(3, 3, 2, "inout", before, True)
    values = [("int8", -3), ("uint16", 65535), ("int32", -2000000000), ("int64", -2**63),
              ("uint64", 2**64 - 1), ("float64", 0.1), ("float32", float(f32(1) / f32(3))),
              ("bool", True)]
    for k, (dtype, value) in enumerate(values):
        scalar(3, 3, 3 + k, dtype, value, True)
    tensor(3, 3, 2, "inout", after, True, stage="after_completion")
    tensor(4, 4, 0, "input", after, False)
    tensor(4, 4, 1, "output", (2 * after).astype(i32), False)
    dump.sort()
    dump.blob()
    return dump


def without_places(manifest):
    """Where a payload lies depends on the order of execution alone."""
    copy = json.loads(json.dumps(manifest))
    for entry in copy["args"]:
        if entry["bin_size"] != 0:
            entry["bin_offset"] = "anywhere"
        if entry["dtype"] == "float32" and "value" in entry:
            entry["value"] = float(np.float32(entry["value"]))
    return copy


def compare(directory, level, what):
    want = golden(level)
    text = open(os.path.join(directory, "args_dump.json"), encoding="utf-8").read()
    got = json.loads(text)
    expected = want.manifest()
    if json.dumps(without_places(got)) != json.dumps(without_places(expected)):
        faults.append(f"{what}: the manifest is\n{json.dumps(without_places(got), indent=1)}\n"
                      f"not\n{json.dumps(without_places(expected), indent=1)}")
        return
    # One entry a line, laid out as the generator does: only numbers may differ.
    expect(len(text.splitlines()) == len(gen.render(expected, "line").splitlines()),
           f"{what}: not one entry a line")
    blob = open(os.path.join(directory, "args.bin"), "rb").read()
    ranges = []
    for entry, payload in zip(got["args"], want.payloads):
        at = entry["bin_offset"]
        expect(blob[at:at + entry["bin_size"]] == payload,
               f"{what}: {entry['task_id']} argument {entry['arg_index']} has other bytes")
        if payload:
            ranges.append((at, at + len(payload)))
    ranges.sort()
    expect(ranges[0][0] == 0 and ranges[-1][1] == len(blob) and
           all(a[1] == b[0] for a, b in zip(ranges, ranges[1:])), f"{what}: gaps in args.bin")
    expect(sorted(os.listdir(directory)) == ["args.bin", "args_dump.json"],
           f"{what}: there is also {os.listdir(directory)}")


def one_dump(work):
    found = [d for d in glob.glob(os.path.join(work, "outputs", "*", "args_dump"))
             if "/latest/" not in d]
    expect(len(found) <= 1, f"several dumps: {found}")
    return found[0] if found else None


for platform in ("cpu", "a2a3sim", "a5sim"):
    for level, words in ((1, ["--dump-args"]), (2, ["--dump-args", "2"]), (3, ["--dump-args=3"])):
        for more in (["--exec", "inline"], ["--exec", "threads"], ["--aicpu-threads", "4"]):
            what = f"{platform} level {level} {' '.join(more)}"
            with tempfile.TemporaryDirectory() as work:
                r = simpler("run", *words, "dump_args", "-p", platform, *more, cwd=work)
                expect(r.returncode == 0 and "args dump complete" in r.stdout,
                       f"{what}: {r.returncode} {r.stdout} {r.stderr}")
                expect(r.stderr == "", f"{what}: standard error has {r.stderr}")
                directory = one_dump(work)
                if directory is None:
                    faults.append(f"{what}: no dump")
                    continue
                compare(directory, level, what)
                r = simpler("dump-viewer", "--check", directory, cwd=work)
                expect(r.returncode == 0, f"{what}: dump-viewer --check: {r.stdout} {r.stderr}")

# A scene without marks: nothing at level 1, metadata alone at level 3.
with tempfile.TemporaryDirectory() as work:
    r = simpler("run", "vector_example", "--dump-args", cwd=work)
    expect(r.returncode == 0 and "nothing was asked for" in r.stdout and
           "--dump-args 2" in r.stdout, f"no marks: {r.stdout} {r.stderr}")
    expect(one_dump(work) is None, "no marks: there is a directory")
with tempfile.TemporaryDirectory() as work:
    r = simpler("run", "vector_example", "--dump-args", "3", "--json", cwd=work)
    summary = json.loads(r.stdout)["cases"][0]["args_dump"]
    expect(summary["complete"] and summary["level"] == 3 and summary["records"] == 15 and
           summary["payload_bytes"] == 0, f"level 3: {summary}")
    manifest = json.load(open(os.path.join(one_dump(work), "args_dump.json")))
    expect(manifest["bin_file"] is None and os.listdir(one_dump(work)) == ["args_dump.json"] and
           all(e["bin_size"] == 0 for e in manifest["args"]), f"level 3: {manifest}")

# The command line: only a word of digits is the level.
with tempfile.TemporaryDirectory() as work:
    r = simpler("run", "dump_args", "--dump-args", "0", cwd=work)
    expect(r.returncode == 0 and "args dump" not in r.stdout and one_dump(work) is None,
           f"level 0: {r.stdout}")
    for words in (["--dump-args", "4"], ["--dump-args=4"], ["--dump-args="], ["--dump-args=x"],
                  ["--dump-args", "99999999999999999999"]):
        r = simpler("run", "dump_args", *words, cwd=work)
        expect(r.returncode == 2 and "--dump-args: '" in r.stderr, f"{words}: {r.stderr}")
    r = simpler("run", "--dump-args", "2x", cwd=work)
    expect(r.returncode != 0 and "2x" in r.stderr, f"2x is a scene: {r.stderr}")

for fault in faults:
    print("FAILED:", fault)
sys.exit(1 if faults else 0)
