# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 300
"""The scenes on every platform and runtime: each passes its golden check, and what an
args dump holds is the same on both runtimes once task ids are mapped by submit order
(the manifest's order) and func_id is left out: host_build_graph has [-1] there.

Proves SY-02, AD-13 and AD-31 (mask, ambiguity and dtypes are in the task image).
"""
import json
import os
import subprocess
import sys
import tempfile

SIMPLER = os.environ["SIMPLER"]
RUNTIMES = ("tensormap_and_ringbuffer", "host_build_graph")
SCENES = (("dump_args", "default", (1, 2, 3)), ("vector_example", "default", (2,)),
          ("cholesky", "small", (3,)))
faults = []


def run(scene, case, platform, runtime, level, out):
    args = [SIMPLER, "run", scene, "--case", case, "-p", platform, "--runtime", runtime,
            "--dump-args", str(level), "--enable-scope-stats", "--json", "--out", out]
    done = subprocess.run(args, capture_output=True, text=True)
    where = f"{scene} {case} {platform} {runtime} level {level}"
    if done.returncode != 0:
        faults.append(f"{where}: exit status {done.returncode}: {done.stderr[-300:]}")
        return None
    document = json.loads(done.stdout)
    if document["cases"][0]["config"]["runtime"] != runtime:
        faults.append(f"{where}: another runtime ran")
    for folder, _, files in os.walk(out):
        if "args_dump.json" in files:
            return folder
    faults.append(f"{where}: no manifest")
    return None


def entries(folder, runtime, where):
    """Each entry without what may differ, with its bytes."""
    with open(os.path.join(folder, "args_dump.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    payload = b""
    if manifest["bin_file"] is not None:
        with open(os.path.join(folder, manifest["bin_file"]), "rb") as file:
            payload = file.read()
    order, result = {}, []
    for entry in manifest["args"]:
        task = order.setdefault(entry["task_id"], len(order))
        func = entry.pop("func_id")
        if (func == [-1]) != (runtime == "host_build_graph"):
            faults.append(f"{where}: func_id {func}")
        if runtime == "host_build_graph" and not entry["task_id"].startswith("0x00000000"):
            faults.append(f"{where}: task {entry['task_id']} is not of ring 0")
        at = entry.pop("bin_offset")
        entry["task_id"] = task
        entry["bytes"] = payload[at:at + entry["bin_size"]].hex()
        result.append(entry)
    return result


def info(key):
    document = json.loads(subprocess.run([SIMPLER, "info", "--json"], capture_output=True,
                                         text=True).stdout)
    return [entry["name"] for entry in document[key]]


def scope_lines(folder):
    path = os.path.join(os.path.dirname(folder), "scope_stats", "scope_stats.jsonl")
    with open(path, encoding="utf-8") as file:
        return [line for line in file.read().split("\n") if line.strip()]


compared = 0
built = info("scenes")  # cholesky needs a BLAS
for scene, case, levels in SCENES:
    if scene not in built and scene == "cholesky":
        continue
    for platform in info("platforms"):
        for level in levels:
            found = {}
            for runtime in RUNTIMES:
                where = f"{scene} {case} {platform} {runtime} level {level}"
                with tempfile.TemporaryDirectory() as out:
                    folder = run(scene, case, platform, runtime, level, out)
                    if folder is None:
                        continue
                    found[runtime] = entries(folder, runtime, where)
                    if runtime == "host_build_graph" and len(scope_lines(folder)) != 1:
                        faults.append(f"{where}: scope stats are not metadata alone")
            if len(found) == 2:
                a, b = (found[r] for r in RUNTIMES)
                compared += len(a)
                if len(a) == 0 or len(a) != len(b):
                    faults.append(f"{scene} {platform} level {level}: {len(a)} and {len(b)} entries")
                for x, y in zip(a, b):
                    if x != y:
                        faults.append(f"{scene} {platform} level {level}: {x} is not {y}"[:600])
                        break

for fault in faults:
    print(fault)
print(f"{compared} entries compared, {len(faults)} faults")
sys.exit(1 if faults or compared == 0 else 0)
