#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# simpler run --crash-safe on a scene that crashes, simpler recover afterwards: what it says, what
# it leaves, what it refuses; readers that are given what a crash left name it.
# ctest: TIMEOUT 120
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
. "$SOURCE_DIR/tests/support/faults.sh"
fail() { echo "FAILED: $*"; head -n 40 "$dir/out" "$dir/err"; exit 1; }
room=$(df --output=avail -BM /dev/shm 2>/dev/null | tail -n 1 | tr -dc 0-9)
if [ "${room:-0}" -lt 600 ]; then # a container has 64 MiB
    fault_cannot "/dev/shm has no room" crash-then-recover live-names-another live-is-torn live-is-gone \
        link-in-the-way no-room-for-region
    echo "SKIP: /dev/shm has no room for the memory of an args dump"
    exit 77
fi
scene=$dir/run_hang.so
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O0 -g -Wall -Wextra -Wno-infinite-recursion -shared -fPIC \
    -I"$SOURCE_DIR/include" "$SOURCE_DIR/tests/support/scenes/run_hang.c" -o "$scene" ||
    fail "the scene does not compile"
cd "$dir" || exit 1
ran() { # EXPECTED-STATUS ARGUMENTS...
    local want=$1
    shift
    # The process is noted: other tests have regions of their own.
    timeout 60 bash -c 'echo $$ >>"$0" && exec "$@"' "$dir/pids" "$SIMPLER" "$@" >out 2>err
    got=$?
    [ $got = "$want" ] || fail "simpler $*: exit status $got, not $want"
}
says() { grep -qF -- "$2" "$1" || fail "$1 does not say '$2'"; }
regions() { # how many files of these processes there are
    local pid count=0
    while read -r pid; do
        compgen -G "/dev/shm/simpler-$(id -u)-$pid-*.region" >/dev/null && count=$((count + 1))
    done <pids
    echo $count
}
: >pids
crash() { # ARGUMENTS...: ends by SIGABRT (2) in a kernel
    rm -rf o
    ran 134 run "$scene" --param crash=2 --case one --enable-scope-stats --dump-args 2 --out o "$@"
    prefix=$(realpath o/latest)
}

# A normal end leaves no file behind, and the files are as without the option.
ran 0 run dump_args --crash-safe --enable-scope-stats --dump-args 2 --out n --json
/usr/bin/python3 -c "import json; assert json.load(open('out'))['cases'][0]['crash_safe']" || fail "json"
[ "$(find n -type f | wc -l)" = 4 ] || fail "more files: $(find n)"
[ "$(regions)" = 0 ] || fail "a region is left"
ran 0 recover n/latest
says out "args dump: n/latest/args_dump/args_dump.json is complete"
ran 0 run dump_args --crash-safe --no-crash-safe --dump-args 2 --out n --json
/usr/bin/python3 -c "import json; assert not json.load(open('out'))['cases'][0]['crash_safe']" || fail "json"

# A crash: the remedy is named, then it helps.
crash --crash-safe
[ -e "$prefix/.live" ] || fail "no .live"
[ "$(regions)" = 1 ] || fail "no region"
for what in "$prefix" "$prefix/scope_stats" "$prefix/scope_stats/scope_stats.jsonl"; do
    ran 1 scope-stats-plot "$what"
    says err "\`simpler recover $prefix\`"
done
for what in "$prefix" "$prefix/args_dump" "$prefix/args_dump/args_dump.json"; do
    ran 1 dump-viewer "$what"
    says err "\`simpler recover $prefix\`"
done
timeout 20 "$SIMPLER" scope-stats-plot "$prefix/scope_stats/scope_stats.jsonl.partial" >out 2>err
says err "\`simpler recover $prefix\`"
rm -f "$prefix"/scope_stats/*.html
ran 0 recover "$prefix"
says out "Every record that process"
says out "samples in"
[ "$(regions)" = 0 ] || fail "the region is left"
[ ! -e "$prefix/.live" ] || fail ".live is left"
fault_saw crash-then-recover exit=$got regions_left="$(regions)" records=all
ran 0 scope-stats-plot "$prefix/scope_stats/scope_stats.jsonl"
ran 0 dump-viewer "$prefix" --check
ran 0 recover "$prefix"
says out "there is nothing to do"

# The same as JSON.
crash --crash-safe
ran 0 recover "$prefix" --json
/usr/bin/python3 - <<'END' || fail "json"
import json
d = json.load(open("out"))
assert d["has_region"] and d["pid"] > 1 and d["message"] is None, d
assert d["scope_stats"]["state"] == "recovered" and d["args_dump"]["state"] == "recovered", d
assert d["args_dump"]["records"] == d["args_dump"]["from_region"] > 0, d
END

# All records, but payloads that neither args.bin nor the memory has as a whole any more.
lose_payloads() {
    /usr/bin/python3 - "$(sed -n 's/^region //p' "$prefix/.live")" <<'END' || fail "no arena"
import struct, sys
with open(sys.argv[1], "r+b") as region:
    region.seek(48 + 4096)
    parts = [struct.unpack("<4I4Q", region.read(48)) for _ in range(1200)]
    arenas = [p for p in parts if p[0] == 3]
    for part in arenas:
        region.seek(part[4])
        region.write(b"\xee" * min(part[5], 1 << 20))
sys.exit(not arenas)
END
    : >"$prefix/args_dump/args.bin"
}
crash --crash-safe && lose_payloads
ran 0 recover "$prefix"
lost=$(sed -n 's/^  \([0-9]*\) payloads* not there as a whole.*/\1/p' out)
[ "${lost:-0}" -gt 0 ] || fail "no payload is lost"
grep -qE "^Every record that process [0-9]+ had made is there; $lost of their payloads (is|are) cut\.$" out ||
    fail "the payloads are promised too"
