#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# summary.sh: one line over all JUnit files in build/results, skips with reasons.
set -euo pipefail
cd "$(dirname "$0")/.."
shopt -s nullglob
files=(build/results/*.xml)
[ ${#files[@]} -gt 0 ] || {
    echo "no test ran" >&2
    exit 1
}
awk '
/<testcase / {
    name = $0; sub(/.*name="/, "", name); sub(/".*/, "", name)
    skipped = 0
    if ($0 ~ /status="run"/) passed++
    else if ($0 ~ /status="fail"/) failed++
    else { skip++; skipped = 1 }
}
skipped && /SKIP: / {
    reason = $0; sub(/.*SKIP: /, "", reason); sub(/<\/system-out>.*/, "", reason)
    print "skipped " name ": " reason; skipped = 0
}
END {
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skip
    exit failed > 0
}' "${files[@]}"
