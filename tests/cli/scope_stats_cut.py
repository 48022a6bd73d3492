# SPDX-License-Identifier: Apache-2.0
# A file cut at every byte of its last two lines, and of its first: never a crash,
# never healthy unless nothing but the last newline is gone.  SS-34, SS-35.
# ctest: TIMEOUT 300
import os
import random
import sys

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests", "support"))
import faults as matrix
import scope_report
import scope_stats_gen


def check(runner, data, cut, faults):
    part = data[:cut]
    outcome = runner.run(part)
    fault = scope_report.judge(outcome, part)
    if fault is None and outcome.code == 0 and cut < len(data) - 1 and outcome.chip == "healthy":
        fault = "healthy over a cut file"
    if fault is not None:
        faults.append("cut at byte %d of %d: %s" % (cut, len(data), fault))


def main():
    trace = scope_stats_gen.Trace(random.Random(5), scopes=4, max_depth=3)
    data = trace.text()
    last_two = len(b"\n".join(data[:-1].split(b"\n")[:-2])) + 1
    first = data.index(b"\n") + 1
    faults = []
    with scope_report.Runner() as runner:
        for cut in list(range(first + 1)) + list(range(last_two, len(data) + 1)):
            check(runner, data, cut, faults)
        if runner.run(data).chip != "healthy":
            faults.append("the whole file is not healthy")
    if not faults:
        matrix.saw("samples-cut", first + 2 + len(data) - last_two, told="fault-or-not-healthy")
    print("%d faults" % len(faults), *faults[:20], sep="\n")
    return 1 if faults else 0


sys.exit(main())
