#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes args_dump directories from the format's description alone.

It shares nothing with the program: keys, their order and the numbers come from
the document (AD-10 to AD-15), so that a reader is tested against the format and
not against our own writer.

  args_dump_gen.py DIR [--entries N] [--bin-bytes B]   a large, sparse dump

As a module: Dump() with tensor() and scalar(), then write(directory, layout).
"""
import argparse
import json
import math
import os
import re
import struct

# Bytes of one element.  fp4e2m1 shapes count bytes, two values each.
BYTES = {
    "float32": 4, "float16": 2, "int32": 4, "int16": 2, "int8": 1, "uint8": 1,
    "bfloat16": 2, "int64": 8, "uint64": 8, "uint16": 2, "uint32": 4, "bool": 1,
    "fp8e4m3fn": 1, "fp8e8m0": 1, "fp4e2m1": 1, "float64": 8,
}
ROLES = ("input", "output", "inout")
STAGES = ("before_dispatch", "after_completion")
LAYOUTS = ("line", "document", "indent", "single", "earlier", "earlier_tensors")
TOP_KEYS = ("run_dir", "bin_format", "dump_args_level", "total_args", "before_dispatch",
            "after_completion", "input_args", "output_args", "inout_args", "truncated_args",
            "dropped_records", "bin_file", "args")
ENTRY_KEYS = ("task_id", "func_id", "role", "stage", "arg_index", "arg_index_ambiguous", "kind",
              "dtype", "value", "shape", "strides", "start_offset", "is_contiguous", "truncated",
              "bin_offset", "bin_size")
EARLIER_KEYS = ("task_id", "func_id", "arg_index", "role", "stage", "kind", "dtype", "value",
                "is_contiguous", "shape", "strides", "start_offset", "numel", "bin_offset",
                "bin_size", "truncated", "overwritten")


def task_id(ring, local):
    return f"0x{ring:08x}{local:08x}"


def numel(shape):
    return math.prod(shape)


def row_major(shape):
    """Element strides of a contiguous view (a zero extent counts as one)."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= max(extent, 1)
    return strides


def gather(storage, width, shape, strides, start):
    """The logical-contiguous bytes of a strided view, element by element."""
    out = bytearray()
    count = numel(shape)
    for flat in range(count):
        at, rest = start, flat
        for extent, stride in zip(reversed(shape), reversed(strides)):
            at += rest % extent * stride
            rest //= extent
        out += storage[at * width:(at + 1) * width]
    return bytes(out)


def value_of(dtype, value):
    """A scalar's value as strict JSON writes it."""
    if isinstance(value, float):
        if math.isnan(value):
            return "nan"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
    if dtype == "bool":
        return bool(value)
    return value


class Dump:
    """Entries in the order of the calls; sort() brings them into the format's order."""

    def __init__(self, level=2, bin_file="args.bin"):
        self.level = level
        self.bin_file = bin_file
        self.entries = []
        self.payloads = []
        self.top = {}

    def tensor(self, dtype, shape, payload=None, *, task=0, func=(0,), role="input", stage=None,
               arg=0, strides=None, start=0, contiguous=None, truncated=False):
        """One payload (bytes) or none (None: not captured).  Truncated ones are cut by the caller."""
        strides = row_major(shape) if strides is None else list(strides)
        if stage is None:
            stage = STAGES[1] if role == "output" else STAGES[0]
        if contiguous is None:
            contiguous = strides == row_major(shape)
        entry = {"task_id": task if isinstance(task, str) else task_id(task >> 32, task & 0xffffffff),
                 "func_id": list(func), "role": role, "stage": stage, "arg_index": arg,
                 "kind": "tensor", "dtype": dtype, "shape": list(shape), "strides": strides,
                 "start_offset": start, "is_contiguous": contiguous, "truncated": truncated,
                 "bin_offset": 0, "bin_size": len(payload or b"")}
        return self._add(entry, payload or b"")

    def scalar(self, dtype, value, *, task=0, func=(0,), arg=0, ambiguous=False):
        entry = {"task_id": task if isinstance(task, str) else task_id(task >> 32, task & 0xffffffff),
                 "func_id": list(func), "role": "input", "stage": STAGES[0], "arg_index": arg}
        if ambiguous:
            entry["arg_index_ambiguous"] = True
        entry |= {"kind": "scalar", "dtype": dtype, "value": value_of(dtype, value), "shape": [],
                  "strides": [], "start_offset": 0, "is_contiguous": True, "truncated": False,
                  "bin_offset": 0, "bin_size": 0}
        return self._add(entry, b"")

    def _add(self, entry, payload):
        self.entries.append(entry)
        self.payloads.append(payload)
        return entry

    def sort(self):
        def key(pair):
            e = pair[0]
            return (int(e["task_id"], 16), STAGES.index(e["stage"]), e["arg_index"],
                    ROLES.index(e["role"]))
        pairs = sorted(zip(self.entries, self.payloads), key=key)
        self.entries = [p[0] for p in pairs]
        self.payloads = [p[1] for p in pairs]

    def blob(self):
        """The bytes of args.bin; sets each entry's bin_offset."""
        out = bytearray()
        for entry, payload in zip(self.entries, self.payloads):
            if payload:
                entry["bin_offset"] = len(out)
                out += payload
        return bytes(out)

    def manifest(self):
        """A dict in the format's key order; self.top overrides single keys."""
        def count(key, value):
            return sum(1 for e in self.entries if e[key] == value)
        doc = {"run_dir": "args_dump",
               "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"},
               "dump_args_level": self.level, "total_args": len(self.entries),
               "before_dispatch": count("stage", STAGES[0]),
               "after_completion": count("stage", STAGES[1]),
               "input_args": count("role", "input"), "output_args": count("role", "output"),
               "inout_args": count("role", "inout"), "truncated_args": count("truncated", True),
               "dropped_records": 0, "bin_file": self.bin_file, "args": self.entries}
        doc.update(self.top)
        return doc

    def write(self, directory, layout="line"):
        """args_dump.json and, unless bin_file is None, the payload.  Returns the directory."""
        os.makedirs(directory, exist_ok=True)
        blob = self.blob()
        if self.bin_file is not None:
            with open(os.path.join(directory, self.bin_file), "wb") as f:
                f.write(blob)
        with open(os.path.join(directory, "args_dump.json"), "w", encoding="utf-8") as f:
            f.write(render(self.manifest(), layout))
        return directory


