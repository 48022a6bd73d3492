#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The fault matrix: what the tests have injected, and whether what they saw was promised.

tests/faults.txt promises, a line a fault: ID | where | fault | tokens; prose.  Where: tmr, hbg, both,
or - where the runtime does not matter.  A token is key=value, key=value,other (each of them is seen),
key=value/other (either, by chance) or key<=number; "# ---- title ----" begins a group.  The tests of each suite write what they saw to build/results/faults/SUITE.tsv
(tests/support/faults.h), with the same keys.  What a machine does not let a test inject is told with
the reason ("cannot=..."), and is no failure.

  faults.py           each fault was injected and seen as promised, and docs/reliability.md says so
  faults.py --static  the document, the promises and the names in the tests agree; nothing is run
  faults.py --write   writes the document's tables from what the tests of the last `make check`, or of
                      scripts/run-ctest.sh, saw; a row that they did not touch stays
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROMISES = os.path.join(ROOT, "tests", "faults.txt")
RECORDS = os.path.join(ROOT, "build", "results", "faults", "*.tsv")
DOCUMENT = os.path.join(ROOT, "docs", "reliability.md")
BEGIN = "<!-- faults: scripts/faults.py --write -->"
END = "<!-- faults: end -->"
HEAD = ["| fault | on | injected | promised | seen |", "| --- | --- | --- | --- | --- |"]
RUNTIMES = {"tensormap_and_ringbuffer": "tmr", "host_build_graph": "hbg"}
WHERE = {"tmr": ["tmr"], "hbg": ["hbg"], "both": ["tmr", "hbg"], "-": []}


class Fault:
    def __init__(self, group, name, where, text, promise):
        self.group, self.name, self.where, self.text, self.promise = group, name, where, text, promise
        words, _, self.prose = promise.partition(";")
        self.tokens, self.chance = {}, set()
        for word in words.split():
            match = re.fullmatch(r"([a-z_]+)(<=|=)(\S+)", word)
            if match is None:
                raise ValueError(word)
            key, bound, value = match.groups()
            self.tokens[key] = float(value) if bound == "<=" else re.split("[,/]", value)
            if "/" in value or bound == "<=":
                self.chance.add(key)
        self.times = {"tmr": 0, "hbg": 0}
        self.seen = {key: set() for key in self.tokens}
        self.cannot = ""  # why a test could not inject it here

    def take(self, runtime, times, words):
        """Adds a record; returns what contradicts the promise."""
        faults = []
        if WHERE[self.where] and runtime not in WHERE[self.where]:
            faults.append("on %s, promised on %s" % (runtime, self.where))
        seen = dict(word.partition("=")[::2] for word in words.split())
        for key in sorted(seen.keys() | self.tokens.keys()):
            if key not in seen:
                faults.append("'%s' is promised and was not looked at" % key)
            elif key not in self.tokens:
                faults.append("'%s=%s' was seen, nothing is promised of it" % (key, seen[key]))
            elif not self.allows(key, seen[key]):
                faults.append("'%s=%s' contradicts '%s'" % (key, seen[key], self.promise))
        self.times[runtime] += times
        for key in seen.keys() & self.seen.keys():
            self.seen[key].add(seen[key])
        return faults

    def allows(self, key, value):
        if isinstance(self.tokens[key], list):
            return value in self.tokens[key]
        return re.fullmatch(r"\d+(\.\d+)?", value) is not None and float(value) <= self.tokens[key]

    def missing(self):
        """Where it was to be injected and was not; else what was to be seen and was not."""
        if self.cannot and not sum(self.times.values()):
            return []
        missing = ["was never injected on " + r for r in WHERE[self.where] if self.times[r] == 0]
        if not sum(self.times.values()):
            missing = missing or ["was never injected anywhere"]
        for key in self.tokens.keys() - self.chance if not missing else ():
            missing += ["was never seen with %s=%s" % (key, v) for v in self.tokens[key] if v not in self.seen[key]]
        return missing

    def promised(self):
        """The cells of the table that need no run."""
        words, _, prose = (part.strip() for part in self.promise.partition(";"))
        return ["`%s`: %s" % (self.name, self.text), self.where, "`%s`%s" % (words, "; " + prose if prose else "")]

    def fits(self, row):
        """Whether a row of the document is of this promise."""
        return row[:2] + [row[3]] == self.promised()

    def row(self):
        """All cells, with how often it was injected and what was seen."""
        name, where, promise = self.promised()
        seen = " ".join(shown(key, self.tokens[key], self.seen[key]) for key in self.tokens)
        times = [self.times[r] for r in WHERE[self.where]] or [sum(self.times.values())]
        return [name, where, " + ".join(power_of_ten(n) for n in times), promise, "`%s`" % seen]


