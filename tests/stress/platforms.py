# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 900 RUN_SERIAL
"""Every scene with every diagnostic and runtime, and every test body, on every platform.

What a scene leaves behind is the same everywhere: an args dump entry by entry and
byte by byte within one level, tasks matched in the order of their submits; scope
stats boundary by boundary in what does not depend on how fast tasks retire.  A
test body is a program of tests/scene or tests/fault that runs the runtime through
the kit.  The matrix is printed.

Proves SY-03, AD-21 and, with the payload of every platform compared, decision 21.
"""
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests", "support"))
import faults as matrix

SIMPLER, SOURCE, BUILD = (os.environ[k] for k in ("SIMPLER", "SOURCE_DIR", "BUILD_DIR"))
# What makes a case of each scene short; a scene that is not here runs as it is.
SHORT = {
    "cholesky": ["--case", "small"],
    "fashion_mnist": ["--case", "small", "--param", "limit=104", "--param", "batch=26", "--param",
                      "hidden=65", "--param", "epochs=1", "--param", "accuracy=0"],
    "block_reduction": ["--case", "default"],  # its other case is for cpu alone
}
# A host-built graph lies in its rings whole.
WHOLE = {"fashion_mnist": ["--ring-heap", "67108864", "--ring-task-window", "4096", "--ring-dep-pool",
                           "16384", "--tensormap", "65536"]}
DIAGNOSTICS = {
    "nothing": [],
    "scope stats": ["--enable-scope-stats"],
    "dump 1": ["--dump-args", "1"],
    "dump 2": ["--dump-args", "2"],
    "dump 3": ["--dump-args", "3"],
    "both": ["--enable-scope-stats", "--dump-args", "2"],
}
# For test bodies alone: cpu, but diagnostics go through the transport that tears, reorders and
# delays all that the contract does not promise (tests/support/transport_rough.h).
ROUGH = "rough transport"
# Under a sanitizer the suite itself runs the test bodies on cpu, a2a3sim shares its transport, and
# the rough one has tests of its own.
SANITIZED = os.path.basename(BUILD) in ("asan", "tsan")
faults = []
rows = []


def info(key):
    out = subprocess.run([SIMPLER, "info", "--json"], capture_output=True, check=True).stdout
    return [entry["name"] for entry in json.loads(out)[key]]


def task_order(entry):
    """Ring, then number: the order in which a ring's tasks were submitted."""
    number = int(entry["task_id"], 16)
    return number >> 32, number & 0xffffffff


def read_dump(directory):
    """Entries without the place of their payload, which depends on the order of execution, and
    with the payload's digest; task ids replaced by their rank in the order of submits."""
    manifest = json.load(open(os.path.join(directory, "args_dump.json"), encoding="utf-8"))
    binary = b""
    if manifest["bin_file"] is not None:
        binary = open(os.path.join(directory, manifest["bin_file"]), "rb").read()
    order = {t: i for i, t in enumerate(sorted({task_order(e) for e in manifest["args"]}))}
    entries = []
    for entry in manifest.pop("args"):
        at, size = entry.pop("bin_offset"), entry["bin_size"]
        if at + size > len(binary):
            faults.append(f"{directory}: an entry ends behind args.bin")
        entry["payload"] = hashlib.sha256(binary[at:at + size]).hexdigest() if size else ""
        entry["task_id"] = order[task_order(entry)]
        entries.append(json.dumps(entry))
    return {"head": json.dumps(manifest), "entries": entries}


def read_scopes(path):
    lines = open(path, encoding="utf-8").read().splitlines()
    keep = ("site", "phase", "depth", "ring", "task_window_end")
    head = json.loads(lines[0])
    return {"head": json.dumps({k: head[k] for k in ("fatal", "dropped", "total")}),
            "entries": [json.dumps({k: json.loads(line)[k] for k in keep}) for line in lines[1:]]}


def run_scene(scene, words, runtime, platform, work):
    """What the run left: {"dump": ..., "scopes": ...}; None when it failed."""
    sizes = WHOLE.get(scene, []) if runtime != runtimes[0] else []
    r = subprocess.run([SIMPLER, "run", scene, *SHORT.get(scene, []), *sizes, *words, "-p", platform,
                        "--runtime", runtime, "--aicpu-threads", "2", "--clusters", "8",
                        "--out", work],
                       capture_output=True, text=True)
    if r.returncode != 0:
        faults.append(f"{scene} {' '.join(words)} on {platform}, {runtime}: {r.returncode}: "
                      f"{r.stdout[:1000]} {r.stderr[:1000]}")
        return None
    left = {}
    for found in glob.glob(os.path.join(work, "*", "args_dump")):
        left["dump"] = read_dump(found)
    for found in glob.glob(os.path.join(work, "*", "scope_stats", "scope_stats.jsonl")):
        left["scopes"] = read_scopes(found)
        # Scopes are of the first runtime alone; of the other there is the metadata.
        if (runtime == runtimes[0]) != bool(left["scopes"]["entries"]):
            faults.append(f"{found} on {platform}, {runtime}: "
                          f"{len(left['scopes']['entries'])} boundaries")
    if ("--enable-scope-stats" in words) != ("scopes" in left):
        faults.append(f"{scene} {' '.join(words)} on {platform}, {runtime}: scope stats asked for "
                      "and not there, or the other way round")
    return left


