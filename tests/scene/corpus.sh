#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The thirty directories of tests/corpus, as they are, build and run right: on cpu, and
# with one thread a core on a2a3sim; where a manifest allows neither, on a5sim.
# What a scene says of orchestrations (SY-05) is said here by somebody else's sources.
# ctest: TIMEOUT 900
source "$(dirname "$0")/../support/scene.sh"
unset SIMPLER_RING_TASK_WINDOW SIMPLER_RING_HEAP SIMPLER_RING_DEP_POOL SIMPLER_TENSORMAP CXX CXXFLAGS
export SIMPLER_CACHE_DIR=$work/cache
# Under a sanitizer the sources are under it too.
sanitize=$(sed -n 's/^SIMPLER_SANITIZE:STRING=//p' "$BUILD_DIR/CMakeCache.txt")
[ -z "$sanitize" ] || export CXXFLAGS="-g -fsanitize=$sanitize -fno-sanitize-recover=all"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "SKIP: no numpy for the goldens"; exit 77; }

# Whether a manifest, as a whole, may run on a platform.
allows() {
    /usr/bin/python3 -c 'import json, sys
m = json.load(open(sys.argv[1] + "/scene.json"))
sys.exit(sys.argv[2] not in m.get("platform", [sys.argv[2]]))' "$1" "$2"
}
count=0
for dir in "$SOURCE_DIR"/tests/corpus/[0-9][0-9]_*; do
    runs=0
    if allows "$dir" cpu; then
        ends 0 ': passed on' "$dir"
        runs=1
    fi
    if allows "$dir" a2a3sim; then
        ends 0 ': passed on' "$dir" -p a2a3sim --exec threads
        runs=1
    fi
    if [ $runs = 0 ]; then
        ends 0 ': passed on' "$dir" -p a5sim
    fi
    count=$((count + 1))
done
[ $count -ge 30 ] || fail "only $count directories"

# Marks of dump() choose; the sites of scopes are lines of the source.
ends 0 'args dump complete: 11 records' "$SOURCE_DIR/tests/corpus/20_dump_marks" --dump-args --out dump
[ "$(grep -c '"arg_index_ambiguous": true' dump/dump_marks_*/args_dump/args_dump.json)" = 1 ] || fail "one ambiguous scalar"
ends 0 ': passed on' "$SOURCE_DIR/tests/corpus/23_scope_forms" --enable-scope-stats --out scopes
sites=$(sed -n 's/.*"site": "\([^"]*\)".*/\1/p' scopes/scope_forms_*/scope_stats/scope_stats.jsonl | sort -u)
while IFS=: read -r file line; do
    [ "$file" = "(unknown)" ] && continue # rt_scope_begin has no site
    sed -n "${line}p" "$SOURCE_DIR/tests/corpus/23_scope_forms/$file" |
        grep -qE 'SCOPE|aicpu_orchestration_entry\(' || fail "$file:$line is no scope"
done <<<"$sites"
[ "$(wc -l <<<"$sites")" -ge 6 ] || fail "sites: $sites"
echo "$count directories"
