#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/requirements.sh on small trees: it passes when a test that ran names the
# id, and fails, with a line that says why, for each way in which none does.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

tree() { # tree STATUS TEST_TEXT LIST: one unit test, its result, the list of ids
    rm -rf "$tmp/t"
    mkdir -p "$tmp/t/scripts" "$tmp/t/tests/unit" "$tmp/t/build/results"
    cp "$root/scripts/requirements.sh" "$root/scripts/result.sh" "$tmp/t/scripts/"
    printf '%s\n' "$2" >"$tmp/t/tests/unit/test_a.c"
    printf '<testcase name="unit/test_a" status="%s">\n' "$1" >"$tmp/t/build/results/release.xml"
    printf '%b' "$3" >"$tmp/t/tests/requirements.txt"
}

expect() { # expect STATUS TEXT WHAT
    local status=0
    "$tmp/t/scripts/requirements.sh" >"$tmp/out" 2>&1 || status=$?
    [ "$status" = "$1" ] || { echo "$3: status $status, not $1"; cat "$tmp/out"; exit 1; }
    [ -z "$2" ] || grep -qF -- "$2" "$tmp/out" || { echo "$3: does not say '$2'"; cat "$tmp/out"; exit 1; }
    local word=run
    [ "$1" = 0 ] || word=fail
    grep -q "name=\"requirements\" status=\"$word\"" "$tmp/t/build/results/step-requirements.xml" ||
        { echo "$3: no result $word for the last line to count"; exit 1; }
}

tree run '/* ZZ-01 */' 'ZZ-01 built\nZZ-02 later\n'
expect 0 '' 'a test that ran names the id'
tree run '/* nothing */' 'ZZ-01 built\n'
expect 1 'requirement ZZ-01 is called built' 'no test names the id'
tree fail '/* ZZ-01 */' 'ZZ-01 built\n'
expect 1 'requirement ZZ-01 is called built' 'the test that names the id failed'
tree run '/* ZZ-01 */' 'ZZ-01 done\n'
expect 1 "ZZ-01 has state 'done'" 'an unknown state'
