#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The fault matrix: what the tests have injected, and whether what they saw was promised.

tests/faults.txt promises, a line a fault: ID | where | fault | what is seen | what holds | tokens.
Where: tmr, hbg, both, or - where the runtime does not matter.  A token is key=value, key=value,other
(each of them is seen), key=value/other (either, by chance) or key<=number; "# ---- title ----" begins a
group.  The tests of each suite write what they saw to build/results/faults/SUITE.tsv
(tests/support/faults.h), with the same keys.  The words are the user's; they name every status that the
tokens name, so that they cannot promise another one.  What a machine does not let a test inject is told
with the reason ("cannot=..."), and is no failure.

  faults.py           each fault was injected and seen as promised, and docs/reliability.md says so
  faults.py --static  the document, the promises and the names in the tests agree; nothing is run
  faults.py --write   writes the document's tables from tests/faults.txt
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
STATUSES = os.path.join(ROOT, "include", "simpler", "status.h")
HEAD = ["| what went wrong | what you see | what holds | tried by |", "| --- | --- | --- | --- |"]
RUNTIMES = {"tensormap_and_ringbuffer": "tmr", "host_build_graph": "hbg"}
EXITS = {"exit status 1": "something failed", "exit status 2": "bad usage",
         "exit status 3": "results are right, a diagnostic is missing or incomplete",
         "exit status 130": "interrupted twice", "exit status 134": "SIGABRT", "exit status 135": "SIGBUS",
         "exit status 139": "SIGSEGV"}
WHERE = {"tmr": ["tmr"], "hbg": ["hbg"], "both": ["tmr", "hbg"], "-": []}


class Fault:
    def __init__(self, group, name, where, text, sees, holds, promise):
        self.group, self.name, self.where, self.text, self.promise = group, name, where, text, promise
        self.sees, self.holds, self.tests = sees, holds, []
        self.tokens, self.chance = {}, set()
        for word in promise.split():
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

    def statuses(self, known):
        """What the user is told to look for: names of statuses, and exit statuses."""
        names = [v for key, values in self.tokens.items() if isinstance(values, list)
                 for v in values if v in known]
        return list(dict.fromkeys(names)) + ["exit status " + v for v in self.tokens.get("exit", []) if v != "0"]

    def unsaid(self, known):
        """Statuses that the tests see and the words do not say, and codes of another number."""
        words = self.sees + " " + self.holds
        wrong = ["'%s' is not in its words" % s for s in self.statuses(known)
                 if not re.search(r"\b%s\b" % s, words)]
        for number, name in re.findall(r"\bcode (\d+) `(\w+)`", words):
            if known.get(name, ("", ""))[0] != number:
                wrong.append("%s has not the number %s" % (name, number))
        return wrong

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

    def row(self):
        where = " (%s)" % self.where if WHERE[self.where] == [self.where] else ""
        tests = ", ".join("`%s`" % re.sub(r"^(\w+)/|\.\w+$", "", t) for t in self.tests)
        return '| <a id="%s"></a>%s | %s | %s | %s%s |' % (self.name, self.text, self.sees, self.holds, tests, where)


def read_statuses():
    """Number (of a code of the device, else "") and meaning of each status, by name."""
    text = open(STATUSES, encoding="utf-8").read()
    found = re.findall(r"X\((-?\d+), (\w+), \"([^\"]+)\"\)", text)
    return {name if int(n) > 0 else "SIMPLER_" + name: (n if int(n) > 0 else "", what) for n, name, what in found}


def read_promises(problems):
    faults, group = {}, ""
    for number, line in enumerate(open(PROMISES, encoding="utf-8"), 1):
        title = re.fullmatch(r"# -{4} (.+) -{4}\n", line)
        group = title[1] if title else group
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split(" | ")]
        try:
            if len(cells) != 6 or not all(cells) or cells[1] not in WHERE or cells[0] in faults:
                raise ValueError
            fault = Fault(group, *cells)
            if not fault.tokens or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", fault.name):
                raise ValueError
            faults[fault.name] = fault
        except ValueError:
            problems.append("tests/faults.txt:%d: not 'ID | tmr, hbg, both or - | fault | what is seen | what holds | "
                            "key=value...', or an ID twice: %s" % (number, line.strip()))
    return faults


def read_records(faults, problems):
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
        for what in fault.missing():
            problems.append("%s %s: %s" % (fault.name, what, fault.text))


