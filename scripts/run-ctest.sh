#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-ctest.sh PRESET_DIR NAME LABEL_REGEX [ctest arguments]: runs the tests of a
# built tree, keeps a JUnit file build/results/NAME.xml and shows what failed.
set -uo pipefail
dir=$1 name=$2 labels=$3
shift 3
results=$(pwd)/build/results
mkdir -p "$results"
echo "== $name"
ctest --test-dir "$dir" -L "^($labels)\$" --output-on-failure --timeout 600 \
    --output-junit "$results/$name.xml" --test-output-size-failed 20000 "$@" |
    sed -n -e '/Test *#.*Passed/!p'
exit "${PIPESTATUS[0]}"
