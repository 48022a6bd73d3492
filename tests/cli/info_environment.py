#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""simpler info names every environment variable that the sources read (SY-06), and no other."""
import json
import os
import pathlib
import re
import subprocess

root = pathlib.Path(__file__).resolve().parents[2]
# Where a name reaches getenv: as a literal, or through these three readers and two tables.
patterns = [r'\bgetenv\("(\w+)"\)', r'\bread_timeout\("(\w+)"', r'\badd_variable\(w, "(\w+)"',
            r'\.(?:old_)?variable = "(\w+)"']
array = re.compile(r'variables\[\] = \{([^}]*)\}')
indirect = {"src/host/config.c": 2, "tools/unit_build.c": 2}
read = set()
for path in sorted([*root.glob("src/**/*.c"), *root.glob("tools/*.c")]):
    text = path.read_text()
    for pattern in patterns:
        read.update(re.findall(pattern, text))
    for names in array.findall(text):
        read.update(re.findall(r'"(\w+)"', names))
    name = str(path.relative_to(root))
    others = len(re.findall(r'\b(?:secure_)?getenv\((?!")', text))
    assert others == indirect.get(name, 0), f"{name}: {others} calls of getenv with a variable name"

simpler = os.environ["SIMPLER"]
known = json.loads(subprocess.check_output([simpler, "info", "--json"]))["variables"]
names = [v["name"] for v in known]
assert len(set(names)) == len(names), names
assert set(names) == read, set(names) ^ read
assert all(v["meaning"] for v in known)
text = subprocess.check_output([simpler, "info"], text=True)
for v in known:
    line = rf"^{v['name']} +{re.escape(v['default'])} *.*\w"
    assert re.search(line, text, re.M), v
# What the program does without them: the constants of the code, in the unit of the name.
code = (root / "src/host/config.c").read_text()
found = re.search(r"defaults = \{(\d+)u,\s*(\d+)u,\s*(\d+)u\}", code)
assert found, "the time-outs' defaults have moved"
for name, ns, unit in zip(("SCHEDULER_TIMEOUT_MS", "OP_EXECUTE_TIMEOUT_US",
                           "STREAM_SYNC_TIMEOUT_MS"), found.groups(), (10**6, 10**3, 10**6)):
    value, = (v["default"] for v in known if v["name"] == "SIMPLER_" + name)
    assert int(value) * unit == int(ns), name
print("ok")
