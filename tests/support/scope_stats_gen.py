# SPDX-License-Identifier: Apache-2.0
"""Makes scope_stats.jsonl files from the documented format alone.

A small model of an orchestration (four rings with a task window, a heap and a
dep pool each, one tensormap, a stack of scopes) writes what a device would
write.  It shares nothing with the program under test; the expected facts are
computed by scope_stats_facts.py from the text of the file, and the model's own
knowledge of which begin belongs to which end (Trace.pairs) checks that.
"""
import json

RINGS = 4
META7 = ("fatal", "dropped", "total", "task_window_max", "heap_max", "dep_pool_max",
         "tensormap_max")
META11 = META7 + ("collection_verdict", "counts_unknown", "host_received_records",
                  "host_retained_records")
SAMPLE = ("site", "phase", "depth", "ring", "task_window_start", "task_window_end",
          "heap_start", "heap_end", "dep_pool_start", "dep_pool_end", "tensormap",
          "run_epoch", "buf_seq")

HOSTILE_SITES = (
    "</script><script>alert(1)</script>:1",
    "<!--<script>:2",
    "\"quoted\" & 'single'.cpp:3",
    "line\u2028sep\u2029arator.cpp:4",
    "tab\tnewline\nnul\x00escape\x1b.cpp:5",
    "back\\slash\\u0041.cpp:6",
    "\ufffd\ufffdbroken.cpp:7",
    "\U0001f600\u0645\u0631\u062d\u0628\u0627\u202egpj.cpp:8",
    "]]>&lt;&#0;<img src=x onerror=alert(1)>:9",
    "javascript:alert(1)//${x}`%s%n{{7*7}}:10",
    "",
    " ",
    "(unknown):0",
    "long" + "x" * 4096 + ".cpp:11",
    "__proto__:12",
    "constructor",
)


class Ring:
    """Monotonic positions of one ring; the tail never passes the head."""

    def __init__(self, rng, caps, far):
        self.cap = caps
        self.head = [rng.randrange(1 << far[i]) if far[i] else 0 for i in range(3)]
        self.tail = list(self.head)

    def move(self, rng, kind):
        for i in range(3):
            cap = self.cap[i]
            if kind == 0 or cap == 0 or self.head[i] > (1 << 64) - cap * 51:
                continue
            if kind == 1:      # within the capacity, nothing released
                self.head[i] += rng.randrange(cap - (self.head[i] - self.tail[i]) + 1)
            elif kind == 2:    # the scope streams many times round the ring
                self.head[i] += rng.randrange(cap * 50 + 1)
                self.tail[i] = max(self.tail[i], self.head[i] - rng.randrange(cap + 1))
            else:              # tasks retire
                self.tail[i] += rng.randrange(self.head[i] - self.tail[i] + 1)
            if self.head[i] - self.tail[i] > cap:
                self.tail[i] = self.head[i] - cap

    def values(self):
        t, h = self.tail, self.head
        return (t[0], h[0], t[1], h[1], t[2], h[2])


class Trace:
    """One run: records (dicts in the documented key order), metadata, truth."""

    def __init__(self, rng, scopes=20, max_depth=6, sites=None, far=(0, 0, 0), fatal_at=None,
                 caps=None, unknown_caps=(), drop=(), loop=0.5):
        self.rng = rng
        self.max_depth = max_depth
        self.sites = sites or ["model.cpp:%d" % (10 + i) for i in range(8)]
        self.fatal_at = fatal_at
        self.loop = loop
        self.left = scopes
        self.records = []
        self.pairs = []            # (index of the begin, index of the end)
        self.fatal = False
        self.caps = caps or [(rng.randrange(1, 1 << 16), rng.randrange(1, 1 << 30),
                              rng.randrange(1, 1 << 15)) for _ in range(RINGS)]
        self.tensormap_max = rng.randrange(1, 1 << 17)
        self.tensormap = 0
        self.ring = [Ring(rng, c, far) for c in self.caps]
        self.epoch = rng.randrange(1, 100)
        self.buf_seq = rng.randrange(1 << 20)
        while self.left > 0 and not self.fatal:
            self._scope(0)
        self._drop(set(drop))
        self.meta = {
            "fatal": self.fatal, "dropped": self.dropped,
            "total": len(self.records) + self.dropped,
            "task_window_max": [c[0] for c in self.caps],
            "heap_max": [c[1] for c in self.caps],
            "dep_pool_max": [c[2] for c in self.caps],
            "tensormap_max": self.tensormap_max,
        }
        for key in unknown_caps:
            self.meta[key] = None

    def _sample(self, site, phase, depth):
        if self.fatal_at is not None and len(self.records) >= self.fatal_at:
            self.fatal = True
        if self.fatal:
            return None
        ring = min(depth, RINGS - 1)
        if len(self.records) % 64 == 63:
            self.buf_seq += 1
        values = (site, phase, depth, ring) + self.ring[ring].values() + (
            self.tensormap, self.epoch, self.buf_seq)
        self.records.append(dict(zip(SAMPLE, values)))
        return len(self.records) - 1

    def _work(self):
        rng = self.rng
        for ring in self.ring:
            ring.move(rng, rng.choice((0, 1, 1, 2, 3, 3)))
        self.tensormap = rng.randrange(self.tensormap_max + 1)

    def _scope(self, depth):
        rng = self.rng
        self.left -= 1
        site = rng.choice(self.sites)
        self._work()
        begin = self._sample(site, "begin", depth)
        if begin is None:
            return
        self._work()
        while (depth + 1 < self.max_depth and self.left > 0 and not self.fatal
               and rng.random() < self.loop):
            self._scope(depth + 1)
        end = self._sample(site, "end", depth)
        if end is not None:
            self.pairs.append((begin, end))

    def _drop(self, numbers):
        """The device could not publish these records."""
        numbers &= set(range(len(self.records)))
        self.dropped = len(numbers)
        if not numbers:
            return
        self.records = [r for i, r in enumerate(self.records) if i not in numbers]
        self.pairs = None

    def eleven(self, verdict="published", refused=0):
        """Metadata of a background export; refused records leave the file."""
        received = len(self.records)
        if refused:
            self.records = self.records[:received - refused]
            self.pairs = None
        self.meta.update(collection_verdict=verdict, counts_unknown=verdict ==
                         "partial_cut_unknown", host_received_records=received,
                         host_retained_records=len(self.records))

    def unproven(self, keep_caps, received=None):
        """Metadata of an unproven ordinary close (eleven keys, counts null)."""
        for key in META7[:3] + (() if keep_caps else META7[3:]):
            self.meta[key] = None
        self.eleven("partial_cut_unknown")
        if received is not None:
            self.meta["host_received_records"] = received

    def lines(self, ascii_only=False):
        yield json.dumps(self.meta)
        for record in self.records:
            yield json.dumps(record, ensure_ascii=ascii_only)

    def text(self, ascii_only=False):
        out = "\n".join(self.lines(ascii_only)) + "\n"
        return out.encode("utf-8", "replace")


