#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 900 RUN_SERIAL
"""dump-viewer: large manifests and sparse payload with flat memory (AD-32).

300,000 entries; with SIMPLER_TEST_SECONDS of 60 or more 5,000,000 entries.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests/support"))
import args_dump_gen as gen
import dump_text
from viewer_cli import check, finish, json_rows, optimised, run, sanitized, saved, scratch, table_rows

FULL = float(os.environ.get("SIMPLER_TEST_SECONDS", "0")) >= 60
ENTRIES = 5_000_000 if FULL else 20_000 if sanitized() else 300_000
BIN_BYTES = 20 << 30
RSS_LIMIT = 64 << 20


def measured(what, seconds_per_million, *words, stdout_path=None):
    result = run(*words, stdout_path=stdout_path)
    check(result.status == 0, what, result)
    print(f"{what}: {result.seconds:.2f} s, {result.rss_bytes / (1 << 20):.1f} MiB")
    if not sanitized():
        check(result.rss_bytes < RSS_LIMIT, f"{what}: {result.rss_bytes} bytes resident")
    if optimised():
        check(result.seconds < 2 + seconds_per_million * ENTRIES / 1e6,
              f"{what}: {result.seconds:.2f} s for {ENTRIES} entries")
    return result


def test_last_entry(directory, last):
    """Its payload lies beyond 2^32."""
    result = measured("export of the last entry", 2, directory, "--index", last)
    files = saved(result, directory)
    if not check(len(files) == 1, "one file", result):
        return
    export = dump_text.TextExport(files[0])
    values = {float(v) for _, v in export.detail}
    check(len(export.detail) == gen.LARGE_SHAPE and values == {gen.large_value(last)},
          f"values of the last entry: {sorted(values)[:5]}")


def test_listing(directory, listing):
    measured("listing", 3, directory, stdout_path=listing)
    count, expected = 0, 0
    with open(listing, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if len(words) > 2 and words[0].isdigit() and words[1].startswith("0x"):
                expected += int(words[0]) == count
                count += 1
    check(count == expected == ENTRIES, f"the listing has {count} rows, {expected} in order")


def test_overlap(directory, step):
    """Two entries far from each other in the manifest share one byte."""
    a, b = ENTRIES // 5, ENTRIES - 3
    gen.write_large(directory, ENTRIES, BIN_BYTES, moved={b: a * step + gen.LARGE_SHAPE * 4 - 1})
    result = run(directory, "--check")
    faults = [l for l in result.err.splitlines() if "overlap" in l]
    # Where entries touch, as at full size, the moved one also reaches into the next.
    check(result.status == 1 and 1 <= len(faults) <= 2 and all(str(b) in l for l in faults)
          and str(a) in faults[0],
          f"the overlap of entries {a} and {b}", result)


def main():
    directory = scratch(large=True)
    middle, last = ENTRIES // 2, ENTRIES - 1
    step = gen.write_large(directory, ENTRIES, BIN_BYTES, [0, middle, last])
    check(step * last > 1 << 32, "the last entry lies beyond 2^32")
    print(f"{ENTRIES} entries, {os.path.getsize(directory + '/args_dump.json') >> 20} MiB of manifest")
    test_listing(directory, os.path.join(directory, "listing"))
    test_last_entry(directory, last)
    task = gen.large_task(last // 4, ENTRIES)
    result = measured("filter by task", 2, directory, "--task", task)
    rows = table_rows(result.out)
    check([r["index"] for r in rows] == list(range(last // 4 * 4, ENTRIES)), "rows of one task", result)
    result = measured("statistics of the middle", 2, directory, "--index", middle, "--stats", "--json")
    stats = json_rows(result)[0]["stats"]
    check(stats["count"] == gen.LARGE_SHAPE and float(stats["max"]) == gen.large_value(middle)
          == float(stats["min"]), f"statistics: {stats}")
    result = measured("statistics of a hole", 2, directory, "--index", middle + 1, "--stats", "--json")
    stats = json_rows(result)[0]["stats"]
    check(stats["count"] == stats["zero"] == gen.LARGE_SHAPE and stats["max"] == 0, f"a hole: {stats}")
    measured("--check", 5, directory, "--check")
    test_overlap(directory, step)
    finish()


main()