ran 0 recover "$prefix"
says out "args dump: $prefix/args_dump/args_dump.json was recovered already"
grep -qE "^  $lost payloads? (is|are) truncated in it$" out || fail "what was lost is not told again"
ran 0 recover "$prefix" --json
/usr/bin/python3 -c "
import json; d = json.load(open('out'))
assert d['recovered_before'] and d['truncated_before'] == $lost, d" || fail "json"

# Not crash-safe: what can be had, and that more is not known.
crash
[ ! -e "$prefix/.live" ] || fail ".live without --crash-safe"
# No sample had reached the disk: nobody promises a file, and what goes is named.
partial=$prefix/scope_stats/scope_stats.jsonl.partial
[ "$(wc -l <"$partial")" = 1 ] || fail "samples reached the disk: $(wc -l <"$partial") lines"
cp -r "$prefix" with_sample && echo '{"a": 1}' >>"with_sample/${partial#"$prefix/"}"
for what in "$prefix/scope_stats/scope_stats.jsonl" "$partial"; do
    ran 1 scope-stats-plot "$what"
    says err "before any sample had reached the disk"
    says err "\`simpler recover $prefix\` removes what is left"
done
ran 1 scope-stats-plot with_sample/scope_stats/scope_stats.jsonl
says err "\`simpler recover with_sample\` makes the file"
ran 0 recover "$prefix"
grep -q 'Every record' out && fail "more is promised than there is"
grep -q 'nothing to do' out && fail "what is removed is nothing"
says out "$partial: no sample had reached the disk"
says out "--crash-safe"
[ ! -e "$partial" ] || fail "the file without a sample is left"
ran 0 recover "$prefix"
says out "there is nothing to do"

# Rounds: each of them.
crash --crash-safe --rounds 3
[ -e "$prefix/round_1/.live" ] && [ "$(regions)" = 1 ] || fail "no round that died: $(find "$prefix")"
mkdir "$prefix/round_10" "$prefix/round_x"
ran 1 dump-viewer "$prefix"
says err "nor in its 2 rounds"
says err "\`simpler recover $prefix\` helps"
cp -r "$prefix" rounds
ran 0 recover "$prefix"
says out "Every record that process"
says out "samples in $prefix/round_1/"
says out "$prefix/round_10: there is nothing to do"
grep -q round_x out && fail "a directory that is no round"
[ "$(regions)" = 0 ] && [ ! -e "$prefix/round_1/.live" ] || fail "the region of a round is left"
ran 0 dump-viewer "$prefix/round_1" --check
ran 1 dump-viewer "$prefix"
says err "name one: $prefix/round_1"
grep -q round_10 err && fail "a round without a dump is named"
ran 0 recover rounds --json
/usr/bin/python3 - <<'END' || fail "json of rounds"
import json
d = json.load(open("out"))
assert d["directory"] == "rounds" and d["status_name"] == "SIMPLER_OK", d
assert [r["directory"] for r in d["rounds"]] == ["rounds/round_1", "rounds/round_10"], d
assert d["rounds"][0]["pid"] > 1 and not d["rounds"][0]["has_region"], d
END
# The failure of one round is that of the whole, and the others are done.
crash --crash-safe --rounds 2
mkdir -p "$prefix/round_0/scope_stats" && mkdir "$prefix/round_0/scope_stats/scope_stats.jsonl.partial"
ran 1 recover "$prefix"
says err "$prefix/round_0/scope_stats"
says out "samples in $prefix/round_1/"
[ "$(regions)" = 0 ] || fail "a round behind one that fails is left"
ran 0 run dump_args --rounds 2 --dump-args 2 --out n
ran 0 recover n/latest
says out "round_2/args_dump/args_dump.json is complete"

