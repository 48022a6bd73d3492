# SPDX-License-Identifier: Apache-2.0
"""What a scope_stats.jsonl says, in plain Python, from the document alone.

read() judges the bytes of a file strictly; facts() gives the pairs, peaks and
status that a correct report must show.  Nothing here comes from the program
under test: it is what the program is compared with.
"""
import json
import re
from fractions import Fraction

RESOURCES = ("task_window", "heap", "dep_pool")
CAP_KEY = {"task_window": "task_window_max", "heap": "heap_max", "dep_pool": "dep_pool_max",
           "tensormap": "tensormap_max"}
COUNTERS = ("task_window_start", "task_window_end", "heap_start", "heap_end", "dep_pool_start",
            "dep_pool_end", "tensormap", "run_epoch", "buf_seq", "depth", "ring")
VERDICTS = ("published", "partial_safe", "partial_cut_unknown")
BACKGROUND = ("collection_verdict", "counts_unknown", "host_received_records",
              "host_retained_records")
UINT64 = 1 << 64
COUNTER_LIMIT = 4294967295


class Damage(Exception):
    """The bytes are not a file of the documented format."""


def _reject(word):
    raise Damage("not JSON: " + word)


def _no_duplicates(items):
    out = dict(items)
    if len(out) != len(items):
        raise Damage("a key twice")
    return out


def _integer(word):
    if word.startswith("-"):
        raise Damage("a sign: " + word)
    return int(word)


def _object(raw):
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_reject, parse_int=_integer,
                           object_pairs_hook=_no_duplicates)
    except (UnicodeDecodeError, ValueError, RecursionError) as e:
        raise Damage(str(e)) from None
    if not isinstance(value, dict):
        raise Damage("not an object")
    return value