def shown(key, promised, seen):
    if isinstance(promised, list):
        return "%s=%s" % (key, ",".join(v for v in promised if v in seen))
    most = max(float(v) for v in seen)
    digits = 10 ** max(len(str(int(most))) - 2, 0)
    return "%s<=%d" % (key, -(-most // digits) * digits)


def power_of_ten(n):
    power = 10 ** (len(str(n)) - 1)
    return format(power, ",") + ("+" if n > power else "")


def read_promises(problems):
    faults, group = {}, ""
    for number, line in enumerate(open(PROMISES, encoding="utf-8"), 1):
        title = re.fullmatch(r"# -{4} (.+) -{4}\n", line)
        group = title[1] if title else group
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split(" | ")]
        try:
            if len(cells) != 4 or cells[1] not in WHERE or cells[0] in faults:
                raise ValueError
            fault = Fault(group, *cells)
            if not fault.tokens or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", fault.name):
                raise ValueError
            faults[fault.name] = fault
        except ValueError:
            problems.append("tests/faults.txt:%d: not 'ID | tmr, hbg, both or - | fault | key=value...', "
                            "or an ID twice: %s" % (number, line.strip()))
    return faults


def read_records(faults, problems, old):
    """@old: rows by name that will do for a fault that was not injected now."""
    found = {}  # what is wrong: where first, and how often
    for path in sorted(glob.glob(RECORDS)):
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            place = "%s:%d" % (os.path.relpath(path, ROOT), number)
            cells = line.rstrip("\n").split("\t")
            if len(cells) != 5 or cells[1] not in RUNTIMES or not cells[2].isdigit():
                problems.append("%s: no record: %s" % (place, line.strip()))
            elif cells[0] in faults and cells[2] == "0" and cells[4].startswith("cannot="):
                faults[cells[0]].cannot = cells[4].partition("=")[2]
            elif cells[0] not in faults:
                problems.append("%s: tests/faults.txt does not have '%s' (%s)" % (place, cells[0], cells[3]))
            else:
                for what in faults[cells[0]].take(RUNTIMES[cells[1]], int(cells[2]), cells[4]):
                    found.setdefault("%s in %s: %s" % (cells[0], cells[3], what), []).append(place)
    for what, places in found.items():
        more = ", and %d more" % (len(places) - 1) if len(places) > 1 else ""
        problems.append("%s: %s%s" % (places[0], what, more))
    for fault in faults.values():
        for what in fault.missing() if old.get(fault.name) is None or sum(fault.times.values()) else ():
            problems.append("%s %s: %s" % (fault.name, what, fault.text))


def read_document(problems):
    """The lines before the tables, their rows as cells, the lines behind."""
    lines = open(DOCUMENT, encoding="utf-8").read().split("\n")
    try:
        first, last = lines.index(BEGIN), lines.index(END)
    except ValueError:
        problems.append("docs/reliability.md has no '%s' ... '%s'" % (BEGIN, END))
        return lines, [], []
    rows = [line[2:-2].split(" | ") for line in lines[first + 1:last] if line.startswith("| `")]
    return lines[:first + 1], rows, lines[last:]


def by_name(rows):
    return {row[0].strip("`").partition("`")[0]: row for row in rows if len(row) == 5}


def tables(faults, old):
    """A table of each group."""
    lines, group = [], None
    for fault in faults.values():
        if fault.group != group:
            group = fault.group
            lines += ["", "### " + group, ""] + HEAD
        lines.append("| " + " | ".join(fault.row() if sum(fault.times.values()) else old[fault.name]) + " |")
    return lines + [""]


def what_stays(fault, cell):
    """What has no other value on another machine, or by chance."""
    return [w for w in cell.strip("`").split() if re.split("<?=", w)[0] not in fault.chance]


def compare(faults, rows, problems, ran):
    before = len(problems)
    written = by_name(rows)
    if len(written) != len(rows):
        problems.append("docs/reliability.md: a row of the matrix is none, or there twice")
    for name in written.keys() - faults.keys():
        problems.append("docs/reliability.md has '%s', tests/faults.txt has not" % name)
    for fault in faults.values():
        was = ran and sum(fault.times.values()) != 0
        new, old = fault.row() if was else None, written.get(fault.name)
        if old is None:
            problems.append("docs/reliability.md does not have %s" % fault.name)
            continue
        if not fault.fits(old):
            problems.append("docs/reliability.md says otherwise of %s than tests/faults.txt" % fault.name)
        if was and what_stays(fault, new[4]) != what_stays(fault, old[4]):
            problems.append("%s: docs/reliability.md says that %s was seen, it was %s"
                            % (fault.name, old[4], new[4]))
    if len(problems) > before:
        problems.append("`make check`, then `scripts/faults.py --write`, writes the tables anew")


def names_in_tests(faults, problems):
    """Each fault is named by a test, and each name that a test writes out is a fault."""
    found = set()
    for path in glob.glob(os.path.join(ROOT, "tests", "*", "*.*")):
        if not path.endswith((".c", ".sh", ".py")) or os.sep + "static" + os.sep in path:
            continue
        text = open(path, encoding="utf-8").read()
        calls = re.findall(r"\bfault_saw(?:_times)?\(\s*\"([a-z0-9-]+)", text) + \
            re.findall(r"^[^#\n]*\bfault_saw ([a-z0-9-]+)", text, re.M) + \
            re.findall(r"\b(?:faults|matrix)\.saw\(\s*[fr]?\"([a-z0-9-]+)", text)
        for name in sorted(set(calls) - faults.keys()):
            problems.append("%s: tests/faults.txt does not have '%s'" % (os.path.relpath(path, ROOT), name))
        quote = "" if path.endswith(".sh") else "\""
        found |= set(calls) | set(re.findall(quote + r"\b([a-z0-9]+(?:-[a-z0-9]+)+)", text))
    for name in sorted(faults.keys() - found):
        problems.append("no test names the fault %s" % name)


def main(words):
    problems = []
    if words not in ([], ["--static"], ["--write"]):
        sys.exit(__doc__)
    faults = read_promises(problems)
    head, rows, tail = read_document(problems)
    if words == ["--static"]:
        names_in_tests(faults, problems)
        compare(faults, rows, problems, False)
    else:
        old = {name: row for name, row in by_name(rows).items() if name in faults and faults[name].fits(row)}
        read_records(faults, problems, old if words else {})
        whole = not problems
        if whole and not words:
            compare(faults, rows, problems, True)
    if words == ["--write"] and not problems:
        with open(DOCUMENT, "w", encoding="utf-8") as f:
            f.write("\n".join(head + tables(faults, old) + tail))
    print("\n".join(problems) or "%d faults, injected %s times" %
          (len(faults), format(sum(sum(f.times.values()) for f in faults.values()), ",")))
    for fault in faults.values():
        if fault.cannot and not sum(fault.times.values()):
            print("not injected here: %s: %s" % (fault.name, fault.cannot))
    if not words:
        subprocess.run([os.path.join(ROOT, "scripts", "result.sh"), "faults", "fail" if problems else "run",
                        "see above"], check=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
