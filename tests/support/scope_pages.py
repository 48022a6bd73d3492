# SPDX-License-Identifier: Apache-2.0
"""Makes the reports that the browser tests open: DIR/NAME.html, NAME.json."""
import json
import os
import random
import shutil
import subprocess
import sys

import scope_stats_facts as model
import scope_stats_gen as gen


def raw_sites(trace):
    """The same file with bytes in its sites that are no UTF-8."""
    return trace.text().replace(b"model.cpp:11", b"mo\xff\xfe\xc3(del.cpp:11").replace(
        b"model.cpp:12", b"\xed\xa0\x80half.cpp:12")


def files():
    rng = random.Random
    yield "healthy", gen.Trace(rng(1), scopes=60, max_depth=5, loop=0.6).text()
    yield "one", gen.Trace(rng(2), scopes=1).text()
    wide = gen.Trace(rng(3), scopes=300, far=(40, 62, 40),
                     caps=[(1 << 60, 1 << 58, 1 << 56)] * gen.RINGS)
    yield "wide", wide.text()
    yield "hostile", gen.Trace(rng(4), scopes=200, sites=list(gen.HOSTILE_SITES)).text()
    yield "bytes", raw_sites(gen.Trace(rng(5), scopes=100))
    yield "fatal", gen.Trace(rng(6), scopes=60, fatal_at=51).text()
    yield "dropped", gen.Trace(rng(7), scopes=60, drop=(11, 12, 40)).text()
    unproven = gen.Trace(rng(8), scopes=30)
    unproven.unproven(keep_caps=False)
    yield "unknown-counts", unproven.text()
    refused = gen.Trace(rng(9), scopes=30)
    refused.eleven("partial_safe", refused=7)
    yield "incomplete", refused.text()
    lone = gen.Trace(rng(10), scopes=30)
    del lone.records[-1]
    lone.meta["total"] -= 1
    yield "unpaired", lone.text()
    empty = gen.Trace(rng(11), scopes=0, unknown_caps=gen.META7[3:])
    yield "empty", empty.text()
    yield "torn", gen.Trace(rng(12), scopes=40).text()[:-30]


def series(directory, name, data):
    """What hover may show: DIR/NAME.series.json, values as text."""
    lines = []
    for peak in model.facts(data)["peaks"]:
        lines.append({"resource": peak["resource"], "ring": peak["ring_depth"],
                      "metric": peak["metric"], "values": [str(v) for v in peak["series"]],
                      "sites": peak["sites"]})
    with open(os.path.join(directory, name + ".series.json"), "w", encoding="utf-8") as out:
        json.dump(lines, out)


def report(directory, name):
    path = os.path.join(directory, name + ".jsonl")
    done = subprocess.run([os.environ["SIMPLER"], "scope-stats-plot", path, "--json"],
                          stdout=subprocess.PIPE, check=True)
    with open(os.path.join(directory, name + ".json"), "wb") as out:
        out.write(done.stdout)
    shutil.move(os.path.join(directory, "scope_stats.html"),
                os.path.join(directory, name + ".html"))
    os.unlink(path)


def main(directory):
    os.makedirs(directory, exist_ok=True)
    for name, data in files():
        with open(os.path.join(directory, name + ".jsonl"), "wb") as out:
            out.write(data)
        report(directory, name)
        if name in ("healthy", "wide"):
            series(directory, name, data)
    gen.write_scopes(os.path.join(directory, "large.jsonl"), 200000)
    report(directory, "large")


if __name__ == "__main__":
    main(sys.argv[1])
