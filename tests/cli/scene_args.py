#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Arguments that `simpler run DIR` makes are, bit for bit, those of a second implementation in
numpy (tests/corpus/reference.py): every way to fill a tensor, every type, scalars at the ends
of their ranges, .npy files; and the verdict on random results is numpy's."""
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("SKIP: no numpy")
    sys.exit(77)

sys.dont_write_bytecode = True
source_dir = os.environ["SOURCE_DIR"]
sys.path.insert(0, os.path.join(source_dir, "tests", "corpus"))
import reference  # noqa: E402

work = tempfile.TemporaryDirectory()
scene = os.path.join(work.name, "scene")
os.mkdir(scene)
environment = dict(os.environ, SIMPLER_CACHE_DIR=os.path.join(work.name, "cache"))

# Gets scalars as bits in the order of the run and stores them; touches no tensor.
ORCH = """#include "pto_orchestration_api.h"
extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &run)
{
    const ChipTensor &bits = run.tensor(0);
    for (uint32_t i = 0; i < run.scalar_count(); i++) {
        uint32_t at[1] = {i};
        set_tensor_data<uint64_t>(bits, 1, at, run.scalar(i));
    }
}
"""
GOLDEN = """import json, os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, %r)
import numpy as np
import reference
here = os.path.dirname(os.path.abspath(__file__))
def golden(args):
    case = json.load(open(here + "/scene.json"))["cases"][0]
    want = reference.arguments(here, case)
    # What the tool hands to a golden function is what the run began with.
    for name, value in want.items():
        if isinstance(value, np.ndarray):
            assert value.dtype == args[name].dtype and value.tobytes() == args[name].tobytes(), name
        else:
            assert type(value) is type(args[name]) and (value == args[name] or value != value), name
    bits = []
    for a in case["args"]:
        if "scalar" in a:
            raw = np.array([want[a["name"]]], reference.DTYPES[a["scalar"]]).tobytes()
            bits.append(int.from_bytes(raw, "little"))
    want["bits"] = np.array(bits, np.uint64)
    return {k: v for k, v in want.items() if isinstance(v, np.ndarray)}
"""

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = [u + "int" + b for u in ("", "u") for b in ("8", "16", "32", "64")]
RANGE = {d: (np.iinfo(d).min, np.iinfo(d).max) for d in INTEGERS}


def tensors():
    yield {"dtype": "bool", "init": {"random": [0, 1], "seed": 9}}
    yield {"dtype": "bool", "init": {"values": [i % 3 for i in range(60)]}}
    for seed, dtype in enumerate(FLOATS):
        for init in ("zeros", "ones", {"fill": -2.75}, {"arange": [0.1, 0.3]}, {"arange": [-7, 3]},
                     {"random": [-1, 1], "seed": seed}, {"random": [-1e-6, 1e-6], "seed": seed},
                     {"random": [-60000, 65000], "seed": 4294967295},
                     {"values": [1 / (i + 3) for i in range(60)]}):
            yield {"dtype": dtype, "init": init}
    yield {"dtype": "float16", "init": {"values": [65519, 65504, 5.960464477539063e-8, 2.98e-8,
                                                   6.1e-5, 6.09e-5] * 10}}
    yield {"dtype": "float32", "init": {"values": [1e-45, 3.4028234e38, 1e-46] * 20}}
    for seed, dtype in enumerate(INTEGERS):
        low, high = RANGE[dtype]
        for init in ("zeros", "ones", {"fill": min(high, 2**63 - 1)}, {"fill": low},
                     {"arange": [0, 1]}, {"random": [max(low, -100), 100], "seed": seed},
                     {"values": [max(low, -(i % 100)) for i in range(60)]}):
            yield {"dtype": dtype, "init": init}
    yield {"dtype": "int64", "init": {"random": [-2**63, 2**63 - 1], "seed": 5}}
    yield {"dtype": "int64", "init": {"arange": [2**62, -2**55]}}
    yield {"dtype": "float32", "init": {"npy": "flat.npy"}}
    yield {"dtype": "bfloat16", "init": {"npy": "bits.npy"}}


