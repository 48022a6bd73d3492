#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh SECONDS: runs every libFuzzer target of build/fuzz; the seconds are
# shared out among them.  A seed corpus lies in tests/fuzz/corpus/TARGET.
set -uo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob
targets=(build/fuzz/tests/fuzz_*)
programs=()
for t in "${targets[@]}"; do [ -f "$t" ] && [ -x "$t" ] && programs+=("$t"); done
[ ${#programs[@]} -gt 0 ] || exit 0
each=$(($1 / ${#programs[@]}))
[ "$each" -ge 5 ] || each=5
status=0
for program in "${programs[@]}"; do
    name=$(basename "$program")
    corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus" build/fuzz/crashes
    seeds=tests/fuzz/corpus/$name
    [ -d "$seeds" ] || seeds=
    echo "== $name for $each s"
    if "$program" -max_total_time="$each" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix=build/fuzz/crashes/ "$corpus" $seeds >"build/fuzz/$name.log" 2>&1; then
        grep number_of_executed_units "build/fuzz/$name.log" || true
        scripts/result.sh "fuzz/$name" run
    else
        tail -n 30 "build/fuzz/$name.log"
        scripts/result.sh "fuzz/$name" fail "see build/fuzz/$name.log"
        status=1
    fi
done
exit $status
