#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""dump-viewer: each fault of a dump is named with file, entry and what is wrong (AD-33)."""
import json
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests/support"))
import args_dump_gen as gen
import faults as matrix
from viewer_cli import check, finish, run, saved, scratch, table_rows


def dump_of(count=3):
    dump = gen.Dump()
    for i in range(count):
        dump.tensor("float32", [2, 3], struct.pack("<6f", *range(6)), task=0x200000a00 + i)
    return dump


def fault(directory, what, needed, *words, status=1):
    """The call fails, quietly on stdout, and standard error holds each of the needed patterns."""
    result = run(directory, *words)
    told = check(result.status == status, f"{what} {words}: exit {status}", result)
    for pattern in needed:
        found = re.search(pattern, result.err, re.IGNORECASE) is not None
        told &= check(found, f"{what} {words}: standard error lacks /{pattern}/", result)
    matrix.saw("odd-dump", exit=result.status, told="fault" if told else "no")
    return result


def entry_is_named(number):
    return rf"\b(entry|index|args)\W{{0,3}}{number}\b"


def changed(number, **fields):
    """A dump whose entry `number` says something else than what was written."""
    directory = scratch()
    dump = dump_of()
    dump.write(directory)
    doc = dump.manifest()
    doc["args"][number].update(fields)
    with open(os.path.join(directory, "args_dump.json"), "w", encoding="utf-8") as f:
        doc["truncated_args"] = sum(e["truncated"] for e in doc["args"])
        f.write(gen.render(doc, "line"))
    return directory


def write_text(text):
    directory = scratch()
    with open(os.path.join(directory, "args_dump.json"), "w", encoding="utf-8") as f:
        f.write(text)
    return directory


def test_missing():
    fault("/nonexistent/args_dump", "missing directory", ["/nonexistent/args_dump"])
    fault(scratch(), "missing manifest", ["args_dump.json"])
    directory = dump_of().write(scratch())
    os.unlink(os.path.join(directory, "args.bin"))
    fault(directory, "missing args.bin", ["no args.bin", entry_is_named(0)], "--index", 0)


def test_broken_json():
    dump = dump_of()
    dump.blob()
    good = gen.render(dump.manifest(), "line")
    lines = good.split("\n")
    at = next(i for i, l in enumerate(lines) if "0a01" in l)
    column = lines[at].index('"role"')
    lines[at] = lines[at][:column] + "!" + lines[at][column:]
    result = fault(write_text("\n".join(lines)), "broken JSON", ["args_dump.json"])
    position(result, at + 1, column + 1)
    # Two values without a comma between them, in the head.
    text = good.replace('"dump_args_level": 2,', '"dump_args_level": 2')
    line = text[:text.index('"dump_args_level": 2')].count("\n") + 1
    result = fault(write_text(text), "a comma is missing", ["args_dump.json"])
    position(result, line + 1, 3, slack=30)
    # The file ends in the middle of an entry; all on one line, too.
    result = fault(write_text(good[:-40]), "cut JSON", ["args_dump.json"])
    position(result, good[:-40].count("\n") + 1, 1, slack=1000)
    single = gen.render(dump.manifest(), "single")
    column = single.index('"kind"')
    result = fault(write_text(single[:column] + "?" + single[column:]), "broken line", ["args_dump.json"])
    position(result, 1, column + 1)
    fault(write_text(""), "empty file", ["args_dump.json"])
    fault(write_text(good + "x"), "text behind the end", ["args_dump.json"])


def position(result, line, column, slack=1):
    """'line L, column C' or 'L:C', the column within the slack (counting differs by one)."""
    m = re.search(r"line (\d+)\D{1,12}column (\d+)", result.err) or re.search(r":(\d+):(\d+)", result.err)
    if check(m, f"no line and column ({line}, {column} are due)", result):
        got = int(m.group(1)), int(m.group(2))
        check(got[0] == line and abs(got[1] - column) <= slack,
              f"line and column {got}, where ({line}, {column}) are due", result)


def test_other_tools():
    for name, text in (("trace", '{"traceEvents": [{"ph": "X", "ts": 1}]}'), ("array", "[1, 2]"),
                       ("string", '"args"'), ("number", "17"), ("empty object", "{}"),
                       ("args of another kind", '{"args": {"a": 1}}'),
                       ("args of numbers", '{"args": [1, 2, 3]}'),
                       ("jsonl", '{"version": 1}\n{"ring": 0}\n'),
                       ("other entries", '{"args": [{"name": "x", "value": 1}]}')):
        fault(write_text(text), f"a manifest of another tool ({name})", ["args_dump.json"])
    text = gen.render(dump_of().manifest(), "line").replace("little_endian", "big_endian")
    fault(write_text(text), "another byte order", ["args_dump.json", "bin_format", "little_endian"])