def scalars():
    for dtype in INTEGERS:
        low, high = RANGE[dtype]
        for value in (low, high if high < 2**63 else str(high), hex(high), 1):
            yield {"scalar": dtype, "value": value}
    for dtype in ("float32", "float64"):
        for value in (0.1, -3, 1e300 if dtype == "float64" else 1e30, "inf", "-inf", 2**53 + 1):
            yield {"scalar": dtype, "value": value}
    for value in (True, False, 1):
        yield {"scalar": "bool", "value": value}


def write(name, text):
    with open(os.path.join(scene, name), "w") as f:
        f.write(text)


def manifest(args, **more):
    write("scene.json", json.dumps(dict({
        "name": "args", "source": "orch.cpp", "kernels": [], "golden": "golden.py:golden",
        "cases": [{"name": "one", "args": args}]}, **more)))


def run():
    done = subprocess.run([os.environ["SIMPLER"], "run", scene], capture_output=True, text=True,
                          env=environment)
    return done.returncode, done.stdout + done.stderr


write("orch.cpp", ORCH)
write("golden.py", GOLDEN % os.path.join(source_dir, "tests", "corpus"))
np.save(os.path.join(scene, "flat.npy"), np.linspace(0, 1, 60, dtype=np.float32).reshape(3, 4, 5))
np.save(os.path.join(scene, "bits.npy"), np.arange(60, dtype=np.uint16).reshape(3, 4, 5))
args = [{"name": "bits", "dtype": "uint64", "shape": [len(list(scalars()))], "dir": "out"}]
for t in tensors():
    args.append(dict(t, name=f"t{len(args)}", shape=[3, 4, 5], dir=("in", "inout")[len(args) % 2]))
for shape in ([1], [0], [2, 0, 3], [60, 1, 1, 1, 1]):
    args.append({"name": f"t{len(args)}", "dtype": "int16", "shape": shape, "dir": "inout",
                 "init": {"arange": [0, 1]}})
args += [dict(s, name=f"s{i}") for i, s in enumerate(scalars())]
manifest(args)
status, output = run()
assert status == 0, output
made = len(args)

# The verdict: results that are off by about the tolerance.
random = np.random.default_rng(11)
verdicts = {True: 0, False: 0}
for dtype in FLOATS + ("int32", "bool"):
    for trial in range(4):
        rtol, atol = [(1e-2, 0), (0, 1e-2), (1e-3, 1e-3), (0, 0)][trial]
        if dtype in FLOATS:
            want = reference.convert(dtype, random.uniform(-2, 2, 8))
            found = reference.convert(
                dtype, reference.as_numbers(dtype, want) * (1 + random.uniform(-1, 1, 8) * 0.003))
            if dtype != "bfloat16":
                want[0] = found[0] = [np.nan, np.inf, -np.inf, 0][trial]
        else:
            want = random.integers(0, 2, 8).astype(reference.DTYPES[dtype])
            found = want.copy()
            if trial % 2:
                found[7] ^= 1
        np.save(os.path.join(scene, "found.npy"), found)
        np.save(os.path.join(scene, "want.npy"), want)
        manifest([{"name": "bits", "dtype": "uint64", "shape": [1], "dir": "in"},
                  {"name": "y", "dtype": dtype, "shape": [8], "dir": "out",
                   "init": {"npy": "found.npy"}}],
                 golden={"y": "want.npy"}, tolerance={"rtol": rtol, "atol": atol})
        right = reference.equal(dtype, found, want, {"rtol": rtol, "atol": atol})
        status, output = run()
        assert status == (0 if right else 1), (dtype, trial, right, output)
        assert right or re.search(r"golden wrong: y\[\d\] is .*, right is ", output), output
        verdicts[right] += 1
assert min(verdicts.values()) > 3, verdicts
print(f"{made} arguments, {sum(verdicts.values())} verdicts")
