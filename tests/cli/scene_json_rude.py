#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A damaged scene.json never crashes the program: bytes flipped, cut and doubled, values of other
types, huge and deep ones. Each ends with an exit status and, unless it is still valid, a reason
that names the file."""
import copy
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests", "support"))
import faults as matrix

work = tempfile.TemporaryDirectory()
scene = os.path.join(work.name, "scene")
os.mkdir(scene)
path = os.path.join(scene, "scene.json")
environment = dict(os.environ, SIMPLER_CACHE_DIR=os.path.join(work.name, "cache"), CXX="/bin/false")
GOOD = {
    "name": "rude", "description": "one", "source": "orch.cpp", "entry": "e", "config": "c",
    "hazards": "raw", "platform": ["cpu"], "include_dirs": ["x"], "runtime_env": {"ring_heap": 1024},
    "kernels": [{"func_id": 1, "source": "k.cpp", "core_type": "aic", "signature": ["in", "scalar"]}],
    "golden": "g.py:f", "tolerance": {"rtol": 1},
    "cases": [{"name": "a", "manual": True, "expect_error": 5, "golden": {"y": "y.npy"}, "args": [
        {"name": "y", "dtype": "float32", "shape": [2, 3], "dir": "out", "init": {"arange": [0, 1]}},
        {"name": "z", "dtype": "int8", "shape": [2], "init": {"random": [0, 5], "seed": 1}},
        {"name": "v", "dtype": "int8", "shape": [2], "init": {"values": [0, 5]}},
        {"name": "s", "scalar": "int32", "value": "0x10"}]}]}
RUDE = [None, True, -1, 2**63, 1e308, -0.5, "", "\0", "x" * 5000, [], {}, [[]], [None] * 40,
        {"": 1}, 2**31, "../../../etc", "a:b:c", [1, 2, 3, 4], [2**32] * 5, "%s%n%s"]
random.seed(20)
count = refused = 0


def check(text):
    global count, refused
    with open(path, "wb") as f:
        f.write(text)
    done = subprocess.run([os.environ["SIMPLER"], "build", scene], capture_output=True,
                          env=environment, timeout=60)
    message = done.stderr.decode("utf-8", "replace")
    # CXX is false: a valid manifest fails at its sources, which are not there.
    assert done.returncode == 1, (done.returncode, text[:300], message)
    assert "scene.json" in message or "orch.cpp" in message or "cannot be read" in message \
        or "too long" in message, (text[:300], message)
    count += 1
    refused += "scene.json" in message


def places(value, at=()):
    yield at
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, at + (key,))


check(json.dumps(GOOD).encode())
assert refused == 0
for at in list(places(GOOD))[1:]:
    for rude in random.sample(RUDE, 6) + ["removed"]:
        damaged = copy.deepcopy(GOOD)
        inner = damaged
        for key in at[:-1]:
            inner = inner[key]
        if rude == "removed":
            del inner[at[-1]]
        else:
            inner[at[-1]] = rude
        check(json.dumps(damaged).encode())
text = bytearray(json.dumps(GOOD).encode())
for _ in range(150):
    damaged = bytearray(text)
    for _ in range(random.randint(1, 3)):
        i = random.randrange(len(damaged))
        kind = random.randrange(3)
        if kind == 0:
            damaged[i] = random.randrange(256)
        elif kind == 1:
            del damaged[i:i + random.randint(1, 40)]
        else:
            damaged[i:i] = damaged[i:i + random.randint(1, 60)]
    check(bytes(damaged))
for whole in (b"", b"\xff\xfe", b"[" * 100000, b"{\"a\":" * 3000, b"null", b"[]", b"{}"):
    check(whole)
assert refused > count // 2, (refused, count)
matrix.saw("rude-scene-json", count, exit=1, told="file")
print(f"{count} manifests, {refused} refused")
