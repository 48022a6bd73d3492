# SPDX-License-Identifier: Apache-2.0
"""What a test saw of a fault that it has injected, as tests/support/faults.h."""
import os


def saw(fault, times=1, /, **tokens):
    """saw("full-disk", status="SIMPLER_EPARTIAL", run="right"); "ID@RUNTIME" names another runtime."""
    path = os.environ.get("SIMPLER_TEST_FAULTS")
    if not path or times == 0:
        return
    name, _, runtime = fault.partition("@")
    with open(os.path.join(os.environ["SOURCE_DIR"], "tests", "faults.txt"), encoding="utf-8") as f:
        if not any(line.startswith(name + " |") for line in f):
            raise SystemExit("faults: %s: tests/faults.txt does not have this fault" % name)
    _add(name, runtime, times, " ".join("%s=%s" % token for token in tokens.items()))


def cannot(why, *faults):
    """This machine does not let the test inject them: scripts/faults.py says so and does not fail."""
    for fault in faults:
        _add(fault, "", 0, "cannot=" + why)


def _add(name, runtime, times, text):
    path = os.environ.get("SIMPLER_TEST_FAULTS")
    if not path:
        return
    line = "%s\t%s\t%d\t%s\t%s\n" % (name, runtime or "tensormap_and_ringbuffer", times,
                                     os.environ.get("TEST_SOURCE", "?"),
                                     text)
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(fd, line.encode())
    os.close(fd)
