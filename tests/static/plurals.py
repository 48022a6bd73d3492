#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""No message says "1 tasks": the noun behind a count goes through simpler_text_plural or simpler_text_by_count
(of examples, which have the public headers alone, through their own)."""
import os
import pathlib
import re
import sys

root = pathlib.Path(os.environ["SOURCE_DIR"])

# As the documents write them.
UNITS = {"ns", "us", "ms", "bytes"}
# What follows a number that is a name ("run %u is refused").
VERBS = {"is", "was", "has", "does", "goes", "breaks", "captures", "counts", "ends", "holds", "names"}
ADJECTIVES = "more|held|open|other|unfinished|unordered|submitted|whole|failed|AIC|AIV"

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|\w+|\S|\n', re.DOTALL)
# A number behind "at most" is a constant of ours.
COUNT = re.compile(r"(?<!at most )(?<!more than )(?<!1 to )%[-+ 0#]*[\d*]*(?:ll|[lzjh])?[udi] "
                   rf"(?:(?:{ADJECTIVES}) )*([a-z]{{2,}}s)\b")


def messages(text):
    """(line, text) of each literal; those side by side are one, with the PRI macros between them."""
    line, start, value = 1, 0, None
    for match in TOKEN.finditer(text):
        token = match.group()
        if token.startswith('"'):
            if value is None:
                start, value = line, ""
            value += token[1:-1]
        elif value is not None and re.match(r"PRI[udi]", token):
            value += "u"
        elif value is not None and token != "\n" and not token.startswith(("//", "/*")):
            yield start, value
            value = None
        line += token.count("\n")


faults = []
seen = 0
for folder in ("src", "tools", "include", "compat", "examples", "bench"):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in (".c", ".h", ".hpp", ".cpp"):
            continue
        for line, message in messages(path.read_text(encoding="utf-8")):
            seen += 1
            faults += [f'{path.relative_to(root)}:{line}: "{m.group()}" may be "1 {m.group(1)}": see base/text.h'
                       for m in COUNT.finditer(message) if m.group(1) not in UNITS | VERBS]
print("\n".join(faults) or f"{seen} literals")
sys.exit(bool(faults) or seen < 1000)
