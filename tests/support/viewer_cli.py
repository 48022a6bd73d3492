# SPDX-License-Identifier: Apache-2.0
"""Runs `simpler dump-viewer` as a user does, and counts what went wrong."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SIMPLER = os.environ["SIMPLER"]
FAULTS = []


class Result:
    def __init__(self, status, out, err, seconds, rss_bytes):
        self.status, self.out, self.err = status, out, err
        self.seconds, self.rss_bytes = seconds, rss_bytes

    def __repr__(self):
        return f"exit {self.status}, stdout {self.out[:600]!r}, stderr {self.err[:600]!r}"


def run(*args, cwd=None, env=None, stdout_path=None):
    """One call of the viewer; a crash or a sanitizer's report is a fault wherever it happens."""
    command = [SIMPLER, "dump-viewer", *map(str, args)]
    started = time.monotonic()
    with tempfile.TemporaryFile() as err, \
            (open(stdout_path, "wb") if stdout_path else tempfile.TemporaryFile()) as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   cwd=cwd, env=env)
        _, wait, usage = os.wait4(process.pid, 0)
        process.returncode = status = os.waitstatus_to_exitcode(wait)
        seconds = time.monotonic() - started
        err.seek(0)
        err_text = err.read().decode("utf-8", "replace")
        out_text = ""
        if not stdout_path:
            out.seek(0)
            out_text = out.read().decode("utf-8", "replace")
    result = Result(status, out_text, err_text, seconds, usage.ru_maxrss * 1024)
    if status < 0 or status not in (0, 1, 2, 3) or "Sanitizer" in err_text or \
            "runtime error:" in err_text:
        FAULTS.append(f"crash: {' '.join(command)}: {result}")
    return result


def check(truth, what, result=None):
    if not truth:
        FAULTS.append(what + (f"\n    {result!r}" if result is not None else ""))
    return truth


def finish():
    """Prints the faults and ends the test."""
    for fault in FAULTS[:40]:
        print("FAILED:", fault)
    if len(FAULTS) > 40:
        print(f"... and {len(FAULTS) - 40} more")
    print("faults:", len(FAULTS)) if FAULTS else print("ok")
    sys.exit(1 if FAULTS else 0)


def scratch(large=False):
    """A directory that is removed at exit; large ones lie in the build tree, not in /tmp."""
    import atexit
    path = tempfile.mkdtemp(prefix="dump_viewer_", dir=os.environ.get("BUILD_DIR") if large else None)
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def build_cache():
    cache = {}
    with open(os.path.join(os.environ["BUILD_DIR"], "CMakeCache.txt"), encoding="utf-8") as f:
        for line in f:
            m = re.match(r"(\w+):\w+=(.*)", line)
            if m:
                cache[m.group(1)] = m.group(2)
    return cache


def sanitized():
    return bool(build_cache().get("SIMPLER_SANITIZE"))


def optimised():
    return build_cache().get("CMAKE_BUILD_TYPE") in ("Release", "RelWithDebInfo") and not sanitized()


ROW = re.compile(r"\s*(\d+)\s+(0x[0-9a-f]{16})\s+(before|after)\S*\s+(input|output|inout)\s+(\d+)\s+"
                 r"(?:\[([-\d, ]*)\]\s+)?(\S+)\s*(.*)$")


def table_rows(text):
    """The listing's rows: index, task_id, stage, role, arg, func_id, dtype, the rest of the line."""
    rows = []
    for line in text.splitlines():
        m = ROW.match(line)
        if m:
            func = [int(x) for x in m.group(6).split(",")] if m.group(6) else []
            rows.append({"index": int(m.group(1)), "task_id": m.group(2), "stage": m.group(3),
                         "role": m.group(4), "arg": int(m.group(5)), "func_id": func,
                         "dtype": m.group(7), "rest": m.group(8)})
    return rows


def json_rows(result):
    """The entries of a --json answer."""
    try:
        doc = json.loads(result.out)
    except ValueError as error:
        check(False, f"--json does not parse: {error}", result)
        return []
    return doc["args"]


def saved(result, directory):
    """The files that an export says it wrote, in its order."""
    return [os.path.join(directory, m.group(1))
            for m in re.finditer(r"^Saved: (.+?\.(?:txt|npy|csv|raw|bin))(?: \(.*\))?$", result.out, re.M)]
