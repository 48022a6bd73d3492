# SPDX-License-Identifier: Apache-2.0
# The page itself against independent facts, on random files: header and chip,
# Formula Guide before the tables, Top Peaks, sections and panels, Line colors, Max
# use, axes; every figure exact, percentages with two decimals or none.
# SS-29, SS-30, SS-31, SS-32, SS-33, SS-34.
# ctest: TIMEOUT 120
import os
import random
import re
import sys
import time
from fractions import Fraction

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests", "support"))
import page_tree
import scope_report
import scope_stats_facts as model
import scope_stats_gen

FILES = 150
SECONDS = 10
NAMES = {"task_window": "Task window", "heap": "Heap", "dep_pool": "Dep pool",
         "tensormap": "TensorMap"}
METRICS = {"scope_high_water": "High water", "real_occupancy": "Live at exit",
           "scope_alloc": "Alloc per scope"}
CHIPS = {"fatal": "Fatal", "dropped": "Dropped", "unknown-counts": "Unknown counts",
         "incomplete": "Incomplete", "unpaired": "Unpaired", "healthy": "Healthy"}
STEPS = {Fraction(n, 10) for n in (10, 20, 25, 50, 75, 100)}


def need(condition, words):
    if not condition:
        raise AssertionError(words)


def equal(got, want, words):
    need(got == want, "%s: %r, not %r" % (words, got, want))


def metric_name(peak):
    return "Live entries" if peak["resource"] == "tensormap" else METRICS[peak["metric"]]


def ring_name(peak):
    return "global" if peak["ring_depth"] is None else str(peak["ring_depth"])


def same_site(got, want, words):
    """Long names may be cut in the middle of a page's text, never their start."""
    plain = re.sub("[\\s\ufffd\u2400-\u2421]", "", got)
    whole = re.sub("[\\s\ufffd\x00-\x1f]", "", want)
    need(plain == whole or (len(want) > 100 and plain[:50] == whole[:50]),
         "%s: %r, not %r" % (words, got[:80], want[:80]))


def use(cell, peak, words):
    """Two decimals, rounded from the exact quotient; no percentage without capacity."""
    found = re.search(r"(\d+)\.(\d+)%", cell.text)
    if peak["use"] is None:
        need(found is None and "%" not in cell.text, "%s: %r" % (words, cell.text))
        return
    need(found is not None and len(found.group(2)) == 2, "%s: %r" % (words, cell.text))
    got = Fraction(found.group(0)[:-1])
    need(abs(got - peak["use"]) <= Fraction(1, 200) + peak["use"] / 10**15,
         "%s: %s, not %.6f" % (words, got, float(peak["use"])))


def number(cell, want, words):
    """The exact digits are in the page, for the eye and for sorting."""
    if want is None:
        need(not re.search(r"\d", cell.text), "%s: %r without a value" % (words, cell.text))
        return
    data = cell.one("data")
    equal(data.get("value"), str(want), words)
    need(re.search(r"(?<!\d)%s(?!\d)" % want, cell.text.replace(",", "")),
         "%s: %r does not show %d" % (words, cell.text, want))


def check_header(root, facts):
    chip = root.one(id="status-chip")
    equal(chip.get("data-status"), facts["chip"], "chip")
    need(CHIPS[facts["chip"]] in chip.text, "chip says %r" % chip.text)
    need(len(root.one(id="status-sentence").text) > 20, "no sentence")
    dominant = "unknown" if facts["dominant_site"] is None else facts["dominant_site"]
    same_site(root.one(id="dominant-site").text, dominant, "dominant site")
    counts = root.one(id="record-counts").text.replace(",", "")
    need("%d total paired scope" % facts["pairs"] in counts, "counts %r" % counts)
    total = facts["meta"]["total"]
    if total is not None:
        need("%d record" % total in counts, "counts %r" % counts)
    guide = root.one(id="formula-guide")
    tables = [t.order for t in root.find("table")]
    need(guide.order < min(tables, default=guide.order + 1), "Formula Guide before the tables")
    for formula in ("end.head \u2212 begin.tail", "end.head \u2212 end.tail",
                    "end.head \u2212 begin.head"):
        need(formula in guide.text.replace("-", "\u2212"), "the guide lacks " + formula)


def check_top_peaks(root, facts):
    rows = list(root.one("table", id="top-peaks").one("tbody").find("tr"))
    want = model.top_peaks(facts["peaks"])
    equal(len(rows), len(want), "rows of Top Peaks")
    for i, (row, peak) in enumerate(zip(rows, want)):
        cells = [c for c in row.children if c.tag in ("td", "th")]
        words = "row %d of Top Peaks" % i
        equal([c.text for c in cells[:3]], [NAMES[peak["resource"]], ring_name(peak),
                                            metric_name(peak)], words)
        number(cells[3], peak["peak"], words + " peak")
        number(cells[4], peak["capacity"], words + " capacity")
        use(cells[5], peak, words + " use")
        same_site(cells[6].text, peak["site"], words + " site")
        equal(cells[7].text.replace(",", ""), str(peak["scope_index"]), words + " index")


