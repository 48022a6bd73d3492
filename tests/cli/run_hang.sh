#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# simpler run on a scene that hangs or crashes (AD-29, SY-06): the run ends within its
# budget with whole files and exit status 1, SIGUSR1 shows what runs, a crash says
# which kernel of which task and dies of its signal.
set -u
. "$SOURCE_DIR/tests/support/faults.sh"
fail() { echo "FAILED: $*"; head -n 40 "$dir/out" "$dir/err"; exit 1; }
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
scene=$dir/run_hang.so
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O0 -g -Wall -Wextra -Wno-infinite-recursion -shared -fPIC \
    -I"$SOURCE_DIR/include" "$SOURCE_DIR/tests/support/scenes/run_hang.c" -o "$scene" ||
    fail "the scene does not compile"
cd "$dir" || exit 1
json() { /usr/bin/python3 -c "import json,sys
d = json.load(open('out')); c = d['cases']
sys.exit(not ($1))" || fail "$1"; }
name_of_case() { /usr/bin/python3 -c "import json; print(json.load(open('out'))['cases'][0]['status_name'])"; }
export SIMPLER_SCHEDULER_TIMEOUT_MS=500

# A hang: the report, whole files, no second case, no finish, exit status 1 and in time.
for case in '1 tensormap_and_ringbuffer' '1 host_build_graph' '2 tensormap_and_ringbuffer'; do
    read -r place runtime <<<"$case"
    rm -rf o
    start=$(date +%s)
    timeout 60 "$SIMPLER" run "$scene" --param hang=1 --param place=$place --runtime $runtime --json \
        --enable-scope-stats --dump-args 2 --out o >out 2>err
    status=$?
    [ $status -eq 1 ] || fail "a hang exits with $status"
    [ $(($(date +%s) - start)) -le 30 ] || fail "a hang takes too long"
    json "len(c) == 1 and c[0]['status'] == -100 and not d['passed'] and d['cases_not_run'] == 1"
    grep -q 'SHUTDOWN_SNAPSHOT' err || fail "no snapshot"
    grep -q '^finished' err && fail "what the kernel uses was finished"
    grep -q 'still inside the scene' err || fail "it is not told that something is left behind"
    manifest=$(find o -name args_dump.json)
    [ $place = 1 ] && wanted=2 || wanted=6
    [ "$(grep -c after_completion\" "$manifest")" -ge 1 ] || fail "no output in the dump"
    [ "$(grep -c '"stage": "after_completion"' "$manifest")" -le $wanted ] || fail "too many outputs"
    "$SIMPLER" dump-viewer "$(dirname "$manifest")" >/dev/null || fail "the manifest cannot be read"
    fault_saw run-hangs@$runtime exit=$status status="$(name_of_case)" manifest=readable
done
grep -q 'orchestration' out || fail "the orchestration is not named"

# SIGINT while a kernel or the orchestration hangs: it is given 5 s, then the run ends with its files.
unset SIMPLER_SCHEDULER_TIMEOUT_MS
for case in '1 tensormap_and_ringbuffer' '1 host_build_graph' '2 tensormap_and_ringbuffer'; do
    read -r place runtime <<<"$case"
    rm -rf o && : >err
    "$SIMPLER" run "$scene" --param hang=1 --param place=$place --param slow=1 --json --runtime $runtime \
        --enable-scope-stats --dump-args 2 --out o >out 2>err &
    pid=$!
    for _ in $(seq 200); do
        [ "$(grep -c '^inside' err)" -ge $((place == 1 ? 1 : 3)) ] && break
        sleep 0.05
    done
    start=$(date +%s)
    kill -INT $pid
    wait $pid
    status=$?
    [ $status -eq 1 ] || fail "SIGINT at a hang in place $place on $runtime exits with $status"
    [ $(($(date +%s) - start)) -le 15 ] || fail "SIGINT at a hang takes too long"
    json "len(c) == 1 and c[0]['status_name'] == 'SIMPLER_ECANCELED' and d['interrupted']"
    # The time is of the cancel, and a longer budget would not have helped.
    json "' ms after the run was canceled; ' in c[0]['message'] and 'remedy:' not in c[0]['message']"
    manifest=$(find o -name args_dump.json)
    "$SIMPLER" dump-viewer --check "$(dirname "$manifest")" >/dev/null || fail "the dump is not whole"
    # A thread inside a kernel has stopped, its files are whole; one inside the orchestration is
    # not proved to have.
    json "c[0]['args_dump']['complete'] == c[0]['scope_stats']['complete'] == ($place == 1)"
    fault_saw interrupt-at-hang@$runtime exit=$status status="$(name_of_case)" manifest=readable
done

# SIGUSR1 shows what runs and ends nothing.  (An orchestrator that runs kernels itself answers
# between two of them.)
for case in 'tensormap_and_ringbuffer --exec threads' host_build_graph 'host_build_graph --exec threads'; do
    read -r runtime exec <<<"$case"
    : >err
    "$SIMPLER" run "$scene" --param slow=1500 --case one --runtime $runtime $exec >out 2>err &
    pid=$!
    for _ in $(seq 200); do
        [ "$(grep -c '^inside' err)" -ge 2 ] && break # its producer is done
        sleep 0.05
    done
    kill -USR1 $pid
    wait $pid
    status=$?
    [ $status -eq 0 ] || fail "SIGUSR1 ended the run"
    grep -q 'STALL thread=.*state=RUNNING func_id=5' err ||
        fail "SIGUSR1 does not show the kernel on $runtime"
    grep -q 'oldest unfinished: task' err ||
        fail "SIGUSR1 does not show the oldest task on $runtime"
    [ $runtime = host_build_graph ] || grep -q 'oldest unfinished: task .*; it is in its kernel$' err ||
        fail "SIGUSR1 does not say that the oldest task runs"
    # A line for each thread inside a kernel, one for the idle ones: all threads of the run.
    running=$(grep -c 'STALL thread=.*state=RUNNING' err)
    read -r idle _ all <<<"$(sed -n 's/.*STALL\] THREADS in no kernel, with nothing in their queues: //p' err)"
    [ -n "$idle" ] && [ $((idle + running)) -eq "$all" ] || fail "$running run, $idle of $all are idle"
    [ "$all" -ge "$([ "$case" = 'host_build_graph --exec threads' ] && echo 24 || echo 2)" ] || fail "$all threads"
    [ "$(grep -c STALL err)" -le $((running + 3)) ] || fail "too many lines"
    fault_saw report-signal@$runtime exit=$status report=right
done

# A crash dies of its signal and says where.
crash() { # FAULT HOW SIGNAL NAME PLACE TEXT [RUNTIME]
    local fault=$1
    shift
    "$SIMPLER" run "$scene" --param crash=$1 --param place=$4 --case one \
        --runtime "${6:-tensormap_and_ringbuffer}" >out 2>err
    status=$?
    [ $status -eq $((128 + $2)) ] || fail "crash $1 exits with $status"
    grep -q "simpler: crash: $3 $5" err || fail "crash $1 in place $4 is not described"
    fault_saw "$fault@${6:-tensormap_and_ringbuffer}" exit=$status \
        named="$(grep -o 'simpler: crash: SIG[A-Z]*' err | head -n 1 | sed 's/.* //')"
}
ulimit -c 0
if [ -z "$(nm "$SIMPLER" 2>/dev/null | grep -m1 -E '__(a|t)san_init')" ]; then
    for how in 1 3; do
        crash kernel-segv $how 11 SIGSEGV 1 'in kernel stuck (func_id 5) of task 0x0000000100000000, submitted at .*run_hang.c:[0-9]*, on '
    done
    crash kernel-segv 1 11 SIGSEGV 1 'in kernel stuck (func_id 5) of task 0x0000000000000000, submitted at .*run_hang.c:[0-9]*, on device thread' \
        host_build_graph
    crash kernel-aborts 2 6 SIGABRT 1 'in kernel stuck (func_id 5)'
    crash kernel-bus-error 4 7 SIGBUS 1 'in kernel stuck (func_id 5)'
    crash orchestration-segv 1 11 SIGSEGV 2 'in the orchestration or the runtime, on orchestrator thread'
fi
