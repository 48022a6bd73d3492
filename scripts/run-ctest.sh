#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-ctest.sh PRESET_DIR NAME LABEL_REGEX [ctest arguments]: runs the tests of a
# built tree, keeps a JUnit file build/results/NAME.xml and shows what failed; what the
# tests saw of the faults that they injected is in build/results/faults/NAME.tsv.
set -uo pipefail
dir=$1 name=$2 labels=$3
shift 3
results=$(pwd)/build/results
mkdir -p "$results/faults"
export SIMPLER_TEST_FAULTS=$results/faults/$name.tsv
rm -f "$SIMPLER_TEST_FAULTS"
echo "== $name"
ctest --test-dir "$dir" -L "^($labels)\$" --output-on-failure --timeout 600 \
    --output-junit "$results/$name.xml" --test-output-size-failed 20000 "$@" |
    sed -n -e '/Test *#.*Passed/!p'
exit "${PIPESTATUS[0]}"