def check_max_use(panel, peak, words):
    rows = {r.one("th").text: r.one("td") for r in
            panel.one("table", class_="max-use").one("tbody").find("tr")}
    equal(rows["Metric"].text, metric_name(peak), words)
    number(rows["Peak"], peak["peak"], words + " peak")
    number(rows["Capacity"], peak["capacity"], words + " capacity")
    use(rows["Use"], peak, words + " use")
    equal(rows["Peak scope"].text.replace(",", ""), str(peak["scope_index"]), words + " scope")
    same_site(rows["Peak site"].text, peak["site"], words + " site")
    equal("Peak context ring_depth" in rows, peak["resource"] == "tensormap", words + " context")
    if peak["resource"] == "tensormap":
        equal(rows["Peak context ring_depth"].text, str(peak["context"]), words + " context")


def check_lines(panel, peaks, words):
    rows = list(panel.one("table", class_="line-colors").one("tbody").find("tr"))
    equal([r.get("data-metric") for r in rows], [p["metric"] for p in peaks], words + " lines")
    colours = []
    for row, peak in zip(rows, peaks):
        cells = list(row.find("td"))
        need(metric_name(peak) in cells[0].text, words + " meaning")
        number(cells[1], peak["peak"], "%s peak of %s" % (words, peak["metric"]))
        use(cells[2], peak, "%s use of %s" % (words, peak["metric"]))
        swatch = cells[0].one("line")
        drawn = [p for p in panel.find("polyline") if p.get("data-metric") == peak["metric"]]
        equal(len(drawn), 1, words + " lines of " + peak["metric"])
        for name in ("stroke", "stroke-dasharray"):
            equal(swatch.get(name), drawn[0].get(name), words + " " + name)
        equal(drawn[0].get("fill"), "none", words + " fill")
        colours.append((drawn[0].get("stroke"), drawn[0].get("stroke-dasharray")))
    for part in zip(*colours):
        equal(len(set(part)), len(colours), words + ": colours and dashes differ")


def check_axes(chart, scopes, words):
    marks = [int(t.text.replace(",", "")) for t in chart.find("text", class_="tx")]
    need(marks == sorted(set(marks)) and marks and marks[0] >= 0 and marks[-1] < max(scopes, 1),
         "%s: scope ticks %r" % (words, marks))
    steps = {b - a for a, b in zip(marks, marks[1:])}
    need(len(steps) <= 1, "%s: scope steps %r" % (words, steps))
    need(scopes < 3 or len(marks) > 1, "%s: one scope tick for %d" % (words, scopes))
    labels = [t.text for t in chart.find("text", class_="ty") if t.text != "capacity"]
    values = [Fraction(re.match(r"[\d.,]+", t).group(0).replace(",", "")) for t in labels]
    units = {re.sub(r"^[\d.,]+ ?", "", t) for t, v in zip(labels, values) if v}
    need(values == sorted(values) and (len(values) > 1 or scopes < 2 or float(
        chart.get("data-top")) < 3), "%s: y ticks %r" % (words, labels))
    need(len(units) <= 1, "%s: units %r" % (words, units))
    for low, high in zip(values, values[1:]):
        step = high - low
        while step >= 10:
            step /= 10
        while 0 < step < 1:
            step *= 10
        need(step in STEPS, "%s: y step in %r" % (words, labels))


def check_panel(panel, peaks, scopes):
    words = "%s %s" % (panel.get("data-resource"), panel.get("data-ring"))
    charts = list(panel.find("svg", class_="chart"))
    want = (["real_occupancy"] if peaks[0]["resource"] == "tensormap" else
            ["scope_high_water real_occupancy", "scope_alloc"])
    equal([c.get("data-metrics") for c in charts], want, words + " charts")
    for chart in charts:
        equal(chart.get("data-scopes"), str(scopes), words + " scopes")
        check_axes(chart, scopes, words)
    check_lines(panel, peaks, words)
    risk = next(p for p in peaks if p["metric"] == model.RISK[p["resource"]])
    check_max_use(panel, risk, words)


def check_sections(root, facts):
    panels = list(root.find("details", class_="panel"))
    keys = [(p.get("data-resource"), p.get("data-ring")) for p in panels]
    rings = sorted({end["ring"] for _, end in facts["pair_list"]})
    want = [(r, str(ring)) for r in model.RESOURCES for ring in rings]
    if facts["pairs"]:
        want.append(("tensormap", "global"))
    equal(keys, want, "panels")
    for panel, key in zip(panels, keys):
        peaks = [p for p in facts["peaks"] if (p["resource"], ring_name(p)) == key]
        check_panel(panel, peaks, len(peaks[0]["series"]))


def check(runner, data):
    facts = model.facts(data)
    need(runner.run(data).code == 0, "exit status")
    if not facts["sound"]:
        return
    raw = runner.html()
    need(len(raw) <= 1000000, "%d bytes" % len(raw))
    need(not re.search(rb"https?://(?!www\.w3\.org/2000/svg)", raw), "an external address")
    root = page_tree.parse(raw.decode("utf-8"))
    check_header(root, facts)
    if facts["pairs"]:
        check_top_peaks(root, facts)
    check_sections(root, facts)


def main():
    faults, done, start = [], 0, time.monotonic()
    with scope_report.Runner() as runner:
        while done < FILES and time.monotonic() < start + SECONDS and len(faults) < 10:
            rng = random.Random(done + 5000)
            try:
                check(runner, scope_stats_gen.random_trace(rng).text(rng.random() < 0.5))
            except AssertionError as e:
                faults.append("seed %d: %s" % (done + 5000, e))
            done += 1
    print("%d files in %.1f s, %d faults" % (done, time.monotonic() - start, len(faults)),
          *faults, sep="\n")
    return 1 if faults or done < 20 else 0


sys.exit(main())
