#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command that reads a file, given what is none: a pipe without a writer, a device
# that never ends, a directory, a loop of links, nothing.  It ends at once with status 1 or 2
# and names the file; what comes after a failure is never called a success.
# ctest: TIMEOUT 120
set -u
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
. "$SOURCE_DIR/tests/support/faults.sh"
fail() { echo "FAILED: $*"; head -n 20 "$dir/log"; exit 1; }

refused() { # STATUS FILE TEXT COMMAND...
    local want=$1 file=$2 text=$3 got
    shift 3
    timeout 20 "$SIMPLER" "$@" >log 2>&1 </dev/null
    got=$?
    [ $got -eq "$want" ] || fail "$*: exit status $got, not $want"
    grep -qF -- "$file" log || fail "$*: $file is not named"
    grep -qF -- "$text" log || fail "$*: it does not say: $text"
    fault_saw file-is-none exit=$got named=yes
}

mkfifo pipe
mkdir folder
: >empty
ln -s loop loop
odd="not a regular file"

for file in pipe /dev/zero /dev/full /dev/null; do
    refused 1 $file "$odd" scope-stats-plot $file
    refused 1 $file "$odd" scope-stats-plot $file --json --out-dir out
    refused 1 $file "$odd" dump-viewer $file
done
refused 1 folder "is a directory" scope-stats-plot folder
refused 1 empty "empty" scope-stats-plot empty
refused 1 loop "symbolic links" scope-stats-plot loop
refused 1 loop "symbolic links" dump-viewer loop
[ -e out ] && fail "a directory was made for a page that cannot be"

# A scene that is a pipe or a device is not loaded.
refused 2 ./pipe "$odd" run ./pipe
refused 2 /dev/zero "$odd" run /dev/zero
refused 1 ./empty "file too short" run ./empty

# The same behind a directory of sources: its manifest, then a source that the manifest names.
for file in "$dir/pipe" /dev/zero; do
    mkdir -p scene && ln -sf "$file" scene/scene.json
    refused 1 scene/scene.json "$odd" build scene
    refused 1 scene/scene.json "$odd" run scene
    rm scene/scene.json
    cat >scene/scene.json <<'END'
{"name": "odd", "source": "orch.cpp", "entry": "entry",
 "kernels": [{"func_id": 0, "source": "orch.cpp", "entry": "kernel", "core_type": "aiv",
              "signature": ["IN"]}],
 "cases": [{"name": "default", "args": []}]}
END
    ln -sf "$file" scene/orch.cpp
    timeout 20 "$SIMPLER" build scene >log 2>&1 </dev/null
    [ $? -eq 1 ] || fail "a source that is $file does not end a build with 1"
    grep -qF "scene/orch.cpp" log || grep -qF "scene.json" log || fail "the source is not named"
    rm scene/orch.cpp scene/scene.json
done

# A diagnostic that has no file has a cause, and it is not "success".
for out in empty/x pipe; do
    timeout 20 "$SIMPLER" run vector_example --enable-scope-stats --dump-args 2 --out $out >log 2>&1
    status=$?
    [ $status -eq 2 ] || fail "--out $out does not exit 2"
    grep -q -- "--out: ${out%/x} is a file, not a directory" log || fail "--out $out: why it cannot be is not told"
    fault_saw output-is-none exit=$status told=yes
done
for out in $([ "$(id -u)" -ne 0 ] || echo /proc); do # root finds that out by trying alone
    timeout 20 "$SIMPLER" run vector_example --enable-scope-stats --dump-args 2 --out $out >log 2>&1
    status=$?
    [ $status -eq 3 ] || fail "--out $out does not exit 3"
    grep -q "^simpler run: $out/.*: cannot be created: " log || fail "--out $out: why is not told"
    grep -q "scope stats MISSING: " log || fail "--out $out: what is missing is not told"
    grep -q "MISSING: success" log && fail "--out $out: a failure is called a success"
done

# The same option twice is no option that does not exist.
timeout 20 "$SIMPLER" info --json --json >log 2>&1 || fail "info --json --json"
refused 2 "--x" "there is no option" info --json --x
echo ok
