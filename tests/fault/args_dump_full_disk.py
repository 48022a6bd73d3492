# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 240
"""A full disk: the result stays right, what is in args.bin is right and the manifest
says how far it goes, exit status 3; also when only the manifest finds no room, under
a limit of 32 open files, and where the directory cannot be written.

Decision 30.  Needs mounts of its own: `unshare -m`, as root or in a user namespace.
"""
import glob
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests", "support"))
import faults as matrix

if os.environ.get("IN_NAMESPACE") != "1":
    for words in (["unshare", "-m"], ["unshare", "-Urm"]):
        if shutil.which("unshare") and subprocess.run(
                [*words, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True).returncode == 0:
            os.execvpe("unshare", [*words, sys.executable, __file__],
                       dict(os.environ, IN_NAMESPACE="1"))
    matrix.cannot("no tmpfs can be mounted", "full-disk-payload", "full-disk-manifest", "full-disk-from-start",
                  "read-only-directory", "few-descriptors", "full-disk-spool")
    print("SKIP: no tmpfs can be mounted here")
    sys.exit(77)

SIMPLER = os.environ["SIMPLER"]
faults = []


def expect(truth, what):
    if not truth:
        faults.append(what)


def run(where, *args, **more):
    return subprocess.run([SIMPLER, "run", "vector_example", "--out", where, "--json",
                           "--aicpu-threads", "2", *args], capture_output=True, text=True, **more)


def load(where):
    directory = glob.glob(os.path.join(where, "*", "args_dump"))[0]
    with open(os.path.join(directory, "args_dump.json"), encoding="utf-8") as f:
        return directory, json.load(f)


def key(entry):
    return entry["task_id"], entry["stage"], entry["arg_index"], entry["role"]


def payload(directory, entry):
    with open(os.path.join(directory, "args.bin"), "rb") as f:
        f.seek(entry["bin_offset"])
        return f.read(entry["bin_size"])


def check_prefixes(directory, manifest, whole_directory, whole, what):
    """Each payload is the beginning of what an undisturbed run dumps."""
    right = {key(e): e for e in whole["args"]}
    truncated = 0
    for e in manifest["args"]:
        want = right[key(e)]
        truncated += e["truncated"]
        expect(e["truncated"] == (e["bin_size"] < want["bin_size"]) and
               e["bin_size"] % 4 == 0, f"{what}: {e}")
        expect(payload(directory, e) == payload(whole_directory, want)[:e["bin_size"]],
               f"{what}: other bytes in {e}")
    expect(manifest["truncated_args"] == truncated, f"{what}: truncated_args")
    r = subprocess.run([SIMPLER, "dump-viewer", "--check", directory], capture_output=True, text=True)
    expect(r.returncode == 0, f"{what}: --check: {r.stdout} {r.stderr}")
    return truncated


def saw(fault, r):
    """What the program said at its end."""
    case = json.loads(r.stdout)["cases"][0]
    matrix.saw(fault, exit=r.returncode, golden=case["golden"],
               manifest="yes" if case["args_dump"]["directory"] else "no")


def mount(place, size):
    os.makedirs(place, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", place], check=True)


with tempfile.TemporaryDirectory() as work:
    # 52 MiB of payload, 16 MiB of disk.
    words = ["--param", f"elements={1 << 20}", "--dump-args", "2"]
    r = run(os.path.join(work, "whole"), *words)
    expect(r.returncode == 0, f"whole: {r.stdout} {r.stderr}")
    whole_directory, whole = load(os.path.join(work, "whole"))
    st = os.stat(os.path.join(whole_directory, "args.bin"))
    expect(st.st_blocks * 512 < st.st_size + (1 << 20), f"whole: blocks are left over: {st}")
    full = os.path.join(work, "full")
    mount(full, "16m")
    r = run(full, *words)
    case = json.loads(r.stdout)["cases"][0]
    expect(r.returncode == 3 and case["golden"] == "right", f"full: {r.returncode} {case}")
    expect("errno 28" in r.stderr and "args.bin" in r.stderr, f"full: {r.stderr}")
    directory, manifest = load(full)
    n = check_prefixes(directory, manifest, whole_directory, whole, "full")
    expect(n == case["args_dump"]["truncated"] and n > 5, f"full: {n} truncated")
    expect(manifest["total_args"] == whole["total_args"], "full: entries are missing")
    size = os.path.getsize(os.path.join(directory, "args.bin"))
    expect(size == case["args_dump"]["payload_bytes"] and size > 8 << 20, f"full: {size} bytes")
    expect(sorted(os.listdir(directory)) == ["args.bin", "args_dump.json"], "full: leftovers")
    saw("full-disk-payload", r)
    subprocess.run(["umount", full], check=True)

    # Payload that just fits: then the manifest finds no room, and gets some.
    bytes_all = os.path.getsize(os.path.join(whole_directory, "args.bin"))
    mount(full, str(bytes_all + 4096))
    r = run(full, *words)
    case = json.loads(r.stdout)["cases"][0]
    expect(r.returncode == 3 and case["golden"] == "right" and
           case["args_dump"]["directory"] is not None, f"fits: {r.returncode} {case} {r.stderr}")
    directory, manifest = load(full)
    check_prefixes(directory, manifest, whole_directory, whole, "fits")
    saw("full-disk-manifest", r)
    subprocess.run(["umount", full], check=True)

    # No room for anything.
    mount(full, "8k")
    with open(os.path.join(full, "filler"), "wb") as f:
        f.write(b"x" * 8192)
    r = run(full, *words)
    case = json.loads(r.stdout)["cases"][0]
    expect(r.returncode == 3 and case["golden"] == "right" and
           case["args_dump"]["directory"] is None, f"nothing: {r.returncode} {case}")
    saw("full-disk-from-start", r)
    subprocess.run(["umount", full], check=True)

    # A read-only directory.
    mount(full, "1m")
    subprocess.run(["mount", "-o", "remount,ro", full], check=True)
    r = run(full, *words)
    told = f"--out: {full} is on a read-only file system; name a directory" in r.stderr
    expect(r.returncode == 2 and told and r.stdout == "", f"read-only: {r.returncode} {r.stderr}")
    matrix.saw("read-only-directory", exit=r.returncode, told="yes" if told else "no")
    subprocess.run(["umount", full], check=True)

    # 32 open files.
    few = os.path.join(work, "few")
    r = run(few, *words,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32)))
    expect(r.returncode == 0, f"32 files: {r.returncode} {r.stderr}")
    directory, manifest = load(few)
    expect(check_prefixes(directory, manifest, whole_directory, whole, "32 files") == 0,
           "32 files: truncated")
    saw("few-descriptors", r)

    # With --crash-safe records are spooled under way, by two threads, and the spool finds no
    # room either: nobody waits for anybody who waits for him.
    scenes = subprocess.run([SIMPLER, "info"], capture_output=True, text=True).stdout
    if "cholesky" in scenes:
        mount(full, "6m")
        for i in range(3):
            r = subprocess.run([SIMPLER, "run", "cholesky", "--case", "default", "--param", "size=1024",
                                "--param", "tile=32", "--dump-args", "2", "--crash-safe",
                                "--aicpu-threads", "3", "--out", full, "--json"],
                               capture_output=True, text=True, timeout=100)
            expect("no sign of life" not in r.stderr, f"spool {i}: {r.stderr}")
            expect(r.returncode == 3 and json.loads(r.stdout)["cases"][0]["golden"] == "right",
                   f"spool {i}: {r.returncode} {r.stderr}")
            if "not crash-safe" in r.stderr: # a container's /dev/shm has 64 MiB
                matrix.cannot("/dev/shm has no room", "full-disk-spool")
                continue
            matrix.saw("full-disk-spool", exit=r.returncode,
                       golden=json.loads(r.stdout)["cases"][0]["golden"])
        subprocess.run(["umount", full], check=True)
    else:
        matrix.cannot("the scene cholesky needs OpenBLAS", "full-disk-spool")
        print("the full spool is not tried: the scene cholesky needs OpenBLAS")

for fault in faults:
    print("FAILED:", fault)
sys.exit(1 if faults else 0)
