#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shared library exports exactly what exports.txt lists, and the list is
# exactly what the public headers and the collectors' platform APIs declare with
# SIMPLER_API.
set -u
cd "$SOURCE_DIR" || exit 1
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
list=tests/static/exports.txt
status=0
differ() { # differ TITLE LEFT RIGHT
    if ! diff "$2" "$3" >"$work/diff"; then
        echo "$1 (< $list):"
        cat "$work/diff"
        status=1
    fi
}

LC_ALL=C sort -c "$list" || status=1
nm -D --defined-only "$BUILD_DIR/libsimpler.so" | awk '{ print $3 }' | LC_ALL=C sort -u >"$work/exported"
# A declaration: SIMPLER_API, a type, the name, a parenthesis; over line ends.
cat include/simpler/*.h src/collect/*/*_aicpu.h | sed 's://.*::' | tr '\n' ' ' |
    grep -oE 'SIMPLER_API [A-Za-z_0-9 *]*[ *]([a-z_0-9]+)\(' |
    sed -E 's/.*[ *]([a-z_0-9]+)\(/\1/' | LC_ALL=C sort -u >"$work/declared"
differ "the library exports something else" "$list" "$work/exported"
differ "the headers declare something else" "$list" "$work/declared"
[ $status = 0 ] && echo "$(wc -l <"$list") exports"
exit $status
