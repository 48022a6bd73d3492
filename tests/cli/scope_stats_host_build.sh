#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Scope stats on host_build_graph: accepted, a file with its metadata line alone for
# every round, whatever else is asked for, and the run's own exit status.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED: $1"
    failed=1
}

# run FILES STATUS WORD...: so many files, each metadata alone
run() {
    local files=$1 want=$2 fatal=false
    [ "$want" -eq 0 ] || fatal=true
    shift 2
    rm -rf "$work/out"
    "$SIMPLER" run vector_example --runtime host_build_graph --enable-scope-stats "$@" \
        --out "$work/out" >"$work/text" 2>&1
    local rc=$?
    [ "$rc" -eq "$want" ] || { cat "$work/text"; fail "$*: exit status $rc, not $want"; }
    # A runtime without dep pools has no row of them.
    grep -q 'task window' "$work/text" && ! grep -q 'dep pool' "$work/text" ||
        { cat "$work/text"; fail "$*: the peaks"; }
    grep -q MISSING "$work/text" && { cat "$work/text"; fail "$*: a file is missing"; }
    find "$work/out" -name scope_stats.jsonl >"$work/found"
    [ "$(wc -l <"$work/found")" -eq "$files" ] ||
        fail "$*: $(wc -l <"$work/found") files, not $files"
    while read -r file; do
        [ "$(wc -l <"$file")" -eq 1 ] || fail "$*: $file has more than a line"
        grep -q '"fatal": '"$fatal"', "dropped": 0, "total": 0,' "$file" || fail "$*: $(head -1 "$file")"
    done <"$work/found"
}

for platform in cpu a2a3sim a5sim; do
    run 1 0 -p $platform
    run 1 0 -p $platform --collect-across-runs
    run 3 0 -p $platform --rounds 3
    run 3 0 -p $platform --rounds 3 --collect-across-runs
    run 1 0 -p $platform --dump-args 2
done
# A graph that cannot be built has no samples either, and the capacity that it lacked is told.
run 1 1 --ring-heap 1024
grep -qE '^  ring 0 heap \(bytes\) +0 +1,024 +0\.0 %$' "$work/text" ||
    { cat "$work/text"; fail "the heap that was too small has no row"; }
grep -q '^  Fatal: .*There are no samples to show\. Only runs of tensormap_and_ringbuffer record scopes; ' \
    "$work/text" || { cat "$work/text"; fail "why there are no samples is not told"; }
exit $failed
