# SPDX-License-Identifier: Apache-2.0
# A million scopes: a page of at most 1 MB in flat memory (under 64 MB), with the
# right peaks.  On a debug or sanitizer build fewer scopes, and neither memory nor
# time is judged.  SS-35.
# ctest: TIMEOUT 300
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests", "support"))
import scope_stats_gen

PAGE_BYTES = 1000000
RSS_BYTES = 64 << 20
FLAT_BYTES = 8 << 20         # what ten times the scopes may add
CPU_SECONDS = 9              # the goal is 3; the machine is shared


def optimised():
    with open(os.path.join(os.environ["BUILD_DIR"], "CMakeCache.txt"), encoding="utf-8") as f:
        cache = f.read()
    return ("CMAKE_BUILD_TYPE:STRING=Release" in cache
            and "SIMPLER_SANITIZE:STRING=\n" in cache.replace("\r", ""))


def run(path):
    """(facts, peak RSS in bytes, CPU seconds, wall seconds) of one run."""
    start = time.monotonic()
    with subprocess.Popen([os.environ["SIMPLER"], "scope-stats-plot", path, "--json"],
                          stdout=subprocess.PIPE) as child:
        out = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, "exit %d" % child.returncode
    return (json.loads(out), usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime,
            time.monotonic() - start)


def check_peaks(facts, best):
    rows = [p for p in facts["peaks"] if p["resource"] != "tensormap"]
    assert len(rows) == 12, "%d rows" % len(rows)
    for row in rows:
        resource = ("task_window", "heap", "dep_pool").index(row["resource"])
        want = best[resource][row["ring_depth"]]
        got = (row["peak"], row["scope_index"])
        assert got == want, "%s ring %d: %r, not %r" % (row["resource"], row["ring_depth"], got,
                                                        want)


def measure(directory, scopes):
    path = os.path.join(directory, "scope_stats.jsonl")
    best = scope_stats_gen.write_scopes(path, scopes)
    facts, rss, cpu, wall = run(path)
    page = os.path.getsize(os.path.join(directory, "scope_stats.html"))
    print("%d scopes: page %d bytes, peak RSS %.1f MB, %.2f s CPU, %.2f s" %
          (scopes, page, rss / 1e6, cpu, wall), flush=True)
    os.unlink(path)
    assert facts["status"]["chip"] == "healthy", facts["status"]
    assert facts["records"]["pairs"] == scopes, facts["records"]
    check_peaks(facts, best)
    assert page <= PAGE_BYTES, "the page has %d bytes" % page
    return rss, cpu


def main():
    fast = optimised()
    with tempfile.TemporaryDirectory(dir=os.environ["BUILD_DIR"]) as directory:
        small, _ = measure(directory, 100000 if fast else 2000)
        large, cpu = measure(directory, 1000000 if fast else 30000)
    if not fast:
        print("memory and time are not judged: debug or sanitizer build")
        return 0
    assert large < RSS_BYTES, "peak RSS %d bytes" % large
    assert large - small < FLAT_BYTES, "memory grows: %d bytes, then %d" % (small, large)
    assert cpu < CPU_SECONDS, "%.1f s CPU" % cpu
    return 0


sys.exit(main())
