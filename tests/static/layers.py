#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An include carries its layer, and dependencies point one way (docs/architecture.md)."""
import os
import re
import sys

root = os.environ["SOURCE_DIR"]
ALLOWED = {
    "base": {"base"},
    "wire": {"base", "wire"},
    "platform": {"base", "wire", "platform"},
    "task": {"base", "wire", "task"},
    "tmr": {"base", "wire", "platform", "task", "tmr", "collect"},
    "hbg": {"base", "wire", "platform", "task", "hbg", "collect"},
    "prof": {"base", "wire", "platform", "prof"},
    "collect": {"base", "wire", "prof", "collect"},
    "host": {"base", "wire", "platform", "task", "tmr", "hbg", "prof", "collect", "host"},
    "report": {"base", "wire", "report"},
    "tools": {"base", "wire", "report"},
}
faults = []
names = {}


def check(path, layer, relative):
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not m:
            continue
        target = m.group(1)
        at = f"{relative}:{number}"
        if target.startswith("simpler/"):
            continue
        if layer == "include":
            faults.append(f"{at}: a public header includes {target}")
            continue
        if "/" not in target:
            if layer != "tools":
                faults.append(f"{at}: {target} does not carry its layer")
            continue
        other = target.split("/")[0]
        if other not in ALLOWED[layer]:
            faults.append(f"{at}: {layer} may not include {target}")
        if layer in ("tmr", "hbg") and other == "collect" and not target.endswith("_aicpu.h"):
            faults.append(f"{at}: a runtime sees only the *_aicpu.h of a collector, not {target}")
        if layer in ("tmr", "hbg") and other == "platform" and target != "platform/platform.h":
            faults.append(f"{at}: a runtime sees only platform/platform.h, not {target}")
        if layer == "collect" and other == "collect":
            if target.split("/")[1] != relative.split("/")[2]:
                faults.append(f"{at}: one collector includes another: {target}")
        if layer in ("report", "tools") and other == "wire" and target != "wire/file_formats.h":
            faults.append(f"{at}: {layer} sees only wire/file_formats.h, not {target}")
        if layer == "wire" and other == "base" and target not in (
                "base/compiler.h", "base/atomic.h", "base/align.h", "base/event.h"):
            faults.append(f"{at}: wire may not include {target}")


for top in ("include", "src", "tools"):
    for folder, _, files in os.walk(os.path.join(root, top)):
        for name in files:
            if not name.endswith((".c", ".h", ".hpp")):
                continue
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, root)
            layer = relative.split("/")[1] if top == "src" else top
            check(path, layer, relative)
            if top != "include":
                names.setdefault(name, []).append(relative)

for name, places in names.items():
    if len(places) > 1:
        faults.append(f"the file name {name} stands twice: {', '.join(places)}")

# A platform's name stands under platform/ alone.
for folder, _, files in os.walk(os.path.join(root, "src")):
    for name in files:
        path = os.path.join(folder, name)
        relative = os.path.relpath(path, root)
        if relative.startswith("src/platform/"):
            continue
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            if re.search(r'\b(a2a3|a5)(sim)?\b|"cpu"', line):
                faults.append(f"{relative}:{number}: names a platform")

for fault in faults:
    print(fault)
print(f"{len(names)} files, {len(faults)} faults")
sys.exit(1 if faults else 0)
