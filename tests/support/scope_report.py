# SPDX-License-Identifier: Apache-2.0
"""Runs `simpler scope-stats-plot` on bytes and judges the outcome by the facts."""
import json
import os
import shutil
import subprocess
import tempfile

import scope_stats_facts as model

CHIPS = ("fatal", "dropped", "unknown-counts", "incomplete", "unpaired", "healthy")


class Outcome:
    def __init__(self, path, code, out, err):
        self.path, self.code, self.out, self.err = path, code, out, err

    @property
    def json(self):
        return json.loads(self.out.decode("utf-8"), parse_constant=float)

    @property
    def chip(self):
        return self.json["status"]["chip"]


class Runner:
    """A directory of its own for inputs and pages; use as a context manager."""

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="scope_report_")
        self.path = os.path.join(self.dir, "scope_stats.jsonl")
        self.page = os.path.join(self.dir, "scope_stats.html")
        return self

    def __exit__(self, *unused):
        shutil.rmtree(self.dir)

    def run(self, data, *arguments):
        with open(self.path, "wb") as f:
            f.write(data)
        return self.again(*(arguments or ("--json",)))

    def again(self, *arguments):
        if os.path.exists(self.page):
            os.unlink(self.page)
        done = subprocess.run([os.environ["SIMPLER"], "scope-stats-plot", self.path, *arguments],
                              capture_output=True, timeout=100, check=False)
        return Outcome(self.path, done.returncode, done.stdout, done.stderr)

    def html(self):
        with open(self.page, "rb") as f:
            return f.read()


def crashed(outcome):
    """A signal, an exit status that no decision allows, or a sanitizer's word."""
    return (outcome.code not in (0, 1) or b"Sanitizer" in outcome.err
            or b"runtime error:" in outcome.err)


def _check_error(outcome):
    if outcome.path.encode() not in outcome.err:
        return "the error does not name the file: %r" % outcome.err[:200]
    if len(outcome.err) < len(outcome.path) + 20:
        return "the error names no fault: %r" % outcome.err
    return None


def _facts_or_none(data):
    try:
        return model.facts(data)
    except model.Damage:
        return None


def _harmless(data):
    """Whole after all: only the last newline is gone, or blank lines came in."""
    rows = [row for row in data.split(b"\n") if row.strip(b" \t\r")]
    return _facts_or_none(b"\n".join(rows) + b"\n") if rows else None


def _check_counts(records, facts):
    got = [records[k] for k in ("lines", "pairs", "unpaired_begin", "unpaired_end")]
    want = [facts[k] for k in ("lines", "pairs", "unpaired_begin", "unpaired_end")]
    if not facts["sound"] or facts["odd"]:
        # What contradicts itself is counted apart, and may be left out.
        if got[0] != want[0] or got[1] > want[1]:
            return "counts %r, more than %r" % (got, want)
    elif got != want:
        return "counts %r, not %r" % (got, want)
    return None


def _check_peaks(report, facts):
    """A peak is a difference of counters: none is above the greatest of the file."""
    for row in report["peaks"] + report["lines"]:
        if row["peak"] > facts["greatest"]:
            return "a peak of %d, where no counter is above %d" % (row["peak"], facts["greatest"])
    return None


def judge(outcome, data):
    """None when a report over possibly damaged bytes is honest, else the fault."""
    if crashed(outcome):
        return "exit %d, %r" % (outcome.code, outcome.err[-300:])
    facts = _facts_or_none(data)
    if outcome.code == 1:
        if facts is not None:
            return "a valid file was refused: %r" % outcome.err[:200]
        return _check_error(outcome)
    chip = outcome.chip
    if chip not in CHIPS:
        return "an unknown chip %r" % chip
    if facts is None:
        whole = _harmless(data)
        if chip == "healthy" and (whole is None or whole["chip"] != "healthy"):
            return "healthy over damaged data"
        return None
    if chip != facts["chip"] and not (facts["odd"] and chip == "incomplete"):
        return "chip %r, not %r" % (chip, facts["chip"])
    return _check_counts(outcome.json["records"], facts) or _check_peaks(outcome.json, facts)