def earlier_entry(e):
    """An entry as the earlier version wrote it."""
    old = dict(e, dtype=e["dtype"].upper(), numel=numel(e["shape"]), overwritten=False)
    if "value" in e and e["dtype"] in ("float32", "float64"):
        old["value"] = {"nan": None, "inf": "$Inf", "-inf": "-$Inf"}.get(e["value"], e["value"])
    return {k: old[k] for k in EARLIER_KEYS if k in old}


def render(doc, layout):
    if layout == "single":
        return json.dumps(doc, separators=(",", ":"))
    if layout == "indent":
        return json.dumps(doc, indent=4) + "\n"
    if layout == "document":  # as the document's example: arrays of numbers on one line
        text = json.dumps(doc, indent=2)
        return re.sub(r"\[\s+([^\[\]{}]*?)\s+\]",
                      lambda m: "[" + re.sub(r"\s+", " ", m.group(1)) + "]", text) + "\n"
    entries = doc["args"]
    head = {k: v for k, v in doc.items() if k != "args"}
    key = "args"
    if layout.startswith("earlier"):
        entries = [earlier_entry(e) for e in entries]
        head = {}
        for k, v in doc.items():
            if k == "bin_file":
                head["dropped_overwrite"] = 0
            if k != "args":
                head[k] = v
        key = "tensors" if layout == "earlier_tensors" else "args"
    text = json.dumps(head, indent=2)[:-2]
    lines = ",\n".join("    " + json.dumps(e) for e in entries)
    return f'{text},\n  "{key}": [\n{lines}\n  ]\n}}\n' if entries else f'{text},\n  "{key}": []\n}}\n'


LARGE_SHAPE = 1024  # float32 elements of each entry of a large dump


def large_value(index):
    """What every payload element of entry index holds, where a payload was written."""
    return struct.unpack("<f", struct.pack("<f", index + 0.25))[0]


def large_task(number, entries):
    """The tasks of a large dump fill four rings, one after the other."""
    per_ring = entries // 16 + 1
    return task_id(number // per_ring, number % per_ring)


def write_large(directory, entries, bin_bytes, payload_at=(), moved=None):
    """Streams a manifest of any size beside a sparse args.bin of bin_bytes.

    Entry i: argument i % 4 of task large_task(i // 4, entries), float32[1024] at
    i * (bin_bytes // entries), rounded down to a page.  Only the entries of
    payload_at get bytes; the others are holes.  moved names other offsets, by entry.
    """
    moved = moved or {}
    os.makedirs(directory, exist_ok=True)
    step = bin_bytes // entries // 4096 * 4096
    size = LARGE_SHAPE * 4
    assert step >= size, "entries would overlap"
    tail = f'"shape": [{LARGE_SHAPE}], "strides": [1], "start_offset": 0, "is_contiguous": true, "truncated": false, "bin_offset": '
    with open(os.path.join(directory, "args_dump.json"), "w", encoding="ascii") as f:
        outputs = sum(1 for i in range(4) if i == 3) * (entries // 4) + max(entries % 4 - 3, 0)
        head = {"run_dir": "args_dump",
                "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"},
                "dump_args_level": 2, "total_args": entries, "before_dispatch": entries - outputs,
                "after_completion": outputs, "input_args": entries - outputs,
                "output_args": outputs, "inout_args": 0, "truncated_args": 0,
                "dropped_records": 0, "bin_file": "args.bin"}
        f.write(json.dumps(head, indent=2)[:-2] + ',\n  "args": [\n')
        for first in range(0, entries, 8192):
            lines = []
            for i in range(first, min(first + 8192, entries)):
                task = i // 4
                role = '"output", "stage": "after_completion"' if i % 4 == 3 else \
                    '"input", "stage": "before_dispatch"'
                lines.append(
                    f'    {{"task_id": "{large_task(task, entries)}", "func_id": [{task % 7}], '
                    f'"role": {role}, "arg_index": {i % 4}, "kind": "tensor", "dtype": "float32", '
                    f'{tail}{moved.get(i, i * step)}, "bin_size": {size}}}')
            f.write(",\n".join(lines) + (",\n" if first + 8192 < entries else "\n"))
        f.write("  ]\n}\n")
    with open(os.path.join(directory, "args.bin"), "wb") as f:
        f.truncate(bin_bytes)
        for i in payload_at:
            f.seek(i * step)
            f.write(struct.pack("<f", large_value(i)) * LARGE_SHAPE)
    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--bin-bytes", type=int, default=20 << 30)
    args = parser.parse_args()
    write_large(args.directory, args.entries, args.bin_bytes,
                [0, args.entries // 2, args.entries - 1])


if __name__ == "__main__":
    main()
