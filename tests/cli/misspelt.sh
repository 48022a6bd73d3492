#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each command, option and name, misspelt: exit status 2, what was meant, what there is.
set -u
fail() { echo "FAILED: $*"; exit 1; }

# misspelt WORD: two neighbours that differ are swapped, in its middle or before
misspelt() {
    local word=$1 i=$((${#1} / 2))
    while [ "${word:i:1}" = "${word:i+1:1}" ]; do i=$((i - 1)); done
    echo "${word:0:i}${word:i+1:1}${word:i:1}${word:i+2}"
}
# answers WORD TEXT ARGUMENT...: status 2, on standard error TEXT, WORD as what was meant and in the list
count=0
answers() {
    local word=$1 text=$2 err
    shift 2
    err=$("$SIMPLER" "$@" 2>&1 >/dev/null)
    [ $? -eq 2 ] || fail "$*: the exit status is not 2: $err"
    grep -qF -- "$text; did you mean $word? There are:" <<<"$err" || fail "$*: $err"
    count=$((count + 1))
}

commands=$("$SIMPLER" help | awk '/^  / {print $1}')
[ "$(wc -w <<<"$commands")" -eq 8 ] || fail "commands: $commands"
for command in $commands; do
    wrong=$(misspelt "$command")
    answers "$command" "simpler: there is no command '$wrong'" "$wrong"
    answers "$command" "simpler help: there is no command '$wrong'" help "$wrong"
    [ "$command" = help ] || [ "$command" = version ] && continue
    for option in $("$SIMPLER" help "$command" | grep -oE '^ +(-., )?--[a-z-]+' | grep -o -- '--.*'); do
        wrong=$(misspelt "$option")
        answers "$option" "simpler $command: there is no option $wrong" "$command" "$wrong"
        answers "$option" "simpler $command: there is no option $wrong" "$command" "$wrong=3"
    done
done
[ $count -ge 100 ] || fail "only $count words"

# Names behind options.
names() { # names OPTION NAME...
    local option=$1 name wrong
    shift
    for name; do
        wrong=$(misspelt "$name")
        answers "$name" "$option: there is no ${kind:+$kind }'$wrong'" "${command[@]}" "$option" "$wrong"
    done
}
command=(run a)
kind=platform names --platform cpu a2a3sim a5sim
kind=
names --runtime host_build_graph tensormap_and_ringbuffer
names --exec inline threads
names --hazards all raw
names --manual exclude include only
names --log-level debug info timing warn error none
command=(dump-viewer)
kind=format names --format txt npy csv raw
kind=stage names --stage before after
kind=role names --role input output inout
kind=kind names --kind tensor scalar
kind=dtype names --dtype float32 bfloat16 bool fp8e4m3fn int8 uint16
scenes=$("$SIMPLER" info --json | python3 -c '
import json, sys
print(*(s["name"] for s in json.load(sys.stdin)["scenes"]))') || fail "info --json"
[ -n "$scenes" ] || fail "there are no scenes"
for scene in $scenes; do
    wrong=$(misspelt "$scene")
    answers "$scene" "there is no scene '$wrong'" run "$wrong"
done
answers default "scene vector_example has no case 'dfeault'" run vector_example --case dfeault

# A value where none belongs is no option that does not exist.
for arguments in "dump-viewer --json=3" "scope-stats-plot x --json=3" "run a --json=3"; do
    err=$("$SIMPLER" $arguments 2>&1); [ $? -eq 2 ] || fail "$arguments"
    grep -q -- "--json takes no value" <<<"$err" || fail "$arguments: $err"
done
err=$("$SIMPLER" dump-viewer --json -ezk 2>&1); [ $? -eq 2 ] || fail "-ezk"
grep -q 'there is no option -z; there are: ' <<<"$err" || fail "-ezk: $err"
# A letter that no option has is no option with a value.
for arguments in "-t 3 x" "-j x" "-o d x" "-j=3 x"; do
    err=$("$SIMPLER" scope-stats-plot $arguments 2>&1); [ $? -eq 2 ] || fail "$arguments"
    grep -q -- "there is no option ${arguments:0:2}; there are: " <<<"$err" || fail "$arguments: $err"
done
# The beginning of two options, and more than the whole of one.
for arguments in --st --st=3; do
    err=$("$SIMPLER" dump-viewer $arguments 2>&1); [ $? -eq 2 ] || fail "$arguments"
    grep -q -- "--st may be --stage or --stats" <<<"$err" || fail "$arguments: $err"
done
for option in --output --outputs=x; do
    answers --out "simpler run: there is no option ${option%=*}" run a "$option"
done
# A word that is far too long leaves room for those that there are.
word=$(printf 'x%.0s' {1..900})
err=$("$SIMPLER" dump-viewer --dtype "float32,$word" 2>&1); [ $? -eq 2 ] || fail "a long word"
grep -q "there is no dtype 'x\{60\}\.\.\.'; there are: .*int8" <<<"$err" || fail "a long word: $err"
err=$("$SIMPLER" dump-viewer --arg "$word" 2>&1); [ $? -eq 2 ] || fail "a long number"
grep -q "'x\{60\}\.\.\.' is no list of values" <<<"$err" || fail "a long number: $err"
echo "ok: $count words"
