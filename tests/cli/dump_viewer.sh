#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dump-viewer without a directory takes the newest outputs/*/args_dump (AD-32, AD-33).
set -u
fail() { echo "FAILED: $*"; exit 1; }
generate() { # generate DIR DTYPE: one entry
    /usr/bin/python3 - "$1" "$2" <<'PY'
import os, sys
sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "tests/support"))
import args_dump_gen as gen
dump = gen.Dump()
dump.tensor(sys.argv[2], [2], bytes(2 * gen.BYTES[sys.argv[2]]))
dump.write(sys.argv[1])
PY
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

err=$("$SIMPLER" dump-viewer 2>&1 >/dev/null); [ $? -eq 1 ] || fail "nothing to show exits 1"
grep -qF 'no outputs/*/args_dump directory found' <<<"$err" || fail "the message: $err"
mkdir -p outputs/empty_20240101_000000
err=$("$SIMPLER" dump-viewer 2>&1 >/dev/null); [ $? -eq 1 ] || fail "a run without a dump exits 1"
grep -qF 'no outputs/*/args_dump directory found' <<<"$err" || fail "the message: $err"

# A run that died before its manifest, and one that left nothing.
for trace in args.bin .spool; do
    mkdir -p died/args_dump && touch "died/args_dump/$trace"
    for path in died died/args_dump; do
        err=$("$SIMPLER" dump-viewer $path 2>&1 >/dev/null); [ $? -eq 1 ] || fail "$path exits 1"
        grep -q "^.*$path: no args_dump.json in it, but .*died before the manifest was written" \
            <<<"$err" || fail "a run that died: $err"
    done
    rm -r died
done
err=$("$SIMPLER" dump-viewer outputs/empty_20240101_000000 2>&1 >/dev/null)
grep -q 'no args_dump.json in it$' <<<"$err" || fail "a run that left nothing: $err"
mkdir -p of_runs/run && ln -s run of_runs/latest
err=$("$SIMPLER" dump-viewer of_runs/ 2>&1 >/dev/null) && fail "a directory of runs exits 0"
grep -q 'in it; it holds runs, name one: of_runs/latest$' <<<"$err" || fail "a directory of runs: $err"

# The newest by its time of change, whatever its name.
generate outputs/z_old/args_dump int8
generate outputs/a_new/args_dump int16
generate outputs/m_older/args_dump int32
touch -d '2024-01-02 00:00:00' outputs/z_old/args_dump/* outputs/z_old/args_dump
touch -d '2024-01-03 00:00:00' outputs/a_new/args_dump/* outputs/a_new/args_dump
touch -d '2024-01-01 00:00:00' outputs/m_older/args_dump/* outputs/m_older/args_dump
out=$("$SIMPLER" dump-viewer 2>&1) || fail "auto-pick: $out"
grep -q int16 <<<"$out" || fail "the newest was not taken: $out"
grep -q outputs/a_new/args_dump <<<"$out" || fail "the chosen directory is not told: $out"
grep -qE 'int8|int32' <<<"$out" && fail "other dumps are shown: $out"

# Rounds have theirs one deeper; the newest of all counts, and the link to it is not told.
for i in 1 2 10; do
    generate "outputs/b_rounds/round_$i/args_dump" uint$((i == 1 ? 8 : i == 2 ? 16 : 32))
    touch -d "2024-01-04 00:00:$i" "outputs/b_rounds/round_$i/args_dump"
done
ln -s b_rounds outputs/latest
out=$("$SIMPLER" dump-viewer 2>&1) || fail "rounds: $out"
grep -q uint32 <<<"$out" || fail "the last round was not taken: $out"
grep -q outputs/b_rounds/round_10/args_dump <<<"$out" || fail "the chosen round is not told: $out"
touch -d '2024-01-05 00:00:00' outputs/a_new/args_dump
out=$("$SIMPLER" dump-viewer 2>&1) || fail "a run after rounds: $out"
grep -q int16 <<<"$out" || fail "the run after the rounds was not taken: $out"
# A run of rounds, by its name: those that have a dump, however many.
err=$("$SIMPLER" dump-viewer outputs/b_rounds/ 2>&1 >/dev/null); [ $? -eq 1 ] || fail "rounds exit 1"
grep -qF "run of rounds, name one: outputs/b_rounds/round_1, outputs/b_rounds/round_2, \
outputs/b_rounds/round_10" <<<"$err" || fail "the rounds: $err"
for i in {1..30}; do
    mkdir -p "many/round_$i/args_dump" && touch "many/round_$i/args_dump/args_dump.json"
done
err=$("$SIMPLER" dump-viewer many 2>&1 >/dev/null)
grep -qF "many/round_7, many/round_8 and 22 more" <<<"$err" || fail "many rounds: $err"
rm many/*/*/*
err=$("$SIMPLER" dump-viewer many 2>&1 >/dev/null)
grep -qF "nor in its 30 rounds" <<<"$err" || fail "rounds without a dump: $err"
rm -r many
mkdir away && mv outputs/*_* outputs/latest away/ && mkdir outputs/only &&
    mv away/b_rounds/round_2 outputs/only/
out=$("$SIMPLER" dump-viewer 2>&1) || fail "rounds alone: $out"
grep -q outputs/only/round_2/args_dump <<<"$out" || fail "rounds alone: $out"
rm -r outputs/only && mv away/*_* outputs/

# A directory, the manifest itself, and a path with a blank.
mv outputs/z_old 'outputs/z old'
for path in 'outputs/z old/args_dump' 'outputs/z old/args_dump/' \
    'outputs/z old/args_dump/args_dump.json'; do
    "$SIMPLER" dump-viewer "$path" | grep -q int8 || fail "$path"
done
"$SIMPLER" dump-viewer 'outputs/z old/args_dump' --export >export.txt || fail "--export"
[ -f 'outputs/z old/args_dump/txt/task_0x0000000000000000_before_in0.txt' ] ||
    fail "the export lies beside the manifest: $(cat export.txt)"
"$SIMPLER" dump-viewer --help | grep -q 'usage: simpler dump-viewer' || fail "--help"
echo ok
