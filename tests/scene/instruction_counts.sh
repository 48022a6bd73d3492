#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ctest: TIMEOUT 300
# SS-02: with scope stats off a scope costs its bool and calls nothing of the collector.
# Instructions a task on the hot paths (submit, dispatch, completion, retirement),
# counted by callgrind: they do not drift with the machine.  A count above its pin
# by more than 4 % fails; one that is far below asks for a new pin.
set -u
grep -q 'CMAKE_BUILD_TYPE:STRING=Release' "$BUILD_DIR/CMakeCache.txt" &&
    grep -q 'SIMPLER_SANITIZE:STRING=$' "$BUILD_DIR/CMakeCache.txt" || {
    echo "SKIP: counts are pinned for the release build"
    exit 77
}
"${CC:-gcc}" -dumpversion | grep -q '^12' && [ "$(uname -m)" = x86_64 ] || {
    echo "SKIP: counts are pinned for gcc 12 on x86-64"
    exit 77
}
command -v valgrind >/dev/null || {
    echo "SKIP: valgrind is not here"
    exit 77
}
program=$BUILD_DIR/bench/count_shapes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

count() { # count SHAPE TASKS
    valgrind --tool=callgrind --callgrind-out-file="$work/out" "$program" "$1" "$2" 2>&1 |
        sed -n 's/.*Collected : *//p'
}

status=0
while read -r shape pin; do
    # How often a replayed graph is planned anew depends on the clock: it must not weigh, and
    # what is too much is counted again.
    case $shape in replay-*) times=50 ;; *) times=1 ;; esac
    now=
    for _ in 1 2 3; do
        few=$(count "$shape" $((times * 10000)))
        many=$(count "$shape" $((times * 40000)))
        [ -n "$few" ] && [ -n "$many" ] || { echo "no count for $shape"; exit 1; }
        again=$(((many - few) / (times * 30000)))
        [ -n "$now" ] && [ "$now" -le "$again" ] || now=$again
        [ $((now * 100)) -gt $((pin * 104)) ] || break
    done
    echo "$shape: $now instructions a task, pinned at $pin"
    if [ $((now * 100)) -gt $((pin * 104)) ]; then
        echo "FAILED: $shape costs more than its pin"
        status=1
    elif [ $((now * 100)) -lt $((pin * 80)) ]; then
        echo "FAILED: $shape costs far less than its pin: lower the pin"
        status=1
    fi
done <"$SOURCE_DIR/tests/scene/instruction_counts.txt"

# The last count was of scopes: of the probes no function was entered.
valgrind --tool=callgrind --callgrind-out-file="$work/out" "$program" scope 1000 >/dev/null 2>&1
callgrind_annotate --threshold=100 "$work/out" >"$work/functions"
grep -q simpler_orch_scope_begin_at "$work/functions" || { echo "no scope was counted"; status=1; }
if grep -E 'scope_stats_(begin|end|set_pending_site)|simpler_scope_sample_(begin|end)|simpler_producer' \
    "$work/functions"; then
    echo "FAILED: called although scope stats are off"
    status=1
fi
exit $status
