#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 120
"""dump-viewer: filters against a model of them, and wrong values (AD-12, AD-32)."""
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests/support"))
import args_dump_gen as gen
from viewer_cli import check, finish, json_rows, run, scratch, table_rows

DTYPES = list(gen.BYTES)


def make(directory, rng, layout):
    """A dump with every dtype, role, stage, ring and several kernels."""
    dump = gen.Dump()
    for t in range(40):
        task = (t % 4) << 32 | (t // 4 * 3)
        func = [[t % 5], [t % 5, t % 5], [1, 7, t % 3], [-1]][t % 4]
        for arg in range(3):
            dtype = DTYPES[(t * 3 + arg) % len(DTYPES)]
            payload = rng.randbytes(4 * gen.BYTES[dtype])
            role = gen.ROLES[arg]
            stages = gen.STAGES if role == "inout" else [None]
            for stage in stages:
                dump.tensor(dtype, [2, 2], payload, task=task, func=func, role=role, stage=stage,
                            arg=arg)
        if t % 3 == 0:
            dump.scalar("int32", t - 20, task=task, func=func, arg=3, ambiguous=t % 2 == 0)
        if t == 33:
            for arg in range(10, 15):
                dump.scalar("uint8", arg, task=task, func=func, arg=arg)
    dump.sort()
    dump.write(directory, layout)
    return dump.entries


def ranges(rng, low, high):
    """'3', '1,4-6': text and the set it stands for."""
    parts, chosen = [], set()
    for _ in range(rng.randint(1, 3)):
        a = rng.randint(low, high)
        b = rng.randint(a, min(high, a + 3))
        if a == b or rng.random() < 0.5:
            parts.append(str(a))
            chosen.add(a)
        else:
            parts.append(f"{a}-{b}")
            chosen.update(range(a, b + 1))
    return ",".join(parts), chosen


def some(rng, values):
    chosen = rng.sample(values, rng.randint(1, min(3, len(values))))
    return ",".join(chosen), set(chosen)


def random_filter(rng, entries):
    """Command-line words and the predicate that they stand for."""
    words, tests = [], []
    for name in rng.sample(["task", "stage", "role", "arg", "func", "dtype", "kind", "ring"],
                           rng.randint(1, 3)):
        if name == "arg":
            present = {e["arg_index"] for e in entries}
            text, chosen = ranges(rng, 0, 3)
            tests.append(lambda e, c=chosen: e["arg_index"] in c)
            if not chosen & present:
                continue
        elif name == "func":
            text, chosen = ranges(rng, 0, 4)
            tests.append(lambda e, c=chosen: bool(c & set(e["func_id"])))
        elif name == "ring":
            text, chosen = ranges(rng, 0, 3)
            tests.append(lambda e, c=chosen: int(e["task_id"], 16) >> 32 in c)
        elif name == "task":
            text, chosen = some(rng, sorted({e["task_id"] for e in entries}))
            tests.append(lambda e, c=chosen: e["task_id"] in c)
        elif name == "stage":
            text, chosen = some(rng, ["before", "after"])
            tests.append(lambda e, c=chosen: e["stage"].split("_")[0] in c)
        else:
            text, chosen = some(rng, sorted({e[name] for e in entries}))
            tests.append(lambda e, c=chosen, n=name: e[n] in c)
        words += [f"--{name}", text]
    return words, lambda e: all(t(e) for t in tests)


def agree(entries, indices, result, what):
    """The rows are exactly the wanted entries, each under its manifest index."""
    rows = table_rows(result.out)
    if not check([r["index"] for r in rows] == indices,
                 f"{what}: rows {[r['index'] for r in rows][:20]} where {indices[:20]} are due", result):
        return
    for row in rows:
        e = entries[row["index"]]
        want = {"task_id": e["task_id"], "stage": e["stage"].split("_")[0], "role": e["role"],
                "arg": e["arg_index"], "func_id": e["func_id"], "dtype": e["dtype"].lower()}
        check({k: row[k] for k in want} == want, f"{what}: row {row} where {want} is due")
        check(row["rest"].startswith(str(e["shape"])), f"{what}: shape {e['shape']} in {row}")


def test_listing(directory, entries, layout):
    everything = list(range(len(entries)))
    agree(entries, everything, run(directory), f"{layout}: listing")
    agree(entries, everything, run(os.path.join(directory, "args_dump.json")),
          f"{layout}: listing by the file's name")


def test_filters(directory, entries, rng, rounds):
    for _ in range(rounds):
        words, wanted = random_filter(rng, entries)
        indices = [i for i, e in enumerate(entries) if wanted(e)]
        result = run(directory, *words)
        if indices:
            check(result.status == 0, f"{words}", result)
            agree(entries, indices, result, f"{words}")
            check(re.search(rf"\b{len(indices)}\b.*\b{len(entries)}\b", result.out),
                  f"{words}: the listing does not say {len(indices)} of {len(entries)}", result)
            rows = json_rows(run(directory, *words, "--json"))
            check([r["index"] for r in rows] == indices, f"{words} --json: {len(rows)} rows")
        else:
            check(result.status in (1, 2) and result.err,
                  f"{words}: an empty selection is an error that says so", result)


def test_ranges_of_tasks(directory, entries):
    low, high = "0x0000000100000003", "0x000000020000000c"
    indices = [i for i, e in enumerate(entries) if int(low, 16) <= int(e["task_id"], 16) <= int(high, 16)]
    agree(entries, indices, run(directory, "--task", f"{low}-{high}"), "a range of tasks")


def test_index(directory, entries):
    """--index takes the row number that a list shows, and implies the export."""
    rows = table_rows(run(directory, "--arg", "2", "--stage", "after").out)
    row = rows[-1]
    result = run(directory, "--index", row["index"])
    e = entries[row["index"]]
    name = f"task_{e['task_id']}_after_inout2.txt"
    path = os.path.join(directory, "txt", name)
    check(result.status == 0 and os.path.exists(path), f"--index {row['index']} writes {name}", result)
    # --index alone decides: a filter beside it changes nothing.
    os.unlink(path)
    result = run(directory, "--index", row["index"], "--role", "input")
    check(os.path.exists(path), "--index alone decides", result)
    result = run(directory, "--index", "0,5-7", "--export")
    for i in (0, 5, 6, 7):
        e = entries[i]
        role = {"input": "in", "output": "out", "inout": "inout"}[e["role"]]
        name = f"task_{e['task_id']}_{e['stage'].split('_')[0]}_{role}{e['arg_index']}.txt"
        check(os.path.exists(os.path.join(directory, "txt", name)), f"--index list writes {name}", result)


def test_wrong_values(directory, entries):
    last = len(entries) - 1
    tasks = sorted({e["task_id"] for e in entries})
    cases = [  # words, what standard error must hold
        (("--task", "0x0000000100000004"), ["0x0000000100000004", "0x0000000100000003"]),
        (("--stage", "during"), ["during", "before", "after"]),
        (("--role", "input,inuot"), ["inuot", "inout"]),
        (("--arg", "99"), ["99", "14"]),
        (("--arg", "1-x"), ["1-x"]),
        (("--arg", "3-1"), ["3-1"]),
        (("--arg", "-1"), ["-1"]),
        (("--arg", ""), ["--arg"]),
        (("--index", str(last + 1)), [str(last + 1), str(last)]),
        (("--index", "18446744073709551616"), ["18446744073709551616"]),
        (("--index", f"{last + 1}-{last + 5}"), [str(last)]),
        (("--func", "6"), ["6", "7"]),
        (("--dtype", "flaot32"), ["flaot32", "float32"]),
        (("--kind", "vector"), ["vector", "tensor", "scalar"]),
        (("--ring", "9"), ["9", "3"]),
        (("--format", "parquet", "--export"), ["parquet", "npy", "csv", "raw", "txt"]),
        (("--tsak", tasks[0]), ["--tsak"]),
        (("--task",), ["--task"]),
        ((directory,), []),  # two directories
    ]
    for words, needed in cases:
        result = run(directory, *words)
        check(result.status == 2, f"{words} exits 2", result)
        for need in needed:
            check(need in result.err, f"{words}: standard error does not name {need}", result)
        check(not table_rows(result.out), f"{words}: rows beside an error", result)


def main():
    for layout in gen.LAYOUTS:
        rng = random.Random(7)
        directory = scratch()
        entries = make(directory, rng, layout)
        test_listing(directory, entries, layout)
        test_filters(directory, entries, rng, 60 if layout == "line" else 8)
        if layout in ("line", "single"):
            test_ranges_of_tasks(directory, entries)
            test_index(directory, entries)
            test_wrong_values(directory, entries)
    finish()


main()
