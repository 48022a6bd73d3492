#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scope-stats-plot: usage, output places, exit codes 0, 1, 2, errors that name
# the file and the fault.  SS-29, SS-30, SS-34, SS-35; decision 37.
# ctest: TIMEOUT 120
set -u
fail() { echo "FAILED: $*"; exit 1; }
tmp=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
plot() { "$SIMPLER" scope-stats-plot "$@" >"$tmp/out" 2>"$tmp/err"; }
says() { grep -qF -- "$1" "$tmp/out" "$tmp/err" || { cat "$tmp/out" "$tmp/err"; fail "$2"; }; }
status() { # status FILE: the chip as --json tells it
    "$SIMPLER" scope-stats-plot "$1" --out-dir "$tmp/status" --json |
        /usr/bin/python3 -c 'import json,sys; print(json.load(sys.stdin)["status"]["chip"])'
}

meta='{"fatal": false, "dropped": 0, "total": 4, "task_window_max": [8, 4], "heap_max": [268435456, 268435456], "dep_pool_max": [1024, 1024], "tensormap_max": 65536}'
sample() { # sample PHASE DEPTH HEAD
    echo '{"site": "example_orchestration.cpp:7'"$2"'", "phase": "'"$1"'", "depth": '"$2"', "ring": '"$2"', "task_window_start": 0, "task_window_end": '"$3"', "heap_start": 0, "heap_end": '"$(($3 * 2048))"', "dep_pool_start": 1, "dep_pool_end": '"$(($3 + 1))"', "tensormap": '"$3"', "run_epoch": 7, "buf_seq": 0}'
}
good() {
    echo "$meta"
    sample begin 0 0
    sample begin 1 0
    sample end 1 4
    sample end 0 2
}

# Usage errors: exit 2, on standard error, nothing written.
plot; [ $? -eq 2 ] || fail "no FILE exits 2"
plot a b; [ $? -eq 2 ] || fail "two FILEs exit 2"
plot --nonsense "$tmp/x"; [ $? -eq 2 ] || fail "an unknown option exits 2"
says --nonsense "the unknown option is named"
good >"$tmp/scope_stats.jsonl"
plot "$tmp/scope_stats.jsonl" --out-dir; [ $? -eq 2 ] || fail "--out-dir without a value exits 2"
plot "$tmp/scope_stats.jsonl" --top; [ $? -eq 2 ] || fail "--top without a value exits 2"
for n in x -1 1x '' 99999999999999999999; do
    plot "$tmp/scope_stats.jsonl" --top "$n"; [ $? -eq 2 ] || fail "--top '$n' exits 2"
    [ -s "$tmp/err" ] || fail "--top '$n' says nothing"
done
[ -e "$tmp/scope_stats.html" ] && fail "a usage error wrote a page"
"$SIMPLER" help scope-stats-plot >"$tmp/help" || fail "help scope-stats-plot"
for word in scope-stats-plot --out-dir --json --top; do
    grep -q -e "$word" "$tmp/help" || fail "the help does not name $word"
done
"$SIMPLER" help | grep -q scope-stats-plot || fail "the overview does not list the command"

# The default place is beside the input; --out-dir is created (SS-29).
mkdir "$tmp/run"
good >"$tmp/run/scope_stats.jsonl"
plot "$tmp/run/scope_stats.jsonl" || { cat "$tmp/err"; fail "a good file exits 0"; }
[ -s "$tmp/run/scope_stats.html" ] || fail "no page beside the input"
[ "$(find "$tmp/run" -type f | wc -l)" = 2 ] || fail "more than the page was written"
(cd "$tmp/run" && rm scope_stats.html && "$SIMPLER" scope-stats-plot scope_stats.jsonl) >/dev/null ||
    fail "a name without a directory"
[ -s "$tmp/run/scope_stats.html" ] || fail "no page beside a name without a directory"
plot "$tmp/run/scope_stats.jsonl" --out-dir "$tmp/new/deep/er" || fail "--out-dir is created"
[ -s "$tmp/new/deep/er/scope_stats.html" ] || fail "no page in --out-dir"
cmp -s "$tmp/new/deep/er/scope_stats.html" "$tmp/run/scope_stats.html" ||
    fail "the page depends on where it lies"
plot --out-dir "$tmp/before" "$tmp/run/scope_stats.jsonl" || fail "options before FILE"
[ -s "$tmp/before/scope_stats.html" ] || fail "options before FILE: no page"
plot --out-dir="$tmp/equals" "$tmp/run/scope_stats.jsonl" ||
    { [ $? -eq 2 ] || fail "--out-dir=DIR neither works nor exits 2"; }
