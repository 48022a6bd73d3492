#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make soak [SECONDS=600]: the stress programs again, for longer.
set -uo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh build test || exit 1
seconds=${SECONDS_EACH:-600}
cmake --preset release >/dev/null && cmake --build build -j "$(nproc)" >/dev/null || exit 1
export SIMPLER_TEST_SECONDS=$seconds
rm -rf build/results
scripts/run-ctest.sh build soak 'stress|fault' --timeout $((seconds * 20))
status=$?
scripts/summary.sh || status=1
exit $status