def random_trace(rng, scopes=None):
    """A legal file of any kind that the document describes."""
    n = scopes if scopes is not None else rng.choice((1, 2, 5, 20, 20, 60, 200))
    kind = rng.randrange(12)
    options = dict(scopes=n, max_depth=rng.choice((1, 2, 4, 5, 12, 64)),
                   loop=rng.choice((0.2, 0.5, 0.9)),
                   far=rng.choice(((0, 0, 0), (0, 0, 0), (31, 62, 31), (40, 63, 40))))
    if rng.random() < 0.3:
        options["sites"] = rng.sample(HOSTILE_SITES, 5) + ["plain.cpp:1"]
    if rng.random() < 0.2:
        options["sites"] = ["only.cpp:1"]      # recursion: one site in every scope
    if rng.random() < 0.15:                    # totals of one scope beyond 2^53
        options["caps"] = [(1 << 20, (1 << 55) + rng.randrange(1 << 54), 1 << 20)] * RINGS
        options["far"] = (31, 60, 31)
    if rng.random() < 0.2:
        options["unknown_caps"] = rng.sample(META7[3:], rng.randrange(1, 5))
    if kind == 0:
        options["fatal_at"] = rng.randrange(1, 2 * n)
    if kind == 1:
        options["drop"] = [rng.randrange(2 * n) for _ in range(rng.randrange(1, 5))]
    trace = Trace(rng, **options)
    if kind == 2:
        trace.eleven(rng.choice(("published", "partial_safe")))
    elif kind == 3:
        trace.eleven("partial_safe", refused=rng.randrange(1, len(trace.records) + 1))
    elif kind == 4:
        trace.unproven(rng.random() < 0.5)
    elif kind == 5:
        trace.meta["dropped"] = trace.meta["total"] = None
    elif kind == 7:                            # a scope that never ended, or began
        del trace.records[rng.randrange(len(trace.records))]
        trace.pairs = None
        trace.meta["total"] = len(trace.records)
    elif kind == 6:                            # arrays of other lengths (SS-34)
        for key in META7[3:6]:
            size = rng.randrange(0, 9)
            if trace.meta[key] is not None:
                trace.meta[key] = (trace.meta[key] * 3)[:size]
    return trace


def write_scopes(path, scopes, seed=1, rings=RINGS):
    """Streams a healthy file of many scopes to disk; returns its peaks
    ([resource][ring] -> (high water, scope index)); no scope begins with a backlog."""
    import random
    rng = random.Random(seed)
    caps = (8192, 1 << 28, 4096)
    pos = [[0, 0, 0] for _ in range(rings)]
    index = [0] * rings
    best = [[(-1, -1)] * rings for _ in range(3)]
    sample = ('{"site": "%s", "phase": "%s", "depth": %d, "ring": %d, "task_window_start": %d, '
              '"task_window_end": %d, "heap_start": %d, "heap_end": %d, "dep_pool_start": %d, '
              '"dep_pool_end": %d, "tensormap": %d, "run_epoch": 1, "buf_seq": %d}\n')
    names = ["loop_%d.cpp:%d" % (i % 7, 20 + i) for i in range(23)]
    with open(path, "w", encoding="ascii", buffering=1 << 20) as out:
        meta = {"fatal": False, "dropped": 0, "total": 2 * scopes,
                "task_window_max": [caps[0]] * rings, "heap_max": [caps[1]] * rings,
                "dep_pool_max": [caps[2]] * rings, "tensormap_max": 65536}
        out.write(json.dumps(meta) + "\n")
        for i in range(scopes):
            ring = i % rings
            p = pos[ring]
            site = names[i % 23]
            word = rng.getrandbits(48)
            step = (word & 1023, (word >> 10 & 65535) << 4, word >> 26 & 511)
            if i % 99991 == 77:
                step = (7000 + i % 1000, 200000000 + i % 7919, 3000 + i % 997)
            a = sample % (site, "begin", ring, ring, p[0], p[0], p[1], p[1], p[2], p[2],
                          word >> 36 & 1023, i >> 9)
            h = (p[0] + step[0], p[1] + step[1], p[2] + step[2])
            out.write(a)
            out.write(sample % (site, "end", ring, ring, p[0], h[0], p[1], h[1], p[2], h[2],
                                word >> 36 & 1023, i >> 9))
            for r in range(3):
                if step[r] > best[r][ring][0]:
                    best[r][ring] = (step[r], index[ring])
            pos[ring] = list(h)
            index[ring] += 1
    return best
