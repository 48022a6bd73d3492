#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# simpler run on a scene whose parameters make each part of a round fail, and on
# a scene by name: summaries, verdicts, exit statuses, JSON, SIGINT (SY-06).
# ctest: TIMEOUT 120
set -u
. "$SOURCE_DIR/tests/support/faults.sh"
fail() { echo "FAILED: $*"; [ -f "$dir/out" ] && head -n 40 "$dir/out" "$dir/err"; exit 1; }
dir=$(mktemp -d) && trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$dir"' EXIT
pid=
unset SIMPLER_RING_TASK_WINDOW SIMPLER_RING_HEAP SIMPLER_RING_DEP_POOL SIMPLER_TENSORMAP
unset PTO2_RING_TASK_WINDOW PTO2_RING_HEAP PTO2_RING_DEP_POOL
scene=$dir/run_cases.so
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -shared -fPIC -I"$SOURCE_DIR/include" \
    "$SOURCE_DIR/tests/support/scenes/run_cases.c" -o "$scene" || fail "the scene does not compile"
cd "$dir" || exit 1

# run STATUS ARGUMENT...: out and err are files
run() {
    local status=$1 got
    shift
    "$SIMPLER" run "$scene" "$@" >out 2>err
    got=$?
    [ $got -eq "$status" ] || fail "run $*: exit status $got, not $status"
}
says() { grep -qE -- "$1" out || fail "the summary does not say '$1'"; }
silent() { grep -qE -- "$1" out && fail "the summary says '$1'"; return 0; }
json() { /usr/bin/python3 -c "import json, sys
d = json.load(open('out')); c = d['cases']
assert $1" || fail "JSON: $1"; }

# What passes.
run 0
says '^run_cases short: passed on cpu device 0, [0-9]+ threads, 8 clusters, hazards all$'
says '^run_cases long: passed .* hazards raw$'
says '^  steps=100, '
silent 'extra|chip'
says '^  10 tasks, [0-9]+ edges?, .* tasks/s$'
says '^  golden right: 10 of 10 steps$'
says '^  ring 1 task window +[0-9,]+ +16,384 +[0-9.]+ %$'
says '^  tensormap +[0-9]+ +65,536 '
silent 'ring 0|ring 2|ring 3'
says '^2 of 2 cases passed, 0 not run$'
[ -s err ] && fail "standard error is not empty when piped"
[ -e outputs ] && fail "outputs was made although no diagnostic is on"
run 0 --case extra --manual include --ring-heap 0,0,65536,0 --json
json "[x['name'] for x in c] == ['extra']"
json "c[0]['config']['ring_heap'] == [4096, 8192, 65536, 268435456]"
SIMPLER_RING_HEAP=1024 SIMPLER_TENSORMAP=99 run 0 --case extra --manual only --json
json "c[0]['config']['ring_heap'] == [4096, 8192, 1024, 1024]"
json "c[0]['config']['tensormap'] == 99 and c[0]['stats']['tensormap_max'] == 99"
SIMPLER_TENSORMAP=lots run 0 --case short --json
json "c[0]['config']['tensormap'] == 65536"
[ "$(grep -c 'SIMPLER_TENSORMAP is ignored' err)" = 1 ] || fail "one warning"
run 0 -p a2a3sim -d 3 --case chip --hazards raw --aicpu-threads 2 --clusters 3 --exec threads --json
json "d['platform'] == 'a2a3sim' and d['device'] == 3 and d['passed'] and not d['interrupted']"
json "c[0]['config']['hazards'] == 'raw' and c[0]['config']['exec'] == 'threads'"
json "c[0]['config']['aicpu_thread_num'] == 2 and c[0]['config']['cluster_count'] == 3"
run 0 --case=short --hazards=raw --check-hazards
says 'hazards raw$'
says '^  unordered pairs of accesses: 0$'
run 0 --case=short --check-hazards
says '^  --check-hazards looks at nothing unless --hazards is raw$'
silent 'unordered'
run 1 --case short --hazards=raw --check-hazards --param steps=0 --param racy=1
says '^  unordered pairs of accesses: 1$'
says '^  unordered: task .*run_cases\.c:[0-9]+\) and task .*run_cases\.c:[0-9]+\)'
run 0 --case short --hazards=raw --param steps=0 --param racy=1
run 0 --case short --hazards=all --check-hazards --param steps=0 --param racy=1
run 0 --case short --param steps=0 --json
json "c[0]['stats']['tasks'] == 0 and c[0]['params']['steps'] == 0 and c[0]['golden'] == 'right'"
run 0 --case short --quiet
[ -s out ] && fail "--quiet says something about a success"

# Rounds: three times of which the median lies between.
run 0 --case short --rounds 5
says '^  5 rounds, 0 failed$'
says '^  wall time '
run 0 --case short --rounds 5 --json
json "len(c[0]['rounds']) == 5 and all(r['passed'] for r in c[0]['rounds'])"
json "sorted(r['wall_ns'] for r in c[0]['rounds'])[2] == c[0]['wall_ns']['median']"
json "min(r['wall_ns'] for r in c[0]['rounds']) == c[0]['wall_ns']['min'] > 0"

# What fails, and where finish is called after it.
run 0 --case short --param steps=1
says '^  1 task, 0 edges, '
run 0 --case short --param steps=2 --param kernel_ms=20
says '^  2 tasks, (1 edge|0 edges), '
run 1 --case short --param wrong=1
says '^run_cases short: FAILED '
says '^  golden wrong: 10 of 11 steps$'
run 0 --case short --param wrong=1 --skip-golden
says '^  golden skipped$'
run 1 --case short --case long --param fail_prepare=1 --param log=1 -x
says '^  prepare failed: the data set "x" is not here$'
says '^0 of 2 cases passed, 1 not run$'
grep -qx 'finished short at 0' err || fail "finish after a failed prepare"
grep -q 'finished long' err && fail "-x goes on"
run 1 --case short --case long --param fail_prepare=1 --json
json "[x['status'] for x in c] == [-1003, -1003] and c[0]['message'] == 'the data set \"x\" is not here'"
json "c[0]['golden'] == 'not reached' and d['cases_failed'] == 2 and not d['passed']"
run 1 --case short --param kernel_fails=4 --param log=1
says '^  golden not reached$'
says '^  4 of 10 tasks ran, .*; 1 failed, 6 not run because of that$'
says 'runtime_status=-1008'
says 'increment'
grep -qx 'finished short at 3' err || fail "finish after a failed run"
run 1 --case short --param fatal=2 --json
json "c[0]['orch_error_code'] == 9 and c[0]['status'] == -9 and 'as asked by fatal=2' in c[0]['message']"
json "c[0]['status_name'] == 'EXPLICIT_ORCH_FATAL'"
run 1 --case long --param kernel_fails=4 --rounds 3 -x --quiet
says 'FAILED'
silent 'task window'

# A full ring names a size that is enough; that size passes, the next lower one fails.
run 1 --case short --param keep=40 --ring-task-window 16
says 'orch_error_code=1 sched_error_code=0 runtime_status=-1'
size=$(sed -n 's/.*remedy: ring_task_window\[1\] = \([0-9]*\) is the smallest.*/\1/p' out)
[ -n "$size" ] || fail "no size is named"
run 0 --case short --param keep=40 --ring-task-window "$size"
run 1 --case short --param keep=40 --ring-task-window $((size / 2))

# A deadline and SIGINT end a run; kernels finish, the summary is written.
# What a busy machine has not submitted by then is not counted.
run 1 --case short --param steps=1000 --param kernel_ms=20 --deadline 1
says '^  the deadline of 1 s has passed$'
says '^  [0-9]+ of [0-9,]+ tasks? ran, '
silent '[0-9],[0-9]+ tasks/s' # of 20 ms each
run 1 --case short --param steps=1000 --param kernel_ms=20 --deadline 0.2 --json
json "c[0]['status'] == -1006 and c[0]['stats']['tasks_run'] < 100"
await() { # await TEXT: a line of standard error, at most 30 s
    local i
    for ((i = 0; i < 600; i++)); do
        grep -q "$1" err 2>/dev/null && return
        sleep 0.05
    done
    fail "'$1' does not come"
}
rm -f err # else what an earlier run said would count
"$SIMPLER" run "$scene" --case short --case long --param steps=1000 --param kernel_ms=20 \
    --param log=1 --json >out 2>err &
pid=$!
await '^inside'
kill -INT $pid
wait $pid
status=$?
pid=
[ $status -eq 1 ] || fail "an interrupted run exits 1"
json "d['interrupted'] and len(c) == 1 and c[0]['status'] == -1007 and d['cases_not_run'] == 1"
fault_saw interrupted-run exit=$status status="$(/usr/bin/python3 -c "import json
print(json.load(open('out'))['cases'][0]['status_name'])")"
grep -q 'canceling; kernels that run get up to 5 s to return; one more interrupt kills' err || fail "the cancel is told"
rm -f err
"$SIMPLER" run "$scene" --case short --param kernel_ms=60000 --param log=1 >out 2>err &
pid=$!
await '^inside'
kill -INT $pid
await 'one more interrupt kills'
kill -INT $pid
wait $pid
status=$?
pid=
[ $status -eq 130 ] || fail "the second interrupt kills"
fault_saw interrupted-twice exit=$status

# On a terminal there is progress after a second (a busy machine is late), and the line is cleared.
script -qec "'$SIMPLER' run '$scene' --case short --param steps=120 \
    --param kernel_ms=20 --param check_ms=2400" typed \
    >/dev/null 2>&1 </dev/null
tr '\r' '\n' <typed | grep -qE '^run_cases short: tasks done: [0-9]+, [1-9][0-9]*\.[0-9] s' ||
    fail "no progress on a terminal"
tr '\r' '\n' <typed | grep -qE '^run_cases short: checking, [1-9][0-9]*\.[0-9] s' || fail "no phase is shown"

# A scene by its name, from beside the program.
(cd / && "$SIMPLER" run vector_example --json) >out 2>err || fail "vector_example"
json "d['scene'] == 'vector_example' and c[0]['stats']['tasks'] == 5 and c[0]['stats']['tasks_run'] == 5"
json "c[0]['golden'] == 'right' and [r['tasks'] for r in c[0]['stats']['rings']] == [1, 4, 0, 0]"
"$SIMPLER" run "$scene" --case short >/dev/full 2>err
status=$?
[ $status -eq 1 ] || fail "a summary that cannot be written exits 1"
grep -q 'could not be written' err || fail "a lost summary is told"
fault_saw output-full exit=$status told=yes
echo ok
