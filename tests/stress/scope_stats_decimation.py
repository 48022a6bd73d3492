# SPDX-License-Identifier: Apache-2.0
# 1,000 random files against their full data: the lines of a chart are the data
# itself, or narrow columns that keep the minimum and the maximum of each, exact to
# the digit, with the scope and the site that made it; no point is
# invented, and coordinates follow the values.  SS-33, SS-35.
# ctest: TIMEOUT 300
import os
import random
import re
import sys
import time

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests", "support"))
import scope_report

FILES = 1000
LEAST_COLUMNS = 250          # a chart is about as wide as 330 to 900 pixels
SECONDS = 100                # a slow (sanitizer) build does fewer
SITES = 9
RESOURCES = ("task_window", "heap", "dep_pool")
LINE = ('{"site": "s.cpp:%d", "phase": "%s", "depth": %d, "ring": %d, "task_window_start": %d, '
        '"task_window_end": %d, "heap_start": %d, "heap_end": %d, "dep_pool_start": %d, '
        '"dep_pool_end": %d, "tensormap": %d, "run_epoch": 1, "buf_seq": 0}')


def shape(rng, n, top):
    """n values in [0, top]: noise, a walk, spikes, a plateau, neighbours above 2^53."""
    kind = rng.randrange(6)
    if kind == 0:
        return [rng.randrange(top + 1) for _ in range(n)]
    if kind == 1:
        value, out = top // 2, []
        for _ in range(n):
            value = min(top, max(0, value + rng.randrange(-top // 50 - 1, top // 50 + 2)))
            out.append(value)
        return out
    if kind == 2:
        out = [top // 3] * n
        for _ in range(rng.randrange(1, 6)):
            out[rng.randrange(n)] = rng.choice((0, top, top - 1))
        return out
    if kind == 3:
        return [top // 2] * n
    if kind == 4:
        return [top - rng.randrange(4) for _ in range(n)]
    return [top * i // n for i in range(n)][::rng.choice((1, -1))]


def make(rng):
    """(bytes, {(resource, ring, metric): [value]}, {ring: [site]}) of one file."""
    n = rng.choice((1, 2, 3, 60, 511, 513, 700, 1024, 1025, 1500, 2500))
    top = rng.choice((3, 1000, 1 << 20, (1 << 53) + 5, 1 << 58))
    if n * top >= 1 << 64:
        top = (1 << 63) // n
    rings = rng.choice((1, 1, 1, 2))
    values = [[shape(rng, n, top) for _ in range(2)] for _ in range(3)]
    entries = shape(rng, n, 60000)
    series, sites, at, lines = {}, {}, [[0] * 3 for _ in range(rings)], []
    for i in range(n):
        ring = i % rings if rings > 1 else 3
        tail = at[i % rings]
        begin, end = [], []
        for r in range(3):
            alloc, live = values[r][0][i], values[r][1][i]
            head = tail[r] + alloc
            begin += [tail[r], tail[r]]
            live = min(live, alloc)
            end += [head - live, head]
            for metric, v in (("scope_high_water", alloc), ("real_occupancy", live),
                              ("scope_alloc", alloc)):
                series.setdefault((RESOURCES[r], str(ring), metric), []).append(v)
            # The next scope starts on empty, so that its backlog is nothing.
            tail[r] = head
        site = i * 7 % SITES
        sites.setdefault(str(ring), []).append(site)
        sites.setdefault("global", []).append((site, ring))
        series.setdefault(("tensormap", "global", "real_occupancy"), []).append(entries[i])
        lines.append(LINE % (site, "begin", ring, ring, *begin, entries[i]))
        lines.append(LINE % (site, "end", ring, ring, *end, entries[i]))
    cap = [top + 1] * 4
    meta = ('{"fatal": false, "dropped": 0, "total": %d, "task_window_max": %s, "heap_max": %s, '
            '"dep_pool_max": %s, "tensormap_max": 65536}' % (2 * n, cap, cap, cap))
    return "\n".join([meta] + lines + [""]).encode(), series, sites


CHART = re.compile(r'<svg [^>]*class="chart"[^>]*data-resource="(\w+)" data-ring="(\w+)"'
                   r'[^>]*data-top="([^"]*)"')
PLOT = re.compile(r'<polyline[^>]*data-metric="(\w+)"[^>]* points="([^"]*)" data-points="([^"]*)"')


def charts(page):
    """{(resource, ring, metric): (y top, drawn coordinates, exact points)}"""
    out = {}
    heads = list(CHART.finditer(page))
    for head, following in zip(heads, heads[1:] + [None]):
        body = page[head.end():following.start() if following else len(page)]
        for line in PLOT.finditer(body):
            coordinates = [float(c) for c in line.group(2).split()]
            points = [tuple(map(int, p.split(","))) for p in line.group(3).split(";")]
            out[head.group(1), head.group(2), line.group(1)] = (
                float(head.group(3)), list(zip(coordinates[::2], coordinates[1::2])), points)
    return out


def keeps_extremes(drawn, values, widest):
    """The data can be cut into columns of at most `widest` scopes of which each has
    its minimum and its maximum among the drawn points (depth first)."""
    n, dead, stack = len(values), set(), [(0, None)]
    while stack:
        start, ends = stack.pop()
        if start >= n:
            return True
        if ends is None:
            ends = column_ends(drawn, values, start, min(n, start + widest))
        while ends and ends[-1] in dead:
            ends.pop()
        if not ends:
            dead.add(start)
            continue
        end = ends.pop()
        stack += [(start, ends), (end, None)]
    return False


def column_ends(drawn, values, start, limit):
    """Where a column that begins at `start` may end: its extremes are drawn."""
    ends, shown = [], set()
    low = high = values[start]
    for i in range(start, limit):
        low, high = min(low, values[i]), max(high, values[i])
        if i in drawn:
            shown.add(values[i])
        if low in shown and high in shown:
            ends.append(i + 1)
    return ends


def check_columns(points, values):
    n = len(values)
    drawn = {p[0] for p in points}
    if len(drawn) == n:
        return None
    if n <= LEAST_COLUMNS:
        return "%d of %d points are drawn" % (len(drawn), n)
    if not keeps_extremes(drawn, values, n // LEAST_COLUMNS + 1):
        return "a column lost its extremes (%d of %d points are drawn)" % (len(drawn), n)
    return None


def check_line(key, drawn, values, sites, chart_peak):
    top, coordinates, points = drawn
    n, peak = len(values), max(values)
    want_top = chart_peak * 1.1 if chart_peak else 1
    if abs(top - want_top) > 1e-9 * want_top:
        return "y goes to %r, not 1.1 * %d" % (top, chart_peak)
    if len(coordinates) != len(points) or [p[0] for p in points] != sorted({p[0] for p in points}):
        return "points are not one for one in the order of the scopes"
    for (x, y), point in zip(coordinates, points):
        index, value = point[:2]
        if index >= n or values[index] != value:
            return "a point that is not in the data: %r" % (point,)
        want = sites[index]
        if (point[2:] != want) if key[0] == "tensormap" else (point[2] != want):
            return "site or ring of point %r is not %r" % (point, want)
        if n > 1 and abs(x - 2000 * index / (n - 1)) > 1:
            return "x of point %r is %r" % (point, x)
        if abs(y - 1000 * (1 - value / want_top)) > 1:
            return "y of point %r is %r" % (point, y)
    if peak not in [p[1] for p in points] or min(values) not in [p[1] for p in points]:
        return "the peak or the minimum is not drawn"
    return check_columns(points, values)


def names(page):
    """Site numbers of the page to those of the file."""
    text = re.search(r'<script type="application/json" id="chart-sites">(\[.*?\])</script>', page)
    return [int(s.rsplit(":", 1)[1].rstrip('"')) for s in text.group(1)[1:-1].split(",")]


def check(runner, rng):
    data, series, sites = make(rng)
    outcome = runner.run(data)
    if outcome.code != 0 or outcome.chip != "healthy":
        return ["exit %d %r %r" % (outcome.code, outcome.err[:200], outcome.out[:300])]
    page = runner.html().decode()
    to_page = {site: i for i, site in enumerate(names(page))}
    found = charts(page)
    if sorted(found) != sorted(series):
        return ["lines %r, not %r" % (sorted(found), sorted(series))]
    faults = []
    for key, values in series.items():
        if key[0] == "tensormap":
            want = [(to_page[s], ring) for s, ring in sites["global"]]
        else:
            want = [to_page[s] for s in sites[key[1]]]
        # High water and live at exit share a chart, and so its y-range.
        peak = max(values)
        if key[2] == "real_occupancy" and key[0] != "tensormap":
            peak = max(peak, max(series[key[:2] + ("scope_high_water",)]))
        fault = check_line(key, found[key], values, want, peak)
        if fault:
            faults.append("%s: %s" % (" ".join(key), fault))
    return faults


def main():
    faults, done, start = [], 0, time.monotonic()
    with scope_report.Runner() as runner:
        while done < FILES and time.monotonic() < start + SECONDS and len(faults) < 10:
            faults += ["seed %d: %s" % (done, f) for f in check(runner, random.Random(done))]
            done += 1
    print("%d files in %.1f s, %d faults" % (done, time.monotonic() - start, len(faults)),
          *faults[:20], sep="\n")
    return 1 if faults or done < 100 else 0


sys.exit(main())