plot "$tmp/run/scope_stats.jsonl" || fail "a second run replaces the page"
good >"$tmp/-dash.jsonl"
(cd "$tmp" && "$SIMPLER" scope-stats-plot -- -dash.jsonl) >/dev/null || fail "-- ends the options"

# --json is one JSON document on standard output and nothing else.
plot "$tmp/run/scope_stats.jsonl" --json || fail "--json exits 0"
/usr/bin/python3 - "$tmp/out" <<'PY' || fail "--json"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["status"]["chip"] == "healthy", d["status"]
assert d["records"]["lines"] == 4 and d["records"]["pairs"] == 2, d["records"]
PY
# --top N prints a table of at most N scope sites.
plot "$tmp/run/scope_stats.jsonl" --top 1 || fail "--top exits 0"
says example_orchestration.cpp:71 "--top 1 shows the site that is closest to a capacity"
says "may exceed" "--top tells why a Use may be above 100%"

# A directory in place of the file.
plot "$tmp/run"; [ $? -eq 1 ] || fail "a directory"
says "$tmp/run is a directory; FILE is a scope_stats.jsonl: name $tmp/run/scope_stats.jsonl" "a directory"
mkdir -p "$tmp/prefix" && cp -r "$tmp/run" "$tmp/prefix/scope_stats"
plot "$tmp/prefix/"; [ $? -eq 1 ] || fail "a prefix"
says ": name $tmp/prefix//scope_stats/scope_stats.jsonl" "a prefix"
mkdir -p "$tmp/outputs" && ln -s ../prefix "$tmp/outputs/latest"
plot "$tmp/outputs"; [ $? -eq 1 ] || fail "a directory of runs"
says ": name $tmp/outputs/latest/scope_stats/scope_stats.jsonl" "a directory of runs"

# Output that cannot be written: exit 1, names the path.
echo x >"$tmp/occupied"
plot "$tmp/run/scope_stats.jsonl" --out-dir "$tmp/occupied"; [ $? -eq 1 ] || fail "--out-dir is a file"
says "--out-dir: $tmp/occupied is a file, not a directory; name another directory" "the refused output"
echo 'hello' >"$tmp/hello.jsonl"
plot "$tmp/hello.jsonl" --out-dir "$tmp/occupied/below"; [ $? -eq 1 ] || fail "--out-dir is below a file"
says "--out-dir: $tmp/occupied is a file, not a directory" "told before the file is read"
# A name that is mistyped is the fault, not what follows of it.
for place in "$tmp/nothing/scope_stats.jsonl" "$tmp/occupied/scope_stats.jsonl" "$tmp/nothing.jsonl --out-dir $tmp/occupied"; do
    plot $place; [ $? -eq 1 ] || fail "$place"
    says "scope-stats-plot: ${place%% *}: cannot be read: " "$place"
    grep -q -- 'out-dir' "$tmp/err" && fail "$place: $(cat "$tmp/err")"
done
mkdir -p "$tmp/blocked/scope_stats.html"
plot "$tmp/run/scope_stats.jsonl" --out-dir "$tmp/blocked"; [ $? -eq 1 ] || fail "page is a directory"
says "$tmp/blocked/scope_stats.html: a directory is in the place of the page; name another --out-dir" "blocked"
[ -e /dev/full ] && {
    "$SIMPLER" scope-stats-plot "$tmp/run/scope_stats.jsonl" --json >/dev/full 2>"$tmp/err"
    [ $? -eq 1 ] || fail "--json into a full device exits 1"
}
if [ "$(id -u)" -ne 0 ]; then
    mkdir "$tmp/locked" && chmod 500 "$tmp/locked"
    plot "$tmp/run/scope_stats.jsonl" --out-dir "$tmp/locked"; [ $? -eq 1 ] || fail "unwritable"
fi
# The page must not be written over the input, whatever its name.
cp "$tmp/run/scope_stats.jsonl" "$tmp/in.html" && mkdir "$tmp/same" &&
    mv "$tmp/in.html" "$tmp/same/scope_stats.html"
plot "$tmp/same/scope_stats.html"; [ $? -eq 1 ] || fail "FILE is the page itself"
cmp -s "$tmp/same/scope_stats.html" "$tmp/run/scope_stats.jsonl" || fail "the input was overwritten"

