#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Seeded faults (mutant_seeds.py): each must be killed by the tests.

    mutants.py [--list] [NAME...]

Works in a copy of the tree (build/mutants): applies one patch, builds, runs the
tests of its suite until one fails, takes the patch back.  A patch is a
replacement that must match exactly the stated number of times; when the source
has changed so that it does not, the script fails, and the patch wants an update.
A test that takes much longer than without a fault hangs, and has killed it.
Exit status 0: every mutant was killed; 1: one survived or did not apply.
"""
import os
import subprocess
import sys
import time
from pathlib import Path

from mutant_seeds import MUTANTS, SUITES, TESTS

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutants"
MOST_SECONDS = 600  # of a test where no fault is seeded; with one, four times what it took and 30


def run(command, log, seconds=None, environment=None):
    """Exit status; None when the time was over."""
    process = subprocess.Popen(command, cwd=WORK, stdout=log, stderr=subprocess.STDOUT,
                               start_new_session=True, env={**os.environ, **(environment or {})})
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return None


def copy_tree():
    WORK.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True,
                            capture_output=True).stdout.decode().split("\0")
    for name in filter(None, listed):
        source, target = ROOT / name, WORK / name
        if not source.is_file():
            continue
        text = source.read_bytes()
        if target.is_file() and target.read_bytes() == text:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)
        target.chmod(source.stat().st_mode)


def configure(preset, log):
    """Anew each time: a target of a source that is new must be there before it is built."""
    return run(["cmake", "--preset", preset, "-DSIMPLER_WERROR=OFF"], log) == 0


def build(preset, log, suites):
    targets = sorted({name for suite in suites for name in suite.tests})
    jobs = str(os.cpu_count() or 1)
    return run(["cmake", "--build", f"build/{preset}", "-j", jobs, "--target", *targets], log) == 0


def apply(patches):
    """The texts before, or a complaint."""
    before = {}
    for name, old, new in patches:
        path = WORK / name
        text = path.read_text()
        before.setdefault(name, text)
        if text.count(old) != 1:
            restore(before)
            return None, f"{name}: the text to replace is there {text.count(old)} times"
        path.write_text(text.replace(old, new))
    return before, None


def restore(before):
    for name, text in before.items():
        (WORK / name).write_text(text)


def run_test(name, preset, log, suite, seconds):
    """None when it passes, else how it ended."""
    environment = {"SIMPLER_GRAPH_BRIEF": "1", **suite.environment}
    status = run([f"build/{preset}/tests/{name}"], log, seconds, environment)
    if status is None:
        return "hangs"
    return None if status == 0 else "fails" if status > 0 else f"signal {-status}"


def measure(preset, log, suites):
    """How long each test takes without any mutant, or a complaint."""
    took = {}
    for suite in suites:
        for name in suite.tests:
            start = time.monotonic()
            ended = run_test(name, preset, log, suite, MOST_SECONDS)
            if ended:
                return None, f"{name} ({ended}) without any mutant (preset {preset})"
            took[preset, suite, name] = time.monotonic() - start
    return took, None


def kill(preset, log, suite, took):
    """Name of the test that fails, and how; None when all pass."""
    for name in suite.tests:
        ended = run_test(name, preset, log, suite, 30 + 4 * took[preset, suite, name])
        if ended:
            return f"{name} ({ended})"
    return None


def try_mutant(mutant, log, took):
    name, what, preset, patches, *suite = mutant
    suite = suite[0] if suite else TESTS
    start = time.monotonic()
    before, complaint = apply(patches)
    if complaint:
        print(f"{name}: DOES NOT APPLY: {complaint}")
        return False
    try:
        built = build(preset, log, [suite])
        killer = kill(preset, log, suite, took) if built else None
    finally:
        restore(before)
    if not built:
        print(f"{name}: DOES NOT BUILD, see {log.name}")
        return False
    print(f"{name} ({what}): {'killed by ' + killer if killer else 'SURVIVED'}, "
          f"{time.monotonic() - start:.0f} s", flush=True)
    return killer is not None


def prepare(chosen, log):
    """What the tests take where no fault is seeded, or a complaint."""
    took = {}
    for preset in sorted({m[2] for m in chosen}):
        suites = [s for s in SUITES if any((m[4:] or (TESTS,))[0] is s for m in chosen
                                           if m[2] == preset)]
        if not (configure(preset, log) and build(preset, log, suites)):
            return None, "the tree does not build"
        measured, complaint = measure(preset, log, suites)
        if complaint:
            return None, complaint
        took.update(measured)
    return took, None


def main():
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    if "--list" in sys.argv:
        for name, what, preset, *_ in MUTANTS:
            print(f"{name:26} {preset:5} {what}")
        return 0
    chosen = [m for m in MUTANTS if not names or m[0] in names]
    if len(chosen) != (len(names) or len(MUTANTS)):
        print("no such mutant; --list shows them", file=sys.stderr)
        return 2
    copy_tree()
    with open(WORK / "log.txt", "w") as log:
        took, complaint = prepare(chosen, log)
        if complaint:
            print(f"{complaint}, see {log.name}")
            return 1
        killed = sum(try_mutant(mutant, log, took) for mutant in chosen)
    print(f"{killed} of {len(chosen)} mutants killed")
    return 0 if killed == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