def test_bytes_that_are_not_there():
    for offset in (72 - 8, 72, 4096, 1 << 32, (1 << 53) + 1, (1 << 63) - 8, (1 << 64) - 8):
        directory = changed(2, bin_offset=offset)
        for words in (("--check",), ("--index", 2)):
            fault(directory, f"bytes beyond args.bin at {offset}",
                  ["args.bin", entry_is_named(2), str(offset)], *words)
    with open(os.path.join(dump_of().write(scratch()), "args.bin"), "rb") as f:
        check(len(f.read()) == 72, "the sample's args.bin has 72 bytes")
    directory = dump_of().write(scratch())
    os.truncate(os.path.join(directory, "args.bin"), 71)
    fault(directory, "args.bin is one byte short", ["args.bin", entry_is_named(2)], "--index", 2)
    check(run(directory, "--index", 1).status == 0, "the entries before the cut can be exported")


def test_numbers():
    for field in ("bin_offset", "bin_size", "start_offset", "arg_index"):
        for value in (1 << 64, 10 ** 30, -1, 1.5, "7", None, True):
            directory = changed(1, **{field: value})
            fault(directory, f"{field} {value!r}", ["args_dump.json", entry_is_named(1)], "--check")
    fault(changed(1, shape=[1 << 62, 1 << 62]), "a shape whose size overflows",
          ["args_dump.json", entry_is_named(1)], "--check")
    # 2 * 9223372036854775811 and (2^62 + 6) * 4 are the right size modulo 2^64.
    for shape in ([2, 9223372036854775811], [(1 << 62) + 6]):
        fault(changed(1, shape=shape), f"shape {shape} wraps", ["args_dump.json", entry_is_named(1)], "--check")
        fault(changed(1, shape=shape), f"shape {shape} wraps", ["args_dump.json", entry_is_named(1)], "--index", 1)
    fault(changed(1, shape=[2, 1 << 33]), "an extent beyond 2^32 whose low bits fit",
          ["args_dump.json", entry_is_named(1)], "--check")
    fault(changed(1, shape=[2, -3]), "a negative extent", ["args_dump.json", entry_is_named(1)], "--check")


def test_fields():
    for fields, words in (({"dtype": "float33"}, ["float33"]), ({"role": "inward"}, ["role"]),
                          ({"stage": "later"}, ["stage"]), ({"kind": "matrix"}, ["kind"]),
                          ({"task_id": "0x200000a01"}, ["task_id"]),
                          ({"task_id": "0x0000000200000A0G"}, ["task_id"]),
                          ({"task_id": 0x200000a01}, ["task_id"]),
                          ({"shape": 3}, ["shape"]), ({"func_id": ["a"]}, ["func_id"]),
                          ({"is_contiguous": "yes"}, ["is_contiguous"])):
        fault(changed(1, **fields), f"{fields}", ["args_dump.json", entry_is_named(1), *words], "--check")
    directory = scratch()
    dump = dump_of()
    del dump.entries[1]["bin_size"]
    dump.payloads[1] = b""
    dump.write(directory)
    fault(directory, "no bin_size", ["args_dump.json", entry_is_named(1), "bin_size"], "--check")


def test_keys_twice():
    """Which of two values counts is nobody's guess."""
    dump = dump_of()
    dump.blob()
    good = gen.render(dump.manifest(), "line")
    directory = dump.write(scratch())
    for old, new, key in (('"arg_index": 0,', '"arg_index": 0, "arg_index": 1,', "arg_index"),
                          ('"bin_size": 24', '"bin_size": 24, "bin_size": 24', "bin_size")):
        with open(os.path.join(directory, "args_dump.json"), "w", encoding="utf-8") as f:
            f.write(good.replace(old, new, 1))
        fault(directory, f"{key} twice", ["args_dump.json", entry_is_named(0), f"{key}.*twice"])


def test_sizes():
    for size in (20, 23, 28, 0xffffffff):
        directory = changed(1, bin_size=size)
        fault(directory, f"bin_size {size} for float32[2, 3]", [entry_is_named(1), str(size), "24"],
              "--check")
    fault(changed(1, shape=[2, 3, 2]), "a shape of 12", [entry_is_named(1), "48", "24"], "--check")
    fault(changed(1, dtype="float16"), "a dtype of 2 bytes", [entry_is_named(1), "12", "24"], "--check")
    fault(changed(1, bin_size=10, truncated=True), "truncated within an element",
          [entry_is_named(1), "10"], "--check")
    fault(changed(1, bin_size=28, truncated=True), "truncated and too large", [entry_is_named(1)],
          "--check")
    result = run(changed(1, bin_size=8, truncated=True), "--check")
    check(result.status == 0, "a truncated payload is no fault", result)
    fault(changed(1, bin_size=0, bin_offset=0), "level 2 captures every payload", [entry_is_named(1)],
          "--check")


