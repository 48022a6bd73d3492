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
    n = rng.choice((1, 2, 3, 60, 200, 385, 400, 511, 513, 700, 1025, 1800))
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
PLOT = re.compile(r'(?:<polygon class="band [^>]* points="([^"]*)"/>\s*)?'
                  r'<polyline[^>]*data-metric="(\w+)"[^>]* points="([^"]*)" data-points="([^"]*)"')


def charts(page):
    """{(resource, ring, metric): (y top, line, band and line, exact points)}"""
    out = {}
    heads = list(CHART.finditer(page))
    for head, following in zip(heads, heads[1:] + [None]):
        body = page[head.end():following.start() if following else len(page)]
        for plot in PLOT.finditer(body):
            line, band = (places(plot.group(3)), places(plot.group(1) or ""))
            points = [tuple(map(int, p.split(","))) for p in plot.group(4).split(";")]
            out[head.group(1), head.group(2), plot.group(2)] = (
                float(head.group(3)), line, band + line, points)
    return out


def places(text):
    numbers = [round(float(c)) for c in text.split()]
    return list(zip(numbers[::2], numbers[1::2]))


def inside(places_, others):
    """Each place is one of the others, or a pixel beside it: coordinates are rounded."""
    for x, y in places_ - others:
        if not any((x + dx, y + dy) in others for dx in (-1, 0, 1) for dy in (-1, 0, 1)):
            return False
    return True


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
    top, line, shape_, points = drawn
    n, peak = len(values), max(values)
    want_top = chart_peak * 1.1 if chart_peak else 1
    if abs(top - want_top) > 1e-9 * want_top:
        return "y goes to %r, not 1.1 * %d" % (top, chart_peak)
    if [p[0] for p in points] != sorted({p[0] for p in points}):
        return "points are not in the order of the scopes"
    for point in points:
        index, value = point[:2]
        if index >= n or values[index] != value:
            return "a point that is not in the data: %r" % (point,)
        want = sites[index]
        if (point[2:] != want) if key[0] == "tensormap" else (point[2] != want):
            return "site or ring of point %r is not %r" % (point, want)
    if peak not in [p[1] for p in points] or min(values) not in [p[1] for p in points]:
        return "the peak or the minimum is not among the points"
    return (check_places(line, shape_, points, n, peak, want_top)
            or check_columns(points, values))


def check_places(line, shape_, points, n, peak, top):
    """Every point is drawn, by the line or the band; nothing else is."""
    def place(point):
        x = 2000 * point[0] / (n - 1) if n > 1 else None
        return x, 1000 * (1 - point[1] / top)
    if n == 1:
        return None if abs(line[0][1] - place(points[0])[1]) <= 1 else "y of the one point"
    want = {(round(x), round(y)) for x, y in map(place, points)}
    if not inside(set(shape_), want):
        return "something is drawn that is no point"
    if not inside(want, set(shape_)):
        return "a point is not drawn"
    if not any(p[1] == peak and place(p)[0] - 1 <= x <= place(p)[0] + 1
               and abs(y - place(p)[1]) <= 1 for p in points for x, y in line):
        return "the line does not reach the peak"
    return None


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
