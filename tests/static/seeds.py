#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each seeded fault fits the sources as they are, and names tests that exist.

A seed that does not apply kills nothing, and that would only show in the hours of mutants.py.
"""
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from mutant_seeds import MUTANTS, SUITES, TESTS  # noqa: E402  (the path comes first)


def complaints():
    sources = {path.stem for path in (ROOT / "tests").glob("*/test_*.c*")}
    for suite in SUITES:
        yield from (f"{test}: no such test" for test in suite.tests if test not in sources)
    names = [mutant[0] for mutant in MUTANTS]
    yield from (f"{name}: there twice" for name in sorted(set(names)) if names.count(name) > 1)
    for name, _, _, patches, *suite in MUTANTS:
        if (suite[0] if suite else TESTS) not in SUITES:
            yield f"{name}: its tests are in no list of suites"
        for source, old, new in patches:
            count = (ROOT / source).read_text().count(old)
            if count != 1 or old == new:
                yield f"{name}: {source} has the text to replace {count} times, not once"


found = list(complaints())
for line in found:
    print(line)
print(f"{len(MUTANTS)} seeded faults, {len(found)} complaints")
sys.exit(1 if found or not MUTANTS else 0)