def _is_uint(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < UINT64


def _check_meta(meta):
    if any(key in meta for key in ("site", "phase")):
        raise Damage("metadata and sample in one line")
    for key in ("fatal", "dropped", "total") + tuple(CAP_KEY.values()):
        if key not in meta:
            raise Damage("metadata without " + key)
    if meta["fatal"] is not None and not isinstance(meta["fatal"], bool):
        raise Damage("fatal")
    for key in ("dropped", "total", "tensormap_max"):
        if meta[key] is not None and not _is_uint(meta[key]):
            raise Damage(key)
    for key in ("task_window_max", "heap_max", "dep_pool_max"):
        value = meta[key]
        if value is not None and not (isinstance(value, list) and all(map(_is_uint, value))):
            raise Damage(key)
    present = [k for k in BACKGROUND if k in meta]
    if present and len(present) != 4:
        raise Damage("some of the four background keys")
    if present:
        if meta["collection_verdict"] not in VERDICTS:
            raise Damage("collection_verdict")
        if not isinstance(meta["counts_unknown"], bool):
            raise Damage("counts_unknown")
        if not all(_is_uint(meta[k]) for k in BACKGROUND[2:]):
            raise Damage("host counts")


def _check_sample(sample):
    if not isinstance(sample.get("site"), str) or sample.get("phase") not in ("begin", "end"):
        raise Damage("site or phase")
    # No file name holds these; a report shows U+FFFD in their place.
    sample["site"] = re.sub("[\x00\ud800-\udfff]", "\ufffd", sample["site"])
    for key in COUNTERS:
        if not _is_uint(sample.get(key)):
            raise Damage(key)


def read(data):
    """(metadata, samples) of a whole file; Damage when anything is wrong."""
    if not data.endswith(b"\n"):
        raise Damage("the last line is cut")
    rows = data[:-1].split(b"\n")
    meta = _object(rows[0])
    _check_meta(meta)
    samples = [_object(row) for row in rows[1:]]
    for sample in samples:
        _check_sample(sample)
    return meta, samples


def values_of(begin, end, resource):
    """The three documented metrics of one pair."""
    b_tail, b_head = begin[resource + "_start"], begin[resource + "_end"]
    e_tail, e_head = end[resource + "_start"], end[resource + "_end"]
    return {"scope_high_water": e_head - b_tail, "real_occupancy": e_head - e_tail,
            "scope_alloc": e_head - b_head}


def pair(samples):
    """Innermost first by ring and site: [(begin, end)] in the order of the ends."""
    open_, pairs, lone_ends = {}, [], 0
    for sample in samples:
        stack = open_.setdefault((sample["ring"], sample["site"]), [])
        if sample["phase"] == "begin":
            stack.append(sample)
        elif stack:
            pairs.append((stack.pop(), sample))
        else:
            lone_ends += 1
    return pairs, sum(map(len, open_.values())), lone_ends


def capacity(meta, resource, ring):
    value = meta[CAP_KEY[resource]]
    if resource == "tensormap" or value is None:
        return value
    return value[ring] if ring < len(value) else None


def _percent(peak, cap):
    return None if not cap else Fraction(100 * peak, cap)


def _peaks(meta, pairs):
    by_ring = {}
    for begin, end in pairs:
        by_ring.setdefault(end["ring"], []).append((begin, end))
    rows = []
    for ring in sorted(by_ring):
        for resource in RESOURCES:
            for metric in ("scope_high_water", "real_occupancy", "scope_alloc"):
                series = [values_of(b, e, resource)[metric] for b, e in by_ring[ring]]
                rows.append((resource, ring, metric, series, by_ring[ring]))
    if pairs:
        rows.append(("tensormap", None, "real_occupancy", [e["tensormap"] for _, e in pairs],
                     pairs))
    return [_peak(meta, *row) for row in rows]


def _own(resource, begin, end):
    """What the scope added itself; the rest was there when it began."""
    if resource == "tensormap":
        return max(0, end["tensormap"] - begin["tensormap"])
    return values_of(begin, end, resource)["scope_alloc"]


def _peak(meta, resource, ring, metric, series, scopes):
    peak = max(series)
    drivers = [i for i, v in enumerate(series) if v == peak]
    cap = capacity(meta, resource, ring)
    return {"resource": resource, "ring_depth": ring, "metric": metric, "peak": peak,
            "capacity": cap, "use": _percent(peak, cap), "scope_index": drivers[0],
            "site": scopes[drivers[0]][1]["site"], "context": scopes[drivers[0]][1]["ring"],
            "own": _own(resource, *scopes[drivers[0]]), "series": series,
            "sites": [end["site"] for _, end in scopes]}


RISK = {"task_window": "scope_high_water", "heap": "scope_high_water",
        "dep_pool": "scope_high_water", "tensormap": "real_occupancy"}


def top_peaks(peaks):
    """The rows of the Top Peaks table: the risk metric of each resource."""
    return [p for p in peaks if p["metric"] == RISK[p["resource"]]]


def dominant(peaks):
    known = [p for p in top_peaks(peaks) if p["use"] is not None]
    return max(known, key=lambda p: p["use"])["site"] if known else None


def consistent(meta, pairs, samples):
    """Values that the document promises; a file that breaks one is damaged."""
    last = {}                  # counters of a ring never go back
    for sample in samples:
        for resource in RESOURCES:
            if sample[resource + "_end"] < sample[resource + "_start"]:
                return False
            cap = capacity(meta, resource, sample["ring"])
            if cap is not None and sample[resource + "_end"] - sample[resource + "_start"] > cap:
                return False
        if sample["run_epoch"] != samples[0]["run_epoch"]:
            return False
        if meta["tensormap_max"] is not None and sample["tensormap"] > meta["tensormap_max"]:
            return False
        now = [sample[r + side] for r in RESOURCES for side in ("_start", "_end")]
        before = last.setdefault(sample["ring"], now)
        if any(b > n for b, n in zip(before, now)):
            return False
        last[sample["ring"]] = now
    for begin, end in pairs:
        for resource in RESOURCES:
            if any(v < 0 for v in values_of(begin, end, resource).values()):
                return False
    return True


def odd(pairs, samples):
    """Legal line by line, but not what one run writes: a report may doubt it."""
    if any(begin["depth"] != end["depth"] for begin, end in pairs):
        return True
    if any(sample["ring"] != min(sample["depth"], 3) for sample in samples):
        return True
    numbers = [sample["buf_seq"] for sample in samples]
    return numbers != sorted(numbers)


def capacities_known(meta, samples):
    """Each ring that was used has its capacities."""
    rings = {sample["ring"] for sample in samples}
    return all(capacity(meta, resource, ring) is not None
               for ring in rings for resource in CAP_KEY)


def chip(meta, samples, unpaired, sound):
    """First that holds: the documented order of the status chip."""
    lines = len(samples)
    if meta["fatal"] is True:
        return "fatal"
    if max(meta["dropped"] or 0, meta["total"] or 0) >= COUNTER_LIMIT:
        return "unknown-counts"
    if meta["dropped"]:
        return "dropped"
    if (meta["fatal"] is None or meta["dropped"] is None or meta["total"] is None
            or meta.get("counts_unknown") is True
            or meta.get("collection_verdict") == "partial_cut_unknown"):
        return "unknown-counts"
    if meta["total"] != lines + meta["dropped"] or not sound:
        return "incomplete"
    if not capacities_known(meta, samples):
        return "incomplete"
    if meta.get("collection_verdict", "published") != "published":
        return "incomplete"
    if (meta.get("host_retained_records", lines) != lines
            or meta.get("host_received_records", lines) != lines):
        return "incomplete"
    return "unpaired" if unpaired else "healthy"


def facts(data):
    meta, samples = read(data)
    pairs, lone_begins, lone_ends = pair(samples)
    sound = consistent(meta, pairs, samples)
    peaks = _peaks(meta, pairs)
    sites, site_values = {}, []
    for begin, end in pairs:
        sites[end["site"]] = sites.get(end["site"], 0) + 1
        site_values += [(end["site"], r, end["ring"],
                         values_of(begin, end, r)["scope_high_water"]) for r in RESOURCES]
        site_values.append((end["site"], "tensormap", end["ring"], end["tensormap"]))
    return {"meta": meta, "lines": len(samples), "pairs": len(pairs), "pair_list": pairs,
            "unpaired_begin": lone_begins, "unpaired_end": lone_ends, "sound": sound,
            "odd": odd(pairs, samples),
            "peaks": peaks, "dominant_site": dominant(peaks), "sites": sites,
            "site_values": site_values,
            "greatest": max((s[key] for s in samples for key in COUNTERS), default=0),
            "chip": chip(meta, samples, lone_begins + lone_ends, sound)}
