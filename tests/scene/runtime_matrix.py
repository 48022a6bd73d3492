# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 300
"""The scenes on every platform and runtime: each passes its golden check, and what an
args dump holds is the same on both runtimes once task ids are mapped by submit order (that
of each ring; host_build_graph has one alone) and func_id is left out: there it is [-1].

Proves SY-02, AD-13 and AD-31 (mask, ambiguity and dtypes are in the task image).
"""
import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile

SIMPLER = os.environ["SIMPLER"]
RUNTIMES = ("tensormap_and_ringbuffer", "host_build_graph")
# Two batches of two images; ring 0 has room for all tasks and outputs, which host_build_graph
# keeps to the end.
FASHION = ("--param", "batch=2", "--param", "hidden=17", "--param", "epochs=1", "--param",
           "accuracy=0", "--ring-heap", "33554432", "--ring-task-window", "4096")
SCENES = (("dump_args", "default", (1, 2, 3), ()), ("vector_example", "default", (2,), ()),
          ("cholesky", "small", (3,), ()), ("fashion_mnist", "default", (2,), FASHION))
faults = []


def make_dataset(folder, images):
    """Images and labels that differ from each other, by a rule."""
    for prefix in ("train", "t10k"):
        pixels = bytes((i * 7 + i // 784 * 13) % 251 for i in range(images * 784))
        with gzip.open(f"{folder}/{prefix}-images-idx3-ubyte.gz", "wb") as out:
            out.write(struct.pack(">4I", 0x803, images, 28, 28) + pixels)
        with gzip.open(f"{folder}/{prefix}-labels-idx1-ubyte.gz", "wb") as out:
            out.write(struct.pack(">2I", 0x801, images) + bytes(i % 10 for i in range(images)))


def run(scene, case, platform, runtime, level, options, out):
    args = [SIMPLER, "run", scene, "--case", case, "-p", platform, "--runtime", runtime,
            "--dump-args", str(level), "--enable-scope-stats", "--json", "--out", out]
    args += options
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


def tasks_of(folder, runtime, where):
    """Of each ring its tasks in submit order: their entries without what may differ."""
    with open(os.path.join(folder, "args_dump.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    payload = b""
    if manifest["bin_file"] is not None:
        with open(os.path.join(folder, manifest["bin_file"]), "rb") as file:
            payload = file.read()
    tasks = {}
    for entry in manifest["args"]:
        task = int(entry.pop("task_id"), 16)
        func = entry.pop("func_id")
        if (func == [-1]) != (runtime == "host_build_graph"):
            faults.append(f"{where}: func_id {func}")
        if runtime == "host_build_graph" and task >> 32 != 0:
            faults.append(f"{where}: task {task:#x} is not of ring 0")
        at = entry.pop("bin_offset")
        entry["bytes"] = payload[at:at + entry["bin_size"]].hex()
        tasks.setdefault(task, []).append(json.dumps(entry, sort_keys=True))
    rings = {}
    for task in sorted(tasks):
        rings.setdefault(task >> 32, []).append("\n".join(tasks[task]))
    return list(rings.values())


def merge_fault(rings, submitted):
    """Whether the tasks of all rings, each ring in its order, are those submitted; None: yes.
    A task may be the next of several rings: every way is followed."""
    ways = {(0,) * len(rings)}
    for n, task in enumerate(submitted):
        after = set()
        for way in ways:
            for r, ring in enumerate(rings):
                if way[r] < len(ring) and ring[way[r]] == task:
                    after.add(way[:r] + (way[r] + 1,) + way[r + 1:])
        if not after:
            heads = [ring[i] for ring, i in zip(rings, next(iter(ways))) if i < len(ring)]
            return f"task {n} of {len(submitted)} is {task[:400]}, not one of {heads}"
        ways = after
    if sum(next(iter(ways))) != sum(map(len, rings)):
        return f"{sum(map(len, rings))} tasks, not {len(submitted)}"
    return None


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
dataset = tempfile.TemporaryDirectory()
make_dataset(dataset.name, 4)
os.environ["FASHION_MNIST_DIR"] = dataset.name
for scene, case, levels, options in SCENES:
    if scene not in built and scene == "cholesky":
        continue
    for platform in info("platforms"):
        for level in levels:
            found = {}
            for runtime in RUNTIMES:
                where = f"{scene} {case} {platform} {runtime} level {level}"
                with tempfile.TemporaryDirectory() as out:
                    folder = run(scene, case, platform, runtime, level, options, out)
                    if folder is None:
                        continue
                    found[runtime] = tasks_of(folder, runtime, where)
                    if runtime == "host_build_graph" and len(scope_lines(folder)) != 1:
                        faults.append(f"{where}: scope stats are not metadata alone")
            if len(found) == 2:
                rings, (submitted,) = (found[r] for r in RUNTIMES)
                compared += sum(task.count("\n") + 1 for task in submitted)
                fault = merge_fault(rings, submitted)
                if fault is not None:
                    faults.append(f"{scene} {platform} level {level}: {fault}"[:1200])

for fault in faults:
    print(fault)
print(f"{compared} entries compared, {len(faults)} faults")
sys.exit(1 if faults or compared == 0 else 0)
