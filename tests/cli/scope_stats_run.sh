#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# simpler run --enable-scope-stats: where the files go, what the summary says,
# what exit status 3 means.  SS-01 SS-04 SS-21 SY-08
set -u
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
. "$SOURCE_DIR/tests/support/faults.sh"
status=0
fault() {
    echo "FAULT: $*"
    status=1
}
run() { # run EXPECTED-STATUS ARGUMENTS...
    local want=$1
    shift
    "$SIMPLER" run "$@" >out 2>err
    local got=$?
    [ $got = "$want" ] || fault "simpler run $*: exit status $got, not $want: $(cat out err)"
}
has() { # has FILE TEXT
    grep -qF -- "$2" "$1" || fault "$1 does not say '$2': $(cat "$1")"
}

# A directory a run under outputs/, named after scene, case and time; page beside the file.
run 0 vector_example --enable-scope-stats
has out "scope stats complete: 4 samples in outputs/vector_example_default_"
has out "Healthy"
has out "vector_example.c:"
ls outputs | grep -qE '^vector_example_default_[0-9]{8}_[0-9]{6}$' || fault "outputs has $(ls outputs)"
[ "$(wc -l <outputs/latest/scope_stats/scope_stats.jsonl)" = 5 ] || fault "not five lines"
[ -s outputs/latest/scope_stats/scope_stats.html ] || fault "no page"
[ "$(find outputs -type f | wc -l)" = 2 ] || fault "more files: $(find outputs -type f)"

# Without the option nothing is written, whatever --out says.
run 0 vector_example --out elsewhere
[ ! -e elsewhere ] || fault "a run without diagnostics makes a directory"

# The same second again: a suffix.  Rounds: subdirectories.  Cases: a directory each.
run 0 vector_example --enable-scope-stats --out again
run 0 vector_example --enable-scope-stats --out again
[ "$(find again -mindepth 1 -maxdepth 1 -type d | wc -l)" = 2 ] || fault "again has $(ls again)"
[ "$(readlink again/latest)" = "$(ls -d again/vector* | sort -V | tail -1 | xargs basename)" ] ||
    fault "latest is $(readlink again/latest) of $(ls again)"
# Several at once: a directory each, and latest is one of them.
pids=
for n in 1 2 3 4 5 6; do
    "$SIMPLER" run vector_example --enable-scope-stats --out atonce --quiet &
    pids="$pids $!"
done
for pid in $pids; do
    wait "$pid" || fault "one of several runs at once failed"
done
[ "$(find atonce -name scope_stats.jsonl | wc -l)" = 6 ] || fault "atonce: $(find atonce)"
[ "$(find atonce -mindepth 1 -maxdepth 1 -type d | wc -l)" = 6 ] || fault "atonce: $(ls atonce)"
[ -s atonce/latest/scope_stats/scope_stats.jsonl ] || fault "latest: $(ls -l atonce)"
# What is no link stays.
mkdir -p ours/latest
run 0 vector_example --enable-scope-stats --out ours
[ ! -L ours/latest ] && [ -d ours/latest ] || fault "a directory named latest was replaced"
run 0 vector_example --enable-scope-stats --rounds 3 --out rounds
[ "$(find rounds -name scope_stats.jsonl | sed 's:.*\(round_[0-9]*\)/.*:\1:' | sort | tr '\n' ' ')" = \
    "round_1 round_2 round_3 " ] || fault "rounds: $(find rounds)"
# Each round is a run of the same device.
for n in 1 2 3; do
    has rounds/latest/round_$n/scope_stats/scope_stats.jsonl "\"run_epoch\": $n,"
done
has out "peaks of 3 rounds"

# A hundred, in the background: each has its file and its page, the table is of all.
run 0 vector_example --enable-scope-stats --dump-args 2 --rounds 100 --collect-across-runs --out across
has out "peaks of 100 rounds"
has out "scope stats complete: 4 samples in across/"
has out "args dump complete: 15 records"
for name in scope_stats.jsonl scope_stats.html args_dump.json args.bin; do
    n=$(find across/latest/ -name $name | wc -l)
    [ "$n" = 100 ] || fault "across: $n files $name"