# Input that cannot be read: exit 1, names file and fault, writes no page.
refused() { # refused FILE WHAT [WORD]
    rm -rf "$tmp/refused"
    plot "$1" --out-dir "$tmp/refused"
    [ $? -eq 1 ] || fail "$2: exit 1 expected"
    grep -qF -- "$1" "$tmp/err" || { cat "$tmp/err"; fail "$2: the file is not named"; }
    [ "$(wc -c <"$tmp/err")" -gt $((${#1} + 20)) ] || fail "$2: no reason given"
    [ -e "$tmp/refused/scope_stats.html" ] && fail "$2: a page was written"
    [ -z "${3:-}" ] || grep -qiE -- "$3" "$tmp/err" || { cat "$tmp/err"; fail "$2: lacks '$3'"; }
}
refused "$tmp/absent.jsonl" "a missing file" "no such file"
refused "$tmp/run" "a directory" "directory"
: >"$tmp/empty.jsonl"
refused "$tmp/empty.jsonl" "an empty file" "empty"
{ sample begin 0 0; sample end 0 1; } >"$tmp/nometa.jsonl"

echo 'hello' >"$tmp/text.jsonl"; refused "$tmp/text.jsonl" "not JSON"
echo '[1, 2]' >"$tmp/array.jsonl"; refused "$tmp/array.jsonl" "an array"
head -c 4096 /dev/zero >"$tmp/nul.jsonl"; refused "$tmp/nul.jsonl" "NUL alone"
printf '\xff\xfe\x00' >"$tmp/binary.jsonl"; refused "$tmp/binary.jsonl" "binary"
printf '\n\n' >"$tmp/blank.jsonl"; refused "$tmp/blank.jsonl" "blank lines"
{ printf '{"fatal": '; head -c 200000 /dev/zero | tr '\0' '['; } >"$tmp/nested.jsonl"
refused "$tmp/nested.jsonl" "deep nesting"

# Damage behind a good first line: an error that names the file, or a page that
# is labelled; never Healthy, never silent (SS-34, SS-35).
labelled() { # labelled FILE WHAT
    rm -rf "$tmp/status"
    plot "$1" --out-dir "$tmp/status" --json
    local rc=$? chip
    [ $rc -le 1 ] || fail "$2: exit $rc"
    if [ $rc -eq 1 ]; then
        grep -qF -- "$1" "$tmp/err" || fail "$2: the error does not name the file"
        return
    fi
    [ -s "$tmp/status/scope_stats.html" ] || fail "$2: exit 0 without a page"
    chip=$(status "$1")
    [ "$chip" = healthy ] && fail "$2: called healthy"
    grep -q "data-status=\"$chip\"" "$tmp/status/scope_stats.html" || fail "$2: page and --json differ"
}
damage() { labelled "$tmp/d.jsonl" "$1"; }
labelled "$tmp/nometa.jsonl" "no metadata"
good | head -c -10 >"$tmp/d.jsonl"; damage "a torn last line"
good | head -c -1 | head -n -1 >"$tmp/d.jsonl"; damage "a missing last line"
{ good | head -n 3; head -c 700 /dev/zero; good | tail -n 2; } >"$tmp/d.jsonl"; damage "a hole of NUL"
{ good | head -n 3; head -c 700 /dev/zero; echo; good | tail -n 1; } >"$tmp/d.jsonl"
damage "a line that is a hole of NUL"
good | sed '3s/example/ex\xff\xc3mple/' >"$tmp/d.jsonl"; damage "a site that is not UTF-8"
good | sed '4s/"depth": 1/"depth": "1"/' >"$tmp/d.jsonl"; damage "a number as text"
good | sed '4s/"heap_end": [0-9]*/"heap_end": -8192/' >"$tmp/d.jsonl"; damage "a negative counter"
good | sed '4s/"heap_end": [0-9]*/"heap_end": 8192.5/' >"$tmp/d.jsonl"; damage "a fraction"
good | sed '4s/"heap_end": [0-9]*/"heap_end": null/' >"$tmp/d.jsonl"; damage "a null counter"
good | sed '4s/"heap_end": [0-9]*/"heap_end": 36893488147419103232/' >"$tmp/d.jsonl"
damage "a counter above 64 bit"
good | sed '4s/"heap_end": [0-9]*, //' >"$tmp/d.jsonl"; damage "a missing key"
good | sed '4s/"phase": "end"/"phase": "middle"/' >"$tmp/d.jsonl"; damage "an unknown phase"
good | sed '4s/"site": "[^"]*"/"site": 5/' >"$tmp/d.jsonl"; damage "a site that is a number"
good | sed '4s/^.*$/[]/' >"$tmp/d.jsonl"; damage "a line that is an array"
good | sed '4s/}$/} x/' >"$tmp/d.jsonl"; damage "text after a line's object"
good | sed '4s/^.*$//' >"$tmp/d.jsonl"; damage "an empty line in place of a sample"
good | sed '4d' >"$tmp/d.jsonl"; damage "a line taken out"
good | sed '4p' >"$tmp/d.jsonl"; damage "a line twice"
{ good; echo "$meta"; } >"$tmp/d.jsonl"; damage "metadata again at the end"
good | sed '4s/"heap_end": [0-9]*/"heap_end": 0/;3s/"heap_end": [0-9]*/"heap_end": 4096/' >"$tmp/d.jsonl"
damage "a frontier that moves back"
good | sed '4s/"ring": 1/"ring": 4294967297/' >"$tmp/d.jsonl"; damage "a ring beyond 32 bit"
for change in 's/"fatal": false/"fatal": 0/' 's/"dropped": 0/"dropped": "0"/' \
    's/"dropped": 0/"dropped": -1/' 's/"total": 4/"total": 4.5/' 's/"total": 4/"total": true/' \
    's/"heap_max": \[[^]]*\]/"heap_max": 5/' 's/"heap_max": \[[^]]*\]/"heap_max": [-1, 2]/' \
    's/"tensormap_max": 65536/"tensormap_max": "x"/' 's/"fatal": false, //' 's/"total": 4, //' \
    's/"heap_max": \[[^]]*\], //' 's/"total": 4/"total": 3/' 's/"total": 4/"total": 0/' \
    's/}$/, "counts_unknown": true}/' 's/}$/, "collection_verdict": "partial_cut_unknown"}/' \
    's/}$/, "collection_verdict": "nonsense"}/' 's/}$/, "host_retained_records": 3}/'; do
    good | sed "1$change" >"$tmp/d.jsonl"
    labelled "$tmp/d.jsonl" "metadata changed by $change"
done

# The six chips and their order (SS-30).
chip_of() { # chip_of SED EXPECTED
    good | sed "1$1" >"$tmp/c.jsonl"
    local got
    got=$(status "$tmp/c.jsonl")
    [ "$got" = "$2" ] || fail "chip of $1 is '$got', not $2"
}
chip_of 's/x/x/' healthy
chip_of 's/"fatal": false, "dropped": 0, "total": 4/"fatal": true, "dropped": 2, "total": null/' fatal
chip_of 's/"dropped": 0, "total": 4/"dropped": 2, "total": null/' dropped
chip_of 's/"dropped": 0, "total": 4/"dropped": 2, "total": 6/' dropped
chip_of 's/"total": 4/"total": null/' unknown-counts
chip_of 's/"fatal": false/"fatal": null/' unknown-counts
chip_of 's/"fatal": false, "dropped": 0, "total": 4/"fatal": null, "dropped": null, "total": null/' unknown-counts
chip_of 's/"total": 4/"total": 9/' incomplete
chip_of '{s/"total": 4/"total": 6/;s/}$/, "collection_verdict": "published", "counts_unknown": false, "host_received_records": 6, "host_retained_records": 4}/}' incomplete
{ good | head -n 3 | sed '1s/"total": 4/"total": 2/'; } >"$tmp/c.jsonl"
[ "$(status "$tmp/c.jsonl")" = unpaired ] || fail "chip of two lone begins"
grep -q 'data-status="unpaired"' "$tmp/status/scope_stats.html" || fail "the page's chip is not unpaired"

# No samples: a report that says why; unknown capacities stay unknown (SS-01, SS-34).
echo '{"fatal": false, "dropped": 0, "total": 0, "task_window_max": null, "heap_max": null, "dep_pool_max": null, "tensormap_max": null}' >"$tmp/hbg.jsonl"
plot "$tmp/hbg.jsonl" --out-dir "$tmp/hbg" || fail "a file without samples exits 0"
grep -qi 'no samples\|no scope\|no records' "$tmp/hbg/scope_stats.html" || fail "no samples: the page does not say why"
[ "$(status "$tmp/hbg.jsonl")" = healthy ] || fail "an empty run that lost nothing is healthy"
grep -q 'unknown' "$tmp/hbg/scope_stats.html" || fail "the dominant site without samples is not 'unknown'"
chip_of 's/"heap_max": \[[^]]*\]/"heap_max": null/' incomplete

# Nothing external in the page (SS-29).
page=$tmp/run/scope_stats.html
grep -oiE '(src|href|action|xlink:href)="[^"#]+' "$page" | grep -v '"data:' && fail "an external reference"
grep -qiE '@import|url\((.?)(https?:|//)' "$page" && fail "an external style"
# data-* hooks and the chip's sentence
grep -q 'id="status-chip"[^>]*data-status="healthy"\|data-status="healthy"[^>]*id="status-chip"' "$page" || fail "status chip"
grep -q 'id="top-peaks"' "$page" || fail "top peaks table"
grep -q 'id="formula-guide"' "$page" || fail "formula guide"
echo ok