def first_difference(a, b):
    for kind in sorted(set(a) | set(b)):
        if kind not in a or kind not in b:
            return f"{kind} is there on one of the two alone"
        if a[kind]["head"] != b[kind]["head"]:
            return f"{a[kind]['head']}\n  {b[kind]['head']}"
        for x, y in zip(a[kind]["entries"], b[kind]["entries"]):
            if x != y:
                return f"{x}\n  {y}"
        if len(a[kind]["entries"]) != len(b[kind]["entries"]):
            return f"{len(a[kind]['entries'])} and {len(b[kind]['entries'])} entries"
    return None


def size_of(left):
    return "+".join(str(len(left[kind]["entries"])) for kind in sorted(left)) or "ok"


def scene_row(scene, name, runtime, platforms):
    cells, reference = [], None
    for platform in platforms:
        with tempfile.TemporaryDirectory() as work:
            left = run_scene(scene, DIAGNOSTICS[name], runtime, platform, work)
        if left is None:
            cells.append("FAILED")
            continue
        reference = reference or (platform, left)
        difference = first_difference(reference[1], left)
        if difference is not None:
            faults.append(f"{scene}, {name}, {runtime}: {reference[0]} and {platform} differ:\n  {difference}")
        cells.append(size_of(left) if difference is None else "DIFFERS")
    rows.append((f"{scene}: {name}" + (f" ({runtime})" if runtime != runtimes[0] else ""), cells))


def bodies():
    """Programs that run the runtime through the kit (itself or the random graphs'), by name;
    and whether they want the machine for themselves."""
    # Faults wait for real clocks; under a sanitizer the suite's own run of them must do.
    for folder in ("scene",) if SANITIZED else ("scene", "fault"):
        for source in sorted(glob.glob(os.path.join(SOURCE, "tests", folder, "test_*.c"))):
            text = open(source, encoding="utf-8").read()
            program = os.path.join(BUILD, "tests", os.path.basename(source)[:-2])
            if re.search(r"\b(kit|graph|dump_open)_?\w*\(", text) and os.path.exists(program):
                yield program, "RUN_SERIAL" in text[:1000]


def run_body(program, platform):
    env = dict(os.environ, SIMPLER_TEST_PLATFORM=platform)
    if platform == ROUGH:
        env.update(SIMPLER_TEST_PLATFORM="cpu", SIMPLER_TEST_TRANSPORT="rough")
    env.setdefault("SIMPLER_TEST_SECONDS", "1")
    r = subprocess.run([program], env=env, capture_output=True, text=True)
    text = r.stdout + r.stderr
    if r.returncode == 77:  # it says why it cannot run in this build
        return "not here"
    passed = len(re.findall(r"^\[       OK \]", text, re.M))
    skipped = len(set(re.findall(r"^\[  SKIPPED \] ([a-z_0-9]+)$", text, re.M)))
    if r.returncode != 0 or passed + skipped == 0:
        faults.append(f"{os.path.basename(program)} on {platform}: {r.returncode}: {text[-2000:]}")
        return "FAILED"
    if platform == ROUGH:
        matrix.saw("transport-tears", passed, tests="pass")
    return f"{passed}" + (f" ({skipped} skipped)" if skipped else "")


def body_row(program, platforms):
    cells = ["-" if SANITIZED and platform != "a5sim" else run_body(program, platform)
             for platform in (*platforms, ROUGH)]
    rows.append((os.path.basename(program), cells))


def print_matrix(platforms):
    width = max(len(name) for name, _ in rows)
    print(f"{'':{width}}  " + "  ".join(f"{p:16}" for p in (*platforms, ROUGH)))
    for name, cells in rows:
        print(f"{name:{width}}  " + "  ".join(f"{cell:16}" for cell in cells))
    print("entries of a dump + boundaries of scopes; tests passed")


platforms, runtimes = info("platforms"), info("runtimes")
scenes = sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(BUILD, "scenes", "*.so")))
if not os.path.exists(os.path.join(os.environ.get("FASHION_MNIST_DIR",
                                                  "/usr/share/datasets/fashion-mnist"),
                                   "train-images-idx3-ubyte.gz")):
    scenes = [s for s in scenes if s != "fashion_mnist"]
for scene in scenes:
    for runtime in runtimes:
        for name in DIAGNOSTICS:
            scene_row(scene, name, runtime, platforms)
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    list(pool.map(lambda program: body_row(program, platforms),
                  [program for program, alone in bodies() if not alone]))
for program, alone in bodies():
    if alone:
        body_row(program, platforms)
print_matrix(platforms)
if len(platforms) < 3 or not scenes or len(rows) < 6 * len(runtimes) * len(scenes) + 10:
    faults.append("the matrix is not whole")
for fault in faults:
    print("FAILED:", fault)
sys.exit(1 if faults else 0)