done
for n in 1 50 100; do
    has across/latest/round_$n/scope_stats/scope_stats.jsonl "\"run_epoch\": $n,"
    has across/latest/round_$n/scope_stats/scope_stats.jsonl '"collection_verdict": "published"'
done
run 0 vector_example --enable-scope-stats --rounds 4 --collect-across-runs --out across --json
/usr/bin/python3 - out <<'PY' || fault "peaks in --json"
import json, sys
c = json.load(open(sys.argv[1]))["cases"][0]
assert c["scope_stats"]["complete"] and c["scope_stats"]["file"] and c["scope_stats"]["report"]
rows = {(r["resource"], r["ring_depth"]): r for r in c["peaks_over_rounds"]}
assert rows[("heap", 0)] == {"resource": "heap", "ring_depth": 0, "rounds": 4, "least": 65536,
                             "mean": 65536, "most": 65536, "round_of_most": 1}, rows
assert len(rows) == 7, rows
PY

# Capacities are those that were asked for; off by default; any platform.
run 0 vector_example -p a2a3sim --enable-scope-stats --out caps --ring-task-window 64,32,16,8 --tensormap 100
has caps/latest/scope_stats/scope_stats.jsonl '"task_window_max": [64, 32, 16, 8], '
has caps/latest/scope_stats/scope_stats.jsonl '"tensormap_max": 100}'

# For machines.
run 0 vector_example --enable-scope-stats --json --out json
/usr/bin/python3 - out <<'PY' || fault "--json"
import json, sys
d = json.load(open(sys.argv[1]))
s = d["cases"][0]["scope_stats"]
assert d["passed"] and s["complete"] and s["records"] == 4 and s["counts_known"], s
assert s["sampling_status"] == "healthy" and s["dropped_no_free"] == s["write_failed"] == 0, s
lines = [json.loads(l) for l in open(s["file"])]
assert len(lines) == 5 and lines[0]["total"] == 4
assert open(s["report"]).read(15).lower() == "<!doctype html>"
rows = {(p["resource"], p["ring_depth"]): p for p in s["peaks"]}
# Four tasks of one scope, each with an output of 64 KiB but the last.
p = rows["heap", 1]
assert p["peak"] == 3 * 65536 and p["capacity"] == lines[0]["heap_max"][1], p
assert p["site"].startswith("vector_example.c:"), p
PY

# A place where no directory can be made: nothing runs.
run 2 vector_example --enable-scope-stats --out /dev/null/no
has err "--out: /dev/null is a file, not a directory; name a directory"
# Files that cannot be written: the results are right, exit status 3.
blocked() { # blocked ARGUMENTS...: no file may grow; what is said comes through a pipe
    bash -c 'ulimit -f 0; "$0" run "$@" 2>/dev/null; echo "status $?"' "$SIMPLER" "$@" | cat >out
    grep -qx 'status 3' out || fault "blocked $*: $(cat out)"
    sed -i '/^status 3$/d' out
}
blocked vector_example --enable-scope-stats --out blocked
has out "vector_example default: passed"
has out "scope stats MISSING"
blocked vector_example --enable-scope-stats --out blocked --quiet
has out "scope stats MISSING"
blocked vector_example --enable-scope-stats --out blocked --json
/usr/bin/python3 -c 'import json, sys
d = json.load(open("out")); s = d["cases"][0]["scope_stats"]
assert d["passed"] and not s["complete"] and s["file"] is None and s["report"] is None' || fault "--json without a file"
# A run that fails says so with 1, and its file is there.
run 1 vector_example --enable-scope-stats --out failed --ring-heap 1024
has failed/latest/scope_stats/scope_stats.jsonl '{"fatal": true, "dropped": 0, '
has out "scope stats complete"

# The page cannot be written: a warning alone.
(ulimit -f 8 && trap '' XFSZ && run 0 vector_example --enable-scope-stats --out small) || status=1
grep -q "warning: no report" err || fault "no warning: $(cat err)"
[ $status = 0 ] && fault_saw page-not-written exit=0 told=yes

[ $status = 0 ] && echo "scope stats of simpler run"
exit $status
