#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make soak [SECONDS=600]: the stress and fault tests again, each for so long.
set -uo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh build test check || exit 1
unset MAKEFLAGS MAKELEVEL
seconds=${SOAK_SECONDS:-600}
limit=-DSIMPLER_TEST_TIMEOUT=$((seconds * 4 + 600))
cmake --preset release "$limit" >/dev/null && cmake --build build -j "$(nproc)" >/dev/null &&
    cmake --preset dev "$limit" >/dev/null && cmake --build build/dev -j "$(nproc)" >/dev/null ||
    exit 1
export SIMPLER_TEST_SECONDS=$seconds
rm -rf build/results
status=0
for dir in build build/dev; do
    scripts/run-ctest.sh "$dir" "soak-${dir//\//-}" 'stress|fault' || status=1
    cmake -DSIMPLER_TEST_TIMEOUT= "$dir" >/dev/null
done
scripts/summary.sh || status=1
exit $status
