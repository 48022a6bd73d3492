#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make bench: every number that the documents quote.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
for program in build/bench/bench_*; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    echo "== $(basename "$program")"
    "$program" "$@" || status=1
done
exit $status