def read_document(problems):
    """The lines before the tables, the tables, the lines behind."""
    lines = open(DOCUMENT, encoding="utf-8").read().split("\n")
    try:
        first, last = lines.index(BEGIN), lines.index(END)
    except ValueError:
        problems.append("docs/reliability.md has no '%s' ... '%s'" % (BEGIN, END))
        return lines, [], []
    return lines[:first + 1], lines[first + 1:last], lines[last:]


def index(faults, known):
    """From a status to its rows."""
    lines = ["", "### From what you were told to its row", "", "| told | it means | rows |", "| --- | --- | --- |"]
    exits = {s: "" for f in faults.values() for s in f.statuses(known) if s not in known}
    meaning = dict(known, **{s: ("", EXITS.get(s, "")) for s in sorted(exits, key=lambda s: int(s.split()[-1]))})
    for status, (number, what) in meaning.items():
        told = "%s`%s`" % ("code %s " % number if number else "", status) if status in known else status
        rows = [f for f in faults.values() if status in f.statuses(known)]
        if rows:
            lines.append("| %s | %s | %s |" % (told, what, links(rows)))
    return lines


def links(rows):
    """To the rows, or of many to their tables."""
    if len(rows) <= 4:
        return ", ".join("[%s](#%s)" % (f.name, f.name) for f in rows)
    groups = dict.fromkeys(f.group for f in rows)
    return ", ".join("[%s](#%s)" % (g, re.sub(r"[^a-z0-9 -]", "", g.lower()).replace(" ", "-")) for g in groups)


def tables(faults, known):
    """The index, and a table of each group."""
    lines, group = index(faults, known), None
    for fault in faults.values():
        if fault.group != group:
            group = fault.group
            lines += ["", "### " + group, ""] + HEAD
        lines.append(fault.row())
    return lines + [""]


def name_of(line):
    match = re.match(r'\| <a id="([a-z0-9-]+)">', line)
    return match and match[1]


def compare(faults, known, written, problems):
    wanted = tables(faults, known)
    if written == wanted:
        return
    was = {name_of(line): line for line in written if name_of(line)}
    for line in written:
        if name_of(line) and name_of(line) not in faults:
            problems.append("docs/reliability.md has '%s', tests/faults.txt has not" % name_of(line))
    for name, fault in faults.items():
        if name not in was:
            problems.append("docs/reliability.md does not have %s" % name)
        elif was[name] != fault.row():
            problems.append("docs/reliability.md says otherwise of %s than tests/faults.txt" % name)
    problems.append("docs/reliability.md is not what tests/faults.txt makes: `scripts/faults.py --write`")


def names_in_tests(faults, problems):
    """Each fault is named by a test, and each name that a test writes out is a fault."""
    found = set()
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "*", "*.*"))):
        if not path.endswith((".c", ".sh", ".py")) or os.sep + "static" + os.sep in path:
            continue
        text = open(path, encoding="utf-8").read()
        calls = re.findall(r"\bfault_saw(?:_times)?\(\s*\"([a-z0-9-]+)", text) + \
            re.findall(r"^[^#\n]*\bfault_saw ([a-z0-9-]+)", text, re.M) + \
            re.findall(r"\b(?:faults|matrix)\.saw\(\s*[fr]?\"([a-z0-9-]+)", text)
        for name in sorted(set(calls) - faults.keys()):
            problems.append("%s: tests/faults.txt does not have '%s'" % (os.path.relpath(path, ROOT), name))
        quote = "" if path.endswith(".sh") else "\""
        named = set(calls) | set(re.findall(quote + r"\b([a-z0-9]+(?:-[a-z0-9]+)+)", text))
        found |= named
        # What only tests the notes themselves injects nothing.
        for name in named & faults.keys() if not path.endswith("test_faults.c") else ():
            faults[name].tests.append(os.path.relpath(path, os.path.join(ROOT, "tests")))
    for name in sorted(faults.keys() - found):
        problems.append("no test names the fault %s" % name)


def main(words):
    problems = []
    if words not in ([], ["--static"], ["--write"]):
        sys.exit(__doc__)
    known = read_statuses()
    faults = read_promises(problems)
    head, written, tail = read_document(problems)
    names_in_tests(faults, problems)
    for fault in faults.values():
        problems += ["tests/faults.txt: %s: %s" % (fault.name, what) for what in fault.unsaid(known)]
    if words == ["--write"] and not problems:
        with open(DOCUMENT, "w", encoding="utf-8") as f:
            f.write("\n".join(head + tables(faults, known) + tail))
    elif words != ["--write"]:
        compare(faults, known, written, problems)
    if not words:
        read_records(faults, problems)
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