def test_overlap():
    directory = changed(2, bin_offset=40)
    fault(directory, "overlapping", ["overlap", entry_is_named(1), r"\b2\b"], "--check")
    fault(changed(2, bin_offset=0), "twice the same bytes", ["overlap", entry_is_named(0), r"\b2\b"],
          "--check")
    result = run(dump_of().write(scratch()), "--check")
    check(result.status == 0, "--check of a good dump", result)
    # A long range holds two that do not touch each other.
    doc = dump_of(4).manifest()
    for entry, (shape, offset) in zip(doc["args"], (([100], 0), ([1], 40), ([1], 80), ([1], 400))):
        entry.update(shape=shape, strides=[1], bin_offset=offset, bin_size=4 * shape[0])
    directory = write_text(gen.render(doc, "line"))
    with open(os.path.join(directory, "args.bin"), "wb") as f:
        f.write(bytes(404))
    result = fault(directory, "two ranges within a third", ["entry 1.*overlap", "entry 2.*overlap"], "--check")
    check("entry 3" not in result.err, "a neighbour is not an overlap", result)
    # The order of the payload is free, and neighbours that touch do not overlap.
    dump = dump_of(400)
    dump.blob()
    doc = dump.manifest()
    for i, entry in enumerate(doc["args"]):
        entry["bin_offset"] = (i * 171 % 400) * 24
    directory = scratch()
    with open(os.path.join(directory, "args.bin"), "wb") as f:
        f.write(bytes(24 * 400))
    path = os.path.join(directory, "args_dump.json")
    with open(path, "w", encoding="utf-8") as f:
        f.write(gen.render(doc, "line"))
    result = run(directory, "--check")
    check(result.status == 0, "--check of payload in another order", result)
    doc["args"][7]["bin_offset"] += 1
    with open(path, "w", encoding="utf-8") as f:
        f.write(gen.render(doc, "line"))
    other = next(i for i in range(400) if i * 171 % 400 == 7 * 171 % 400 + 1)
    fault(directory, "one byte of overlap", ["overlap", r"\b7\b", rf"\b{other}\b"], "--check")


def test_order():
    """Entries out of the format's order are a fault of the dump (AD-15)."""
    dump = dump_of()
    dump.entries.reverse()
    dump.payloads.reverse()
    fault(dump.write(scratch()), "entries in another order", ["order", entry_is_named(1)], "--check")


def test_bin_file():
    directory = dump_of().write(scratch())
    doc = json.load(open(os.path.join(directory, "args_dump.json"), encoding="utf-8"))
    doc["bin_file"] = None
    with open(os.path.join(directory, "args_dump.json"), "w", encoding="utf-8") as f:
        json.dump(doc, f)
    fault(directory, "bytes without a bin_file", ["args_dump.json", entry_is_named(0), "bin_file"],
          "--index", 0)
    fault(directory, "bytes without a bin_file", ["args_dump.json", entry_is_named(0), "bin_file"],
          "--check")
    other = gen.Dump(bin_file="payload.dat")
    other.tensor("int8", [2], b"\x05\xfb")
    directory = other.write(scratch())
    files = saved(run(directory, "--index", 0), directory)
    check(files and "-5" in open(files[0], encoding="utf-8").read(), "bin_file is followed")
    none = gen.Dump(level=3, bin_file=None)
    none.tensor("int8", [2], None)
    none.scalar("int8", 3, arg=1)
    directory = none.write(scratch())
    check(run(directory, "--check").status == 0, "level 3 without payload is whole")
    check(run(directory, "--export").status == 0, "level 3 without payload exports")


def test_output():
    directory = dump_of().write(scratch())
    with open(os.path.join(directory, "txt"), "w", encoding="utf-8"):
        pass
    fault(directory, "txt is a file", ["--export: ", "txt is a file, not a directory", "copy the dump elsewhere"],
          "--index", 0)
    # An output file that cannot be opened.
    directory = dump_of().write(scratch())
    name = "txt/task_0x0000000200000a00_before_in0.txt"
    os.makedirs(os.path.join(directory, name))
    fault(directory, "the output is a directory", [name, "directory"], "--export")
    with open("/dev/full", "wb"):
        pass
    result = run(directory, stdout_path="/dev/full")
    check(result.status == 1 and "No space left" in result.err, "a full standard output", result)
    matrix.saw("output-full", exit=result.status, told="yes" if "No space left" in result.err else "no")


def test_counts():
    """Entries that the head does not count, or counts that lie, are told by --check."""
    for key in ("total_args", "before_dispatch", "input_args", "truncated_args"):
        dump = dump_of()
        dump.top[key] = 7
        fault(dump.write(scratch()), f"{key} 7", ["args_dump.json", key, "7"], "--check")


def test_losses_are_said():
    """Nothing is silent: dropped records and truncated entries appear under the listing."""
    dump = dump_of()
    dump.top["dropped_records"] = 12
    result = run(dump.write(scratch()))
    check(result.status == 0 and re.search(r"\b12\b.*(dropped|lost)|dropped\D*\b12\b", result.out + result.err),
          "12 dropped records are not mentioned", result)
    check(len(table_rows(result.out)) == 3, "rows beside a loss", result)


def main():
    for name, function in list(globals().items()):
        if name.startswith("test_"):
            function()
    finish()


main()
