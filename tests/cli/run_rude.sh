#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# simpler run on a scene that prints, forks and ends the program: the verdict
# stays simpler's own, and the JSON document stays whole (SY-06).
set -u
. "$SOURCE_DIR/tests/support/faults.sh"
fail() { echo "FAILED: $*"; head -n 20 "$dir/out" "$dir/err"; exit 1; }
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
scene=$dir/run_rude.so
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -shared -fPIC -I"$SOURCE_DIR/include" \
    "$SOURCE_DIR/tests/support/scenes/run_rude.c" -o "$scene" || fail "the scene does not compile"
cd "$dir" || exit 1

run() { # STATUS ARGUMENT...: $got
    local status=$1
    shift
    "$SIMPLER" run "$scene" "$@" >out 2>err
    got=$?
    [ $got -eq "$status" ] || fail "run $*: exit status $got, not $status"
}

# A scene that calls exit(0) has not passed.
for place in 1 2 3 4; do
    run 1 --param exit_in=$place
    grep -q 'the scene ended the program' err || fail "exit in place $place is not told"
    fault_saw scene-exits exit=$got told=yes
done
# A child of the scene that ends is not the program.
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 run 0 --param fork=1 # the child leaks what its parent holds
grep -q ': passed on' out || fail "a fork changes the verdict"
[ "$(grep -c . err)" = 0 ] || fail "a child speaks for the program"
fault_saw scene-forks exit=$got told=nothing
# What the scene prints is beside the document.
run 0 --json --param print=1
/usr/bin/python3 -c "import json; assert json.load(open('out'))['passed']" || fail "JSON is broken"
grep -q 'printed by the kernel' err || fail "what the scene prints is lost"
run 0 --param print=1
grep -q 'printed by the kernel' out || fail "without --json it stays where it was"
# Messages without an end are cut where they must end.
run 1 --json --param long_message=1
/usr/bin/python3 -c "import json
m = json.load(open('out'))['cases'][0]['golden_message']
assert m == 'y' * 1023, len(m)" || fail "the message runs on"
# Limits of the process: told, and a run that needs none of them passes.
if ! ldd "$SIMPLER" | grep -qE 'lib[at]san'; then # those map and write what no limit allows
    (ulimit -v 2000000; run 1) || exit 1
    grep -q 'cannot reserve' err || fail "memory that is not there is not told"
    fault_saw address-space-limit exit=1 told=yes
    (ulimit -f 0; "$SIMPLER" run "$scene" --enable-scope-stats --out limited >/dev/null 2>&1)
    status=$?
    [ $status -eq 3 ] || fail "a file that may not grow does not exit 3"
    fault_saw file-size-limit exit=$status
fi
echo ok
