# SPDX-License-Identifier: Apache-2.0
# --json against independent facts on hundreds of random files: pairs, peaks a
# resource and ring with the scope that drove them, use, dominant site, chip;
# monotonic totals beyond 2^53, hostile sites, unknown and odd capacities.
# Reads files as SS-03 to SS-09, SS-20 and SS-25 describe them; proves the figures
# of SS-30, SS-32, SS-34.
# ctest: TIMEOUT 120
import os
import random
import sys
import time
from fractions import Fraction

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests", "support"))
import scope_report
import scope_stats_facts as model
import scope_stats_gen

SECONDS = 10
FILES = 400


def compare(name, got, want, faults):
    if got != want:
        faults.append("%s is %r, not %r" % (name, got, want))


def compare_use(name, got, want, faults):
    """Two decimals of the exact percentage; null without a capacity."""
    if want is None or got is None:
        compare(name, got, want, faults)
    elif abs(Fraction(str(got)) - want) > max(Fraction(1, 200), want / 10**15):
        faults.append("%s is %r, not %.6f" % (name, got, float(want)))


def keyed(rows, faults):
    out = {(p["resource"], p["ring_depth"], p["metric"]): p for p in rows}
    compare("number of rows", len(out), len(rows), faults)
    return out


def compare_rows(what, got, want, fields, faults):
    rows = keyed(got, faults)
    order = [(p["resource"], p["ring_depth"], p["metric"]) for p in want]
    if sorted(map(str, rows)) != sorted(map(str, order)):
        faults.append("%s are %s, not %s" % (what, list(rows), order))
        return
    for p in want:
        key = (p["resource"], p["ring_depth"], p["metric"])
        name = "%s: %s of ring %s, %s" % ((what,) + key)
        for field in fields:
            compare(name + ": " + field, rows[key][field], p[field], faults)


def compare_peaks(got, want, faults):
    """The rows of Top Peaks: by ring, then resource, the TensorMap last."""
    compare_rows("peaks", got, want, ("peak", "capacity", "site", "scope_index"), faults)
    for row, p in zip(got, want):
        name = "%s of ring %s" % (p["resource"], p["ring_depth"])
        compare("order of the peaks", (row["resource"], row["ring_depth"]),
                (p["resource"], p["ring_depth"]), faults)
        compare_use(name + ": use", row["use_percent"], p["use"], faults)
        compare(name + ": what the scope added itself", row["own"], p["own"], faults)
        compare(name + ": context", row["context_ring_depth"], p["context"], faults)


def compare_sites(got, facts, faults):
    compare("sites", {s["site"]: s["scopes"] for s in got if s["scopes"]}, facts["sites"], faults)
    for site in got if not faults else ():
        if site["scopes"] == 0:
            continue
        for resource in model.RISK:
            values = [(v, ring) for name, res, ring, v in facts["site_values"]
                      if name == site["site"] and res == resource]
            peak = max(v for v, _ in values)
            got_peak = (site[resource]["peak"], site[resource]["ring_depth"])
            if got_peak not in [(v, ring) for v, ring in values if v == peak]:
                faults.append("%s of site %.40r is %r, not %d" %
                              (resource, site["site"], got_peak, peak))


def check(runner, data):
    facts = model.facts(data)
    outcome = runner.run(data)
    fault = scope_report.judge(outcome, data)
    if fault is not None:
        return [fault]
    if outcome.code != 0:
        return ["exit %d: %r" % (outcome.code, outcome.err[:200])]
    faults, got = [], outcome.json
    if not got["status"]["sentence"]:
        faults.append("the status has no sentence")
    for key in ("total", "dropped"):
        compare(key, got["records"][key], facts["meta"][key], faults)
    compare("dominant site", got["dominant_site"],
            "unknown" if facts["dominant_site"] is None else facts["dominant_site"], faults)
    compare("unpaired scopes", sum(u["count"] for u in got["unpaired"]),
            facts["unpaired_begin"], faults)
    compare_peaks(got["peaks"], model.top_peaks(facts["peaks"]), faults)
    compare_rows("lines", got["lines"], facts["peaks"], ("peak", "site", "scope_index"), faults)
    compare_sites(got["sites"], facts, faults)
    for resource, key in model.CAP_KEY.items():
        want = facts["meta"][key]
        compare("capacity of " + resource, got["capacities"][resource],
                None if want == [] else want, faults)
    return faults


# The two sample lines of the document, with figures worked out by hand.
EXAMPLE = b"""\
{"fatal": false, "dropped": 0, "total": 2, "task_window_max": [8, 4], \
"heap_max": [268435456, 268435456], "dep_pool_max": [1024, 1024], "tensormap_max": 65536}
{"site": "example_orchestration.cpp:77", "phase": "begin", "depth": 1, "ring": 1, \
"task_window_start": 0, "task_window_end": 0, "heap_start": 0, "heap_end": 0, \
"dep_pool_start": 1, "dep_pool_end": 1, "tensormap": 0, "run_epoch": 7, "buf_seq": 0}
{"site": "example_orchestration.cpp:77", "phase": "end", "depth": 1, "ring": 1, \
"task_window_start": 0, "task_window_end": 4, "heap_start": 0, "heap_end": 8192, \
"dep_pool_start": 1, "dep_pool_end": 6, "tensormap": 5, "run_epoch": 7, "buf_seq": 0}
"""
EXAMPLE_PEAKS = {
    "task_window": (4, 4, 100.0),
    "heap": (8192, 268435456, 0.0),
    "dep_pool": (5, 1024, 0.49),
    "tensormap": (5, 65536, 0.01),
}
EXAMPLE_LINES = {
    ("task_window", "scope_high_water"): 4, ("task_window", "real_occupancy"): 4,
    ("task_window", "scope_alloc"): 4, ("heap", "scope_high_water"): 8192,
    ("heap", "real_occupancy"): 8192, ("heap", "scope_alloc"): 8192,
    ("dep_pool", "scope_high_water"): 5, ("dep_pool", "real_occupancy"): 5,
    ("dep_pool", "scope_alloc"): 5, ("tensormap", "real_occupancy"): 5,
}


def documented_example(runner):
    faults, got = [], runner.run(EXAMPLE).json
    peaks = {p["resource"]: p for p in got["peaks"]}
    for resource, want in EXAMPLE_PEAKS.items():
        row = peaks.get(resource, {})
        compare("example " + resource,
                (row.get("peak"), row.get("capacity"), row.get("use_percent")), want, faults)
        compare("example site", row.get("site"), "example_orchestration.cpp:77", faults)
    lines = {(p["resource"], p["metric"]): p["peak"] for p in got["lines"]}
    compare("example lines", lines, EXAMPLE_LINES, faults)
    compare("example chip", got["status"]["chip"], "healthy", faults)
    compare("example dominant site", got["dominant_site"], "example_orchestration.cpp:77", faults)
    return faults + check(runner, EXAMPLE)


def main():
    done, start = 0, time.monotonic()
    with scope_report.Runner() as runner:
        faults = documented_example(runner)
        while done < FILES and time.monotonic() < start + SECONDS and len(faults) < 10:
            rng = random.Random(done)
            data = scope_stats_gen.random_trace(rng).text(rng.random() < 0.5)
            faults += ["seed %d: %s" % (done, f) for f in check(runner, data)]
            done += 1
    print("%d files in %.1f s, %d faults" % (done, time.monotonic() - start, len(faults)),
          *faults[:30], sep="\n")
    return 1 if faults or done < 50 else 0


sys.exit(main())