# Where no run was.
echo x >plain
ran 1 recover plain
says err "plain: is a file, not a directory"
ran 1 recover plain/below
says err "plain/below: no such directory"
mkdir -p none/other
ran 1 recover none
says err "none: no run has written here: there is no scope_stats, args_dump, .live or round_<i>"
ran 1 recover n/latest/round_1/args_dump
says err "name the run: $(realpath n/latest/round_1)"
ran 1 recover none --json
/usr/bin/python3 -c "import json; assert json.load(open('out'))['status_name'] == 'SIMPLER_ENOENT'" || fail "json"

# What .live names may be anything.
crash --crash-safe
region=$(sed -n 's/^region //p' "$prefix/.live")
touch "$dir/simpler-0-1-0.region" "$dir/victim"
for path in "$dir/victim" "$dir/simpler-0-1-0.region" /dev/zero "$dir/nowhere/simpler-0-1-0.region"; do
    sed "s|^region .*|region $path|" "$prefix/.live" >live && cp live "$prefix/.live"
    cp -r "$prefix" copy
    ran 0 recover copy
    says err "region"
    rm -rf copy
    fault_saw live-names-another exit=$got
done
[ -e "$dir/victim" ] && [ -e "$dir/simpler-0-1-0.region" ] || fail "a file is gone"
for text in '' 'simpler-live 2' 'simpler-live 1' "$(printf 'simpler-live 1\npid -1\n')"; do
    printf '%s' "$text" >"$prefix/.live"
    cp -r "$prefix" copy
    ran 0 recover copy
    says err "is torn, or of another version"
    rm -rf copy
    fault_saw live-is-torn exit=$got told=yes
done
# The region that nobody can find any more goes with the next recovery, or the next run.
rm -f "$prefix/.live" && mkfifo "$prefix/.live"
ran 0 recover "$prefix"
[ "$(regions)" = 0 ] || fail "recover leaves a stale region"
crash --crash-safe
region=$(sed -n 's/^region //p' "$prefix/.live")
rm "$prefix/.live"
ran 0 run dump_args --crash-safe --dump-args 2 --out n
[ ! -e "$region" ] && [ "$(regions)" = 0 ] || fail "a stale region is left"
fault_saw live-is-gone exit=$got regions_left="$(regions)"
# A directory that has moved is still found, so its region stays, and is spoken of.
crash --crash-safe
region=$(sed -n 's/^region //p' "$prefix/.live")
mv "$prefix" moved
ran 0 run dump_args --crash-safe --dump-args 2 --out n
says err "$region holds the diagnostics of a run that died"
[ "$(regions)" = 1 ] || fail "the region of a directory that moved is removed"
ran 0 recover moved
says out "Every record that process"
[ "$(regions)" = 0 ] || fail "the region is left"
# What lies in the way is not written through.
crash --crash-safe
echo precious >"$dir/victim"
mkdir -p "$prefix/args_dump" && ln -s "$dir/victim" "$prefix/args_dump/.recover" || fail "no link"
"$SIMPLER" recover "$prefix" >out 2>err
[ "$(cat "$dir/victim")" = precious ] || fail "a link was followed"
fault_saw link-in-the-way victim="$(cat "$dir/victim")"
rm -f "$prefix/args_dump/.recover"
ran 0 recover "$prefix"
# One that can be recovered stays.
crash --crash-safe
ran 0 run dump_args --crash-safe --dump-args 2 --out n
[ "$(regions)" = 1 ] || fail "a region of use was removed"
ran 0 recover "$prefix"

# A hang leaves by _exit: whole files, nothing behind.
rm -rf o
SIMPLER_SCHEDULER_TIMEOUT_MS=300 ran 1 run "$scene" --param hang=1 --case one \
    --crash-safe --enable-scope-stats --dump-args 2 --out o
[ "$(regions)" = 0 ] && [ ! -e o/latest/.live ] || fail "a hang leaves a region"

# No room: anonymous memory, and the summary says so.
(ulimit -f 2000 && ran 0 run dump_args --crash-safe --dump-args 2 --out n) || exit 1
says out "not crash-safe"
says err "no room"
[ "$(regions)" = 0 ] || fail "a refused region is left"
fault_saw no-room-for-region told=yes regions_left="$(regions)"

# Usage.
ran 2 recover
ran 2 recover a b
ran 2 recover --no-such-option
ran 1 recover nowhere
says err "no such directory"
ran 2 run dump_args --crash-safe --collect-across-runs
says err "exclude each other"
echo ok
